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
    std::string dataset;  // folder in the published layout
    Element element;
    int components = 1;
    std::string from = {};  // tells data sets of one name apart; no path

    std::size_t cell_bytes() const {
        return static_cast<std::size_t>(element.size) * static_cast<std::size_t>(components);
    }
};

/// Copies the cells of `array` that `index` lists (`count` of them) to `to`, one behind the other.
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
    std::size_t first = 0, cells = 0;  // of the list of cells that are sent; of the ghosts
};

/// Who gets which of a rank's cells: what a program that gathers by hand sets up once. Ghosts of
/// published data sets are ascending and blocks lie in rank order, so the ghosts from one rank are
/// neighbors in memory and need no unpacking.
struct CellMessages {
    std::vector<CellMessage> sends, receives;  // of ascending ranks
    std::vector<int> cells;                    // owned ones to send, message by message
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

/// Collective. Throws CannotRun on every rank when a message would pass MPI's int counts.
CellMessages find_messages(MPI_Comm comm, const IndexedDomain& domain,
                           std::shared_ptr<GatherArray> array);

/// Collective. For each message sent, the place in the reader's array (in cells) of its first cell:
/// the others follow in the order of the list.
std::vector<std::int64_t> places_at_readers(MPI_Comm comm, const IndexedDomain& domain,
                                            const CellMessages& messages);

/// Collective. Where each ghost lies in its owner's block.
std::vector<int> cells_at_owners(MPI_Comm comm, const IndexedDomain& domain);

}  // namespace parhelion::bench
