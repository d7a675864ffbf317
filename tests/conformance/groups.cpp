// Fields of several domains in one exchange.
#include <cstdlib>
#include <filesystem>

#include "parhelion/core/collective.hpp"
#include "support/any_group.hpp"
#include "support/cases.hpp"
#include "support/grid_cases.hpp"
#include "support/meshes.hpp"
#include "support/world.hpp"

using namespace test;

namespace {

using Extents = std::vector<global_index>;

constexpr int fields_each = 2;

std::unique_ptr<AnyGroup> grid_group(
    const Extents& extents, const CartesianOptions& options, int turn, Memory memory) {
  return std::make_unique<GridGroup>(
      CartesianDomain(extents, options), [&](const CartesianDomain& domain) {
        return make_fields(domain, fields_each, turn, memory, combinable(Reduction::sum));
      });
}

std::unique_ptr<AnyGroup> mesh_group(const Mesh& mesh, SelfGhosts self, int turn, Memory memory) {
  return std::make_unique<MeshGroup>(
      RandomMesh{mesh, self}, [&](const IndexedDomain& domain, const Mesh& all) {
        return make_fields(domain, all, fields_each, turn, memory, combinable(Reduction::sum));
      });
}

// Checks the groups that `add(groups, memory)` builds: over some transports, or over all if each
// rank has a core.
template <class Add>
void check_groups(int turn, Add&& add) {
  for (const Route& route : routes_for(turn, 2)) {
    AnyGroups groups;
    add(groups, route.memory);
    check_together(groups, route);
  }
}

// Equal shares, and one more point on the last rank along dimension `along`, as for staggered
// velocities.
CartesianOptions staggered(CartesianOptions options, const Extents& cells, std::size_t along) {
  options.splits.clear();
  for (std::size_t d = 0; d < cells.size(); ++d) {
    const auto parts = static_cast<std::size_t>(options.process_grid[d]);
    Extents split(parts, cells[d] / options.process_grid[d]);
    if (d == along) ++split.back();
    options.splits.push_back(split);
  }
  return options;
}

// Every rank owns `each` cells; its ghosts are the first cells of the ranks at distance `apart`.
Mesh ring(int each, int apart) {
  Mesh mesh = Mesh::of_blocks(Extents(static_cast<std::size_t>(ranks()), each));
  for (int r = 0; r < ranks(); ++r) {
    const auto from = static_cast<std::size_t>((r + apart) % ranks());
    if (static_cast<int>(from) != r)
      mesh.ghosts[static_cast<std::size_t>(r)] = {
          mesh.owned[from].front(), mesh.owned[from].back()};
  }
  return mesh;
}

}  // namespace

CASE("staggered components of one grid travel together, in 1 to 3 dimensions") {
  for (int dims = 1; dims <= 3; ++dims) {
    CAPTURE(dims);
    const auto count = static_cast<std::size_t>(dims);
    std::vector<int> process_grid(count, 1);
    process_grid.back() = ranks();
    Extents cells(count, 4);
    cells.back() = 3 * ranks();
    for (const Algorithm algorithm : {Algorithm::standard, Algorithm::by_dimension})
      check_groups(dims, [&](AnyGroups& groups, Memory memory) {
        const CartesianOptions options{
            .halo = 2, .process_grid = process_grid, .algorithm = algorithm};
        groups.push_back(grid_group(cells, options, 0, memory));
        for (std::size_t d = 0; d < count; ++d) {
          Extents faces = cells;
          ++faces[d];
          groups.push_back(
              grid_group(faces, staggered(options, cells, d), static_cast<int>(d) + 1, memory));
        }
      });
  }
}

CASE("grids of different dimensions, algorithms and halos travel with meshes") {
  int turn = 0;
  for (const auto second : {Algorithm::standard, Algorithm::by_dimension})
    check_groups(++turn, [&](AnyGroups& groups, Memory memory) {
      groups.push_back(
          mesh_group(mesh_cases(ranks()).front().mesh, SelfGhosts::refused, 1, memory));
      groups.push_back(grid_group({9, 7, 6},
          {.halo = 1, .periodic = true, .algorithm = Algorithm::by_dimension}, 2, memory));
      groups.push_back(grid_group(
          {11, 8}, {.halo = {2, 1}, .periodic = {false, true}, .algorithm = second}, 3, memory));
      groups.push_back(mesh_group(ring(6, 1), SelfGhosts::refused, 4, memory));
    });
}

CASE("every kind of grid and mesh takes part in an exchange of all") {
  const auto grids = grid_cases(ranks());
  const auto meshes = mesh_cases(ranks());
  for (std::size_t first = 0; first < grids.size(); first += 3)
    check_groups(static_cast<int>(first), [&](AnyGroups& groups, Memory memory) {
      for (std::size_t i = first; i < std::min(first + 3, grids.size()); ++i) {
        const MeshCase& mesh = meshes[i % meshes.size()];
        groups.push_back(
            grid_group(grids[i].extents, grids[i].options, static_cast<int>(i), memory));
        groups.push_back(mesh_group(mesh.mesh, mesh.self, static_cast<int>(i), memory));
      }
    });
}

CASE("a rank that owns nothing in one group takes part in the others") {
  Extents sizes(static_cast<std::size_t>(ranks()), 0);
  for (std::size_t r = 0; r < sizes.size(); r += 2) sizes[r] = 7;
  Mesh mesh = Mesh::of_blocks(sizes);
  for (std::size_t r = 0; r < sizes.size(); ++r)
    mesh.ghosts[r] = random_ghosts(mesh, r, 6, false, 3);
  Extents split(sizes);
  global_index cells = 0;
  for (global_index part : split) cells += part;
  check_groups(1, [&](AnyGroups& groups, Memory memory) {
    groups.push_back(mesh_group(mesh, SelfGhosts::refused, 1, memory));
    groups.push_back(
        grid_group({3 * ranks(), 4}, {.halo = 1, .process_grid = {ranks(), 1}}, 2, memory));
    groups.push_back(grid_group({cells, 3},
        {.halo = 2, .periodic = true, .process_grid = {ranks(), 1}, .splits = {split, {}}}, 3,
        memory));
  });
}

CASE("a neighbor may be one in a single group only, and in none each way") {
  check_groups(2, [&](AnyGroups& groups, Memory memory) {
    for (int apart = 1; apart < std::max(ranks(), 2); ++apart)
      groups.push_back(mesh_group(ring(5, apart), SelfGhosts::refused, apart, memory));
  });
  if (ranks() < 3) return;
  AnyGroups groups;
  groups.push_back(mesh_group(ring(5, 1), SelfGhosts::refused, 0, Memory::ordinary));
  groups.push_back(mesh_group(ring(5, 2), SelfGhosts::refused, 0, Memory::ordinary));
  EXPECT_EQ(messages_of_all(groups),
      2);  // to the ranks 1 and 2 before; group 0 has no data for the second
}

CASE("periodic images of a rank's own cells are filled in some groups, group by group in others") {
  const int n = ranks();
  Mesh mesh = Mesh::of_blocks(Extents(static_cast<std::size_t>(n), 9));
  for (std::size_t r = 0; r < mesh.owned.size(); ++r)
    mesh.ghosts[r] = random_ghosts(mesh, r, 12, true, 5);
  check_groups(3, [&](AnyGroups& groups, Memory memory) {
    groups.push_back(grid_group(
        {3 * n, 4, 3}, {.halo = 2, .periodic = true, .process_grid = {n, 1, 1}}, 1, memory));
    groups.push_back(grid_group(
        {2, 3 * n}, {.halo = {5, 1}, .periodic = true, .process_grid = {1, n}}, 2, memory));
    groups.push_back(mesh_group(mesh, SelfGhosts::allowed, 3, memory));
    groups.push_back(grid_group({4, 3 * n, 3},
        {.halo = 1,
            .periodic = true,
            .process_grid = {1, n, 1},
            .algorithm = Algorithm::by_dimension},
        4, memory));
  });
}

CASE("groups without fields, and without neighbors, change nothing for the others") {
  check_groups(4, [&](AnyGroups& groups, Memory memory) {
    groups.push_back(std::make_unique<GridGroup>(CartesianDomain({8, 8}, {}),
        [](const CartesianDomain&) { return std::vector<GridField>{}; }));
    groups.push_back(grid_group({9, 7}, {.halo = 0}, 1, memory));
    groups.push_back(grid_group({9, 7}, {.halo = 1, .periodic = true}, 2, memory));
    groups.push_back(mesh_group(Mesh::of_blocks(Extents(static_cast<std::size_t>(ranks()), 4)),
        SelfGhosts::refused, 3, memory));
  });
}

CASE("each neighbor gets one message, as many as the group with most neighbors has") {
  const int n = ranks();
  if (n < 3) return;
  const CartesianDomain cells({3 * n}, {.halo = 1, .periodic = true, .process_grid = {n}});
  const IndexedDomain nodes = ring(4, 1).domain();
  std::vector<double> p(32), q(32), x(32);
  const Pattern grid = build_pattern(cells), mesh = build_pattern(nodes);
  const Exchange both{
      {{grid, {view(cells, p.data()), view(cells, q.data())}}, {mesh, {view(nodes, x.data())}}},
      {.transport = "mpi"}};
  EXPECT_EQ(both.plan().messages_sent(), 2);
  EXPECT_EQ(both.plan().bytes_sent(),
      24 + 48);  // fields are aligned to 16 bytes: 8, 8 and 8, 8, 16
  EXPECT_EQ(both.plan().patterns.size(), 2u);
}

CASE("arrays of all groups may be others at each call, told group by group") {
  const CartesianDomain cells(
      {4 * ranks()}, {.halo = 1, .periodic = true, .process_grid = {ranks()}});
  const IndexedDomain nodes = ring(4, 1).domain();
  for (const Route& route : routes_for(8, 3)) {
    if (route.memory == Memory::slow) continue;
    CAPTURE(route.transport);
    std::vector<Array<double>> u;
    std::vector<std::vector<float, NodeAllocator<float>>> x(
        2, std::vector<float, NodeAllocator<float>>(static_cast<std::size_t>(nodes.size())));
    for (int i = 0; i < 2; ++i) u.push_back(make_array<double>(cells));
    Exchange exchange({{build_pattern(cells), {u[0].field()}},
                          {build_pattern(nodes), {view(nodes, x[0].data())}}},
        {.transport = route.transport});
    for (const int i : {1, 0, 1}) {
      const Box own = cells.owned(), all = cells.extended();
      for (global_index k = own.lo[0]; k < own.hi[0]; ++k)
        u[static_cast<std::size_t>(i)](k) = static_cast<double>(10 * k + i);
      auto& ids = x[static_cast<std::size_t>(i)];
      for (local_index c = 0; c < nodes.owned(); ++c)
        ids[static_cast<std::size_t>(c)] = static_cast<float>(10 * nodes.global_of(c) + i);
      exchange(u[static_cast<std::size_t>(i)].field(), view(nodes, ids.data()));
      const global_index n = 4 * ranks();
      for (global_index k : {all.lo[0], all.hi[0] - 1})
        EXPECT_EQ(u[static_cast<std::size_t>(i)](k), static_cast<double>(10 * ((k + n) % n) + i));
      for (local_index c = nodes.owned(); c < nodes.size(); ++c)
        EXPECT_EQ(
            ids[static_cast<std::size_t>(c)], static_cast<float>(10 * nodes.global_of(c) + i));
    }
    EXPECT_TRUE(holds(error_of([&] { exchange(view(nodes, x[0].data()), u[0].field()); }),
        "array 0 has cells of an index map"));
  }
}

namespace {

namespace fs = std::filesystem;

fs::path data_folder() {
  if (const char* folder = std::getenv("PARHELION_DATA")) return folder;
  return fs::path(__FILE__).parent_path() / "../../../shared/data";
}

// All published sets for this number of ranks.
std::vector<IndexedDomain> published_meshes() {
  std::vector<IndexedDomain> meshes;
  for (const char* name : {"opencalc-B0-", "opencalc-B1-", "opencalc-B2-"}) {
    const fs::path folder = data_folder() / (name + std::to_string(ranks()));
    if (!fs::exists(folder)) continue;
    PartitionPart part = read_partition(folder);
    meshes.emplace_back(part.owned, std::move(part.ghosts));
  }
  return meshes;
}

}  // namespace

CASE("meshes that were published with real partitions travel with a grid") {
  const auto meshes = published_meshes();
  if (meshes.empty()) return;
  const CartesianDomain grid({20, 30}, {.halo = 2, .periodic = true});
  for (const Route& route : routes_for(6, 2)) {
    if (route.memory == Memory::slow) continue;
    CAPTURE(route.transport);
    std::vector<std::vector<std::int64_t, NodeAllocator<std::int64_t>>> ids;
    auto array = make_array<float>(grid);
    std::vector<Group> groups{{build_pattern(grid), {array.field()}}};
    for (const IndexedDomain& mesh : meshes) {
      auto& values = ids.emplace_back(static_cast<std::size_t>(mesh.size()), -7);
      for (local_index cell = 0; cell < mesh.owned(); ++cell)
        values[static_cast<std::size_t>(cell)] = mesh.global_of(cell);
      groups.push_back({build_pattern(mesh), {view(mesh, values.data())}});
    }
    Exchange exchange(std::move(groups), {.transport = route.transport});
    exchange();
    for (std::size_t m = 0; m < meshes.size(); ++m) {
      global_index wrong = 0;
      for (local_index cell = 0; cell < meshes[m].size(); ++cell)
        wrong += ids[m][static_cast<std::size_t>(cell)] != meshes[m].global_of(cell);
      EXPECT_EQ(wrong, 0);
    }
  }
}

namespace {

struct Pair {
  CartesianDomain cells{{16, 16}, {.halo = 2, .periodic = true}};
  IndexedDomain nodes = ring(4, 1).domain();
  std::vector<double> u = std::vector<double>(8192), x = std::vector<double>(64);
  std::vector<Group> groups() {
    return {{build_pattern(cells), {view(cells, u.data())}},
        {build_pattern(nodes), {view(nodes, x.data())}}};
  }
};

// All ranks refuse groups that the last rank changed, with `part` in the message.
template <class Change>
void refuse(const std::string& part, Change&& change) {
  Pair pair;
  auto groups = pair.groups();
  if (rank() == ranks() - 1) change(pair, groups);
  const std::string message = error_of([&] { Exchange(std::move(groups), {.transport = "mpi"}); });
  CAPTURE(message);
  EXPECT_TRUE(holds(message, part));
  agree(Communicator(MPI_COMM_WORLD));
}

}  // namespace

CASE("groups that do not fit are refused on every rank, by field and group") {
  refuse("null pointer", [](Pair& pair, auto& groups) {
    groups[1].fields[0] = view(pair.nodes, static_cast<double*>(nullptr));
  });
  refuse("field 0 of group 1 (float64 × 0",
      [](Pair&, auto& groups) { groups[1].fields[0].components = 0; });
  refuse("field 0 of group 1 (float64 × 1, halo",
      [](Pair&, auto& groups) { groups[1].fields = groups[0].fields; });
  refuse("field 0 of group 0 and the owned cells of field 0 of group 1 share memory",
      [](Pair& pair, auto& groups) { groups[1].fields[0] = view(pair.nodes, pair.u.data() + 40); });
  refuse("group 1 is on another communicator than group 0", [](Pair&, auto& groups) {
    groups[1].patterns.front() = build_pattern(IndexedDomain(4, {}, MPI_COMM_SELF));
  });
  EXPECT_TRUE(holds(error_of([] { Exchange(std::vector<Group>{}); }), "at least one group"));
  if (ranks() == 1) return;
  const std::string there = " on rank 0 and ", last = " on rank " + std::to_string(ranks() - 1);
  refuse("the number of groups is 2" + there + "1" + last,
      [](Pair&, auto& groups) { groups.pop_back(); });
  refuse("the number of fields of group 1 is 1" + there + "0" + last,
      [](Pair&, auto& groups) { groups[1].fields.clear(); });
  refuse("the element of field 0 of group 1 is float64" + there + "int64" + last,
      [](Pair&, auto& groups) { groups[1].fields[0].element = element_of<std::int64_t>(); });
  refuse("the upper halo width of field 0 of group 0 in dimension 1 is 2" + there + "1" + last,
      [](Pair&, auto& groups) { groups[0].fields[0].halo.upper[1] = 1; });
  refuse("number of dimensions of the domain of group 0 (0: indexed) is 2" + there + "0" + last,
      [](Pair&, auto& groups) { std::swap(groups[0], groups[1]); });
}

CASE("a pattern of a group that its neighbors have otherwise is refused, by group") {
  if (ranks() == 1) return;
  Pair pair;
  auto groups = pair.groups();
  Pattern& nodes = groups[1].patterns.front();
  if (rank() == ranks() - 1) {  // no ghosts
    nodes.ghosts = 0;
    for (Link& link : nodes.stages[0]) link.receive = {}, link.receive_unique = 0;
  }
  const std::string message = error_of([&] { Exchange(std::move(groups), {.transport = "mpi"}); });
  CAPTURE(message);
  EXPECT_TRUE(holds(message, "exchanges other cells of group 1 with this rank"));
}
