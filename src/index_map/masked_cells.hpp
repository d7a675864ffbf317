// Lists of a map's active ghosts, kept equal at both ends of each link.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "index_map/placed_cells.hpp"
#include "parhelion/pattern/pattern.hpp"
#include "transport/request_set.hpp"

namespace parhelion {

/// Each update refills the lists in place.
class MaskedCells {
public:
    /// One neighbor's slice of a list: `count` active cells from `first`, at most `most`.
    struct Part {
        std::size_t first = 0, most = 0, first_word = 0, count = 0;
        bool joined = false;  // consecutive in masks
    };
    struct Neighbor {
        int rank;
        Part sent, received;
    };

    /// Local. `places` (null: none) must outlive it.
    MaskedCells(const Pattern& pattern, const std::vector<local_index>* places);
    ~MaskedCells() {
        if (updating_) settle();
    }
    MaskedCells(const MaskedCells&) = delete;
    MaskedCells& operator=(const MaskedCells&) = delete;

    /// Collective. `mask` has one integer per cell of this rank.
    void update(const CellValues& mask);
    /// Call `save` before an update, and `restore` after it failed on every rank.
    void save();
    void restore();
    std::uint64_t version() const { return version_; }

    const Communicator& communicator() const { return comm_; }
    local_index owned() const { return owned_; }
    const std::vector<Neighbor>& neighbors() const { return neighbors_; }  ///< by rank
    /// Owned cells to send, and local numbers of ghosts to receive.
    const std::vector<local_index>& sent() const { return sent_.now; }
    const std::vector<local_index>& received() const { return received_.now; }

private:
    using Word = std::uint64_t;
    struct List {
        std::vector<local_index> all, now;
        std::shared_ptr<std::vector<Word>> bits = std::make_shared<std::vector<Word>>();
        std::vector<Word> saved = {};  // bits

        void add(const std::vector<local_index>& cells, Part& part);
        Word* bits_of(const Part& part) const { return bits->data() + part.first_word; }
        void keep(Part& part);
    };
    struct Messages {
        RequestSet sends{RequestSet::Kind::sends}, receives{RequestSet::Kind::receives};
        Tag tag;
    };
    void look_at(const CellValues& mask);
    void look_at_numbers();
    void prepare_messages();
    void start(const CellValues& mask);
    void settle();

    Communicator comm_;
    local_index owned_;
    std::vector<Neighbor> neighbors_;
    List sent_, received_;
    std::optional<PlacedCells> placed_;  // with places: layout of the last mask
    std::vector<local_index> numbers_;   // of all ghosts, in masks
    std::unique_ptr<Messages> messages_;
    bool updating_ = false;
    std::uint64_t version_ = 0;
};

}  // namespace parhelion
