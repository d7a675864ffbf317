#include "apps/reference.hpp"

#include <deque>

namespace parhelion::bench {

namespace {

class GatherAll final : public GhostUpdate {
public:
    std::vector<Ghosted> add(const Cells& cells, int components, int count) override {
        std::vector<Ghosted> added;
        for (int i = 0; i < count; ++i) {
            Array& array = arrays_.emplace_back(cells, components);
            added.push_back({array.values, arrays_.size() - 1});
        }
        return added;
    }

    void update(std::size_t number) override {
        Array& array = arrays_[number];
        MPI_Allgatherv(array.values.data(), array.cells.owned * array.components, MPI_DOUBLE, array.all.data(), array.counts.data(),
                       array.offsets.data(), MPI_DOUBLE, array.cells.comm);
        double* ghost = array.values.data() + array.cells.owned * array.components;
        for (std::int64_t id : array.cells.ghosts)
            for (int c = 0; c < array.components; ++c) *ghost++ = array.all[static_cast<std::size_t>(id * array.components + c)];
    }

    Traffic traffic(std::size_t) const override { return {}; }

private:
    struct Array {
        Cells cells;
        int components;
        std::vector<double> values, all;
        std::vector<int> counts, offsets{0};

        Array(const Cells& of, int each) : cells(of), components(each), values(of.size() * static_cast<std::size_t>(each)) {
            int ranks = 0;
            MPI_Comm_size(of.comm, &ranks);
            counts.resize(static_cast<std::size_t>(ranks));
            const int mine = of.owned * each;
            MPI_Allgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, of.comm);
            for (int count : counts) offsets.push_back(offsets.back() + count);
            all.resize(static_cast<std::size_t>(offsets.back()));
        }
    };
    std::deque<Array> arrays_;
};

}  // namespace

GhostUpdatePointer reference_update() { return std::make_unique<GatherAll>(); }

}  // namespace parhelion::bench
