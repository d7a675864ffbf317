// Moves values between a root and the owners, one rank after another: the root buffers at most one
// rank's cells.

#include "core/collective_step.hpp"
#include "core/refuse.hpp"
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
      refuse("the root's array has ", cells, " cells and the map ", domain.global_size(),
          ": pass an array of all cells on the root");
    if (comm.rank() == root &&
        overlap(footprint(all, cells, width), footprint(owned, domain.owned(), width)))
      throw Error(
          "the array of all cells and that of the owned ones share memory: pass arrays that "
          "do not overlap");
    for (local_index cell = 0; domain.first() < 0 && cell < domain.owned(); ++cell)
      if (domain.global_of(cell) >= domain.global_size())
        refuse("global id ", domain.global_of(cell), " exceeds the number of cells, ",
            domain.global_size(), ": values of all cells need ids without gaps");
  });
}

/// Copies between cells of an array and packed cells. With `ids`, packed cell k is cell ids[k] of
/// the array.
void copy_cells(CellArray array, const std::vector<global_index>* ids, std::byte* packed,
    std::size_t count, byte_count width, bool pack) {
  for (std::size_t k = 0; k < count; ++k) {
    std::byte* cell = array.first + (ids ? (*ids)[k] : static_cast<global_index>(k)) * array.stride;
    std::byte* place = packed + static_cast<byte_count>(k) * width;
    std::memcpy(pack ? place : cell, pack ? cell : place, width);
  }
}

std::vector<std::byte> room(std::size_t cells, byte_count width) {
  return std::vector<std::byte>(cells * width);
}

// On the root: between the array of all cells and the owned ones of `rank`.
void serve(const IndexedDomain& domain, CellArray all, byte_count width, int rank, CellArray owned,
    bool sending, const Tag& tag) {
  const Communicator& comm = domain.communicator();
  const bool own = rank == comm.rank();
  const auto ids =
      own ? domain.owned_ids() : receive_message(comm, rank, tag).values<global_index>();
  Message packed{rank, room(own || sending ? ids.size() : 0, width)};
  if (sending) copy_cells(all, &ids, packed.bytes.data(), ids.size(), width, true);
  if (own) copy_cells(owned, nullptr, packed.bytes.data(), ids.size(), width, !sending);
  else if (sending) return send_message(comm, std::move(packed), tag);
  else packed = receive_message(comm, rank, tag);
  if (!sending) copy_cells(all, &ids, packed.bytes.data(), ids.size(), width, false);
}

void exchange_with_root(const IndexedDomain& domain, int root, CellArray owned, byte_count width,
    bool receiving, const Tag& tag) {
  const Communicator& comm = domain.communicator();
  const auto ids = domain.owned_ids();
  send_message(comm, message_of(ids, root), tag);
  Message packed{root, {}};
  if (receiving) packed = receive_message(comm, root, tag);
  else packed.bytes = room(ids.size(), width);
  copy_cells(owned, nullptr, packed.bytes.data(), ids.size(), width, !receiving);
  if (!receiving) send_message(comm, std::move(packed), tag);
}

void between(const IndexedDomain& domain, int root, CellArray all, global_index cells,
    CellArray owned, byte_count width, bool from_root) {
  validate(domain, root, all, cells, owned, width);
  const Communicator& comm = domain.communicator();
  const Tag tag = comm.next_tag();
  if (comm.rank() != root) return exchange_with_root(domain, root, owned, width, from_root, tag);
  for (int rank = 0; rank < comm.size(); ++rank)
    serve(domain, all, width, rank, owned, from_root, tag);
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
