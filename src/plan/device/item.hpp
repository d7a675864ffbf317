// One item of a launch, for hosts and devices. Without fused multiply-adds or an order among items,
// sums have the host's bits.
#pragma once

#include "parhelion/core/kinds.h"
#include "plan/combinations.hpp"
#include "plan/device/launch.hpp"

// The tests' driver reaches lists at other addresses.
#ifndef PARHELION_LIST
#define PARHELION_LIST(type, address) reinterpret_cast<const type*>(address)
#endif

namespace parhelion::device {
namespace {

enum Scalars { bytes, PHL_SCALARS(PHL_CPP_NAME) };
enum Reductions { PHL_REDUCTIONS(PHL_CPP_NAME) };
static_assert(complex128 == 12 && prod == 6, "add the loops of new types and reductions here");

template <int size>
struct Word;
template <>
struct Word<1> {
  using type = unsigned char;
};
template <>
struct Word<2> {
  using type __attribute__((may_alias)) = unsigned short;
};
template <>
struct Word<4> {
  using type __attribute__((may_alias)) = unsigned int;
};
template <>
struct Word<8> {
  using type __attribute__((may_alias)) = unsigned long long;
};
template <>
struct Word<16> {
  using type __attribute__((may_alias, vector_size(16))) = unsigned int;
};

// Copies in the largest words that both addresses and the count allow.
template <int size>
void copy_words(char* dst, const char* src, int count, unsigned long long aligned) {
  if constexpr (size > 1)
    if (aligned % size != 0) return copy_words<size / 2>(dst, src, count, aligned);
  using W = typename Word<size>::type;
  for (int i = 0; i < count; i += size)
    *reinterpret_cast<W*>(dst + i) = *reinterpret_cast<const W*>(src + i);
}

void copy_bytes(char* dst, const char* src, int count) {
  copy_words<16>(dst, src, count,
      reinterpret_cast<unsigned long long>(dst) | reinterpret_cast<unsigned long long>(src) |
          static_cast<unsigned long long>(count));
}

template <class V>
V combined(V into, V from, int how) {
  switch (how) {
    case sum: return Sum::of(into, from);
    case prod: return Prod::of(into, from);
    case min: return Min::of(into, from);
    case max: return Max::of(into, from);
    default: return from;
  }
}

template <class T>
void combine_reals(char* into, const char* from, int count, int how, bool negated) {
  for (int i = 0; i < count; i += static_cast<int>(sizeof(T))) {
    T values[2];
    __builtin_memcpy(&values[0], into + i, sizeof(T));
    __builtin_memcpy(&values[1], from + i, sizeof(T));
    const T result = combined(values[0], negated ? -values[1] : values[1], how);
    __builtin_memcpy(into + i, &result, sizeof(T));
  }
}

template <class T>
void multiply_complex(char* into, const char* from, int count, bool negated) {
  for (int i = 0; i < count; i += static_cast<int>(2 * sizeof(T))) {
    T a[2], b[2];
    __builtin_memcpy(a, into + i, sizeof a);
    __builtin_memcpy(b, from + i, sizeof b);
    if (negated) b[0] = -b[0], b[1] = -b[1];
    const T product[2] = {a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
    __builtin_memcpy(into + i, product, sizeof product);
  }
}

using Whole = unsigned long long;

// Sign- or zero-extends the lowest `size` bytes to 64 bits.
Whole extended(Whole value, int size, bool with_sign) {
  const int more = 64 - 8 * size;
  value <<= more;
  return with_sign ? static_cast<Whole>(static_cast<long long>(value) >> more) : value >> more;
}

Whole combined_whole(Whole into, Whole from, int how, bool with_sign) {
  if (how == bit_and) return And::of(into, from);
  if (how == bit_or) return Or::of(into, from);
  const Whole flip = with_sign && (how == min || how == max) ? Whole{1} << 63 : 0;
  return combined(into ^ flip, from ^ flip, how) ^ flip;
}

// In 64 bits, truncated.
void combine_whole(
    char* into, const char* from, int count, int how, bool negated, int size, bool with_sign) {
  for (int i = 0; i < count; i += size) {
    Whole values[2] = {};
    for (int k = 0; k < size; ++k) {
      values[0] |= Whole{static_cast<unsigned char>(into[i + k])} << (8 * k);
      values[1] |= Whole{static_cast<unsigned char>(from[i + k])} << (8 * k);
    }
    if (negated) values[1] = Opposite::of(Whole{}, values[1]);
    const Whole result = combined_whole(
        extended(values[0], size, with_sign), extended(values[1], size, with_sign), how, with_sign);
    for (int k = 0; k < size; ++k) into[i + k] = static_cast<char>(result >> (8 * k));
  }
}

// Of aligned values.
void combine_bytes(char* into, const char* from, int count, int scalar, int how, bool negated) {
  if (scalar == complex64 && how == prod)
    return multiply_complex<float>(into, from, count, negated);
  if (scalar == complex128 && how == prod)
    return multiply_complex<double>(into, from, count, negated);
  if (scalar == float32 || scalar == complex64)
    return combine_reals<float>(into, from, count, how, negated);
  if (scalar == float64 || scalar == complex128)
    return combine_reals<double>(into, from, count, how, negated);
  const int kind = scalar - int8;  // four signed types, then four unsigned, by size
  combine_whole(into, from, count, how, negated, 1 << kind % 4, kind < 4);
}

/// Addresses that an item reads and writes.
struct Place {
  const Op* op;
  const char* src;
  char* dst;
  int bytes;
};

// The last of `count` elements with `first` ≤ item.
template <class Each>
const Each& last_before(const Each* all, long long count, long long item) {
  long long low = 0;
  for (long long high = count; high - low > 1;) {
    const long long middle = (low + high) / 2;
    if (all[middle].first <= item) low = middle;
    else high = middle;
  }
  return all[low];
}

const Op& op_of(const Launch& launch, long long item) {
  return last_before(reinterpret_cast<const Op*>(launch.table + launch.ops), launch.count, item);
}

int bytes_from(long long offset, long long width) {
  return static_cast<int>(width - offset < chunk ? width - offset : chunk);
}

Place place_of(const Launch& launch, long long item) {
  const Op& op = op_of(launch, item);
  const char* src = launch.base[op.src_base] + op.src;
  char* dst = launch.base[op.dst_base] + op.dst;
  long long rest = item - op.first;
  if (op.runs != 0) {
    const auto* runs = PARHELION_LIST(RunItem, op.runs);
    const RunItem& run = last_before(runs, op.count[0], rest);
    const long long offset = (rest - run.first) * chunk;
    return {&op, src + run.src + offset, dst + run.dst + offset, bytes_from(offset, run.bytes)};
  }
  const long long offset = rest % op.chunks * chunk;
  rest /= op.chunks;
  src += offset, dst += offset;
  for (int d = op.dims; d-- > 0; rest /= op.count[d]) {
    const long long i = rest % op.count[d];
    const auto place = [&](long long list) { return list == 0 ? i : PARHELION_LIST(int, list)[i]; };
    src += place(op.src_list) * op.src_stride[d];
    dst += place(op.dst_list) * op.dst_stride[d];
  }
  return {&op, src, dst, bytes_from(offset, op.width)};
}

void run_item(const Launch& launch, long long item) {
  const Place at = place_of(launch, item);
  if (launch.reduction == replace && at.op->negated == 0)
    return copy_bytes(at.dst, at.src, at.bytes);
  alignas(chunk) char into[chunk], from[chunk];  // arrays may be unaligned
  copy_bytes(from, at.src, at.bytes);
  if (launch.reduction != replace) copy_bytes(into, at.dst, at.bytes);
  combine_bytes(into, from, at.bytes, at.op->scalar, launch.reduction, at.op->negated != 0);
  copy_bytes(at.dst, into, at.bytes);
}

}  // namespace
}  // namespace parhelion::device
