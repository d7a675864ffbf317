// Properties of every halo exchange on every domain.
#include <map>

#include "parhelion/core/sparse_exchange.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/meshes.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// Calls visit(name, domain, pattern, make) for structured and unstructured cases; make(turn,
// memory, elements) returns fields.
template <class Visit>
void for_each_domain(Visit&& visit) {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  for (const GridCase& each : grid_cases(ranks)) {
    const CartesianDomain domain(each.extents, each.options);
    CAPTURE(each.name);
    visit(domain, build_pattern(domain),
        [&](int turn, Memory memory, const std::vector<Element>& elements) {
          return make_fields(domain, 2, turn, memory, elements);
        });
  }
  for (const MeshCase& each : mesh_cases(ranks)) {
    const IndexedDomain domain = each.mesh.domain(each.self);
    CAPTURE(each.name);
    visit(domain, build_pattern(domain),
        [&](int turn, Memory memory, const std::vector<Element>& elements) {
          return make_fields(domain, each.mesh, 2, turn, memory, elements);
        });
  }
}

template <class FieldKind>
std::vector<std::byte> copy_of(const std::vector<FieldKind>& fields) {
  std::vector<std::byte> all;
  for (const auto& field : fields) {
    const auto bytes = field.copy();
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

std::vector<std::byte> packed(const std::vector<BoxPiece>& boxes, bool shifted) {
  Message message;
  for (const BoxPiece& piece : boxes) {
    const Box box = shifted ? translate(piece.cells, piece.shift) : piece.cells;
    message.append(box.lo.data(), box.lo.size());
    message.append(box.hi.data(), box.hi.size());
  }
  return message.bytes;
}

}  // namespace

CASE("what a rank sends is what its neighbor expects, box by box") {
  const Communicator comm(MPI_COMM_WORLD);
  for (const GridCase& each : grid_cases(comm.size())) {
    CAPTURE(each.name);
    const CartesianDomain domain(each.extents, each.options);
    for (const Stage& stage : build_pattern(domain).stages) {
      std::vector<Message> sent;
      for (const Link& link : stage)
        if (!link.send.empty()) sent.push_back({link.rank, packed(link.send.boxes, false)});
      std::map<int, std::vector<std::byte>> arrived;
      for (const Message& message : sparse_exchange(comm, std::move(sent)))
        arrived[message.rank] = message.bytes;
      std::size_t expected = 0;
      for (const Link& link : stage) {
        if (link.receive.empty()) continue;
        ++expected;
        EXPECT_EQ(arrived[link.rank], packed(link.receive.boxes, true));
      }
      EXPECT_EQ(arrived.size(), expected);
    }
  }
}

CASE("what a rank sends is what its neighbor expects, id by id") {
  const Communicator comm(MPI_COMM_WORLD);
  for (const MeshCase& each : mesh_cases(comm.size())) {
    CAPTURE(each.name);
    const IndexedDomain domain = each.mesh.domain(each.self);
    const Pattern pattern = build_pattern(domain);
    const auto ids = [&](const std::vector<local_index>& cells) {
      std::vector<global_index> result;
      for (local_index cell : cells) result.push_back(domain.global_of(cell));
      return result;
    };
    std::vector<Message> sent;
    for (const Link& link : pattern.stages[0]) {
      const auto mine = ids(link.send.cells);
      sent.push_back({link.rank, {}});
      sent.back().append(mine.data(), mine.size());
    }
    std::map<int, std::vector<global_index>> arrived;
    for (const Message& message : sparse_exchange(comm, std::move(sent)))
      arrived[message.rank] = message.values<global_index>();
    for (const Link& link : pattern.stages[0])
      EXPECT_EQ(arrived[link.rank], ids(link.receive.cells));
  }
}

CASE("the same bits come out over every transport and in every run, also of sums that round") {
  const std::vector<Element> rounding{
      {Scalar::float32, 4}, {Scalar::complex128, 16}, {Scalar::float64, 8}};
  int turn = 0;
  for_each_domain([&](const auto& domain, const Pattern& pattern, auto&& make) {
    static_cast<void>(domain);
    if (turn++ % 5 != 0) return;
    std::vector<std::byte> first;
    for (const Route& route : all_routes()) {
      CAPTURE(route.transport);
      auto fields = make(turn, route.memory, rounding);
      Exchange exchange(pattern, views(fields), {route.transport});
      for (int run = 0; run < 2; ++run) {
        for (auto& field : fields) field.fill(Values::rounded), field.fill_ghosts(Reduction::sum);
        exchange.reverse(Reduction::sum);
        exchange();
        if (first.empty()) first = copy_of(fields);
        EXPECT_EQ(first, copy_of(fields));
      }
    }
  });
}

namespace {

using Numbers = std::vector<std::uint64_t>;

Numbers read(const std::vector<std::byte*>& places) {
  Numbers numbers(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) std::memcpy(&numbers[i], places[i], 8);
  return numbers;
}

// Summed over ranks, modulo 2^64.
std::uint64_t dot(const Numbers& x, const Numbers& y) {
  std::uint64_t mine = 0, total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mine += x[i] * y[i];
  MPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, Communicator(MPI_COMM_WORLD).handle());
  return total;
}

}  // namespace

CASE("reverse is the transpose of forward: <forward x, y> = <x, reverse y>, exactly on integers") {
  int turn = 0;
  for_each_domain([&](const auto& domain, const Pattern& pattern, auto&& make) {
    static_cast<void>(domain);
    if (turn++ % 2 != 0) return;
    const Route route = route_for(turn);
    CAPTURE(route.transport);
    auto fields = make(turn, route.memory, {{Scalar::int64, 8}});
    auto& field = fields[0];
    Exchange exchange(pattern, {field.view()}, {route.transport});
    field.fill(Values::bits, 0);
    exchange();
    const Numbers x = read(field.owned_places()), x_ghosts = read(field.ghost_places());
    field.fill(Values::bits, 1);
    field.fill_ghosts(Reduction::sum);
    const Numbers y = read(field.owned_places()), y_ghosts = read(field.ghost_places());
    exchange.reverse();
    EXPECT_EQ(dot(x, y) + dot(x_ghosts, y_ghosts), dot(x, read(field.owned_places())));
  });
}
