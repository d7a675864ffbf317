// Exchanges of arrays behind the Fortran module.
#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "../c/fields.hpp"
#include "../c/maps.hpp"
#include "descriptors.hpp"

using namespace parhelion;
using namespace parhelion::c;
using namespace parhelion::fortran;

namespace {

constexpr std::size_t most_arguments = 8;

phl_element element_of_array(const ArrayShape& array, int components) {
    const Element element = kind_of(array).element;
    return {static_cast<int32_t>(element.scalar), components, element.scalar == Scalar::bytes ? element.size : 0};
}

// What `add` was told of an array: lists of one value for all dimensions or one for each; 0 values: not told.
struct Layers {
    enum Which { stagger, halo, depth };
    std::int32_t values[3][PHL_MAX_DIMENSIONS];
    std::int32_t counts[4];

    bool told(Which which) const { return counts[which] != 0; }
    int at(Which which, int d) const { return values[which][counts[which] == 1 ? 0 : d]; }
    void require(int dimensions) const {
        static constexpr const char* names[] = {"stagger", "array_halo", "depth"};
        for (const Which each : {stagger, halo, depth})
            if (told(each) && counts[each] != 1 && counts[each] != dimensions)
                throw Error(std::string(names[each]) + " has " + std::to_string(std::max(counts[each], 0)) + " values for " +
                            std::to_string(dimensions) + " dimensions: give one for all, or one for each");
    }
};

void tell_layers(phl_field& field, const Layers& layers, int dims) {
    field.own_halo = layers.told(Layers::halo);
    field.own_depth = layers.told(Layers::depth);
    for (int d = 0; d < dims; ++d) {
        if (field.own_halo) field.halo_lower[d] = field.halo_upper[d] = layers.at(Layers::halo, d);
        if (field.own_depth) field.depth_lower[d] = field.depth_upper[d] = layers.at(Layers::depth, d);
        if (layers.told(Layers::stagger)) field.stagger[d] = layers.at(Layers::stagger, d);
    }
}

// As `phl_array` in phl_exchange.fypp: an array, to be checked when it is used.
struct FortranArray {
    void* address;
    ArrayShape shape;
    std::int64_t contiguous;
    Layers layers;

    FortranArray() = default;
    FortranArray(const CFI_cdesc_t& array, bool goes_on)
        : address(array.base_addr), shape(shape_of(array, goes_on)), contiguous(is_contiguous(array)), layers() {}
    void require_contiguous(const char* name = "the array") const {
        require_extents(shape, name);
        if (contiguous == 0) throw Error(std::string(name) + " is not contiguous: pass a whole array");
    }
};
static_assert(sizeof(FortranArray) == 28 * 8, "phl_exchange.fypp leaves room for this many bytes");

phl_field grid_field(const CartesianDomain& domain, const FortranArray& array, const Layers& layers, int block = 0) {
    array.require_contiguous();
    const ArrayShape& shape = array.shape;
    const int dims = domain.dimensions();
    if (shape.rank != dims && shape.rank != dims + 1)
        throw Error("the array has " + std::to_string(shape.rank) + " dimensions: pass those of the domain, " + std::to_string(dims) +
                    ", and one more last for components where there are any");
    layers.require(dims);
    phl_field field{};
    tell_layers(field, layers, dims);
    field.element = element_of_array(shape, shape.rank == dims ? 1 : static_cast<int>(shape.extents[dims]));
    field.order = PHL_ORDER_FORTRAN;
    field.cells = array.address;
    const auto needed = array_extents(domain, layout_on(domain, field), block);
    for (int d = 0; d < dims; ++d)
        if (shape.extents[d] != needed[static_cast<std::size_t>(d)])
            throw Error("the array has " + std::to_string(shape.extents[d]) + " cells in dimension " + std::to_string(d + 1) +
                        " and the block with its halo " + std::to_string(needed[static_cast<std::size_t>(d)]) +
                        ": make them equal, or tell stagger and array_halo");
    return field;
}

phl_field cell_field(const IndexedDomain& domain, const FortranArray& x, const FortranArray* ghosts) {
    x.require_contiguous();
    const int components = components_of(x.shape, "the array");
    const byte_count count = x.shape.extents[x.shape.rank - 1], needed = ghosts ? domain.owned() : domain.size();
    if (count != needed)
        throw Error("the array has " + std::to_string(count) + " cells in its last dimension and the map " + std::to_string(needed) +
                    ": make them equal");
    phl_field field{};
    field.element = element_of_array(x.shape, components);
    field.cells = x.address;
    if (ghosts == nullptr) return field;
    ghosts->require_contiguous("the array of ghosts");
    const int others = components_of(ghosts->shape, "the array of ghosts");
    if (ghosts->shape.extents[ghosts->shape.rank - 1] != domain.ghosts() || others != components ||
        !(kind_of(ghosts->shape).element == kind_of(x.shape).element))
        throw Error("the array of ghosts does not fit the map's " + std::to_string(domain.ghosts()) +
                    " ghosts and the array of owned cells: give it the same type and first dimensions");
    field.ghosts = ghosts->address;
    return field;
}

// Those of the arguments that are there, then those of the list, in their order.
class Arguments {
public:
    Arguments(std::initializer_list<Array> all, int count, const FortranArray* list) : list_(list), listed_(count) {
        for (Array array : all)
            if (array != nullptr) few_[static_cast<std::size_t>(named_++)] = FortranArray(*array, false);
    }
    int count() const { return named_ + listed_; }
    const FortranArray& operator[](int i) const { return i < named_ ? few_[static_cast<std::size_t>(i)] : list_[i - named_]; }

private:
    std::array<FortranArray, most_arguments> few_;  // the first named_
    const FortranArray* list_;
    int named_ = 0, listed_;
};

// As `phl_field_group` in phl_exchange.fypp: one of the two handles, and arrays, of which ghosts and further blocks come behind the first of their field.
struct FortranGroup {
    phl_cartesian domain;
    phl_index_map map;
    std::int64_t count;
    const FortranArray* arrays;
};

// And what their `blocks` point to.
struct Fields {
    std::vector<phl_field> all;
    std::vector<std::vector<void*>> blocks;
};

// The first array of a field, and how many go on with it.
template <class Arrays>
void add_grid_field(Fields& fields, const CartesianDomain& domain, const Arrays& arrays, int first, int more) {
    phl_field field = grid_field(domain, arrays[first], arrays[first].layers);
    const auto count = static_cast<int>(domain.blocks().size());
    if (more + 1 != count)
        throw Error("a field has " + std::to_string(more + 1) + " arrays and the rank " + std::to_string(count) +
                    " blocks: add the first with list%add, and each further one behind it with list%add_block");
    if (more > 0) {
        auto& blocks = fields.blocks.emplace_back();
        for (int b = 0; b < count; ++b) {
            const phl_field one = grid_field(domain, arrays[first + b], arrays[first].layers, b);
            if (!(element_from(one.element) == element_from(field.element)) || one.element.components != field.element.components)
                throw Error("the blocks of a field differ in type or components: pass arrays of one type", ErrorKind::type);
            blocks.push_back(one.cells);
        }
        field.blocks = blocks.data();
        field.block_count = count;
    }
    fields.all.push_back(field);
}

template <class Arrays>
Fields fields_of(const Source& source, const Arrays& arrays, int count) {
    Fields fields;
    for (int i = 0, more = 0; i < count; i += 1 + more) {
        for (more = 0; i + 1 + more < count && arrays[i + 1 + more].shape.goes_on;) ++more;
        if (source.grid() != nullptr) {
            add_grid_field(fields, *source.grid(), arrays, i, more);
        } else {
            if (more > 1)
                throw Error("a field of an index map has " + std::to_string(more + 1) +
                            " arrays: add owned cells, and at most one of ghosts");
            fields.all.push_back(cell_field(*source.cells(), arrays[i], more == 0 ? nullptr : &arrays[i + 1]));
        }
    }
    return fields;
}

Source source_of(const FortranGroup& group) { return group.domain != nullptr ? Source(group.domain) : Source(group.map); }
Fields fields_of(const FortranGroup& group) { return fields_of(source_of(group), group.arrays, static_cast<int>(group.count)); }

void require_status(int status) {
    if (status != 0) throw Error(phl_last_error(), static_cast<ErrorKind>(status));
}

void create(int count, const FortranGroup* group, const phl_exchange_options& options, phl_exchange* exchange) {
    std::vector<Fields> fields(static_cast<std::size_t>(count));
    std::vector<phl_group> groups;
    const Communicator comm = source_of(group[0]).communicator();
    const auto read = [&] {
        for (int g = 0; g < count; ++g) {
            auto& mine = fields[static_cast<std::size_t>(g)] = fields_of(group[g]);
            groups.push_back({group[g].domain, group[g].map, mine.all.data(), static_cast<int32_t>(mine.all.size())});
        }
    };
    collective(comm, "halo_exchange%init", options.timeout_s, read,
               [&] { require_status(phl_exchange_create_groups(count, groups.data(), &options, exchange)); });
    auto& shapes = get(*exchange)->shapes;
    for (int g = 0; g < count; ++g)
        for (int i = 0; i < group[g].count; ++i) shapes.push_back(group[g].arrays[i].shape);
}

void require_count(int given, std::size_t made_with) {
    if (static_cast<std::size_t>(given) != made_with)
        throw Error(std::to_string(given) + " arrays were passed and the exchange was made with " + std::to_string(made_with) +
                    ": pass one for each, in that order, or none for those that it was made with");
}

void require_like(const FortranArray& array, const ArrayShape& made, int i) {
    ArrayShape shape = array.shape;
    shape.goes_on = made.goes_on;  // arguments do not tell
    if (!(shape == made))
        throw Error("array " + std::to_string(i + 1) +
                    " has another type or shape than the exchange was made for: pass arrays like "
                    "those that it was made with, or make another one, on every rank");
    array.require_contiguous();
}

// Makes fields those of a call: field after field, the arrays of further blocks and of ghosts behind the first.
void take_arrays(const Arguments& given, const std::vector<ArrayShape>& shapes, std::vector<void*>& addresses, phl_field* next) {
    require_count(given.count(), shapes.size());
    addresses.resize(shapes.size());
    for (int i = 0; i < given.count(); ++i) {
        const FortranArray& array = given[i];
        const ArrayShape& made = shapes[static_cast<std::size_t>(i)];
        require_like(array, made, i);
        auto& address = addresses[static_cast<std::size_t>(i)] = array.address;
        if (made.goes_on && next[-1].blocks == nullptr) next[-1].ghosts = address;
        if (made.goes_on) continue;
        if (next->blocks != nullptr) next->blocks = &address;  // those of further blocks follow
        (next++)->cells = address;
    }
}

// As in phl_exchange.fypp.
enum class Call { forward = 0, begin, reverse, begin_reverse, check, retune };

template <class Begin>
int begin_with(phl_exchange exchange, const Arguments& given, Begin&& begin) {
    if (given.count() == 0) return begin(nullptr, 0);
    return with(exchange, [&](const auto& object) {
        for (std::size_t f = 0; f < object->made.size(); ++f) object->given[f] = object->made[f].field;
        take_arrays(given, object->shapes, object->addresses, object->given.data());
        require_status(begin(object->given.data(), static_cast<int>(object->made.size())));
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

// One list after another, as long as the process grid says.
void spread_splits(phl_cartesian_options& options, int given, int dimensions) {
    const int64_t* next = options.splits[0];
    int needed = 0;
    for (int d = 0; d < std::min(dimensions, PHL_MAX_DIMENSIONS); ++d) {
        options.splits[d] = next + needed;
        needed += options.process_grid[d];
    }
    if (needed < 1) throw Error("splits are given without a process grid: give both");
    if (given != needed)
        throw Error("splits has " + std::to_string(std::max(given, 0)) + " values and the process grid " + std::to_string(needed) +
                    " coordinates in all dimensions: give the cells of each, dimension after dimension");
}

}  // namespace

extern "C" {

int phl_f_cartesian_create(const int* comm, int dimensions, const int64_t* extents, const phl_cartesian_options* options, const int* given,
                           phl_cartesian* domain) {
    return guarded([&] {
        const Communicator own(comm_from_fortran(*comm));
        phl_cartesian_options all = *options;
        const auto check = [&] {
            repeat_single(all.halo_lower, given[0], dimensions, "lower");
            repeat_single(all.halo_upper, given[1], dimensions, "upper");
            repeat_single(all.periodic, given[2], dimensions, "periodic");
            repeat_single(all.blocks_per_rank, given[6], dimensions, "blocks_per_rank");
            if (given[3] != 0 && given[3] != dimensions) refuse_list("process_grid", given[3], dimensions, "one number of ranks for each");
            if (given[4] != 0) spread_splits(all, given[4], dimensions);
            if (given[5] != 0 && given[5] != own.size())
                throw Error("ranks has " + std::to_string(std::max(given[5], 0)) + " entries and the communicator " +
                            std::to_string(own.size()) + " ranks: give the rank at each place of the process grid");
        };
        collective(own, "cartesian_domain%init", 0, check,
                   [&] { require_status(phl_cartesian_create(comm_from_fortran(*comm), dimensions, extents, &all, domain)); });
    });
}

int phl_f_rank(const int* comm, int32_t* rank, int32_t* size) {
    return guarded([&] {
        const MPI_Comm handle = comm_from_fortran(*comm);
        if (handle == MPI_COMM_NULL) throw Error("the communicator is null: pass a valid one");
        check_mpi(MPI_Comm_rank(handle, rank), "MPI_Comm_rank");
        check_mpi(MPI_Comm_size(handle, size), "MPI_Comm_size");
    });
}

void phl_f_describe(Array array, int goes_on, FortranArray* described) { *described = FortranArray(*array, goes_on != 0); }

void phl_f_layers(FortranArray* described, int which, int count, const int32_t* values) {
    described->layers.counts[which] = count == 0 ? -1 : count;  // none is a number, too, and never right
    std::copy_n(values, std::min(count, PHL_MAX_DIMENSIONS), described->layers.values[which]);
}

int phl_f_group_check(const FortranGroup* group) {
    return guarded([&] { validate_together(source_of(*group).communicator(), [&] { fields_of(*group); }); });
}

int phl_f_exchange_groups(int count, const FortranGroup* group, const phl_exchange_options* options, phl_exchange* exchange) {
    return guarded([&] {
        if (count < 1) throw Error("an exchange needs at least one group: pass a domain or map with its fields");
        create(count, group, *options, exchange);
    });
}

int phl_f_exchange_only(phl_exchange whole, int field_count, const int32_t* fields, int depths, const int32_t* depth,
                        phl_exchange* subset) {
    return guarded([&] {
        Only only;
        if (field_count == 0) throw Error("no field is named: name at least one, or leave fields out for all of them");
        const auto made = static_cast<int>(get(whole)->made.size());
        for (int i = 0; i < field_count; ++i) {
            if (fields[i] < 1 || fields[i] > made)
                throw Error("there is no field " + std::to_string(fields[i]) + " in this exchange: it has fields 1 to " +
                            std::to_string(made));
            only.fields.push_back(fields[i] - 1);
        }
        if (depths == 1) only.depth = depth[0];
        else if (depths >= 0) only.depth.listed = depths;
        for (int d = 0; depths > 1 && d < std::min(depths, PHL_MAX_DIMENSIONS); ++d) only.depth.lower[d] = only.depth.upper[d] = depth[d];
        make_subset(whole, only, *subset);
    });
}

int phl_f_exchange_call(phl_exchange exchange, int call, int reduction, Array a, Array b, Array c, Array d, Array e, Array f, Array g,
                        Array h, int count, const FortranArray* list) {
    return begin_with(exchange, {{a, b, c, d, e, f, g, h}, count, list}, [&](const phl_field* fields, int all) {
        switch (static_cast<Call>(call)) {
            case Call::forward: return phl_exchange_forward(exchange, fields, all);
            case Call::begin: return phl_exchange_begin(exchange, fields, all);
            case Call::reverse: return phl_exchange_reverse(exchange, reduction, fields, all);
            case Call::begin_reverse: return phl_exchange_begin_reverse(exchange, reduction, fields, all);
            case Call::check: return phl_exchange_check(exchange, fields, all);
            case Call::retune: return phl_exchange_retune(exchange, fields, all);
        }
        return static_cast<int>(PHL_ERROR_INTERNAL);
    });
}

int phl_f_exchange_stale(phl_exchange exchange, Array a, Array b, Array c, Array d, Array e, Array f, Array g, Array h, int count,
                         const FortranArray* list, int counts_size, int64_t* counts, int32_t capacity, phl_stale_ghost* first,
                         int32_t* told) {
    return begin_with(exchange, {{a, b, c, d, e, f, g, h}, count, list}, [&](const phl_field* fields, int all) {
        const int status = guarded([&] {
            if (const auto made = get(exchange)->made.size(); static_cast<std::size_t>(counts_size) != made)
                throw Error("counts has " + std::to_string(counts_size) + " entries and the exchange " + std::to_string(made) +
                            " arrays: make them equal");
        });
        return status != PHL_SUCCESS ? status : phl_exchange_stale(exchange, fields, all, counts, capacity, first, told);
    });
}

int phl_f_redistribution_move(phl_redistribution redistribution, int back, Array a, Array b, int from_count, const FortranArray* from,
                              int to_count, const FortranArray* to) {
    return with(redistribution, [&](const auto& object) {
        const Arguments sources({a}, from_count, from), targets({b}, to_count, to);
        Fields before, after;
        read_arrays(*object, [&] {
            before = fields_of(object->from, sources, sources.count());
            after = fields_of(object->to, targets, targets.count());
            if (before.all.size() != after.all.size())
                throw Error(std::to_string(before.all.size()) + " and " + std::to_string(after.all.size()) +
                            " fields were passed: pass as many of the second domain as of the first");
        });
        const auto run = back != 0 ? phl_redistribution_back : phl_redistribution_forward;
        require_status(run(redistribution, before.all.data(), after.all.data(), static_cast<int>(before.all.size())));
    });
}

int phl_f_point_sums_create(const FortranGroup* group, const phl_exchange_options* options, phl_point_sums* sums) {
    return guarded([&] {
        Fields fields;
        const Source domain = source_of(*group);
        validate_together(domain.communicator(), [&] { fields = fields_of(*group); });
        require_status(phl_point_sums_create(group->domain, static_cast<int>(fields.all.size()), fields.all.data(), options, sums));
        const auto object = get(*sums);
        object->made = std::move(fields.all);
        for (int i = 0; i < group->count; ++i) object->shapes.push_back(group->arrays[i].shape);
    });
}

int phl_f_point_sums_reduce(phl_point_sums sums, int phase, int reduction, Array a, Array b, Array c, Array d, Array e, Array f, Array g,
                            Array h, int count, const FortranArray* list) {
    return with(sums, [&](const auto& object) {
        const Arguments given({a, b, c, d, e, f, g, h}, count, list);
        std::vector<phl_field> fields;
        std::vector<void*> addresses;
        if (given.count() > 0) take_arrays(given, object->shapes, addresses, (fields = object->made).data());
        const auto run = phase == 0 ? phl_point_sums_reduce : phl_point_sums_begin;
        require_status(run(sums, reduction, fields.data(), static_cast<int>(fields.size())));
    });
}

int phl_f_reduction_create(Array mold, void (*combine)(void*, const void*, int64_t), int* reduction) {
    const auto call = [](void* into, const void* from, int64_t count, void* context) {
        reinterpret_cast<void (*)(void*, const void*, int64_t)>(context)(into, from, count);
    };
    int status = PHL_SUCCESS;
    const int read = guarded([&] {
        status = phl_reduction_create(element_of_array(shape_of(*mold), 1), combine == nullptr ? nullptr : +call,
                                      reinterpret_cast<void*>(combine), reduction);
    });
    return read != PHL_SUCCESS ? read : status;
}

int phl_f_exchange_text(phl_exchange exchange, int transport, const char** text, int64_t* length) {
    const int status = transport != 0 ? phl_exchange_transport(exchange, text) : phl_exchange_explain(exchange, text);
    *length = status == PHL_SUCCESS ? static_cast<int64_t>(std::strlen(*text)) : 0;
    return status;
}

}  // extern "C"
