// Memory that stands in for arrays which an exchange cannot move where they are.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/plan/executor.hpp"

namespace parhelion {

/// Cells next to each other, copied in from one array or several, and out again: those that are
/// exchanged.
class BounceBuffer {
public:
    /// Some cells of an array and where they are in the buffer. Lists outlive the buffer; null ones
    /// count from 0.
    struct Cells {
        int array = 0;
        byte_count count = 0;
        const local_index* from = nullptr;
        const local_index* to = nullptr;
        byte_count begin = 0;  ///< in the buffer, in cells
    };

    /// Takes no memory yet. The executor makes its copies.
    BounceBuffer(std::shared_ptr<Executor> executor, byte_count width, byte_count cells,
                 std::vector<Cells> exchanged)
        : executor_(std::move(executor)), width_(width), cells_(cells),
          exchanged_(std::move(exchanged)) {}

    /// Takes memory, once, before it stands in for anything. Throws Error or std::bad_alloc when
    /// there is none.
    void reserve(bool node_shared);
    /// From now on it is about these arrays, and stands in for them or not.
    void stand_in_for(std::span<const CellArray> arrays, bool stands_in);
    bool stands_in() const { return stands_in_; }
    /// The first cell; null where there is none.
    std::byte* first() const { return memory_.get(); }

    /// Arrays → buffer, and back, where it stands in.
    void copy_in(Queue& queue);
    void copy_out(Queue& queue);

private:
    void compile();

    std::shared_ptr<Executor> executor_;
    byte_count width_, cells_;
    std::vector<Cells> exchanged_;
    std::shared_ptr<std::byte> memory_;
    std::vector<std::byte*> arrays_;
    std::vector<byte_count> strides_;  // that the programs are for
    bool stands_in_ = false;
    Program in_, out_;
};

}  // namespace parhelion
