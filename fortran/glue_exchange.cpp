// Exchanges of fixed arrays behind the Fortran module.
#include "../c/objects.hpp"
#include "descriptors.hpp"

using namespace parhelion;
using namespace parhelion::c;
using namespace parhelion::fortran;

namespace {

constexpr int most_fields = 8;

phl_element element_of_array(const CFI_cdesc_t& array, int components) {
    const Element element = kind_of(array).element;
    return {static_cast<int32_t>(element.scalar), components, element.scalar == Scalar::bytes ? element.size : 0};
}

phl_field grid_field(const CartesianDomain& domain, const CFI_cdesc_t& array) {
    require_contiguous(array, "the array");
    const int dims = domain.dimensions();
    if (array.rank != dims && array.rank != dims + 1)
        throw Error("the array has " + std::to_string(array.rank) + " dimensions: pass those of the domain, " +
                    std::to_string(dims) + ", and one more last for components where there are any");
    const Box box = domain.extended();
    for (int d = 0; d < dims; ++d)
        if (array.dim[d].extent != box.extent(d))
            throw Error("the array has " + std::to_string(array.dim[d].extent) + " cells in dimension " + std::to_string(d + 1) +
                        " and the block with its halo " + std::to_string(box.extent(d)) + ": make them equal");
    phl_field field{};
    field.element = element_of_array(array, array.rank == dims ? 1 : static_cast<int>(array.dim[dims].extent));
    field.order = PHL_ORDER_FORTRAN;
    field.cells = array.base_addr;
    return field;
}

phl_field cell_field(const IndexedDomain& domain, const CFI_cdesc_t& x, const CFI_cdesc_t* ghosts) {
    require_contiguous(x, "the array");
    const Cells cells = cells_of(x, "the array");
    const byte_count needed = ghosts ? domain.owned() : domain.size();
    if (cells.count != needed)
        throw Error("the array has " + std::to_string(cells.count) + " cells in its last dimension and the map " +
                    std::to_string(needed) + ": make them equal");
    phl_field field{};
    field.element = element_of_array(x, cells.components);
    field.cells = x.base_addr;
    if (ghosts == nullptr) return field;
    require_contiguous(*ghosts, "the array of ghosts");
    const Cells others = cells_of(*ghosts, "the array of ghosts");
    if (others.count != domain.ghosts() || others.components != cells.components ||
        !(others.kind.element == cells.kind.element))
        throw Error("the array of ghosts does not fit the map's " + std::to_string(domain.ghosts()) +
                    " ghosts and the array of owned cells: give it the same type and first dimensions");
    field.ghosts = ghosts->base_addr;
    return field;
}

}  // namespace

extern "C" {

int phl_f_cartesian_create(const MPI_Fint* comm, int dimensions, const int64_t* extents,
                           const phl_cartesian_options* options, phl_cartesian* domain) {
    return phl_cartesian_create_f(*comm, dimensions, extents, options, domain);
}

int phl_f_rank(const MPI_Fint* comm, int32_t* rank, int32_t* size) { return phl_rank_f(*comm, rank, size); }

int phl_f_exchange_cartesian(phl_cartesian domain, Array a, Array b, Array c, Array d, Array e, Array f, Array g, Array h,
                             const char* transport, phl_exchange* exchange) {
    return guarded([&] {
        const auto object = get(domain);
        phl_field fields[most_fields];
        int count = 0;
        validate_together(object->domain.communicator(), [&] {
            for (Array array : {a, b, c, d, e, f, g, h})
                if (array != nullptr) fields[count++] = grid_field(object->domain, *array);
        });
        if (const int status = phl_exchange_create_cartesian(domain, count, fields, transport, 0, exchange))
            throw Error(phl_last_error(), static_cast<ErrorKind>(status));
    });
}

int phl_f_exchange_index_map(phl_index_map map, Array x, Array ghosts, const char* transport, phl_exchange* exchange) {
    return guarded([&] {
        const auto object = get(map);
        phl_field field{};
        validate_together(object->map.communicator(), [&] { field = cell_field(object->map.domain(), *x, ghosts); });
        if (const int status = phl_exchange_create_index_map(map, 1, &field, transport, 0, exchange))
            throw Error(phl_last_error(), static_cast<ErrorKind>(status));
    });
}

}  // extern "C"
