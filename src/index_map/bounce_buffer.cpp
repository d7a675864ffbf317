#include "index_map/bounce_buffer.hpp"

#include <cstdlib>

#include "parhelion/core/node_memory.hpp"

namespace parhelion {

// Ordinary memory commits only pages that are written: for owned cells, few.
void BounceBuffer::reserve(bool node_shared) {
  if (cells_ == 0) return;
  const byte_count bytes = (cells_ - 1) * shape_.stride + std::abs(reach()) + shape_.width;
  if (node_shared) memory_ = allocate_node_shared(bytes);
  else memory_ = {new std::byte[bytes], std::default_delete<std::byte[]>()};
}

void BounceBuffer::stand_in_for(std::span<const CellArray> arrays, bool stands_in) {
  stands_in_ = stands_in && cells_ > 0;
  if (!stands_in_) return;
  arrays_.resize(arrays.size());
  std::ranges::transform(arrays, arrays_.begin(), &CellArray::first);
  if (std::ranges::equal(strides_, arrays, {}, {}, &CellArray::stride)) return;
  strides_.resize(arrays.size());
  std::ranges::transform(arrays, strides_.begin(), &CellArray::stride);
  compile();
}

// A cell that several ranks receive is copied several times.
void BounceBuffer::compile() {
  in_ = {};
  in_.dependence = Dependence::destination;
  for (const Cells& each : exchanged_)
    for (byte_count piece = 0; piece < shape_.pieces; ++piece)
      in_.add(IndexedOp{each.array, 0, piece * shape_.array_apart, piece * shape_.apart,
          shape_.width, each.count, strides_[each.array], shape_.stride, each.from, each.to});
  out_ = inverse(in_);
  for (Program* program : {&in_, &out_}) executor_->compile(*program);
}

void BounceBuffer::copy_in(Queue& queue) {
  std::byte* const here = first();
  if (stands_in_) queue.enqueue(in_, arrays_.data(), &here);
}

void BounceBuffer::copy_out(Queue& queue) {
  std::byte* const here = first();
  if (stands_in_) queue.enqueue(out_, &here, arrays_.data());
}

}  // namespace parhelion
