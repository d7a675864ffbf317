// Which ghosts of a map count, as the two ends of each link know it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "index_map/placed_cells.hpp"
#include "parhelion/pattern/pattern.hpp"
#include "transport/request_set.hpp"

namespace parhelion {

/// Lists of the cells that count, filled anew by each update in memory that stays.
class MaskedCells {
public:
    /// Of a list the cells of one neighbor: from `first` on as many as count now, `most` at most.
    struct Part {
        std::size_t first = 0, most = 0, first_word = 0, count = 0;
        bool joined = false;  // in masks
    };
    struct Neighbor {
        int rank;
        Part sent, received;
    };

    /// Local. The places of cells (null: none) outlive it.
    MaskedCells(const Pattern& pattern, const std::vector<local_index>* places);
    ~MaskedCells() {
        if (!right_) start_anew();
    }
    MaskedCells(const MaskedCells&) = delete;
    MaskedCells& operator=(const MaskedCells&) = delete;

    /// In a collective call: `mask` has integers of this rank's cells.
    void update(const CellValues& mask);
    /// After one that has failed on every rank.
    void start_anew();
    void require_lists() const;
    std::uint64_t version() const { return version_; }

    const Communicator& communicator() const { return comm_; }
    local_index owned() const { return owned_; }
    const std::vector<Neighbor>& neighbors() const { return neighbors_; }  ///< by rank
    /// Owned cells that are sent, and local numbers of ghosts that are received.
    const std::vector<local_index>& sent() const { return sent_.now; }
    const std::vector<local_index>& received() const { return received_.now; }

private:
    using Word = std::uint64_t;
    struct List {
        std::vector<local_index> all, now;
        std::shared_ptr<std::vector<Word>> bits = std::make_shared<std::vector<Word>>();

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

    Communicator comm_;
    local_index owned_;
    std::vector<Neighbor> neighbors_;
    List sent_, received_;
    std::optional<PlacedCells> placed_;  // with places: how the last mask lay
    std::vector<local_index> numbers_;   // of all ghosts, in masks
    std::unique_ptr<Messages> messages_;
    bool right_ = false;
    std::uint64_t version_ = 0;
};

}  // namespace parhelion
