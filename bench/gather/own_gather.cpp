#include "gather/own_gather.hpp"

#include "clock.hpp"
#include "errors.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/index_map/index_map.hpp"

namespace parhelion::bench {

namespace {

std::shared_ptr<GatherArray> node_shared_array(const GatherSetup& setup) {
    return setup.node_shared->get([&] {
        const auto bytes =
            static_cast<std::size_t>(setup.domain->size()) * setup.params.cell_bytes();
        return std::make_shared<GatherArray>(setup.params, setup.domain,
                                             std::make_shared<NodeSharedMemory>(1, bytes));
    });
}

class IndexMapGather : public Contender {
public:
    IndexMapGather(IndexMap map, const GatherSetup& setup)
        : map_(std::move(map)), array_(setup.array),
          values_({array_->cells(), static_cast<byte_count>(array_->cell_bytes())}, {},
                  setup.params.element, setup.params.components) {
        map_.forward(values_);  // makes the exchange for such cells
    }

    void exchange() override { map_.forward(values_); }
    Values& values() override { return *array_; }
    Traffic traffic() const override { return traffic_of(map_.exchange(values_)->plan()); }
    nlohmann::json explain() const override { return map_.exchange(values_)->explain(); }

private:
    IndexMap map_;
    std::shared_ptr<GatherArray> array_;
    CellValues values_;
};

}  // namespace

ContenderPointer make_index_map_gather(const GatherSetup& setup, SetupTimes& times) {
    IndexMap map = timed(times.pattern, [&] { return IndexMap(*setup.domain); });
    return timed(times.plan,
                 [&] { return std::make_unique<IndexMapGather>(std::move(map), setup); });
}

ContenderPointer make_own_gather(const OwnWay& way, const GatherSetup& setup, SetupTimes& times) {
    require_usable(way, setup.comm);
    std::shared_ptr<GatherArray> array = setup.array;
    if (way.node_shared) validate_together(setup.comm, [&] { array = node_shared_array(setup); });
    const Field field =
        view_cells(array->cells(), setup.domain->owned(), array->ghosts(), setup.domain->ghosts(),
                   setup.params.element, {Order::c, setup.params.components});
    return make_own(way, [&] { return build_pattern(*setup.domain); }, {field}, array, times);
}

}  // namespace parhelion::bench
