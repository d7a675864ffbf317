#include "exchanges/hand_lists.hpp"

namespace applications {

namespace {

void keep_neighbors(
    const std::vector<int>& counts, std::vector<int>& ranks, std::vector<int>& offsets) {
  offsets = {0};
  for (int rank = 0; rank < static_cast<int>(counts.size()); ++rank) {
    const int count = counts[static_cast<std::size_t>(rank)];
    if (count == 0) continue;
    ranks.push_back(rank);
    offsets.push_back(offsets.back() + count);
  }
}

}  // namespace

HandLists::HandLists(const Cells& mine) {
  int ranks = 0;
  MPI_Comm_size(mine.comm, &ranks);
  std::vector<int> read(static_cast<std::size_t>(ranks)), sent(read.size());
  for (int owner : mine.owners) ++read[static_cast<std::size_t>(owner)];
  MPI_Alltoall(read.data(), 1, MPI_INT, sent.data(), 1, MPI_INT, mine.comm);
  keep_neighbors(read, sources, ghost_offset);
  keep_neighbors(sent, targets, send_offset);

  std::vector<std::int64_t> asked(static_cast<std::size_t>(send_offset.back()));
  std::vector<MPI_Request> requests(targets.size() + sources.size());
  MPI_Request* request = requests.data();
  for (std::size_t t = 0; t < targets.size(); ++t)
    MPI_Irecv(asked.data() + send_offset[t], send_offset[t + 1] - send_offset[t], MPI_INT64_T,
        targets[t], 0, mine.comm, request++);
  for (std::size_t s = 0; s < sources.size(); ++s)
    MPI_Isend(mine.ghosts.data() + ghost_offset[s], ghost_offset[s + 1] - ghost_offset[s],
        MPI_INT64_T, sources[s], 0, mine.comm, request++);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (std::int64_t id : asked) cells.push_back(static_cast<int>(id - mine.first));
}

void HandLists::pack(
    const double* values, std::size_t target, int components, double* packed) const {
  for (int i = send_offset[target]; i < send_offset[target + 1]; ++i) {
    const double* cell =
        values + static_cast<std::ptrdiff_t>(cells[static_cast<std::size_t>(i)]) * components;
    for (int c = 0; c < components; ++c) *packed++ = cell[c];
  }
}

}  // namespace applications
