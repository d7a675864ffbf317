// Exchanges of arrays behind the Fortran module.
#include <algorithm>
#include <array>
#include <initializer_list>

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

// Arguments that are there, in their order.
struct Arguments {
    std::array<Array, most_fields> arrays{};
    int count = 0;

    Arguments(std::initializer_list<Array> all) {
        for (Array array : all)
            if (array != nullptr) arrays[static_cast<std::size_t>(count++)] = array;
    }
    const CFI_cdesc_t& operator[](int i) const { return *arrays[static_cast<std::size_t>(i)]; }
};

ArrayShape shape_of(const CFI_cdesc_t& array, bool ghosts) {
    static_assert(CFI_MAX_RANK <= ArrayShape::most_dimensions);
    ArrayShape shape{array.type, array.rank, static_cast<std::int64_t>(array.elem_len), {}, ghosts};
    for (int d = 0; d < array.rank; ++d) shape.extents[d] = array.dim[d].extent;
    return shape;
}

// As `phl_field_group` in phl_bindings.f90.
struct FortranGroup {
    phl_cartesian domain;
    phl_index_map map;
    int32_t fields, arrays;
    phl_field field[most_fields];
    ArrayShape shape[most_fields];
};
static_assert(sizeof(FortranGroup) == 24 + most_fields * (88 + 144), "phl_bindings.f90 leaves room for this many bytes");

FortranGroup group_of(phl_cartesian domain, const Arguments& given) {
    const auto object = get(domain);
    FortranGroup group{domain, nullptr, given.count, given.count, {}, {}};
    validate_together(object->domain.communicator(), [&] {
        for (int i = 0; i < given.count; ++i) {
            group.field[i] = grid_field(object->domain, given[i]);
            group.shape[i] = shape_of(given[i], false);
        }
    });
    return group;
}

// An index map's group has one field, of which the second array, if any, holds the ghosts.
FortranGroup group_of(phl_index_map map, Array x, Array ghosts) {
    const auto object = get(map);
    FortranGroup group{nullptr, map, 1, ghosts ? 2 : 1, {}, {}};
    validate_together(object->map.communicator(), [&] {
        group.field[0] = cell_field(object->map.domain(), *x, ghosts);
        group.shape[0] = shape_of(*x, false);
        if (ghosts) group.shape[1] = shape_of(*ghosts, true);
    });
    return group;
}

void require_status(int status) {
    if (status != 0) throw Error(phl_last_error(), static_cast<ErrorKind>(status));
}

void create(int count, const FortranGroup* group, const char* transport, phl_exchange* exchange) {
    std::vector<phl_group> groups;
    for (int g = 0; g < count; ++g) groups.push_back({group[g].domain, group[g].map, group[g].field, group[g].fields});
    require_status(phl_exchange_create_groups(count, groups.data(), transport, 0, exchange));
    auto& shapes = get(*exchange)->shapes;
    for (int g = 0; g < count; ++g) shapes.insert(shapes.end(), group[g].shape, group[g].shape + group[g].arrays);
}

void require_count(int given, std::size_t made_with) {
    if (made_with > most_fields)
        throw Error("the exchange was made with " + std::to_string(made_with) + " arrays and " + std::to_string(most_fields) +
                    " can be named at a call: pass none, for those that it was made with, or make several exchanges");
    if (static_cast<std::size_t>(given) != made_with)
        throw Error(std::to_string(given) + " arrays were passed and the exchange was made with " + std::to_string(made_with) +
                    ": pass one for each, in that order, or none for those that it was made with");
}

template <class Begin>
int begin_with(phl_exchange exchange, const Arguments& given, Begin&& begin) {
    if (given.count == 0) return begin(nullptr, 0);
    return guarded([&] {
        const auto object = get(exchange);
        require_count(given.count, object->shapes.size());
        phl_field fields[most_fields];
        for (std::size_t f = 0; f < object->made.size(); ++f) fields[f] = object->made[f].field;
        phl_field* next = fields;
        for (int i = 0; i < given.count; ++i) {
            const ArrayShape& made = object->shapes[static_cast<std::size_t>(i)];
            if (!(shape_of(given[i], made.ghosts) == made))
                throw Error("array " + std::to_string(i + 1) + " has another type or shape than the exchange was made for: pass arrays like "
                            "those that it was made with, or make another one, on every rank");
            require_contiguous(given[i], "the array");
            if (made.ghosts) next[-1].ghosts = given[i].base_addr;
            else (next++)->cells = given[i].base_addr;
        }
        require_status(begin(fields, static_cast<int>(object->made.size())));
    });
}

[[noreturn]] void refuse_list(const char* name, int given, int dimensions, const char* remedy) {
    throw Error(std::string(name) + " has " + std::to_string(std::max(given, 0)) + " values for " + std::to_string(dimensions) +
                " dimensions: give " + remedy);
}

// One value stands for all dimensions.
void repeat_single(int32_t* values, int given, int dimensions, const char* name) {
    if (given == 1) std::fill_n(values, PHL_MAX_DIMENSIONS, values[0]);
    else if (given != 0 && given != dimensions) refuse_list(name, given, dimensions, "one for all, or one for each");
}

}  // namespace

extern "C" {

int phl_f_cartesian_create(const MPI_Fint* comm, int dimensions, const int64_t* extents,
                           const phl_cartesian_options* options, const int* given, phl_cartesian* domain) {
    phl_cartesian_options all = *options;
    const int status = guarded([&] {
        validate_together(Communicator(comm_from_fortran(*comm)), [&] {
            repeat_single(all.halo_lower, given[0], dimensions, "lower");
            repeat_single(all.halo_upper, given[1], dimensions, "upper");
            repeat_single(all.periodic, given[2], dimensions, "periodic");
            if (given[3] != 0 && given[3] != dimensions) refuse_list("process_grid", given[3], dimensions, "one number of ranks for each");
        });
    });
    return status != PHL_SUCCESS ? status : phl_cartesian_create_f(*comm, dimensions, extents, &all, domain);
}

int phl_f_rank(const MPI_Fint* comm, int32_t* rank, int32_t* size) { return phl_rank_f(*comm, rank, size); }

int phl_f_exchange_cartesian(phl_cartesian domain, Array a, Array b, Array c, Array d, Array e, Array f, Array g, Array h,
                             const char* transport, phl_exchange* exchange) {
    return guarded([&] {
        const FortranGroup group = group_of(domain, {a, b, c, d, e, f, g, h});
        create(1, &group, transport, exchange);
    });
}

int phl_f_exchange_index_map(phl_index_map map, Array x, Array ghosts, const char* transport, phl_exchange* exchange) {
    return guarded([&] {
        const FortranGroup group = group_of(map, x, ghosts);
        create(1, &group, transport, exchange);
    });
}

int phl_f_group_cartesian(phl_cartesian domain, Array a, Array b, Array c, Array d, Array e, Array f, Array g, Array h,
                          FortranGroup* group) {
    return guarded([&] { *group = group_of(domain, {a, b, c, d, e, f, g, h}); });
}

int phl_f_group_index_map(phl_index_map map, Array x, Array ghosts, FortranGroup* group) {
    return guarded([&] { *group = group_of(map, x, ghosts); });
}

int phl_f_exchange_groups(int count, const FortranGroup* group, const char* transport, phl_exchange* exchange) {
    return guarded([&] { create(count, group, transport, exchange); });
}

int phl_f_exchange_begin(phl_exchange exchange, Array a, Array b, Array c, Array d, Array e, Array f, Array g, Array h) {
    return begin_with(exchange, {a, b, c, d, e, f, g, h},
                      [&](const phl_field* fields, int count) { return phl_exchange_begin(exchange, fields, count); });
}

int phl_f_exchange_begin_reverse(phl_exchange exchange, int reduction, Array a, Array b, Array c, Array d, Array e, Array f, Array g,
                                 Array h) {
    return begin_with(exchange, {a, b, c, d, e, f, g, h}, [&](const phl_field* fields, int count) {
        return phl_exchange_begin_reverse(exchange, reduction, fields, count);
    });
}

}  // extern "C"
