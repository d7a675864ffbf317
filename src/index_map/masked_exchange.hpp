// Exchanges the active ghosts by MPI messages, whose lengths change with each mask.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "index_map/cells_exchange.hpp"
#include "index_map/masked_cells.hpp"
#include "parhelion/plan/program.hpp"

namespace parhelion {

class NodeContext;

/// Copies between arrays of any layout and messages; buffers have room for all ghosts.
class MaskedExchange final : public CellsExchange {
public:
    /// Collective. `cells` and `places` (null: none) must outlive it.
    MaskedExchange(const MaskedCells& cells, const std::vector<local_index>* places,
                   CellArrays arrays, const ExchangeOptions& options);
    ~MaskedExchange() override;

    bool fits(CellArrays arrays, Direction direction, bool in_halves) const override;
    void forward(CellArrays arrays) override {
        begin(arrays, Direction::forward, Reduction::replace);
        end();
    }
    void reverse(CellArrays arrays, Reduction reduction) override {
        begin(arrays, Direction::reverse, reduction);
        end();
    }
    void begin(CellArrays arrays, Direction direction, Reduction reduction) override;
    bool test() override;
    void end() override;

private:
    // With places: numbers of the active cells in arrays of the last layout.
    struct Numbers {
        PlacedCells placed;
        std::vector<local_index> sent = {}, received = {};
        std::uint64_t version = 0;
    };
    struct Slot {
        byte_count first;  // byte of its messages in both buffers
        bool missing = false;
    };
    using Part = MaskedCells::Part;
    using Neighbor = MaskedCells::Neighbor;
    bool sends_owned() const { return direction_ == Direction::forward; }
    const Part& part(const Neighbor& neighbor, bool owned) const {
        return owned ? neighbor.sent : neighbor.received;
    }
    byte_count bytes(std::size_t cells) const;
    void look_at(std::size_t f);
    void copies(const Neighbor& neighbor, bool owned, bool packing);
    void start();
    bool has_arrived(std::size_t k);
    void unpack(std::size_t k);
    void finish();
    void require_good() const;

    const MaskedCells& cells_;
    double timeout_s_;
    NodeContext* node_;
    std::vector<std::optional<Numbers>> numbers_;
    std::vector<Slot> slots_;  // in the order of neighbors
    std::shared_ptr<std::byte> out_, in_;
    Program program_;  // of one message
    std::vector<std::byte*> bases_;
    std::optional<Reduction> reduction_;
    Tag tag_;
    RequestSet sends_{RequestSet::Kind::sends}, receives_{RequestSet::Kind::receives};
    std::exception_ptr failure_;
};

}  // namespace parhelion
