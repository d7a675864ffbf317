// Every ghost of index maps, over every transport, in both directions.
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/meshes.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// Calls visit(mesh, domain, pattern, turn) for every case; `turn` selects element types, layouts
// and routes.
template <class Visit>
void for_each_mesh(Visit&& visit) {
  int turn = 0;
  for (const MeshCase& each : mesh_cases(Communicator(MPI_COMM_WORLD).size())) {
    CAPTURE(each.name);
    const IndexedDomain domain = each.mesh.domain(each.self);
    visit(each.mesh, domain, build_pattern(domain), turn++);
  }
}

}  // namespace

CASE(
    "over every transport, ghosts of an index map hold their owners' values, and owners what came "
    "back") {
  for_each_mesh(
      [](const Mesh& mesh, const IndexedDomain& domain, const Pattern& pattern, int turn) {
        for (const Route& route : routes_for(turn, 2)) {
          CAPTURE(route.transport);
          auto fields = make_fields(domain, mesh, 4, turn, route.memory);
          Exchange exchange(pattern, views(fields), {route.transport});
          check_forward(exchange, fields, 0);
          check_reverse(exchange, fields, Reduction::replace, false, 1);
          check_forward(exchange, fields, 2);
        }
      });
}

CASE("owners in an index map get the sum of all their ghosts, repeated ones each time") {
  for_each_mesh([](const Mesh& mesh, const IndexedDomain& domain, const Pattern& pattern,
                    int turn) {
    for (const Route& route : routes_for(turn, 2)) {
      CAPTURE(route.transport);
      auto fields = make_fields(domain, mesh, 3, turn, route.memory, combinable(Reduction::sum));
      Exchange exchange(pattern, views(fields), {route.transport});
      for (int round = 0; round < 2; ++round)
        check_reverse(exchange, fields, Reduction::sum, false, round);
      check_forward(exchange, fields, 2);
    }
  });
}

CASE("owners in an index map combine integers in every way that there is") {
  for_each_mesh([](const Mesh& mesh, const IndexedDomain& domain, const Pattern& pattern,
                    int turn) {
    const Route route = route_for(turn);
    CAPTURE(route.transport);
    auto fields = make_fields(domain, mesh, 2, turn, route.memory, combinable(Reduction::bit_or));
    Exchange exchange(pattern, views(fields), {route.transport});
    for (Reduction reduction :
        {Reduction::min, Reduction::bit_or, Reduction::max, Reduction::bit_and, Reduction::sum}) {
      CAPTURE(to_string(reduction));
      check_reverse(exchange, fields, reduction, false, 0);
    }
  });
}

CASE("an index map answers who owns what") {
  for (const MeshCase& each : mesh_cases(Communicator(MPI_COMM_WORLD).size())) {
    CAPTURE(each.name);
    const IndexedDomain domain = each.mesh.domain(each.self);
    const auto rank = static_cast<std::size_t>(domain.communicator().rank());
    std::vector<global_index> everything;
    std::vector<int> owners;
    for (std::size_t r = 0; r < each.mesh.owned.size(); ++r)
      for (global_index id : each.mesh.owned[r])
        everything.push_back(id), owners.push_back(static_cast<int>(r));
    EXPECT_EQ(domain.owners_of(everything), owners);
    EXPECT_EQ(domain.global_size(), each.mesh.cells());
    EXPECT_EQ(domain.owned(), static_cast<local_index>(each.mesh.owned[rank].size()));
    for (local_index cell = 0; cell < domain.owned(); ++cell) {
      const global_index id = each.mesh.owned[rank][static_cast<std::size_t>(cell)];
      EXPECT_EQ(domain.global_of(cell), id);
      EXPECT_EQ(domain.owned_of(id), cell);
      EXPECT_EQ(domain.local_of(id), cell);
    }
    for (local_index i = 0; i < domain.ghosts(); ++i) {
      const global_index id = each.mesh.ghosts[rank][static_cast<std::size_t>(i)];
      EXPECT_EQ(domain.global_of(domain.owned() + i), id);
      EXPECT_EQ(domain.global_of(domain.local_of(id)), id);
      const auto& owner =
          each.mesh
              .owned[static_cast<std::size_t>(domain.ghost_owners()[static_cast<std::size_t>(i)])];
      EXPECT_NE(std::find(owner.begin(), owner.end(), id), owner.end());
    }
    EXPECT_EQ(domain.local_of(-1), -1);
  }
}
