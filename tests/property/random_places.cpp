// Random index maps over existing arrays, from masks and from neighbor lists, compared with a
// serial model.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <set>

#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/random.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

const Communicator& world() {
  static const Communicator comm(MPI_COMM_WORLD);
  return comm;
}

// Distinct numbers below `limit`.
std::vector<local_index> some_places(Random& own, std::size_t count, local_index limit) {
  std::vector<local_index> all(static_cast<std::size_t>(limit));
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + own.next() % (all.size() - i)]);
  all.resize(count);
  return all;
}

// Random extents of this rank's arrays, and the position of the component dimension.
Places random_extents(Random& own, std::size_t cells) {
  Places places;
  if (own.chance(30)) return places;
  for (int d = own.between(1, 3); d > 0; --d) places.extents.push_back(own.between(1, 5));
  global_index product = 1;
  for (const global_index extent : places.extents) product *= extent;
  places.extents.back() *= (static_cast<global_index>(cells) + product) / product;
  if (cells == 0 && own.chance(50)) places.extents.back() = 0;
  places.components_at = own.between(0, static_cast<int>(places.extents.size()));
  return places;
}

local_index cells_of(const Places& places, std::size_t least) {
  if (places.extents.empty()) return static_cast<local_index>(least) + 3;
  return static_cast<local_index>(std::accumulate(
      places.extents.begin(), places.extents.end(), global_index{1}, std::multiplies<>()));
}

// An array with these places: any order of dimensions, gaps, negative strides.
class AnyArray {
 public:
  AnyArray(Random& own, const Places& places, local_index cells, Element element, int components,
      Memory memory)
      : element_(element), extents_(places.extents), bytes_(0, Memory::ordinary) {
    if (extents_.empty()) extents_ = {cells};
    shape_.element = element;
    shape_.rank = extents_.size() + (components > 1 || own.chance(30) ? 1 : 0);
    component_ = shape_.rank > extents_.size() ? static_cast<std::size_t>(places.components_at)
                                               : shape_.rank;
    std::vector<std::size_t> order(shape_.rank);
    for (std::size_t d = 0, cell = 0; d < shape_.rank; ++d) {
      order[d] = d;
      shape_.extents[d] = d == component_ ? components : extents_[cell++];
    }
    if (own.chance(40)) std::swap(order[own.next() % order.size()], order[0]);
    byte_count bytes = element.size, start = 0;
    for (const std::size_t d : order) {
      shape_.strides[d] = bytes;
      bytes *= shape_.extents[d];
      if (own.chance(25)) bytes += element.size * own.between(1, 3);
      if (own.chance(15)) {
        start += (shape_.extents[d] - 1) * shape_.strides[d];
        shape_.strides[d] *= -1;
      }
    }
    bytes_ = WatchedBytes(bytes, memory);
    shape_.first = bytes_.data() + start;
  }
  // Owned cells, then ghosts, optionally padded.
  AnyArray(Random& own, local_index cells, Element element, int components, Memory memory)
      : element_(element), extents_{cells}, component_(0), bytes_(0, Memory::ordinary) {
    shape_.element = element;
    shape_.rank = 2;
    shape_.extents[0] = components, shape_.extents[1] = cells;
    shape_.strides[0] = element.size;
    shape_.strides[1] = element.size * (components + (own.chance(30) ? own.between(1, 3) : 0));
    bytes_ = WatchedBytes(cells * shape_.strides[1], memory);
    shape_.first = bytes_.data();
  }
  std::byte* at(local_index place, int component) const {
    std::byte* address = shape_.first;
    std::size_t cell = 0;
    for (std::size_t d = 0; d < shape_.rank; ++d) {
      if (d == component_) {
        address += component * shape_.strides[d];
        continue;
      }
      const auto extent = static_cast<local_index>(extents_[cell++]);
      address += place % extent * shape_.strides[d];
      place /= extent;
    }
    return address;
  }
  void write(local_index place, int component, std::uint64_t key, Values values) {
    write_value(at(place, component), element_, key, values);
  }
  void expect(local_index place, int component, std::uint64_t key, Values values) {
    write_value(expected(place, component), element_, key, values);
  }
  std::byte* expected(local_index place, int component) {
    return bytes_.expected(at(place, component));
  }
  CellValues values(const IndexMap& map) const {
    if (map.places()) return values_in(*map.places(), shape_);
    return {{shape_.first, shape_.strides[1]}, {}, element_, static_cast<int>(shape_.extents[0])};
  }
  WatchedBytes& bytes() { return bytes_; }
  Element element() const { return element_; }

 private:
  Element element_;
  std::vector<global_index> extents_;
  ArrayShape shape_;
  std::size_t component_;
  WatchedBytes bytes_;
};

const std::vector<Element> summed{
    {Scalar::int64, 8}, {Scalar::float64, 8}, {Scalar::int32, 4}, {Scalar::complex64, 8}};

// Owner and ghosts of each point, known to every rank.
struct Ownership {
  std::vector<int> owner;
  std::vector<std::vector<global_index>> owned, ghosts;  // per rank
  std::vector<std::vector<char>> counting;               // per rank and ghost

  explicit Ownership(Random& random) {
    const int ranks = world().size(), points = random.between(1, 50);
    owned.resize(ranks), ghosts.resize(ranks);
    for (int p = 0; p < points; ++p) {
      owner.push_back(random.between(0, ranks - 1));
      owned[owner.back()].push_back(p);
    }
    for (auto& list : ghosts)
      for (int k = random.chance(15) ? 0 : random.between(0, 30); k > 0; --k)
        list.push_back(random.between(0, points - 1));
    for (const auto& list : ghosts) counting.emplace_back(list.size(), true);
  }
  void mask(Random& random) {
    for (auto& list : counting) {
      const int share = random.pick(std::vector<int>{0, 5, 50, 95, 100});
      for (char& counts : list) counts = random.chance(share);
    }
  }
};

std::uint64_t key_of(std::uint64_t salt, int rank, std::size_t cell, int component) {
  return mix(salt, static_cast<std::uint64_t>(rank), cell, static_cast<std::uint64_t>(component));
}

// Local cells of a rank (owned, then ghosts) and their values.
struct Model {
  const Ownership& of;
  std::uint64_t salt;

  std::uint64_t owner_key(global_index point, int component) const {
    const int rank = of.owner[static_cast<std::size_t>(point)];
    const auto& list = of.owned[rank];
    const auto cell = std::find(list.begin(), list.end(), point) - list.begin();
    return key_of(salt, rank, static_cast<std::size_t>(cell), component);
  }
  void fill(AnyArray& array, const Places& places, int components) const {
    const int rank = world().rank();
    array.bytes().wipe();
    for (int c = 0; c < components; ++c) {
      for (std::size_t i = 0; i < places.owned.size(); ++i)
        array.write(places.owned[i], c, key_of(salt, rank, i, c), Values::whole);
      for (std::size_t i = 0; i < places.ghosts.size(); ++i)
        array.write(
            places.ghosts[i], c, key_of(salt, rank, places.owned.size() + i, c), Values::whole);
    }
    array.bytes().expect_as_is();
  }
  void expect_forward(AnyArray& array, const Places& places, int components) const {
    for (std::size_t i = 0; i < places.ghosts.size(); ++i)
      for (int c = 0; of.counting[world().rank()][i] && c < components; ++c)
        array.expect(
            places.ghosts[i], c, owner_key(of.ghosts[world().rank()][i], c), Values::whole);
  }
  void expect_sum(AnyArray& array, const Places& places, int components) const {
    std::vector<std::byte> value(static_cast<std::size_t>(array.element().size));
    const auto& mine = of.owned[world().rank()];
    for (int rank = 0; rank < world().size(); ++rank)
      for (std::size_t i = 0; i < of.ghosts[rank].size(); ++i) {
        const auto found = std::find(mine.begin(), mine.end(), of.ghosts[rank][i]);
        for (int c = 0; found != mine.end() && of.counting[rank][i] && c < components; ++c) {
          write_value(value.data(), array.element(),
              key_of(salt, rank, of.owned[rank].size() + i, c), Values::whole);
          combine_value(
              array.expected(places.owned[static_cast<std::size_t>(found - mine.begin())], c),
              value.data(), array.element(), Reduction::sum);
        }
      }
  }
};

void check(std::vector<AnyArray>& arrays) {
  for (AnyArray& array : arrays) EXPECT_TRUE(array.bytes().as_expected());
}

// Splits `all` into the places of owned cells, which come first, and of ghosts.
void put(Places& places, const std::vector<local_index>& all, std::size_t owned) {
  const auto ghosts = all.begin() + static_cast<std::ptrdiff_t>(owned);
  places.owned.assign(all.begin(), ghosts);
  places.ghosts.assign(ghosts, all.end());
}

// Fills the array, and sets the values expected after the exchange.
CellValues filled(AnyArray& array, const Model& model, const Places& places, int components,
    bool forward, const IndexMap& map) {
  model.fill(array, places, components);
  forward ? model.expect_forward(array, places, components)
          : model.expect_sum(array, places, components);
  return array.values(map);
}

}  // namespace

CASE("random places: ghosts and owned cells anywhere in arrays of any strides are right") {
  for_random_cases(affordable(60), [](Random& random) {
    Random own(mix(random.next(), static_cast<std::uint64_t>(world().rank())));
    const Ownership of(random);
    const auto& owned = of.owned[world().rank()];
    const auto& ghosts = of.ghosts[world().rank()];
    Places places = random_extents(own, owned.size() + ghosts.size());
    const local_index cells = cells_of(places, owned.size() + ghosts.size());
    auto all = some_places(own, owned.size() + ghosts.size(), cells);
    put(places, all, owned.size());
    const Route route = random.pick(all_routes());
    if (!takes_any_array(route)) return;
    CAPTURE(route.transport);
    const IndexMap map =
        IndexMap(IndexedDomain::with_owned_ids(owned, ghosts, world(), SelfGhosts::allowed),
            {route.transport})
            .placed(places);
    const int count = random.between(1, 3);
    std::vector<int> components;
    std::vector<Element> elements;
    for (int f = 0; f < count; ++f)
      components.push_back(random.between(1, 4)), elements.push_back(random.pick(summed));
    std::vector<AnyArray> arrays;
    const bool prepared = random.chance(30);
    for (int round = 0; round < 6; ++round) {
      CAPTURE(round);
      const bool forward = random.chance(50), halves = random.chance(40);
      if (round == 0 || own.chance(40)) {
        arrays.clear();
        for (int f = 0; f < count; ++f)
          arrays.emplace_back(own, places, cells, elements[f], components[f],
              own.chance(60) ? Memory::node_shared : Memory::ordinary);
      }
      std::vector<CellValues> values;
      for (int f = 0; f < count; ++f)
        values.push_back(
            filled(arrays[f], Model{of, random.next()}, places, components[f], forward, map));
      if (round == 0 && prepared) map.prepare(values);
      if (forward && !halves) map.forward(values);
      else if (!halves) map.reverse(values, Reduction::sum);
      else if (forward) map.begin_forward(values), map.end(values);
      else map.begin_reverse(values, Reduction::sum), map.end(values);
      check(arrays);
    }
  });
}

CASE("random masks: ghosts that count get and give values, all others are left alone") {
  for_random_cases(affordable(60), [](Random& random) {
    Random own(mix(random.next(), static_cast<std::uint64_t>(world().rank())));
    Ownership of(random);
    const auto& owned = of.owned[world().rank()];
    const auto& ghosts = of.ghosts[world().rank()];
    const bool placed = random.chance(50);
    Places places = placed ? random_extents(own, owned.size() + ghosts.size()) : Places{};
    const auto size = static_cast<local_index>(owned.size() + ghosts.size());
    const local_index cells = placed ? cells_of(places, owned.size() + ghosts.size()) : size;
    std::vector<local_index> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    if (placed) all = some_places(own, all.size(), cells);
    put(places, all, owned.size());
    const auto memory = [&] { return own.chance(60) ? Memory::node_shared : Memory::ordinary; };
    const auto array = [&](Element element, int components) {
      return placed ? AnyArray(own, places, cells, element, components, memory())
                    : AnyArray(own, cells, element, components, memory());
    };
    IndexMap map(IndexedDomain::with_owned_ids(owned, ghosts, world(), SelfGhosts::allowed));
    if (placed) map = map.placed(places);
    const Element kind = random.pick(std::vector<Element>{
        {Scalar::uint8, 1}, {Scalar::int16, 2}, {Scalar::bytes, 4}, {Scalar::int64, 8}});
    std::optional<AnyArray> mask;
    const auto masked = [&] {
      if (!mask || own.chance(30)) mask.emplace(array(kind, 1));
      of.mask(random);
      for (const local_index place : places.owned)
        std::memset(mask->at(place, 0), own.between(0, 1), 1);
      for (std::size_t i = 0; i < places.ghosts.size(); ++i) {
        std::byte* const number = mask->at(places.ghosts[i], 0);
        std::memset(number, 0, static_cast<std::size_t>(kind.size));
        if (of.counting[world().rank()][i]) number[own.between(0, kind.size - 1)] = std::byte{16};
      }
      return mask->values(map);
    };
    const IndexMap subset = map.only(masked());
    const int count = random.between(1, 3);
    std::vector<int> components;
    std::vector<Element> elements;
    for (int f = 0; f < count; ++f)
      components.push_back(random.between(1, 4)), elements.push_back(random.pick(summed));
    std::vector<AnyArray> arrays;
    for (int round = 0; round < 8; ++round) {
      CAPTURE(round);
      const bool forward = random.chance(50), halves = random.chance(50);
      if (round > 0 && random.chance(50)) subset.update(masked());
      if (random.chance(10)) {  // leaves the mask as it is
        for (const local_index place : places.ghosts) std::memset(mask->at(place, 0), 1, 1);
        const auto read = [&]() -> CellValues {
          if (world().rank() == world().size() - 1) throw Error("no mask");
          return mask->values(map);
        };
        EXPECT_TRUE(holds(error_of([&] { subset.update(read); }), "no mask"));
      }
      if (round == 0 || own.chance(40)) {
        arrays.clear();
        for (int f = 0; f < count; ++f) arrays.push_back(array(elements[f], components[f]));
      }
      std::vector<CellValues> values;
      for (int f = 0; f < count; ++f)
        values.push_back(
            filled(arrays[f], Model{of, random.next()}, places, components[f], forward, map));
      if (round == 0 && random.chance(30)) subset.prepare(values);
      const std::vector<CellValues> rest(values.begin() + 1, values.end());
      if (halves && count > 1)
        values.erase(values.begin() + 1, values.end());  // two pending exchanges
      if (!halves) {
        forward ? subset.forward(values) : subset.reverse(values, Reduction::sum);
      } else {
        const auto begin = [&](const std::vector<CellValues>& some) {
          if (some.empty()) return;
          forward ? subset.begin_forward(some) : subset.begin_reverse(some, Reduction::sum);
        };
        const auto end = [&](const std::vector<CellValues>& some) {
          if (some.empty()) return;
          subset.end(some);
        };
        begin(values), begin(rest), end(rest), end(values);
      }
      check(arrays);
    }
  });
}

CASE("random lists of shared points: owners are the lowest holders, and all holders get the sum") {
  for_random_cases(affordable(60), [](Random& random) {
    Random own(mix(random.next(), static_cast<std::uint64_t>(world().rank())));
    const int ranks = world().size(), points = random.between(0, 40);
    std::vector<std::vector<int>> holders(points);  // ascending
    std::vector<std::vector<std::vector<int>>> lists(
        ranks, std::vector<std::vector<int>>(ranks));  // points of each pair of ranks
    for (int p = 0; p < points; ++p) {
      std::set<int> some;
      for (int k = random.between(2, 4); k > 0; --k) some.insert(random.between(0, ranks - 1));
      holders[p].assign(some.begin(), some.end());
      std::vector<int> order = holders[p];
      for (std::size_t k = 1; k < order.size(); ++k)
        std::swap(order[k], order[random.next() % (k + 1)]);
      for (std::size_t k = 1; k < order.size(); ++k)  // a tree, sometimes with extra pairs
        for (std::size_t j = 0; j < k; ++j)
          if (j == k - 1 || random.chance(30))
            lists[order[k]][order[j]].push_back(p), lists[order[j]][order[k]].push_back(p);
    }
    std::vector<int> mine;
    for (int p = 0; p < points; ++p)
      if (holders[p].size() > 1 && std::ranges::count(holders[p], world().rank()) > 0)
        mine.push_back(p);
    const Places extents = random_extents(own, mine.size());
    const local_index cells = cells_of(extents, mine.size());
    const auto places = some_places(own, mine.size(), cells);
    const auto place_of = [&](int point) {
      return places[static_cast<std::size_t>(std::ranges::find(mine, point) - mine.begin())];
    };
    std::vector<NeighborCells> shared;
    for (int rank = 0; rank < ranks; ++rank) {
      if (lists[world().rank()][rank].empty() && own.chance(50)) continue;
      if (rank == world().rank()) continue;
      shared.push_back({rank, {}});
      for (const int point : lists[world().rank()][rank])
        shared.back().cells.push_back(place_of(point));
    }
    const Route route = random.pick(all_routes());
    if (!takes_any_array(route)) return;
    CAPTURE(route.transport);
    const IndexMap map = IndexMap::from_neighbor_lists(shared, world(), extents, {route.transport});
    std::set<local_index> owned;
    for (const int point : mine)
      if (holders[point].front() == world().rank()) owned.insert(place_of(point));
    EXPECT_EQ(std::set<local_index>(map.places()->owned.begin(), map.places()->owned.end()), owned);
    EXPECT_EQ(static_cast<std::size_t>(map.size()), mine.size());
    const int count = random.between(1, 2);
    std::vector<int> components;
    std::vector<Element> elements;
    for (int f = 0; f < count; ++f)
      components.push_back(random.between(1, 3)), elements.push_back(random.pick(summed));
    for (int round = 0; round < 4; ++round) {
      CAPTURE(round);
      const bool sums = random.chance(70);
      std::vector<AnyArray> arrays;
      std::vector<CellValues> values;
      for (int f = 0; f < count; ++f) {
        AnyArray& array = arrays.emplace_back(own, extents, cells, elements[f], components[f],
            own.chance(50) ? Memory::node_shared : Memory::ordinary);
        const std::uint64_t salt = random.next();
        std::vector<std::byte> value(static_cast<std::size_t>(elements[f].size));
        const auto key = [&](int point, int rank, int c) {
          return key_of(salt, rank, static_cast<std::size_t>(point), c);
        };
        for (const int point : mine)
          for (int c = 0; c < components[f]; ++c)
            array.write(place_of(point), c, key(point, world().rank(), c), Values::rounded);
        array.bytes().expect_as_is();
        for (const int point : mine)
          for (int c = 0; c < components[f]; ++c)
            for (const int rank : holders[point]) {
              const bool first = rank == holders[point].front();
              std::byte* const into = array.expected(place_of(point), c);
              write_value(
                  first ? into : value.data(), elements[f], key(point, rank, c), Values::rounded);
              if (!first && sums) combine_value(into, value.data(), elements[f], Reduction::sum);
            }
        values.push_back(array.values(map));
      }
      if (sums && round % 2 == 0) {
        map.sum_shared(values);
      } else if (sums) {
        map.begin_reduce_shared(values, Reduction::sum);
        map.end(values);
      } else {
        map.forward(values);
      }
      check(arrays);
    }
  });
}

CASE("two arrays of places may have their rows by turns in one block of memory") {
  const int here = world().rank(), next = (here + 1) % world().size();
  const IndexMap map = IndexMap(IndexedDomain(3, {3 * next}, world(), SelfGhosts::allowed))
                           .placed({{0, 1, 3}, {2}, {2, 2}});
  std::vector<std::int64_t> x{0, 1, 2, 3, 4, 5, 6, 7};
  for (std::int64_t& value : x) value += 10 * here;
  auto expected = x;
  expected[4] = 10 * next, expected[6] = 10 * next + 2;
  ArrayShape rows{reinterpret_cast<std::byte*>(x.data()), {Scalar::int64, 8}, 2, {2, 2}, {8, 32}};
  const CellValues left = values_in(*map.places(), rows);
  rows.first += 16;
  map.forward({left, values_in(*map.places(), rows)});
  EXPECT_EQ(x, expected);
  if (world().size() == 1) return;
  for (const int k : {0, 2, 4, 6}) expected[k] *= 2;
  map.sum_shared({left, values_in(*map.places(), rows)});
  EXPECT_EQ(x, expected);
}

CASE("random lists of sent and received cells: what is received is what was sent") {
  for_random_cases(affordable(40), [](Random& random) {
    const int ranks = world().size(), here = world().rank();
    // Each rank sends some of its cells 0 … 19; received cells follow. Known to all ranks.
    std::vector<std::vector<std::vector<local_index>>> sent(
        ranks, std::vector<std::vector<local_index>>(ranks));
    for (auto& of : sent)
      for (auto& list : of)
        if (random.chance(60))
          for (int k = random.between(0, 12); k > 0; --k) list.push_back(random.between(0, 19));
    std::vector<NeighborCells> send, receive;
    std::vector<std::pair<int, local_index>> sources;
    for (int rank = 0; rank < ranks; ++rank) {
      send.push_back({rank, sent[here][rank]});
      receive.push_back({rank, {}});
      for (const local_index cell : sent[rank][here]) {
        receive.back().cells.push_back(20 + 2 * static_cast<local_index>(sources.size()));
        sources.emplace_back(rank, cell);
      }
    }
    const IndexMap map = IndexMap::from_neighbor_lists(send, receive, world());
    std::vector<std::int64_t> x(20 + 2 * sources.size(), -1);
    for (int cell = 0; cell < 20; ++cell) x[cell] = 100 * here + cell;
    auto expected = x;
    for (std::size_t k = 0; k < sources.size(); ++k)
      expected[20 + 2 * k] = 100 * sources[k].first + sources[k].second;
    map.forward({x});
    EXPECT_EQ(x, expected);
  });
}

CASE("lists that do not fit each other, and places that are none, are refused on every rank") {
  const int ranks = world().size(), here = world().rank();
  const auto shared = [](std::vector<NeighborCells> lists) {
    return error_of([&] { IndexMap::from_neighbor_lists(lists, world()); });
  };
  const bool first = here == 0;
  EXPECT_TRUE(holds(shared({{ranks, {1}}}), "does not exist: use ranks from 0"));
  EXPECT_TRUE(holds(shared({{here, {1}}}), "shares with itself"));
  const IndexMap one(IndexedDomain(1, {}, world()));
  const auto placed = [&](Places places) {
    return error_of([&] { static_cast<void>(one.placed(std::move(places))); });
  };
  EXPECT_TRUE(holds(placed({{}, {}}), "0 places of owned cells were passed, but the map has 1"));
  EXPECT_TRUE(holds(placed({{-1}, {}}), "place -1 is not in an array"));
  EXPECT_TRUE(holds(placed({{first ? 6 : 5}, {}, {2, 3}}), "place 6 is not in an array of 6"));
  EXPECT_TRUE(holds(placed({{0}, {}, {2, 3}, 3}), "before dimension 0 … 2"));
  std::vector<double> small(3), x(12);
  EXPECT_TRUE(holds(placed({{2147483647}, {}}), "place 2147483647 is not in an array"));
  const IndexMap good = one.placed({{5}, {}});
  EXPECT_TRUE(holds(error_of([&] { good.forward(CellValues{x.data(), small.data()}); }),
      "separate array of ghosts"));
  const CellValues none = values_in(
      *good.places(), {reinterpret_cast<std::byte*>(x.data()), element_of<double>(), 1, {0}, {8}});
  EXPECT_TRUE(holds(error_of([&] { good.forward(none); }), "has 0 cells, but the map has"));
  EXPECT_TRUE(holds(error_of([&] { good.forward({small}); }), "has 3 cells, but the map has"));
  EXPECT_TRUE(holds(error_of([&] { good.forward({x, x}); }), "arrays 0 and 1 share memory"));
  if (ranks < 2) return;
  const int other = here ^ 1;
  if (other >= ranks || ranks > 2) return;
  EXPECT_TRUE(holds(shared({{other, first ? std::vector{3, 4} : std::vector{3}}}),
      "make the two lists equal in length and order"));
  EXPECT_TRUE(
      holds(shared(first ? std::vector<NeighborCells>{{other, {3}}} : std::vector<NeighborCells>{}),
          "rank 1 lists none"));
  EXPECT_TRUE(holds(shared({{other, {3}}, {other, {4}}}), "two lists for rank"));
  EXPECT_TRUE(holds(shared({{other, {3, 3}}}), "has point 3 twice"));
  EXPECT_TRUE(holds(error_of([&] {
    IndexMap::from_neighbor_lists(std::vector<NeighborCells>{{other, {2, 3}}},
        std::vector<NeighborCells>{{other, {4, 4}}}, world());
  }),
      "is received from rank"));
  const std::vector<NeighborCells> list{{other, {3}}};
  EXPECT_TRUE(holds(error_of([&] {
    first ? IndexMap::from_neighbor_lists(list, world())
          : IndexMap::from_neighbor_lists(list, {}, world());
  }),
      "whether cells to receive are listed is 0 on rank 0"));
}
