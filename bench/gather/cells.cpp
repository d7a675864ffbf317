#include "gather/cells.hpp"

#include <climits>
#include <cstring>
#include <numeric>
#include <utility>

#include "variant.hpp"

namespace parhelion::bench {

GatherArray::GatherArray(const GatherParams& params, std::shared_ptr<const IndexedDomain> domain,
    std::shared_ptr<const Memory> memory)
    : VerifiedArrays(params.element, params.components, std::move(memory)),
      cell_bytes_(params.cell_bytes()), domain_(std::move(domain)) {}

void GatherArray::for_each_run(const Visit& visit) const {
  visit({cells(), domain_->owned(), static_cast<std::uint64_t>(domain_->first()), Expect::owned});
  std::byte* ghost = ghosts();
  for (global_index id : domain_->ghost_ids()) {
    visit({ghost, 1, static_cast<std::uint64_t>(id), Expect::ghost});
    ghost += cell_bytes_;
  }
}

namespace {

// Number of this rank's ghosts by owner.
std::vector<int> ghosts_by_rank(const IndexedDomain& domain) {
  std::vector<int> counts(static_cast<std::size_t>(domain.communicator().size()), 0);
  for (int owner : domain.ghost_owners()) ++counts[static_cast<std::size_t>(owner)];
  return counts;
}

std::vector<CellMessage> messages_of(const std::vector<int>& counts, std::size_t cell_bytes) {
  std::vector<CellMessage> messages;
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const auto cells = static_cast<std::size_t>(counts[rank]);
    if (cells == 0) continue;
    messages.push_back({{static_cast<int>(rank), 0, cells * cell_bytes}, first, cells});
    first += cells;
  }
  return messages;
}

void check_sizes(MPI_Comm comm, std::size_t sent, std::size_t ghosts, std::size_t cell_bytes) {
  int too_long = std::max(sent, ghosts) * cell_bytes > INT_MAX;
  MPI_Allreduce(MPI_IN_PLACE, &too_long, 1, MPI_INT, MPI_MAX, comm);
  if (too_long)
    throw CannotRun(
        "a rank's messages take more than 2 GiB, which MPI's int counts cannot express");
}

// Sends numbers from readers to owners: `told(m)` of each received message m is the source,
// `heard(m)` of each sent message the destination.
template <class Told, class Heard>
void tell_owners(MPI_Comm comm, const CellMessages& messages, Told told, Heard heard) {
  std::vector<MPI_Request> requests(messages.sends.size() + messages.receives.size());
  MPI_Request* request = requests.data();
  for (const CellMessage& m : messages.sends) {
    const auto [first, count] = heard(m);
    MPI_Irecv(first, count, MPI_INT64_T, m.rank, 0, comm, request++);
  }
  for (const CellMessage& m : messages.receives) {
    const auto [first, count] = told(m);
    MPI_Isend(first, count, MPI_INT64_T, m.rank, 0, comm, request++);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

template <std::size_t Bytes>
void pack_cells_of(const std::byte* array, const int* index, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(to + i * Bytes, array + static_cast<std::size_t>(index[i]) * Bytes, Bytes);
}

}  // namespace

CellMessages find_messages(
    MPI_Comm comm, const IndexedDomain& domain, std::shared_ptr<GatherArray> array) {
  const std::vector<int> read = ghosts_by_rank(domain);
  std::vector<int> sent(read.size());
  MPI_Alltoall(read.data(), 1, MPI_INT, sent.data(), 1, MPI_INT, comm);
  const std::size_t cell_bytes = array->cell_bytes();
  CellMessages found{
      messages_of(sent, cell_bytes), messages_of(read, cell_bytes), {}, std::move(array)};
  std::vector<global_index> asked(std::accumulate(sent.begin(), sent.end(), std::size_t{0}));
  check_sizes(comm, asked.size(), domain.ghost_ids().size(), cell_bytes);
  tell_owners(
      comm, found,
      [&](const CellMessage& m) {
        return std::pair(domain.ghost_ids().data() + m.first, static_cast<int>(m.cells));
      },
      [&](const CellMessage& m) {
        return std::pair(asked.data() + m.first, static_cast<int>(m.cells));
      });
  for (global_index id : asked) found.cells.push_back(static_cast<int>(id - domain.first()));
  return found;
}

std::vector<std::int64_t> places_at_readers(
    MPI_Comm comm, const IndexedDomain& domain, const CellMessages& messages) {
  std::vector<std::int64_t> mine, theirs(messages.sends.size());
  for (const CellMessage& m : messages.receives)
    mine.push_back(domain.owned() + static_cast<std::int64_t>(m.first));
  const auto one_of = [](auto& numbers, const auto& of) {
    return [&](const CellMessage& m) {
      return std::pair(&numbers[static_cast<std::size_t>(&m - of.data())], 1);
    };
  };
  tell_owners(comm, messages, one_of(mine, messages.receives), one_of(theirs, messages.sends));
  return theirs;
}

std::vector<int> cells_at_owners(MPI_Comm comm, const IndexedDomain& domain) {
  std::vector<global_index> first(static_cast<std::size_t>(domain.communicator().size()));
  const global_index mine = domain.first();
  MPI_Allgather(&mine, 1, MPI_INT64_T, first.data(), 1, MPI_INT64_T, comm);
  std::vector<int> cells;
  for (std::size_t g = 0; g < domain.ghost_ids().size(); ++g)
    cells.push_back(static_cast<int>(
        domain.ghost_ids()[g] - first[static_cast<std::size_t>(domain.ghost_owners()[g])]));
  return cells;
}

void pack_cells(const std::byte* array, const int* index, std::size_t count, std::size_t cell_bytes,
    std::byte* to) {
  switch (cell_bytes) {
    case 1: return pack_cells_of<1>(array, index, count, to);
    case 2: return pack_cells_of<2>(array, index, count, to);
    case 4: return pack_cells_of<4>(array, index, count, to);
    case 8: return pack_cells_of<8>(array, index, count, to);
    case 16: return pack_cells_of<16>(array, index, count, to);
    case 24: return pack_cells_of<24>(array, index, count, to);
    case 32: return pack_cells_of<32>(array, index, count, to);
    case 64: return pack_cells_of<64>(array, index, count, to);
    case 128: return pack_cells_of<128>(array, index, count, to);
    default: break;
  }
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(
        to + i * cell_bytes, array + static_cast<std::size_t>(index[i]) * cell_bytes, cell_bytes);
}

}  // namespace parhelion::bench
