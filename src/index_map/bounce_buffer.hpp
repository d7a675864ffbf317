// Memory that stands in for arrays which an exchange cannot move where they are.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/plan/executor.hpp"

namespace parhelion {

/// How the cells of a buffer, and of the arrays that it stands in for, are cut: `pieces` of `width`
/// bytes each, so far apart. Cells of the buffer are `stride` apart.
struct CellShape {
    byte_count width, stride, pieces = 1, apart = 0, array_apart = 0;

    /// Cells next to each other, in one piece.
    CellShape(byte_count of) : width(of), stride(of) {}
    /// Cells of such arrays, with the components `apart` in the buffer.
    CellShape(const CellValues& array, byte_count stride, byte_count apart)
        : width(array.width()), stride(stride) {
        if (array.is_joined() && (array.components == 1 || apart == array.element.size)) return;
        *this = CellShape(array.element.size, stride, array.components, apart,
                          array.is_joined() ? array.element.size : array.component_stride);
    }

private:
    CellShape(byte_count width, byte_count stride, byte_count pieces, byte_count apart,
              byte_count array_apart)
        : width(width), stride(stride), pieces(pieces), apart(apart), array_apart(array_apart) {}
};

/// Cells next to each other, or as a shape says, copied in from one array or several, and out
/// again: those that are exchanged.
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
    BounceBuffer(std::shared_ptr<Executor> executor, const CellShape& shape, byte_count cells,
                 std::vector<Cells> exchanged)
        : executor_(std::move(executor)), shape_(shape), cells_(cells),
          exchanged_(std::move(exchanged)) {}

    /// Takes memory, once, before it stands in for anything. Throws Error or std::bad_alloc when
    /// there is none.
    void reserve(bool node_shared);
    /// From now on it is about these arrays, and stands in for them or not.
    void stand_in_for(std::span<const CellArray> arrays, bool stands_in);
    bool stands_in() const { return stands_in_; }
    /// Lists of cells have changed, or how the arrays' cells are cut.
    void look_again(const CellShape& shape) { shape_ = shape, strides_.clear(); }
    /// The first cell; null where there is none.
    std::byte* first() const {
        return memory_ == nullptr ? nullptr : memory_.get() - std::min<byte_count>(reach(), 0);
    }

    void copy_in(Queue& queue);
    void copy_out(Queue& queue);

private:
    void compile();
    // From the first piece of a cell to the last one.
    byte_count reach() const { return (shape_.pieces - 1) * shape_.apart; }

    std::shared_ptr<Executor> executor_;
    CellShape shape_;
    byte_count cells_;
    std::vector<Cells> exchanged_;
    std::shared_ptr<std::byte> memory_;
    std::vector<std::byte*> arrays_;
    std::vector<byte_count> strides_;  // that the programs are for
    bool stands_in_ = false;
    Program in_, out_;
};

}  // namespace parhelion
