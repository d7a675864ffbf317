// Memory that stands in for an array of a call.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/plan/program.hpp"

namespace parhelion {

/// Exchanges know arrays whose cells lie next to each other and that stay as they are until the end. Another array is copied to memory
/// that is so, or back from there; of its cells those that are exchanged.
class StandIn {
public:
    static constexpr std::span<const local_index> all{};

    /// Lists of the cells that are exchanged, which must outlive it. Takes no memory yet.
    StandIn(byte_count width, local_index cells, std::vector<std::span<const local_index>> exchanged);

    /// Takes memory, once, before it represents anything. Throws Error or std::bad_alloc when there is none.
    void reserve(bool node_shared);
    /// From now on it is about this array. Returns the first cell for the exchange: the array's own, unless it has to be held or its
    /// cells are apart.
    std::byte* represent(CellArray array, bool hold);

    /// Array → memory, and back, where it stands in.
    void bring();
    void give_back();

private:
    void compile();

    byte_count width_;
    local_index cells_;
    std::vector<std::span<const local_index>> exchanged_;
    std::shared_ptr<std::byte> memory_;
    CellArray array_;
    bool used_ = false;
    byte_count stride_ = -1;  // that the programs are for
    Program bring_, give_back_;
};

}  // namespace parhelion
