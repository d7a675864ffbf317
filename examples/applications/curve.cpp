#include "curve.hpp"

namespace applications {

namespace {

std::int64_t first_of(int rank, int ranks, std::int64_t places, int each) {
  return each * (places * rank / ranks);
}

int size_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

}  // namespace

std::int64_t place_on_curve(std::int64_t x, std::int64_t y) {
  std::int64_t place = 0;
  for (int bit = 0; bit < 31; ++bit)
    place |= (x >> bit & 1) << (2 * bit) | (y >> bit & 1) << (2 * bit + 1);
  return place;
}

std::array<std::int64_t, 2> at_place(std::int64_t place) {
  std::array<std::int64_t, 2> at{};
  for (int bit = 0; bit < 31; ++bit) {
    at[0] |= (place >> (2 * bit) & 1) << bit;
    at[1] |= (place >> (2 * bit + 1) & 1) << bit;
  }
  return at;
}

Cells piece_of_curve(std::int64_t places, int each, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int ranks = size_of(comm);
  const std::int64_t first = first_of(rank, ranks, places, each);
  return {comm, first, static_cast<int>(first_of(rank + 1, ranks, places, each) - first)};
}

void find_ghosts_on_curve(
    Cells& cells, std::vector<std::int64_t> ids, std::int64_t places, int each) {
  const int ranks = size_of(cells.comm);
  cells.find_ghosts(std::move(ids), [=](std::int64_t id) {
    int owner = static_cast<int>(id / each * ranks / places);
    while (id < first_of(owner, ranks, places, each)) --owner;
    while (id >= first_of(owner + 1, ranks, places, each)) ++owner;
    return owner;
  });
}

}  // namespace applications
