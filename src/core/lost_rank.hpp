#pragma once

#include <mpi.h>

#include <vector>

#include "parhelion/core/error.hpp"

namespace parhelion {

/// "rank 3", "ranks 3 to 5", "ranks 3, 5, 9 and 12 more". `ranks`: ascending.
inline std::string named_ranks(const std::vector<int>& ranks) {
  constexpr std::size_t most = 8;
  const bool in_a_row = ranks.size() > 2 && ranks.back() - ranks.front() + 1 == std::ssize(ranks);
  if (in_a_row)
    return "ranks " + std::to_string(ranks.front()) + " to " + std::to_string(ranks.back());
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < most; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  return ranks.size() <= most ? text
                              : text + " and " + std::to_string(ranks.size() - most) + " more";
}

inline constexpr const char* lost_rank_remedy =
    ": look for its error message or the system's log (out of memory, a signal) and "
    "start the job again";

/// For catchers that notify others.
class LostRank : public Error {
 public:
  LostRank(int rank, const std::string& how)
      : Error("rank " + std::to_string(rank) + " has ended" + how, ErrorKind::lost_peer),
        rank_(rank) {}
  int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

/// Throws LostRank when an MPI call on a message to or from `rank` fails: MPI may notice a lost
/// rank first.
inline void check_reached(int code, int rank, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw LostRank(rank, std::string(" or cannot be reached any more (") + call + ": " + text +
                           "): check its error message and the network between the two, and start "
                           "the job again");
}

}  // namespace parhelion
