#include <limits>

#include "parhelion/domain/cartesian_domain.hpp"

namespace parhelion {
namespace {

struct Search {
    const std::vector<global_index>& extents;
    const HaloWidth& halo;
    std::vector<int> grid, best;
    double least = std::numeric_limits<double>::infinity();

    // Halo cells of the largest block: what the slowest rank sends.
    double cost() const {
        double total = 0;
        for (std::size_t d = 0; d < grid.size(); ++d) {
            if (grid[d] == 1) continue;
            double face = halo.lower[d] + halo.upper[d];
            for (std::size_t e = 0; e < grid.size(); ++e)
                if (e != d) face *= static_cast<double>((extents[e] + grid[e] - 1) / grid[e]);
            total += face;
        }
        return total + idle_penalty();
    }

    // A rank without cells is allowed when asked for, never chosen while another grid exists.
    double idle_penalty() const {
        for (std::size_t d = 0; d < grid.size(); ++d)
            if (grid[d] > extents[d]) return 1e30;
        return 0;
    }

    void place(std::size_t d, int ranks) {
        if (d + 1 == grid.size()) {
            grid[d] = ranks;
            if (const double now = cost(); now < least) least = now, best = grid;
            return;
        }
        for (int along = ranks; along >= 1; --along) {
            if (ranks % along != 0) continue;
            grid[d] = along;
            place(d + 1, ranks / along);
        }
    }
};

}  // namespace

std::vector<int> choose_process_grid(int ranks, const std::vector<global_index>& extents,
                                     const HaloWidth& halo) {
    Search search{extents, halo, std::vector<int>(extents.size(), 1),
                  std::vector<int>(extents.size(), 1)};
    search.best[0] = ranks;
    search.place(0, ranks);
    return search.best;
}

}  // namespace parhelion
