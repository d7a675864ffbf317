// Every rank rejects patterns that differ between neighbors, or do not fit their fields, when it
// constructs an exchange.
#include <functional>

#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_field.hpp"
#include "support/meshes.hpp"

using namespace test;

namespace {

using Tamper = std::function<void(Pattern&)>;

// Tampers with the last rank's part only.
void refuse(const Pattern& good, const std::vector<Field>& fields, const std::string& what,
    const Tamper& tamper) {
  const char* tampering = what.c_str();
  CAPTURE(tampering);
  const Communicator comm(MPI_COMM_WORLD);
  Pattern pattern = good;
  if (comm.rank() == comm.size() - 1) tamper(pattern);
  EXPECT_NE(error_of([&] { Exchange(pattern, fields, {"mpi"}); }), "");
}

// The link with another rank that has the most data to tamper with.
Link& some_link(Pattern& pattern) {
  Link* best = nullptr;
  const auto entries = [](const Link& link) {
    return link.send.boxes.size() + link.send.cells.size();
  };
  for (Link& link : pattern.stages[0])
    if (link.rank != pattern.communicator.rank() &&
        (best == nullptr || entries(link) > entries(*best)))
      best = &link;
  return *best;
}

void shift(Box& box, int d, int by) { box.lo[d] += by, box.hi[d] += by; }

// Refused on one rank, too.
const std::vector<std::pair<std::string, Tamper>> of_fields{
    {"indexed", [](Pattern& p) { p.dimensions = 0; }},
    {"no blocks", [](Pattern& p) { p.blocks.clear(); }},
    {"a narrower halo", [](Pattern& p) { p.halo = 0; }},
    {"owned layers beyond the ends", [](Pattern& p) { p.ends = 1; }},
    {"another stagger", [](Pattern& p) { p.stagger.along[1] = 1; }},
};

const std::vector<std::pair<std::string, Tamper>> of_any{
    {"a link is missing",
        [](Pattern& p) {
          std::erase_if(p.stages[0], [&](const Link& link) { return link.rank == 0; });
        }},
    {"no links", [](Pattern& p) { p.stages[0].clear(); }},
};

const std::vector<std::pair<std::string, Tamper>> of_boxes{
    {"sent cells moved", [](Pattern& p) { shift(some_link(p).send.boxes[0].cells, 0, 1); }},
    {"sent cells moved back", [](Pattern& p) { shift(some_link(p).send.boxes[0].cells, 1, -1); }},
    {"ghosts moved", [](Pattern& p) { shift(some_link(p).receive.boxes[0].cells, 0, 1); }},
    {"fewer cells sent", [](Pattern& p) { --some_link(p).send.boxes[0].cells.hi[0]; }},
    {"fewer cells received", [](Pattern& p) { ++some_link(p).receive.boxes[0].cells.lo[1]; }},
    {"a box is missing",
        [](Pattern& p) { some_link(p).send.boxes.pop_back(), --some_link(p).send_unique; }},
    {"boxes in another order",
        [](Pattern& p) {
          std::swap(some_link(p).send.boxes.front(), some_link(p).send.boxes.back());
        }},
    {"another reader", [](Pattern& p) { shift(some_link(p).send.boxes[0].owner, 0, 1); }},
    {"another owner of the ghosts",
        [](Pattern& p) { shift(some_link(p).receive.boxes[0].owner, 0, 1); }},
};

const std::vector<std::pair<std::string, Tamper>> of_cells{
    {"one cell less sent",
        [](Pattern& p) { some_link(p).send.cells.pop_back(), --some_link(p).send_unique; }},
    {"one ghost less received",
        [](Pattern& p) { some_link(p).receive.cells.pop_back(), --some_link(p).receive_unique; }},
};

}  // namespace

CASE("tampered structured patterns are refused") {
  const int size = Communicator(MPI_COMM_WORLD).size();
  for (const Algorithm algorithm : {Algorithm::standard, Algorithm::by_dimension}) {
    const CartesianDomain domain({4 * size, 5},
        {.halo = {2, 1}, .periodic = true, .process_grid = {size, 1}, .algorithm = algorithm});
    std::vector<GridField> fields;
    fields.emplace_back(
        domain, GridSpec{{Scalar::int32, 4}, 1, domain.halo()}, 0, Memory::ordinary);
    const Pattern good = build_pattern(domain);
    for (const auto& [what, tamper] : of_fields) refuse(good, views(fields), what, tamper);
    if (size == 1) continue;  // links to itself
    for (const auto& [what, tamper] : of_any) refuse(good, views(fields), what, tamper);
    for (const auto& [what, tamper] : of_boxes) {
      // One box per link: no other order exists.
      if (algorithm == Algorithm::by_dimension && holds(what, "order")) continue;
      refuse(good, views(fields), what, tamper);
    }
    EXPECT_TRUE(fields[0].canaries_intact());
  }
}

CASE("tampered indexed patterns are refused") {
  const int size = Communicator(MPI_COMM_WORLD).size();
  Mesh mesh = Mesh::of_blocks(std::vector<global_index>(static_cast<std::size_t>(size), 6));
  for (std::size_t rank = 0; rank < mesh.ghosts.size(); ++rank) {
    const std::size_t ranks = mesh.ghosts.size();
    const auto next = static_cast<global_index>((rank + 1) % ranks) * 6,
               before = static_cast<global_index>((rank + ranks - 1) % ranks) * 6;
    mesh.ghosts[rank] = {next + 3, next + 1, before + 5, before + 2};
  }
  const IndexedDomain domain = mesh.domain(SelfGhosts::allowed);
  std::vector<CellField> fields;
  fields.emplace_back(domain, mesh, CellSpec{{Scalar::int32, 4}}, 0, Memory::ordinary);
  const Pattern good = build_pattern(domain);
  refuse(good, views(fields), "Cartesian", [](Pattern& p) { p.dimensions = 1; });
  if (size == 1) return;  // links to itself
  for (const auto& [what, tamper] : of_any) refuse(good, views(fields), what, tamper);
  for (const auto& [what, tamper] : of_cells) refuse(good, views(fields), what, tamper);
  EXPECT_TRUE(fields[0].canaries_intact());
}

CASE("counts swapped between two neighbors are refused") {
  const int size = Communicator(MPI_COMM_WORLD).size();
  if (size < 3) return;
  Mesh mesh = Mesh::of_blocks(std::vector<global_index>(static_cast<std::size_t>(size), 4));
  for (std::size_t rank = 0; rank < mesh.ghosts.size(); ++rank) {
    const auto n = static_cast<global_index>(size);
    const auto before = (static_cast<global_index>(rank) + n - 1) % n * 4,
               after = (static_cast<global_index>(rank) + 1) % n * 4;
    mesh.ghosts[rank] = {before, after, after + 1};
  }
  const IndexedDomain domain = mesh.domain();
  std::vector<CellField> fields;
  fields.emplace_back(domain, mesh, CellSpec{{Scalar::int32, 4}}, 0, Memory::ordinary);
  refuse(build_pattern(domain), views(fields), "swapped", [](Pattern& pattern) {
    Stage& links = pattern.stages[0];
    std::swap(links[0].receive, links[1].receive);
    std::swap(links[0].receive_unique, links[1].receive_unique);
  });
}

CASE("a pattern describes itself") {
  const Communicator self(MPI_COMM_SELF);
  const CartesianDomain standard(
      {3, 2}, {.halo = {2, 1}, .periodic = true, .blocks_per_rank = {1, 2}}, self);
  const CartesianDomain staged(
      {3, 2}, {.halo = 1, .periodic = true, .algorithm = Algorithm::by_dimension}, self);
  const IndexedDomain indexed(5, {3, 0, 3, 1, 3}, self, SelfGhosts::allowed);
  EXPECT_TRUE(holds(describe(build_pattern(standard)), "Cartesian pattern of rank 0 of 1"));
  EXPECT_TRUE(holds(describe(build_pattern(staged)), "stage 1"));
  EXPECT_TRUE(holds(describe(build_pattern(indexed)), "5 owned cells, 5 ghosts"));
}
