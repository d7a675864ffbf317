#include "gather/own_gather.hpp"

#include "clock.hpp"
#include "errors.hpp"
#include "parhelion/index_map/index_map.hpp"

namespace parhelion::bench {

namespace {

std::shared_ptr<GatherArray> node_shared_array(const GatherSetup& setup) {
    return setup.node_shared->get([&] {
        const auto bytes = static_cast<std::size_t>(setup.domain->size()) * setup.params.cell_bytes();
        return std::make_shared<GatherArray>(setup.params, setup.domain, std::make_shared<NodeSharedMemory>(1, bytes));
    });
}

class IndexMapGather : public Contender {
public:
    IndexMapGather(IndexMap map, const GatherSetup& setup) : map_(std::move(map)), array_(setup.array) {
        const auto cell = static_cast<byte_count>(array_->cell_bytes());
        values_ = {{array_->cells(), cell}, {array_->ghosts(), cell}, setup.params.element, setup.params.components};
        map_.forward(values_);  // makes the exchange for cells of this size
    }

    void exchange() override { map_.forward(values_); }
    Values& values() override { return *array_; }
    Traffic traffic() const override {
        std::int64_t messages = 0;
        for (const Stage& stage : map_.pattern().stages)
            for (const Link& link : stage) messages += link.rank != map_.communicator().rank() && !link.send.cells.empty();
        return {cells_sent(map_.pattern()) * static_cast<std::int64_t>(array_->cell_bytes()), messages};
    }

private:
    IndexMap map_;
    std::shared_ptr<GatherArray> array_;
    CellValues values_;
};

}  // namespace

ContenderPointer make_index_map_gather(const GatherSetup& setup, SetupTimes& times) {
    IndexMap map = timed(times.pattern, [&] { return IndexMap(*setup.domain); });
    return timed(times.plan, [&] { return std::make_unique<IndexMapGather>(std::move(map), setup); });
}

ContenderPointer make_own_gather(const OwnWay& way, const GatherSetup& setup, SetupTimes& times) {
    require_usable(way, setup.comm);
    std::shared_ptr<GatherArray> array = setup.array;
    if (way.node_shared) validate_together(setup.comm, [&] { array = node_shared_array(setup); });
    const Field field = view_cells(array->cells(), setup.domain->owned(), array->ghosts(), setup.domain->ghosts(),
                                   setup.params.element, {Order::c, setup.params.components});
    return make_own(way, [&] { return build_pattern(*setup.domain); }, {field}, array, times);
}

}  // namespace parhelion::bench
