#include "halo/own_halo.hpp"

#include "clock.hpp"
#include "errors.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion::bench {

namespace {

// In the job's order of dimensions, as the domain has them; the geometry counts from the fastest in
// memory.
BlockView block_of(const HaloSetup& setup, std::byte* array) {
    const Coordinates cells = extended(setup.geometry);
    const int dims = setup.geometry.dims;
    BlockView block{array, {}};
    auto stride = static_cast<byte_count>(setup.geometry.cell_bytes);
    for (int memory = 0; memory < dims; ++memory) {
        const auto job =
            static_cast<std::size_t>(setup.params.first_fastest ? memory : dims - 1 - memory);
        block.strides[job] = stride;
        block.first += setup.params.halo * stride;
        stride *= cells[static_cast<std::size_t>(memory)];
    }
    return block;
}

}  // namespace

CartesianDomain make_domain(const HaloSetup& setup) {
    const HaloParams& params = setup.params;
    std::vector<global_index> extents;
    CartesianOptions options;
    options.halo = params.halo;
    options.process_grid = params.grid;
    options.neighbors = params.full ? Neighbors::full : Neighbors::faces;
    for (std::size_t d = 0; d < params.grid.size(); ++d) {
        extents.push_back(global_index{params.extent[d]} * params.grid[d]);
        options.periodic.along[d] = params.periodic[d];
    }
    return {extents, options, setup.comm};
}

std::vector<Field> fields_on(const HaloSetup& setup, const HaloArrays& arrays) {
    std::vector<Field> fields;
    for (int f = 0; f < arrays.fields(); ++f) {
        Field& field = fields.emplace_back();
        field.element = setup.params.element;
        field.components = setup.params.components;
        field.component_stride = setup.params.element.size;
        field.halo = setup.params.halo;
        field.blocks = {block_of(setup, arrays.field(f))};
    }
    return fields;
}

std::shared_ptr<HaloArrays> node_shared_arrays(const HaloSetup& setup) {
    return setup.node_shared->get([&] {
        const std::size_t bytes =
            static_cast<std::size_t>(cells_per_array(setup.geometry)) * setup.geometry.cell_bytes;
        auto memory = std::make_shared<NodeSharedMemory>(setup.params.fields, bytes);
        return std::make_shared<HaloArrays>(setup.geometry, setup.params, std::move(memory));
    });
}

namespace {

// Where no two ranks share a node, arrays in node-shared memory are of no use, and other pages than
// the other contenders'.
bool some_share_a_node(const Communicator& comm) {
    int most = comm.node().size();
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, comm.handle()),
              "MPI_Allreduce");
    return most > 1;
}

}  // namespace

ContenderPointer make_own_halo(const OwnWay& way, const HaloSetup& setup, SetupTimes& times) {
    require_usable(way, setup.comm);
    std::shared_ptr<HaloArrays> arrays = setup.arrays;
    if (way.node_shared && some_share_a_node(setup.comm))
        validate_together(setup.comm, [&] { arrays = node_shared_arrays(setup); });
    const auto pattern = [&] { return build_pattern(make_domain(setup)); };
    return make_own(way, pattern, fields_on(setup, *arrays), arrays, times, setup.params.work);
}

}  // namespace parhelion::bench
