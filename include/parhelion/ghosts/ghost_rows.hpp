// Rows of owned cells, then of ghosts, whatever their element: what GhostArray<T, …> and Python's
// GhostArray stand on.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parhelion/ghosts/row_layout.hpp"
#include "parhelion/index_map/index_map.hpp"
#include "parhelion/plan/field.hpp"

namespace parhelion {

/// Rows in memory of the caller, `stride` bytes apart.
struct RowMemory {
    std::byte* first = nullptr;
    byte_count stride = 0;
    std::shared_ptr<const void> keep = {};  ///< kept as long as the rows; may be null
};

/// The rows of a ghost map, owned ones then ghosts, in node-shared memory. A handle: copies are the
/// same rows.
///
/// Sizes of rows: uniform ones have the layout's; padded ones keep theirs in `sizes()`, which may
/// be written at any time and travels with the rows; ragged ones change between `edit` and
/// `compress`, and those of ghosts when an exchange is asked to refresh. Ragged rows begin with no
/// entries. Errors: a layout that cannot be (see check_layout), not enough memory.
class GhostRows {
public:
    /// Local: zeroed rows.
    GhostRows(GhostMap map, RowLayout layout);
    /// Local: uniform rows in two arrays of the caller, one for owned rows and one for ghosts.
    GhostRows(GhostMap map, RowLayout layout, RowMemory owned, RowMemory ghosts);
    /// Local: ragged rows with `sizes` entries in each owned one; their entries lie one behind the
    /// other in `entries`, or are zero when it is null. Ghosts have none yet.
    GhostRows(GhostMap map, RowLayout layout, std::span<const local_index> sizes,
              const std::byte* entries);

    const GhostMap& map() const;
    const RowLayout& layout() const;

    /// First byte of a row and its number of entries. Rows under edit are where they were last put;
    /// their ghosts have none. Error for a row that does not exist, and a padded row whose size is
    /// not from 0 to the width.
    std::byte* row(local_index index) const;
    local_index row_size(local_index index) const;

    /// Padded rows: the size of each, owned then ghosts. Error for others.
    std::span<local_index> sizes() const;
    /// Ragged rows: where each lies in `memory`, owned then ghosts. Not while they are edited.
    std::vector<RowSpan> spans() const;

    /// Ragged rows: from now on owned rows can be given any size, and the array cannot be
    /// exchanged. Local.
    void edit();
    bool editing() const;
    /// Makes a row `entries` long. Ragged rows: an owned one, while editing; new entries are zero,
    /// others keep their values. Padded rows: any, within its room. Local. A size that cannot be is
    /// an Error and changes nothing.
    void resize(local_index row, global_index entries);
    /// Ends the editing: rows lie one behind the other again. Collective, so that on every rank
    /// exchanges of the array notice that it has changed, and ask to be refreshed. Ghosts keep
    /// their rows. Error (on every rank) while somebody else holds `memory`: views of Python, an
    /// exchange under way.
    void compress();

    /// Other memory for rows that were made over the caller's. Collective, for the same reason.
    void rebind(RowMemory owned, RowMemory ghosts);

    /// Changes whenever rows have moved or changed size: an exchange compares it.
    std::uint64_t generation() const;

    /// The memory of rows that own it: start, bytes, and what keeps it. Empty for rows over the
    /// caller's arrays.
    struct Memory {
        std::shared_ptr<std::byte> start;
        byte_count bytes = 0;
    };
    const Memory& memory() const;
    const Memory& sizes_memory() const;
    RowMemory owned_rows() const;
    RowMemory ghost_rows() const;

    /// The same rows, not equal ones.
    friend bool operator==(const GhostRows& a, const GhostRows& b) { return a.state_ == b.state_; }

    /// Views for an exchange: the rows, and in a forward exchange of padded rows their sizes too.
    std::vector<Field> fields(Direction direction) const;

    /// Collective, ragged rows of one map together: fetches the sizes of the ghosts' rows from
    /// their owners, and makes room. Errors (on every rank): rows that are being edited, rows that
    /// must move while somebody holds their memory, not enough memory.
    friend void refresh_sizes(const GhostMap& map, std::span<GhostRows> arrays);

private:
    struct State;
    std::shared_ptr<State> state_;
};

/// The friend of GhostRows above.
void refresh_sizes(const GhostMap& map, std::span<GhostRows> arrays);

}  // namespace parhelion
