// Index maps, called with several arrays of mixed types and layouts, different per call and rank.
#include <sys/resource.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "parhelion/core/sparse_exchange.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/meshes.hpp"
#include "support/random.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

const Element mixed[] = {{Scalar::float64, 8}, {Scalar::int32, 4}, {Scalar::bytes, 5},
    {Scalar::complex64, 8}, {Scalar::uint8, 1}};
const Element numbers[] = {{Scalar::int64, 8}, {Scalar::float32, 4}, {Scalar::int32, 4}};

// Elements and components agree on all ranks; the layout differs by rank and call.
template <std::size_t Count>
std::vector<CellField> some_arrays(const IndexedDomain& domain, const Mesh& mesh,
    const Element (&elements)[Count], int count, int turn, Random& own) {
  std::vector<CellField> arrays;
  for (int f = 0; f < count; ++f) {
    const CellSpec spec{elements[static_cast<std::size_t>(turn + f) % Count], 1 + (turn + f) % 3,
        own.chance(50) ? CellLayout::joined : CellLayout::apart};
    arrays.emplace_back(
        domain, mesh, spec, turn * 8 + f, own.chance(50) ? Memory::node_shared : Memory::ordinary);
  }
  return arrays;
}

std::vector<CellValues> values_of(const std::vector<CellField>& arrays) {
  std::vector<CellValues> values;
  for (const CellField& array : arrays) values.emplace_back(array.view());
  return values;
}

void flip(const std::vector<std::byte*>& places, byte_count size) {
  for (std::byte* place : places)
    for (byte_count k = 0; k < size; ++k) place[k] ^= std::byte{0xFF};
}

void flip_owned(std::vector<CellField>& arrays) {
  for (CellField& array : arrays) flip(array.owned_places(), array.view().element.size);
}

void flip_ghosts(std::vector<CellField>& arrays) {
  for (CellField& array : arrays) flip(array.ghost_places(), array.view().element.size);
}

void check_all(const std::vector<CellField>& arrays) {
  for (const CellField& array : arrays) {
    EXPECT_EQ(array.difference(), "");
    EXPECT_TRUE(array.canaries_intact());
  }
}

// Between begin and end, owned values change and ghosts must not.
void forward(const IndexMap& map, std::vector<CellField>& arrays, int round, bool in_halves) {
  for (CellField& array : arrays) array.fill(Values::bits, round), array.expect_forward();
  const auto values = values_of(arrays);
  if (!in_halves) {
    map.forward(values);
    return check_all(arrays);
  }
  std::vector<std::vector<std::byte>> before;
  map.begin_forward(values);
  flip_owned(arrays);
  for (const CellField& array : arrays) before.push_back(array.copy());
  MPI_Barrier(MPI_COMM_WORLD);  // all ranks have sent
  for (std::size_t f = 0; f < arrays.size(); ++f) EXPECT_EQ(arrays[f].copy(), before[f]);
  map.end(values);
  flip_owned(arrays);
  check_all(arrays);
}

// Waits for a late rank in another exchange, which progresses the pending ones.
void wait_elsewhere(int late) {
  const Communicator comm(MPI_COMM_WORLD);
  const IndexMap other(
      IndexedDomain(1, {(comm.rank() + 1) % comm.size()}, comm, SelfGhosts::allowed), {"mpi"});
  for (int turn = 0; turn < 2; ++turn) {  // the first call performs the set-up
    std::vector<int> x{comm.rank(), -1};
    if (comm.rank() == late % comm.size())
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    other.forward({x});
  }
}

// Changes ghosts between begin and end; owned values are valid only just before end.
void reverse(const IndexMap& map, std::vector<CellField>& arrays, Reduction reduction, int round,
    bool in_halves) {
  for (CellField& array : arrays)
    array.fill(Values::whole, round), array.fill_ghosts(reduction), array.expect_reverse(reduction);
  const auto values = values_of(arrays);
  if (in_halves) {
    flip_owned(arrays);
    map.begin_reverse(values, reduction);
    flip_ghosts(arrays);
    MPI_Barrier(MPI_COMM_WORLD);
    wait_elsewhere(round);
    flip_owned(arrays);
    map.end(values);
    flip_ghosts(arrays);
  } else {
    map.reverse(values, reduction);
  }
  check_all(arrays);
}

}  // namespace

CASE(
    "over every transport, a map fills several arrays of mixed types at each call, and gives back "
    "what their ghosts hold") {
  const Communicator comm(MPI_COMM_WORLD);
  int turn = 0;
  for (const MeshCase& each : mesh_cases(comm.size())) {
    CAPTURE(each.name);
    const IndexedDomain domain = each.mesh.domain(each.self);
    for (const Route& route : routes_for(turn, 1)) {
      if (turn % 3 != 0 || !takes_any_array(route))
        continue;  // the XPMEM stand-in maps no other memory
      CAPTURE(route.transport);
      const IndexMap map(domain, {route.transport});
      Random own(mix(static_cast<std::uint64_t>(turn), static_cast<std::uint64_t>(comm.rank())));
      for (int round = 0; round < 6; ++round) {
        auto moved = some_arrays(domain, each.mesh, mixed, 1 + turn % 4, turn, own);
        auto summed = some_arrays(domain, each.mesh, numbers, 1 + turn % 3, turn, own);
        forward(map, moved, round, round % 3 == 1);
        reverse(
            map, summed, round % 2 == 0 ? Reduction::sum : Reduction::max, round, round % 3 == 2);
      }
      EXPECT_TRUE(!map.under_way());
      const auto arrays = some_arrays(domain, each.mesh, mixed, 1 + turn % 4, turn, own);
      const int messages =
          static_cast<int>(neighbor_ranks(map.pattern()).size());  // one per direction
      EXPECT_LE(map.exchange(values_of(arrays))->plan().messages_sent(), messages);
    }
    ++turn;
  }
}

CASE(
    "a rank that has begun may wait for what another sends after its whole call, from the first "
    "call on") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  const int next = (comm.rank() + 1) % comm.size();
  for (const Route& route : all_routes()) {
    if (!takes_any_array(route)) continue;
    CAPTURE(route.transport);
    const IndexMap map(IndexedDomain(1, {next}), {route.transport});
    for (int round = 0; round < 3; ++round) {
      std::vector<double> x{comm.rank() + 0.25 * round, -1};
      int word = round;
      if (comm.rank() == 0) {
        map.begin_forward({x});
        MPI_Recv(&word, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        map.end({x});
      } else {
        map.forward({x});
        if (comm.rank() == 1) MPI_Send(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
      }
      EXPECT_EQ(x[1], next + 0.25 * round);
    }
  }
}

CASE("after it is prepared, the first exchange or sum of arrays waits for nobody but neighbors") {
  const Communicator comm(MPI_COMM_WORLD);
  const bool reads = comm.rank() == 0 && comm.size() > 1;
  std::vector<global_index> ghosts(reads ? 1 : 0, 2);  // owned by rank 1
  for (const Route& route : all_routes()) {
    if (!takes_any_array(route)) continue;
    CAPTURE(route.transport);
    const IndexMap map(IndexedDomain(2, ghosts, comm), {route.transport});
    std::vector<double> x(static_cast<std::size_t>(map.size()), comm.rank() + 1);
    std::vector<int> pairs(2 * x.size(), 1);
    map.prepare({x, {pairs, 2}});
    map.prepare_shared({x});
    map.prepare({x, {pairs, 2}});  // already prepared: no operation
    if (comm.rank() < 2) {
      map.forward({x, {pairs, 2}});
      map.reverse({x, {pairs, 2}}, Reduction::sum);
      map.sum_shared({x});
      EXPECT_EQ(x.back(), reads ? 6 : comm.rank() + 1);
      EXPECT_EQ(x.front(), comm.rank() == 1 ? 6 : comm.rank() + 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

CASE("pointers, vectors and views are arrays of a map, and vectors tell their size") {
  const Communicator comm(MPI_COMM_WORLD);
  const global_index next = (comm.rank() + 1) % comm.size();
  const IndexMap map = IndexMap::pull(2, {2 * next, 2 * next + 1});
  const auto first = static_cast<double>(2 * comm.rank()), there = static_cast<double>(2 * next);
  for (int round = 0; round < 3; ++round) {
    std::vector<double> a{first, first + 1, -1, -1};
    std::vector<int> b{1, 2, 3, 4, 0, 0, 0, 0};
    std::vector<float> c{5, 6}, d(2);
    std::vector<std::int64_t> e{2 * comm.rank(), 2 * comm.rank() + 1, 0, 0};
    for (int& value : b) value *= comm.rank() + 1;
    map.forward({a, {b, 2}, {c.data(), d.data()}, view(map.domain(), e.data())});
    EXPECT_EQ(a, (std::vector<double>{first, first + 1, there, there + 1}));
    EXPECT_EQ(b[7], 4 * (static_cast<int>(next) + 1));
    EXPECT_EQ(d, c);
    EXPECT_EQ(e[3], 2 * next + 1);
  }
  std::vector<double> few(3);
  EXPECT_TRUE(holds(error_of([&] { map.forward({few}); }), "3 elements"));
  std::vector<double> none;
  EXPECT_TRUE(holds(error_of([&] { map.forward({none}); }), "0 elements"));
  EXPECT_TRUE(
      holds(error_of([&] { map.forward({static_cast<double*>(nullptr)}); }), "null pointer"));
  EXPECT_TRUE(
      holds(error_of([&] { IndexMap(map.domain(), {"pigeon"}); }), "no transport 'pigeon'"));
  EXPECT_TRUE(holds(error_of([&] { map.forward({}); }), "no arrays"));
  std::vector<double> twice(4);
  EXPECT_TRUE(holds(error_of([&] { map.forward({twice, twice}); }), "share memory"));
  EXPECT_TRUE(holds(error_of([&] { map.end({twice}); }), "under way"));
}

CASE(
    "where one rank has no memory for a map's exchange, every rank is told, and later calls "
    "succeed") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  const global_index next = (comm.rank() + 1) % comm.size();
  constexpr local_index cells = 20000;  // above the limit of the small-array path
  std::vector<global_index> ghosts(cells);
  std::iota(ghosts.begin(), ghosts.end(), next * cells);
  const IndexMap map = IndexMap::pull(cells, ghosts, comm);
  std::vector<double> x(2 * cells, comm.rank());
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  if (comm.rank() == comm.size() - 1) setrlimit(RLIMIT_NOFILE, &none);
  const std::string told = error_of([&] { map.forward({x}); });
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(holds(told, "rank " + std::to_string(comm.size() - 1)));
  EXPECT_TRUE(holds(told, "node-shared memory"));
  map.forward({x});
  EXPECT_EQ(x.back(), static_cast<double>(next));
}

CASE("a message that goes in several chunks arrives as one, and so do several for one rank") {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr std::size_t message = 7;
  std::vector<Message> sent;
  const auto letter = [](int from, int to, std::size_t bytes) {
    std::vector<std::byte> all(bytes);
    const auto key = static_cast<std::uint64_t>(from * 1000 + to);
    for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<std::byte>(mix(key, i));
    return all;
  };
  for (int to = 0; to < comm.size(); ++to)
    for (std::size_t bytes : {0, 6, 7, 8, 14, 100})
      sent.push_back({to, letter(comm.rank(), to, bytes)});
  const auto arrived = sparse_exchange(comm, sent, message);
  ASSERT_EQ(arrived.size(), sent.size());
  std::size_t i = 0;
  for (int from = 0; from < comm.size(); ++from)
    for (std::size_t bytes : {0, 6, 7, 8, 14, 100}) {
      EXPECT_EQ(arrived[i].rank, from);
      bool found = false;  // order within one rank is unspecified
      for (std::size_t k = 6 * static_cast<std::size_t>(from);
          k < 6 * static_cast<std::size_t>(from) + 6; ++k)
        found = found || arrived[k].bytes == letter(from, comm.rank(), bytes);
      EXPECT_TRUE(found);
      ++i;
    }
  RepeatedExchange exchange(comm);
  const auto length = [](int from, int to) { return static_cast<std::size_t>(from + 6 * to); };
  for (int round = 0; round < 2; ++round) {
    exchange.outgoing().parts.clear();
    for (int to = 0; to < comm.size(); ++to)
      std::ranges::copy(letter(comm.rank(), to, length(comm.rank(), to)),
          exchange.outgoing().add(to, length(comm.rank(), to)));
    EXPECT_TRUE(collectively(comm, "a test", [&] { return exchange.run(1, message); }));
    ASSERT_EQ(exchange.received().size(), static_cast<std::size_t>(comm.size()));
    for (int from = 0; from < comm.size(); ++from) {
      const auto& part = exchange.received()[static_cast<std::size_t>(from)];
      const auto expected = letter(from, comm.rank(), length(from, comm.rank()));
      EXPECT_EQ(part.rank, from);
      ASSERT_EQ(part.bytes, expected.size());
      EXPECT_TRUE(std::ranges::equal(expected, std::span(exchange.bytes_of(part), part.bytes)));
    }
  }
}
