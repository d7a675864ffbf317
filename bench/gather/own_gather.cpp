#include "gather/own_gather.hpp"

#include "errors.hpp"

namespace parhelion::bench {

namespace {

std::shared_ptr<GatherArray> node_shared_array(const GatherSetup& setup) {
    return setup.node_shared->get([&] {
        const auto bytes = static_cast<std::size_t>(setup.domain->size()) * setup.params.cell_bytes();
        return std::make_shared<GatherArray>(setup.params, setup.domain, std::make_shared<NodeSharedMemory>(1, bytes));
    });
}

}  // namespace

ContenderPointer make_own_gather(const OwnWay& way, const GatherSetup& setup, SetupTimes& times) {
    require_usable(way, setup.comm);
    std::shared_ptr<GatherArray> array = setup.array;
    if (way.node_shared) validate_together(setup.comm, [&] { array = node_shared_array(setup); });
    const Field field = view_cells(array->cells(), setup.domain->owned(), array->ghosts(), setup.domain->ghosts(),
                                   setup.params.element, {Order::c, setup.params.components});
    return make_own(way, [&] { return build_pattern(*setup.domain); }, {field}, array, times);
}

}  // namespace parhelion::bench
