// Copies by several threads equal those by one.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "parhelion/core/error.hpp"
#include "parhelion/plan/executor.hpp"
#include "plan/copy_team.hpp"
#include "support/cases.hpp"

using namespace parhelion;

namespace {

constexpr byte_count most_bytes = 1 << 20;

// Result of a program on a zeroed array with `threads` threads.
std::vector<std::byte> copied(
    Program program, int threads, Dependence dependence = Dependence::none) {
  std::vector<std::byte> from(most_bytes), to(most_bytes);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
  program.dependence = dependence;
  const auto executor = make_executor(MemorySpace::host, threads);
  executor->compile(program);
  std::byte* const src[1] = {from.data()};
  std::byte* const dst[1] = {to.data()};
  executor->make_queue()->enqueue(program, src, dst);
  return to;
}

StridedOp box(byte_count width, std::array<byte_count, 3> count) {
  StridedOp op{.width = width, .dims = 3};
  byte_count src = width, dst = width + 8;  // gaps in the destination
  for (std::size_t d = 3; d-- > 0;) {
    op.count[d] = count[d];
    op.src_stride[d] = src;
    op.dst_stride[d] = dst;
    src *= count[d];
    dst *= count[d];
  }
  return op;
}

}  // namespace

CASE("boxes of every shape are copied alike by one thread and by several") {
  for (const StridedOp& op : {box(8, {3, 90, 100}), box(8, {200, 9, 10}), box(4, {1, 50000, 1}),
           box(200, {2, 2, 400}), box(150000, {1, 2, 1}), box(300001, {1, 1, 1})}) {
    Program program;
    program.add(op);
    ASSERT_GT(program.bytes(), (128 << 10));
    const auto expected = copied(program, 1);
    for (const int threads : {2, 3, 7}) EXPECT_EQ(copied(program, threads), expected);
    EXPECT_EQ(copied(program, 3, Dependence::chain), expected);
  }
}

CASE("index lists and runs are copied alike by one thread and by several") {
  constexpr local_index cells = 20011;
  std::vector<local_index> list(cells), rising(cells);
  for (local_index i = 0; i < cells; ++i) list[static_cast<std::size_t>(i)] = (i * 7919) % cells;
  std::iota(rising.begin(), rising.end(), 0);
  for (int kind = 0; kind < 3; ++kind) {
    Program program;
    IndexedOp op{.width = 16, .count = cells, .src_stride = 16, .dst_stride = 16};
    (kind == 0 ? op.src_list : op.dst_list) = list.data();
    if (kind == 2)
      op = {.width = 16,
          .count = cells,
          .src_stride = 24,
          .dst_stride = 32,
          .dst_list = rising.data()};
    program.add(op);
    RunsOp runs;
    for (byte_count i = 0; i < 40; ++i)
      runs.runs.add({700000 + i * 3000, 690000 + i * 2100, 100 + i * 50});
    program.runs.push_back(runs);
    const auto expected = copied(program, 1);
    for (const int threads : {2, 5}) EXPECT_EQ(copied(program, threads), expected);
  }
}

CASE("copies that depend on those before them are made in turn") {
  // As with periodic copies: the second op reads results of the first, also by other threads.
  Program program;
  program.add(StridedOp{.src = 0, .dst = 200000, .width = 200000});
  program.add(StridedOp{.src = 300000, .dst = 600000, .width = 100000});
  std::vector<std::byte> values(most_bytes);
  for (std::size_t i = 0; i < 200000; ++i) values[i] = static_cast<std::byte>(i * 13 + 1);
  program.dependence = Dependence::chain;
  const auto executor = make_executor(MemorySpace::host, 4);
  executor->compile(program);
  std::byte* const base[1] = {values.data()};
  for (int time = 0; time < 50; ++time) {
    std::fill(values.begin() + 200000, values.end(), std::byte{0});
    executor->make_queue()->enqueue(program, base, base);
    ASSERT_TRUE(
        std::equal(values.begin() + 100000, values.begin() + 200000, values.begin() + 600000));
  }
}

CASE("numbers of threads that make no sense are refused") {
  for (const int threads : {0, -1, 100000})
    EXPECT_THROW(static_cast<void>(copy_team(threads)), Error);
  EXPECT_EQ(copy_team(1), nullptr);
  EXPECT_EQ(copy_team(2), copy_team(2));
}
