#pragma once

#include <mpi.h>

#include <cstring>
#include <memory>
#include <vector>

#include "parhelion/domain/indexed_domain.hpp"
#include "variant.hpp"
#include "verified.hpp"

namespace parhelion::bench {

struct GatherParams {
  std::string dataset;  // a folder in the published layout
  Element element;
  int components = 1;
  std::string from = {};  // distinguishes data sets of one name; no path

  std::size_t cell_bytes() const {
    return static_cast<std::size_t>(element.size) * static_cast<std::size_t>(components);
  }
};

/// Copies `count` cells of `array`, with the indices in `index`, contiguously to `to`.
void pack_cells(const std::byte* array, const int* index, std::size_t count, std::size_t cell_bytes,
    std::byte* to);

class GatherArray : public VerifiedArrays {
 public:
  GatherArray(const GatherParams& params, std::shared_ptr<const IndexedDomain> domain,
      std::shared_ptr<const Memory> memory);

  std::size_t cell_bytes() const { return cell_bytes_; }
  std::byte* cells() const { return block(0); }
  std::byte* ghosts() const {
    return cells() + static_cast<std::size_t>(domain_->owned()) * cell_bytes_;
  }

 private:
  void for_each_run(const Visit& visit) const override;

  std::size_t cell_bytes_;
  std::shared_ptr<const IndexedDomain> domain_;
};

struct CellMessage : Envelope {
  std::size_t first = 0, cells = 0;  // in CellMessages::cells, or in the ghosts
};

/// Messages of a hand-written gather. Ghosts ascend and blocks are in rank order, so one owner's
/// ghosts are contiguous and need no unpacking.
struct CellMessages {
  std::vector<CellMessage> sends, receives;  // by ascending rank
  std::vector<int> cells;                    // owned cells to send, message by message
  std::shared_ptr<GatherArray> array;
  static constexpr bool in_place = true;

  void pack(const CellMessage& m, std::byte* to) const {
    pack_cells(array->cells(), cells.data() + m.first, m.cells, array->cell_bytes(), to);
  }
  void unpack(const std::byte* from, const CellMessage& m) const {
    std::memcpy(place(m), from, m.bytes);
  }
  std::byte* place(const CellMessage& m) const {
    return array->ghosts() + m.first * array->cell_bytes();
  }
  void copy_own_images() const {}
};

/// Collective. Throws CannotRun on every rank if a message exceeds MPI's int counts.
CellMessages find_messages(
    MPI_Comm comm, const IndexedDomain& domain, std::shared_ptr<GatherArray> array);

/// Collective. For each sent message, the index of its first cell in the reader's array; the others
/// follow contiguously.
std::vector<std::int64_t> places_at_readers(
    MPI_Comm comm, const IndexedDomain& domain, const CellMessages& messages);

/// Collective. Index of each ghost in its owner's block.
std::vector<int> cells_at_owners(MPI_Comm comm, const IndexedDomain& domain);

}  // namespace parhelion::bench
