// Parameters of the copy kernel. Freestanding: compiled for hosts and devices.
#pragma once

namespace parhelion::device {

/// Pieces of `width` bytes at the points of a box or of lists, or runs.
struct Op {
  static constexpr int most_dims = 5;
  long long first;            ///< number of items of the previous ops
  long long chunks;           ///< items per piece
  long long src, dst, width;  ///< in bytes
  long long count[most_dims], src_stride[most_dims], dst_stride[most_dims];
  long long src_list, dst_list, runs;  ///< addresses; 0: none
  int dims, src_base, dst_base;        ///< indices into Launch::base
  int scalar;
  int negated;
};

/// A run, and the number of items before it in its op.
struct RunItem {
  long long src, dst, bytes, first;
};

/// Bytes per item: a slice of a piece at a multiple of this; holds whole values of every type.
constexpr long long chunk = 16;

/// Ops of one level, in a table. Its lists and runs are there or in tables of other programs.
struct Launch {
  static constexpr int most_bases = 56;  // keeps the parameters below 512 bytes
  const char* table;
  long long ops;    ///< byte offset in the table
  long long items;  ///< of all ops
  int count;        ///< of ops
  int reduction;    ///< Reduction::Kind
  char* base[most_bases];
};

constexpr int threads_of_block = 256;

}  // namespace parhelion::device
