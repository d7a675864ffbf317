// Moves values between a root and the owners in turn: the root buffers one rank's cells.

#include <ranges>

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "index_map/cell_footprint.hpp"
#include "parhelion/index_map/derive.hpp"
#include "plan/array_block.hpp"

namespace parhelion {
namespace {

void validate(const IndexedDomain& domain, int root, CellArray all, global_index cells,
    CellArray owned, byte_count width) {
  const Communicator& comm = domain.communicator();
  require_root(root, comm);
  require_equal(
      comm, "the arrays",
      [width](Properties& told) { told.add("the number of bytes per cell", width); },
      "pass arrays of the same type and number of components everywhere");
  validate_together(comm, [&] {
    require_on_host(all.first);
    require_on_host(owned.first);
    if (comm.rank() == root && cells != domain.global_size())
      refuse("the root's array has ", cells, " cells, but the map has ", domain.global_size(),
          ": pass an array of all cells on the root");
    if (comm.rank() == root &&
        overlap(footprint(all, cells, width), footprint(owned, domain.owned(), width)))
      refuse(
          "the arrays of all cells and of owned cells share memory: pass arrays that "
          "do not overlap");
    for (local_index cell = 0; domain.first() < 0 && cell < domain.owned(); ++cell)
      if (domain.global_of(cell) >= domain.global_size())
        refuse("global id ", domain.global_of(cell), " exceeds the number of cells, ",
            domain.global_size(), ": values of all cells need ids without gaps");
  });
}

void between(const IndexedDomain& domain, int root, CellArray all, global_index cells,
    CellArray owned, byte_count width, bool from_root) {
  validate(domain, root, all, cells, owned, width);
  const Communicator& comm = domain.communicator();
  const Tag tag = comm.next_tag();
  const auto ids = domain.owned_ids();
  const auto local = std::views::iota(global_index{0}, global_index{domain.owned()});
  const auto pack = [=](CellArray from, const auto& numbers, int rank) {
    Message packed{rank, std::vector<std::byte>(numbers.size() * width)};
    std::byte* to = packed.bytes.data();
    for (const global_index number : numbers)
      std::memcpy(std::exchange(to, to + width), from.first + number * from.stride, width);
    return packed;
  };
  const auto unpack = [=](const Message& packed, CellArray to, const auto& numbers) {
    const std::byte* from = packed.bytes.data();
    for (const global_index number : numbers)
      std::memcpy(to.first + number * to.stride, std::exchange(from, from + width), width);
  };
  if (comm.rank() != root) {
    send_message(comm, message_of(ids, root), tag);
    if (from_root) unpack(receive_message(comm, root, tag), owned, local);
    else send_message(comm, pack(owned, local, root), tag);
    return;
  }
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank == root) {
      if (from_root) unpack(pack(all, ids, root), owned, local);
      else unpack(pack(owned, local, root), all, ids);
      continue;
    }
    const auto theirs = receive_message(comm, rank, tag).values<global_index>();
    if (from_root) send_message(comm, pack(all, theirs, rank), tag);
    else unpack(receive_message(comm, rank, tag), all, theirs);
  }
}

}  // namespace

void distribute(const IndexedDomain& domain, int root, CellArray all, global_index cells,
    CellArray owned, byte_count width) {
  collectively(domain.communicator(), "distribute",
      [&] { between(domain, root, all, cells, owned, width, true); });
}

void collate(const IndexedDomain& domain, int root, CellArray all, global_index cells,
    CellArray owned, byte_count width) {
  collectively(domain.communicator(), "collate",
      [&] { between(domain, root, all, cells, owned, width, false); });
}

}  // namespace parhelion
