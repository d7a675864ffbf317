// What a launch of the copying kernel is given. Freestanding: hosts and devices compile it.
#pragma once

namespace parhelion::device {

/// One op of a level: pieces of `width` bytes at the points of a box or of lists, or runs.
struct Op {
    static constexpr int most_dims = 5;
    long long first;            ///< items of the ops before it
    long long chunks;           ///< items of a piece
    long long src, dst, width;  ///< bytes
    long long count[most_dims], src_stride[most_dims], dst_stride[most_dims];
    long long src_list, dst_list, runs;  ///< bytes from the table's start; 0: none
    int dims, src_base, dst_base;        ///< numbers in Launch::base
    int scalar;
    int negated;
};

/// A run and the items of those before it in its op.
struct RunItem {
    long long src, dst, bytes, first;
};

/// An item is up to so many bytes of a piece, from a multiple of it on: whole values, of any type.
constexpr long long chunk = 16;

/// Ops of one level, at the end of a table that begins with what they refer to.
struct Launch {
    static constexpr int most_bases = 56;  // of sources and destinations; parameters of 512 bytes
    const char* table;
    long long ops;    ///< bytes from the table's start
    long long items;  ///< of all ops together
    int count;        ///< ops
    int reduction;    ///< Reduction::Kind
    char* base[most_bases];
};

constexpr int threads_of_block = 256;

}  // namespace parhelion::device
