// The error that a rank is no longer there.
#pragma once

#include <string>

#include "parhelion/core/error.hpp"

namespace parhelion {

inline constexpr const char* lost_rank_remedy =
    ": look for its error message or the system's log (out of memory, a signal) and "
    "start the job again";

/// Whoever catches it may tell others which rank it is.
class LostRank : public Error {
public:
    LostRank(int rank, const std::string& how)
        : Error("rank " + std::to_string(rank) + " has ended" + how, ErrorKind::lost_peer),
          rank_(rank) {}
    int rank() const noexcept { return rank_; }

private:
    int rank_;
};

}  // namespace parhelion
