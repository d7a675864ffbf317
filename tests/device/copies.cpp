// For every program, the kernel's results are bitwise equal to the host's.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "parhelion/plan/executor.hpp"
#include "support/cases.hpp"
#include "support/random.hpp"
#include "support/slow_memory.hpp"

using namespace test;

namespace {

constexpr byte_count array_bytes = 6000;

struct Arrays {
  std::vector<std::shared_ptr<std::byte>> memory;
  std::vector<std::byte*> on_device;
  std::vector<std::vector<std::byte>> on_host;

  Arrays(std::size_t count, std::uint64_t key, Reduction reduction) {
    const bool computes = reduction.kind() == Reduction::sum || reduction.kind() == Reduction::prod;
    for (std::size_t i = 0; i < count; ++i) {
      memory.push_back(allocate_slow(array_bytes));
      std::byte* const bits = memory[i].get();
      write_bits(bits, array_bytes, mix(key, i));
      // Avoids NaN in reductions: its bits are machine-dependent.
      for (byte_count k = 0; computes && k < array_bytes; ++k) bits[k] &= std::byte{0xbf};
      on_host.emplace_back(memory[i].get(), memory[i].get() + array_bytes);
      on_device.push_back(as_slow(memory[i].get()));
    }
  }
  std::vector<std::byte*> host_bases() {
    std::vector<std::byte*> bases;
    for (auto& each : on_host) bases.push_back(each.data());
    return bases;
  }
};

// Checks that kernel and host give the same bytes.
void expect_alike(Program program, std::size_t bases, Reduction reduction, std::uint64_t key) {
  Arrays src(bases, mix(key, 1), reduction), dst(bases, mix(key, 2), reduction);
  reduce(program, src.host_bases().data(), dst.host_bases().data(), reduction);
  const auto executor = make_executor(MemorySpace::device, 1, src.on_device[0]);
  executor->compile(program);
  const auto queue = executor->make_queue();
  queue->enqueue(program, src.on_device.data(), dst.on_device.data(), reduction);
  queue->wait();
  for (std::size_t i = 0; i < bases; ++i)
    ASSERT_EQ(std::memcmp(dst.memory[i].get(), dst.on_host[i].data(), array_bytes), 0)
        << to_string(reduction);
}

// A random box in the arrays, aligned or not, with values of up to 16 bytes.
StridedOp random_box(Random& random, Scalar scalar, byte_count value) {
  StridedOp op;
  op.scalar = scalar;
  op.width = value * random.between(1, 5);
  op.dims = random.between(0, 3);
  op.negated = scalar != Scalar::bytes && random.chance(30);
  byte_count src = op.width + random.between(0, 3), dst = op.width + random.between(0, 3);
  for (int d = op.dims; d-- > 0;) {
    const auto at = static_cast<std::size_t>(d);
    op.count[at] = random.between(1, 3);
    op.src_stride[at] = src, op.dst_stride[at] = dst;
    src *= op.count[at], dst *= op.count[at];
    if (random.chance(30)) op.src += src - op.src_stride[at], op.src_stride[at] *= -1;
  }
  op.src += random.between(0, 40), op.dst += random.between(0, 40);
  return op;
}

IndexedOp random_list(
    Random& random, Scalar scalar, byte_count value, std::vector<std::vector<local_index>>& lists) {
  IndexedOp op;
  op.scalar = scalar;
  op.width = value * random.between(1, 2);
  op.count = random.between(1, 40);
  op.src = random.between(0, 40), op.dst = random.between(0, 40);
  op.src_stride = op.width + random.between(0, 9), op.dst_stride = op.width + random.between(0, 9);
  const auto list = [&](local_index most) {
    auto& added = lists.emplace_back();
    for (byte_count k = 0; k < op.count; ++k) added.push_back(random.between(0, most));
    return added.data();
  };
  if (random.chance(60)) op.src_list = list(90);
  op.dst_list = list(90);  // with repeated cells
  return op;
}

RunsOp random_runs(Random& random, Scalar scalar, byte_count value) {
  RunsOp op;
  op.scalar = scalar;
  byte_count src = random.between(0, 40), dst = random.between(0, 40);
  for (int runs = random.between(1, 12); runs > 0; --runs) {
    const byte_count bytes = value * random.between(1, 9);
    op.runs.add({src, dst, bytes});
    src += bytes + random.between(1, 9), dst += bytes + random.between(1, 9);
  }
  return op;
}

Program random_program(
    Random& random, Scalar scalar, std::vector<std::vector<local_index>>& lists) {
  const byte_count value = scalar == Scalar::bytes ? random.between(1, 16) : size_of(scalar);
  Program program;
  program.dependence = Dependence::destination;
  const int kind = random.between(0, 2);
  for (int ops = random.between(1, 3); ops > 0; --ops) {
    if (kind == 0) program.add(random_box(random, scalar, value));
    else if (kind == 1) program.add_plain(random_list(random, scalar, value, lists));
    else program.runs.push_back(random_runs(random, scalar, value));
  }
  return program;
}

#define PARHELION_KIND(name, ...) Reduction::name,
constexpr Reduction::Kind all_reductions[] = {PHL_REDUCTIONS(PARHELION_KIND)};

}  // namespace

CASE("boxes, lists and runs of all elements are copied and combined with the host's bits") {
  for_random_cases(200, [](Random& random) {
    for (int scalar = 0; scalar <= static_cast<int>(Scalar::complex128); ++scalar)
      for (const Reduction::Kind reduction : all_reductions) {
        const auto of = static_cast<Scalar>(scalar);
        if (!supports(reduction, of)) continue;
        std::vector<std::vector<local_index>> lists;
        lists.reserve(8);
        const Program program = random_program(random, of, lists);
        seed_slow_executors(random.next());
        expect_alike(program, 1, reduction, random.next());
      }
  });
}

CASE("a level of more arrays than a launch takes is made by several") {
  if (driver_against_us().launches == nullptr) return;
  Program program;
  const auto launches = [&] {
    const std::uint64_t before = driver_against_us().launches();
    expect_alike(program, 101, Reduction::replace, 7);
    return driver_against_us().launches() - before;
  };
  for (int i = 0; i < 100; ++i)
    program.add(StridedOp{.src_base = i, .dst_base = 99 - i, .src = i, .width = 100 + i});
  EXPECT_EQ(launches(), 4u);
  program.strided.insert(program.strided.begin(), {.dst_base = 100, .width = 8});
  EXPECT_EQ(launches(), 4u);  // an odd number of arrays
}

CASE("a program is one launch for each level") {
  if (driver_against_us().launches == nullptr) return;
  Program program;
  for (int i = 0; i < 20; ++i) program.add(StridedOp{.src = 200 * i, .dst = 200 * i, .width = 150});
  program.dependence = Dependence::chain;
  std::uint64_t before = driver_against_us().launches();
  expect_alike(program, 1, Reduction::replace, 8);
  EXPECT_EQ(driver_against_us().launches() - before, 1u);
  program.add(StridedOp{.src = 0, .dst = 100, .width = 10});
  before = driver_against_us().launches();
  expect_alike(program, 1, Reduction::replace, 9);
  EXPECT_EQ(driver_against_us().launches() - before, 2u);
}

CASE("the memory of a message may be given back while a copy uses it") {
  Arrays arrays(1, 10, Reduction::replace);
  const auto executor = make_executor(MemorySpace::device, 1, arrays.on_device[0]);
  Program program;
  program.add(StridedOp{.width = 100});
  executor->compile(program);
  const auto queue = executor->make_queue();
  for (int time = 0; time < 5; ++time) {
    auto message = executor->allocate(100);
    std::byte* const bases[1] = {message.get()};
    queue->enqueue(program, arrays.on_device.data(), bases);
    message.reset();
    queue->wait();
  }
}
