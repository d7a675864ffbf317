// Every rank rejects fields that share cells, but not fields that merely share an array.
#include "parhelion/core/collective.hpp"
#include "parhelion/index_map/derive.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/world.hpp"

using namespace test;

namespace {

std::string complaint(const Pattern& pattern, const std::vector<Field>& fields) {
  const std::string text = error_of([&] { Exchange(pattern, fields, {"mpi"}); });
  agree(Communicator(MPI_COMM_WORLD));  // all ranks returned
  return text;
}

void check_shared(const std::string& text, const std::string& who) {
  CAPTURE(text);
  EXPECT_TRUE(holds(text, who));
  EXPECT_TRUE(holds(text, "share memory"));
}

// A field of `components` values, from component `first` on, of cells with 3 values.
Field part(const CartesianDomain& domain, double* cells, int first, int components) {
  Field field = view(domain, cells, {Order::c, 3});
  field.components = components;
  field.blocks[0].first += first * static_cast<byte_count>(sizeof(double));
  return field;
}

}  // namespace

CASE("one array twice is refused, though one rank alone does it") {
  const CartesianDomain domain(
      {6 * ranks(), 5}, {.halo = 1, .periodic = true, .process_grid = {ranks(), 1}});
  std::vector<double> a(200), b(200);
  const Pattern pattern = build_pattern(domain);
  check_shared(
      complaint(pattern, {view(domain, a.data()), view(domain, b.data()), view(domain, a.data())}),
      "field 0 and field 2");
  check_shared(
      complaint(pattern, {view(domain, a.data()), view(domain, last() ? a.data() : b.data())}),
      "field 0 and field 1");
  check_shared(complaint(pattern, {view(domain, a.data()), view(domain, a.data() + 30)}),
      "field 0 and field 1");
  check_shared(
      complaint(pattern, {view(domain, a.data()), view(domain, a.data() + 8, {.array_halo = 0})}),
      "field 0 and field 1");
  EXPECT_EQ(complaint(pattern, {view(domain, a.data()), view(domain, b.data())}), "");
}

CASE("strides that fold an array onto itself are refused") {
  const CartesianDomain domain({6, 5 * ranks()}, {.halo = 1, .process_grid = {1, ranks()}});
  std::vector<double> a(200);
  const Field good = view(domain, a.data());
  for (const byte_count stride : {byte_count{0}, byte_count{8}, byte_count{32}}) {
    Field field = good;
    if (last()) field.blocks[0].strides[0] = stride;
    check_shared(complaint(build_pattern(domain), {field}), "cells of field 0");
  }
}

CASE("components of one array may be fields of their own, and sums are right") {
  const CartesianDomain domain({6 * ranks()}, {.halo = 1, .periodic = true});
  std::vector<double> cells(24, 1.0);
  Exchange exchange(build_pattern(domain),
      {part(domain, cells.data(), 0, 1), part(domain, cells.data(), 1, 2)}, {"mpi"});
  exchange.reverse();
  EXPECT_EQ(cells[3], 2.0);
  EXPECT_EQ(cells[5], 2.0);
  EXPECT_EQ(cells[6], 1.0);
  check_shared(complaint(build_pattern(domain),
                   {part(domain, cells.data(), 0, 2), part(domain, cells.data(), 1, 2)}),
      "field 0 and field 1");
  check_shared(complaint(build_pattern(domain),
                   {part(domain, cells.data(), 0, 3), part(domain, cells.data(), 2, 1)}),
      "field 0 and field 1");
}

CASE("halos that no exchange fills may lie in other arrays' cells") {
  // A dimension with one rank that is not periodic: its rows have no halo in memory.
  const CartesianDomain domain(
      {4, 4 * ranks()}, {.halo = 1, .process_grid = {1, ranks()}, .neighbors = Neighbors::faces});
  std::vector<double> cells(12 * 6);
  Field upper = view(domain, cells.data()), lower = view(domain, cells.data() + 4 * 6);
  EXPECT_EQ(complaint(build_pattern(domain), {upper, lower}), "");
  const CartesianDomain periodic({4, 4 * ranks()},
      {.halo = 1, .periodic = true, .process_grid = {1, ranks()}, .neighbors = Neighbors::faces});
  check_shared(complaint(build_pattern(periodic), {upper, lower}), "field 0 and field 1");
}

CASE("blocks of one field are arrays of their own") {
  const CartesianDomain domain(
      {8, 4 * ranks()}, {.halo = 1, .process_grid = {1, ranks()}, .blocks_per_rank = {2, 1}});
  std::vector<double> cells(12 * 6);
  auto* bytes = reinterpret_cast<std::byte*>(cells.data());
  const auto with = [&](std::ptrdiff_t second) {
    return view_blocks(domain, {bytes, bytes + (last() ? second : 6 * 6 * 8)}, element_of<double>(),
        {.array_halo = 1});
  };
  EXPECT_EQ(complaint(build_pattern(domain), {with(6 * 6 * 8)}), "");
  check_shared(
      complaint(build_pattern(domain), {with(0)}), "block 0 of field 0 and block 1 of field 0");
  check_shared(complaint(build_pattern(domain), {with(4 * 6 * 8)}),
      "block 0 of field 0 and block 1 of field 0");
}

CASE("owned cells and ghosts of an index map do not share memory") {
  const int next = (rank() + 1) % ranks();
  const IndexedDomain domain(4, ranks() > 1 ? std::vector<global_index>{4 * next, 4 * next + 1}
                                            : std::vector<global_index>{});
  const Pattern pattern = build_pattern(domain);
  std::vector<double> x(40), y(40);
  EXPECT_EQ(complaint(pattern, {view(domain, x.data(), 2), view(domain, y.data(), 2)}), "");
  check_shared(complaint(pattern, {view(domain, x.data(), 2), view(domain, x.data(), 2)}),
      "the owned cells of field 0 and the owned cells of field 1");
  EXPECT_EQ(complaint(pattern, {view(domain, x.data(), x.data() + 4, 1),
                                   view(domain, x.data() + 20, x.data() + 28, 2)}),
      "");
  if (ranks() == 1) return;
  check_shared(complaint(pattern, {view(domain, x.data(), x.data() + 3, 1)}),
      "the owned cells of field 0 and the ghosts of field 0");
  check_shared(complaint(pattern, {view(domain, x.data(), y.data(), 1),
                                      view(domain, x.data() + 10, y.data() + 1, 1)}),
      "the ghosts of field 0 and the ghosts of field 1");
}

CASE("arrays that are not there share nothing") {
  std::vector<global_index> split(static_cast<std::size_t>(ranks()), 0);
  split.back() = 6;
  const CartesianDomain domain(
      {6}, {.halo = 1, .periodic = true, .process_grid = {ranks()}, .splits = {split}});
  std::vector<double> a(8), b(8);
  const Field first = view(domain, last() ? a.data() : nullptr),
              second = view(domain, last() ? b.data() : nullptr);
  EXPECT_EQ(complaint(build_pattern(domain), {first, second}), "");
  if (!last())
    EXPECT_EQ(
        complaint(build_pattern(domain), {view(domain, a.data()), view(domain, a.data())}), "");
  else
    EXPECT_EQ(
        complaint(build_pattern(domain), {view(domain, a.data()), view(domain, b.data())}), "");
  const IndexedDomain nothing(0, {});
  EXPECT_EQ(
      complaint(build_pattern(nothing), {view(nothing, a.data()), view(nothing, a.data())}), "");
}

CASE("arrays that an index map is called with do not share memory") {
  const int next = (rank() + 1) % ranks();
  IndexMap map(IndexedDomain(4, ranks() > 1 ? std::vector<global_index>{4 * next, 4 * next + 1}
                                            : std::vector<global_index>{}));
  std::vector<double> x(16), all(static_cast<std::size_t>(4 * ranks()));
  auto* bytes = reinterpret_cast<std::byte*>(x.data());
  const auto values = [&](std::ptrdiff_t ghosts, byte_count stride) {
    return CellValues{{bytes, stride}, {bytes + ghosts, stride}, element_of<double>(), 1};
  };
  map.forward(values(32, 8));
  map.forward(values(8, 16));  // interleaved rows
  if (ranks() > 1) {
    EXPECT_TRUE(holds(error_of([&] { map.forward(values(24, 8)); }), "share memory"));
    EXPECT_TRUE(
        holds(error_of([&] { map.reverse(values(0, 8), Reduction::sum); }), "share memory"));
  }
  auto* everything = reinterpret_cast<std::byte*>(all.data());
  const std::string text = error_of([&] {
    collate(map.domain(), 0, {everything, 8}, 4 * ranks(),
        {rank() == 0 ? everything + 8 * (4 * ranks() - 1) : bytes, 8}, 8);
  });
  EXPECT_TRUE(holds(text, "share memory"));
  agree(Communicator(MPI_COMM_WORLD));
}
