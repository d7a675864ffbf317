// Error for a rank that has ended.
#pragma once

#include <string>

#include "parhelion/core/error.hpp"

namespace parhelion {

inline constexpr const char* lost_rank_remedy =
    ": look for its error message or the system's log (out of memory, a signal) and "
    "start the job again";

/// Carries the rank, so that the catcher can notify others.
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
