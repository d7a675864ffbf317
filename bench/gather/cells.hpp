#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "memory.hpp"
#include "parhelion/domain/indexed_domain.hpp"
#include "values.hpp"
#include "variant.hpp"

namespace parhelion::bench {

/// A gather case as the job states it.
struct GatherParams {
    std::string dataset;  // folder in the published layout
    Element element;
    int components = 1;
    std::string from = {};  // tells data sets of one name apart; no path

    std::size_t cell_bytes() const {
        return static_cast<std::size_t>(element.size) * static_cast<std::size_t>(components);
    }
};

/// One array: the owned cells, then the ghosts; block 0 of its memory.
class GatherArray : public Values {
public:
    GatherArray(const GatherParams& params, std::shared_ptr<const IndexedDomain> domain,
                std::shared_ptr<const Memory> memory);

    void refresh(unsigned round) override;
    std::int64_t count_wrong(unsigned round) const override;

    std::size_t cell_bytes() const { return params_.cell_bytes(); }
    std::byte* cells() const { return memory_->block(0); }
    std::byte* ghosts() const {
        return cells() + static_cast<std::size_t>(domain_->owned()) * cell_bytes();
    }

private:
    int lanes() const { return params_.components * lanes_per_element(params_.element); }

    GatherParams params_;
    std::shared_ptr<const IndexedDomain> domain_;
    std::shared_ptr<const Memory> memory_;
};

/// Who gets which of a rank's cells: what a program that gathers by hand sets up once. Ghosts of
/// published data sets are ascending and blocks lie in rank order, so the ghosts from one rank are
/// neighbors in memory and need no unpacking.
struct IndexLists {
    std::vector<int> targets;  // ranks that read cells of this one, ascending
    std::vector<std::size_t>
        send_offset;           // entry t: where the list for target t begins; one more than targets
    std::vector<int> cells;    // owned cells to send, target by target
    std::vector<int> sources;  // ranks that own ghosts of this one, ascending
    std::vector<std::size_t>
        ghost_offset;  // entry s: the first ghost from source s; one more than sources

    std::size_t sent_to(std::size_t t) const { return send_offset[t + 1] - send_offset[t]; }
    std::size_t read_from(std::size_t s) const { return ghost_offset[s + 1] - ghost_offset[s]; }
};

/// Collective. Throws CannotRun on every rank when a message of `cell_bytes` per cell would pass
/// MPI's int counts.
IndexLists build_index_lists(MPI_Comm comm, const IndexedDomain& domain, std::size_t cell_bytes);

/// Collective. For each target, the place in its array (in cells) where the first cell from this
/// rank belongs: the cells for a target lie there in the order of the list.
std::vector<std::int64_t> places_at_targets(MPI_Comm comm, const IndexedDomain& domain,
                                            const IndexLists& lists);

/// Collective. Where each ghost lies in its owner's block.
std::vector<int> cells_at_owners(MPI_Comm comm, const IndexedDomain& domain);

Traffic traffic_of(const IndexLists& lists, std::size_t cell_bytes);

/// Copies the cells of `array` that `index` lists (`count` of them) to `to`, one behind the other.
void pack_cells(const std::byte* array, const int* index, std::size_t count, std::size_t cell_bytes,
                std::byte* to);

}  // namespace parhelion::bench
