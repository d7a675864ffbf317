// Random structured domains against values computed from global coordinates.
#include <doctest/doctest.h>

#include <sstream>

#include "support/exchanging.hpp"
#include "support/grid_field.hpp"
#include "support/random.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// Factors of `ranks`, in random places.
std::vector<int> random_process_grid(Random& random, int ranks, int dims) {
    std::vector<int> grid(static_cast<std::size_t>(dims), 1);
    for (int factor = 2; ranks > 1; ++factor)
        for (; ranks % factor == 0; ranks /= factor) grid[random.next() % grid.size()] *= factor;
    return grid;
}

std::vector<global_index> random_split(Random& random, global_index cells, int parts) {
    std::vector<global_index> split(static_cast<std::size_t>(parts), 0);
    for (global_index i = 0; i < cells; ++i) ++split[random.next() % split.size()];
    return split;
}

HaloWidth random_halo(Random& random, int dims, int widest) {
    HaloWidth halo = 0;
    for (int d = 0; d < dims; ++d) halo.lower[d] = random.between(0, widest), halo.upper[d] = random.between(0, widest);
    return halo;
}

HaloWidth within(Random& random, HaloWidth halo) {
    for (int d = 0; d < max_dimensions; ++d)
        halo.lower[d] = random.between(0, halo.lower[d]), halo.upper[d] = random.between(0, halo.upper[d]);
    return halo;
}

CartesianDomain random_domain(Random& random) {
    const int dims = random.between(1, max_dimensions);
    const int largest[] = {40, 14, 8, 5}, widest[] = {6, 4, 3, 2};
    std::vector<global_index> extents;
    CartesianOptions options;
    options.process_grid = random_process_grid(random, Communicator(MPI_COMM_WORLD).size(), dims);
    options.halo = random_halo(random, dims, widest[dims - 1]);
    for (int d = 0; d < dims; ++d) {
        extents.push_back(random.between(random.chance(3) ? 0 : 1, largest[dims - 1]));
        options.periodic.along[d] = random.chance(50);
        options.blocks_per_rank.push_back(random.chance(25) ? random.between(2, dims > 2 ? 2 : 4) : 1);
        options.splits.push_back(random.chance(50) ? std::vector<global_index>{}
                                                   : random_split(random, extents[d], options.process_grid[d]));
    }
    if (random.chance(20)) options.process_grid.clear(), options.splits.clear();
    const int kind = random.between(0, 2);
    if (kind == 1) options.algorithm = Algorithm::staged;
    if (kind == 2) options.neighbors = Neighbors::faces;
    return {extents, options};
}

std::vector<GridField> random_fields(Random& random, const CartesianDomain& domain, Memory memory) {
    std::vector<GridField> fields;
    for (int f = random.between(1, 4); f > 0; --f) {
        const GridSpec spec{random.pick(combinable(Reduction::sum)), random.between(1, 4),
                            random.chance(50) ? domain.halo() : within(random, domain.halo()),
                            static_cast<Layout>(random.between(0, 2))};
        fields.emplace_back(domain, spec, random.between(0, 1000000), memory);
    }
    return fields;
}

}  // namespace

TEST_CASE("random structured domains: every ghost and every owner is right") {
    for_random_cases(affordable(60), [](Random& random) {
        const CartesianDomain domain = random_domain(random);
        const Pattern pattern = build_pattern(domain);
        CAPTURE(describe(pattern));
        verify(pattern);
        const Route route = random.pick(all_routes());
        CAPTURE(route.transport);
        auto fields = random_fields(random, domain, route.memory);
        Exchange exchange(pattern, views(fields), {route.transport});
        check_forward(exchange, fields, 0);
        check_reverse(exchange, fields, Reduction::sum, domain.algorithm() == Algorithm::staged, 1);
        check_forward(exchange, fields, 2);
        check_reverse(exchange, fields, Reduction::replace, domain.algorithm() == Algorithm::staged, 3);
    });
}
