// Random index maps against values computed from global ids.
#include <doctest/doctest.h>

#include <algorithm>

#include "support/cell_field.hpp"
#include "support/exchanging.hpp"
#include "support/random.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

Mesh random_blocks(Random& random, int ranks) {
    std::vector<global_index> sizes;
    for (int r = 0; r < ranks; ++r) sizes.push_back(random.chance(20) ? 0 : random.between(1, 60));
    return Mesh::of_blocks(sizes);
}

Mesh random_ownership(Random& random, int ranks) {
    Mesh mesh;
    mesh.blocks = false;
    mesh.owned.resize(static_cast<std::size_t>(ranks));
    mesh.ghosts.resize(static_cast<std::size_t>(ranks));
    const int gap = random.pick(std::vector<int>{1, 1, 3, 1 << 20});
    const global_index far = random.chance(30) ? global_index{1} << random.between(31, 58) : 0;
    global_index id = far;
    std::vector<global_index> ids;
    for (int i = random.between(0, 200); i > 0; --i) ids.push_back(id += random.between(1, gap));
    for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random.next() % i]);
    for (global_index each : ids) mesh.owned[random.next() % mesh.owned.size()].push_back(each);
    return mesh;
}

void add_random_ghosts(Random& random, Mesh& mesh, bool own) {
    for (std::size_t rank = 0; rank < mesh.ghosts.size(); ++rank) {
        std::vector<global_index> from;
        for (std::size_t r = 0; r < mesh.owned.size(); ++r)
            if ((own || r != rank) && !random.chance(30)) from.insert(from.end(), mesh.owned[r].begin(), mesh.owned[r].end());
        auto& ghosts = mesh.ghosts[rank];
        if (!from.empty() && !random.chance(10))
            for (int i = random.between(0, 80); i > 0; --i) ghosts.push_back(random.pick(from));
        const int order = random.between(0, 2);
        if (order > 0) std::sort(ghosts.begin(), ghosts.end());
        if (order == 2) ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
    }
}

}  // namespace

TEST_CASE("random index maps: every ghost and every owner is right") {
    for_random_cases(affordable(60), [](Random& random) {
        const int ranks = Communicator(MPI_COMM_WORLD).size();
        Mesh mesh = random.chance(50) ? random_blocks(random, ranks) : random_ownership(random, ranks);
        const bool own = random.chance(30);
        add_random_ghosts(random, mesh, own);
        const IndexedDomain domain = mesh.domain(own ? SelfGhosts::allowed : SelfGhosts::refused);
        const Pattern pattern = build_pattern(domain);
        CAPTURE(describe(pattern));
        verify(pattern);
        const Route route = random.pick(all_routes());
        CAPTURE(route.transport);
        std::vector<CellField> fields;
        for (int f = random.between(1, 4); f > 0; --f) {
            const CellSpec spec{random.pick(combinable(Reduction::sum)), random.between(1, 4),
                                static_cast<CellLayout>(random.between(0, 2))};
            fields.emplace_back(domain, mesh, spec, random.between(0, 1000000), route.memory);
        }
        Exchange exchange(pattern, views(fields), {route.transport});
        check_forward(exchange, fields, 0);
        check_reverse(exchange, fields, Reduction::sum, false, 1);
        check_forward(exchange, fields, 2);
        check_reverse(exchange, fields, Reduction::replace, false, 3);
    });
}
