// Bounce buffers for arrays that an exchange cannot use in place.
#pragma once

#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/plan/executor.hpp"

namespace parhelion {

/// `pieces` of `width` bytes per cell, `apart` bytes apart in the buffer and `array_apart` in the
/// arrays. Buffer cells are `stride` bytes apart.
struct CellShape {
  byte_count width, stride, pieces = 1, apart = 0, array_apart = 0;

  /// Contiguous cells of one piece.
  CellShape(byte_count of) : width(of), stride(of) {}
  /// Cells of `array`, whose components are `apart` bytes apart in the buffer.
  CellShape(const CellValues& array, byte_count stride, byte_count apart)
      : width(array.width()), stride(stride) {
    if (array.is_joined() && (array.components == 1 || apart == array.element.size)) return;
    width = array.element.size, pieces = array.components, this->apart = apart;
    array_apart = array.is_joined() ? width : array.component_stride;
  }
};

/// Copies exchanged cells of arrays into a buffer, and out again.
class BounceBuffer {
 public:
  /// Cells of an array, and their numbers in the buffer. Lists must outlive it; null ones count
  /// from 0.
  struct Cells {
    int array = 0;
    byte_count count = 0;
    const local_index* from = nullptr;
    const local_index* to = nullptr;
  };

  /// Allocates nothing yet. `executor` runs the copies.
  BounceBuffer(std::shared_ptr<Executor> executor, const CellShape& shape, byte_count cells,
      std::vector<Cells> exchanged)
      : executor_(std::move(executor)), shape_(shape), cells_(cells),
        exchanged_(std::move(exchanged)) {}

  /// Allocates; call once, before stand_in_for. Throws Error or std::bad_alloc.
  void reserve(bool node_shared);
  /// Selects the arrays of a call, and whether the buffer replaces them.
  void stand_in_for(std::span<const CellArray> arrays, bool stands_in);
  bool stands_in() const { return stands_in_; }
  /// Recompiles at the next stand_in_for, for new lists or layouts.
  void look_again(const CellShape& shape) { shape_ = shape, strides_.clear(); }
  /// The first cell; null before `reserve`.
  std::byte* first() const {
    return memory_ == nullptr ? nullptr : memory_.get() - std::min<byte_count>(reach(), 0);
  }

  void copy_in(Queue& queue);
  void copy_out(Queue& queue);

 private:
  void compile();
  byte_count reach() const { return (shape_.pieces - 1) * shape_.apart; }

  std::shared_ptr<Executor> executor_;
  CellShape shape_;
  byte_count cells_;
  std::vector<Cells> exchanged_;
  std::shared_ptr<std::byte> memory_;
  std::vector<std::byte*> arrays_;
  std::vector<byte_count> strides_;  // that the programs were compiled for
  bool stands_in_ = false;
  Program in_, out_;
};

}  // namespace parhelion
