// Grids and exchanges of arrays behind the Fortran modules.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "descriptors.hpp"

using namespace parhelion;
using namespace parhelion::c;
using namespace parhelion::fortran;

namespace {

// One value stands for all dimensions. Nothing where none are given.
template <class T>
void spread(T* to, Array given, int dimensions, const char* name, bool one_for_all = true) {
    if (given == nullptr) return;
    const auto values = integers_of(*given, name);
    const int count = static_cast<int>(values.size());
    if (count != dimensions && (count != 1 || !one_for_all))
        throw Error(std::string(name) + " has " + std::to_string(count) + " values for " +
                    std::to_string(dimensions) + " dimensions: give " +
                    (one_for_all ? "one for all, or one for each" : "one for each"));
    for (int d = 0; d < dimensions; ++d)
        to[d] = static_cast<T>(values[static_cast<std::size_t>(count == 1 ? 0 : d)]);
}

// What `add` was told of an array: lists of one value for all dimensions or one for each.
struct Layers {
    std::int32_t values[3][PHL_MAX_DIMENSIONS];
    std::int32_t counts[4];  // and 1; 0: not told

    Layers() = default;
    explicit Layers(std::initializer_list<Array> given) {
        int which = 0;
        for (Array each : given) {
            const auto list = each != nullptr ? integers_of(*each, "a list of layers")
                                              : std::vector<global_index>();
            counts[which] = each != nullptr ? static_cast<std::int32_t>(list.size()) + 1 : 0;
            for (std::size_t d = 0; d < std::min<std::size_t>(list.size(), PHL_MAX_DIMENSIONS); ++d)
                values[which][d] = static_cast<std::int32_t>(list[d]);
            ++which;
        }
    }
    // `put(dimension, value)` of a list that was told.
    template <class Put>
    void read(int which, int dimensions, Put&& put) const {
        static constexpr const char* names[] = {"stagger", "array_halo", "depth"};
        const int count = counts[which] - 1;
        if (count >= 0 && count != 1 && count != dimensions)
            throw Error(std::string(names[which]) + " has " + std::to_string(count) +
                        " values for " + std::to_string(dimensions) +
                        " dimensions: give one for all, or one for each");
        for (int d = 0; count >= 0 && d < dimensions; ++d) {
            const int value = values[which][count == 1 ? 0 : d];
            if (which > 0 && value < 0)
                throw Error(std::string("a field has a negative ") + names[which] +
                            ": pass 0 or more");
            put(d, value);
        }
    }
};

// As `phl_array` in phl_exchange.fypp: an array, to be checked when it is used.
struct FortranArray {
    std::byte* address;
    ArrayShape shape;
    std::int64_t contiguous;
    Layers layers;

    FortranArray() = default;
    FortranArray(const CFI_cdesc_t& array, bool goes_on, const Layers& told = {})
        : address(static_cast<std::byte*>(array.base_addr)), shape(shape_of(array, goes_on)),
          contiguous(is_contiguous(array)), layers(told) {}
    void require_contiguous(const char* name = "the array") const {
        require_extents(shape, name);
        if (contiguous == 0)
            throw Error(std::string(name) + " is not contiguous: pass a whole array");
    }
    Element element() const { return kind_of(shape).element; }
};
static_assert(sizeof(FortranArray) == 28 * 8, "phl_exchange.fypp leaves room for this many bytes");
using Arrays = std::span<const FortranArray>;

int grid_components(const CartesianDomain& domain, const FortranArray& array,
                    const ArrayLayout& layout, int block) {
    array.require_contiguous();
    const ArrayShape& shape = array.shape;
    const int dims = domain.dimensions();
    if (shape.rank != dims && shape.rank != dims + 1)
        throw Error("the array has " + std::to_string(shape.rank) +
                    " dimensions: pass those of the domain, " + std::to_string(dims) +
                    ", and one more last for components where there are any");
    const auto needed = array_extents(domain, layout, block);
    for (int d = 0; d < dims; ++d)
        if (shape.extents[d] != needed[static_cast<std::size_t>(d)])
            throw Error("the array has " + std::to_string(shape.extents[d]) +
                        " cells in dimension " + std::to_string(d + 1) +
                        " and the block with its halo " +
                        std::to_string(needed[static_cast<std::size_t>(d)]) +
                        ": make them equal, or tell stagger and array_halo");
    return shape.rank == dims ? 1 : static_cast<int>(shape.extents[dims]);
}

// One array for each block; the first has been told the layers.
Field grid_field(const CartesianDomain& domain, Arrays arrays) {
    const int dims = domain.dimensions();
    ArrayLayout layout{.order = Order::fortran};
    const Layers& layers = arrays[0].layers;
    layers.read(0, dims, [&](int d, int value) {
        layout.stagger.along[d] = static_cast<std::int16_t>(std::clamp(value, -1, 1000));
    });
    const auto widths = [&](int which, HaloWidth& width) {
        if (layers.counts[which] != 0) width = 0;
        layers.read(which, dims,
                    [&](int d, int value) { width.lower[d] = width.upper[d] = value; });
    };
    widths(1, layout.array_halo);
    widths(2, layout.depth);
    if (arrays.size() != domain.blocks().size())
        throw Error("a field has " + std::to_string(arrays.size()) + " arrays and the rank " +
                    std::to_string(domain.blocks().size()) +
                    " blocks: add the first with list%add, and each further one behind it with "
                    "list%add_block");
    layout.components = grid_components(domain, arrays[0], layout, 0);
    std::vector<std::byte*> starts;
    for (const FortranArray& array : arrays) {
        if (grid_components(domain, array, layout, static_cast<int>(starts.size())) !=
                layout.components ||
            !(array.element() == arrays[0].element()))
            throw Error(
                "the blocks of a field differ in type or components: pass arrays of one type",
                ErrorKind::type);
        starts.push_back(array.address);
    }
    return view_grid(domain, std::move(starts), arrays[0].element(), layout);
}

byte_count cells_of(const FortranArray& array) { return array.shape.extents[array.shape.rank - 1]; }

// Owned cells with ghosts behind them, or the two.
Field cell_field(const IndexedDomain& domain, Arrays arrays) {
    if (arrays.size() > 2)
        throw Error("a field of an index map has " + std::to_string(arrays.size()) +
                    " arrays: add owned cells, and at most one of ghosts");
    const FortranArray& x = arrays[0];
    x.require_contiguous();
    const int components = components_of(x.shape, "the array");
    const byte_count needed = arrays.size() == 2 ? domain.owned() : domain.size();
    if (cells_of(x) != needed)
        throw Error("the array has " + std::to_string(cells_of(x)) +
                    " cells in its last dimension and the map " + std::to_string(needed) +
                    ": make them equal");
    std::byte* ghosts = x.address == nullptr ? nullptr
                                             : x.address + byte_count{domain.owned()} *
                                                               x.element().size * components;
    if (arrays.size() == 2) {
        arrays[1].require_contiguous("the array of ghosts");
        if (components_of(arrays[1].shape, "the array of ghosts") != components ||
            cells_of(arrays[1]) != domain.ghosts() || !(arrays[1].element() == x.element()))
            throw Error(
                "the array of ghosts does not fit the map's " + std::to_string(domain.ghosts()) +
                " ghosts and the array of owned cells: give it the same type and first dimensions");
        ghosts = arrays[1].address;
    }
    return view_cells(x.address, domain.owned(), ghosts, domain.ghosts(), x.element(),
                      ArrayLayout{.components = components});
}

// Ghosts and further blocks come behind the first array of their field.
void read_fields(const Source& source, Arrays arrays, std::vector<Field>& fields,
                 MadeFields& made) {
    while (!arrays.empty()) {
        std::size_t count = 1;
        while (count < arrays.size() && arrays[count].shape.goes_on) ++count;
        const Arrays mine = arrays.first(count);
        fields.push_back(source.grid() != nullptr ? grid_field(*source.grid(), mine)
                                                  : cell_field(*source.cells(), mine));
        std::vector<std::byte*> starts;
        for (const FortranArray& each : mine) starts.push_back(each.address);
        made.emplace_back(fields.back(), starts);
        for (const FortranArray& each : mine) made.back().shapes.push_back(each.shape);
        arrays = arrays.subspan(count);
    }
}

// Those of the arguments that are there, then those of the list, in their order.
class Arguments {
public:
    Arguments(std::initializer_list<Array> all, int count, const FortranArray* list)
        : list_(list), listed_(count) {
        for (Array array : all)
            if (array != nullptr)
                few_[static_cast<std::size_t>(named_++)] = FortranArray(*array, false);
    }
    int count() const { return named_ + listed_; }
    const FortranArray& operator[](int i) const {
        return i < named_ ? few_[static_cast<std::size_t>(i)] : list_[i - named_];
    }
    std::vector<FortranArray> all() const {
        std::vector<FortranArray> arrays;
        for (int i = 0; i < count(); ++i) arrays.push_back((*this)[i]);
        return arrays;
    }

private:
    std::array<FortranArray, 8> few_;  // the first named_
    const FortranArray* list_;
    int named_ = 0, listed_;
};

// As `phl_field_group` in phl_exchange.fypp: one of the two handles.
struct FortranGroup {
    phl_cartesian domain;
    phl_index_map map;
    std::int64_t count;
    const FortranArray* arrays;
};
Source source_of(const FortranGroup& group) {
    return group.domain != nullptr ? Source(group.domain) : Source(group.map);
}
Arrays arrays_of(const FortranGroup& group) {
    return {group.arrays, static_cast<std::size_t>(group.count)};
}

// Addresses of arrays like those that it was made with.
void take_arrays(const Arguments& given, const MadeFields& made,
                 std::vector<std::byte*>& addresses) {
    if (static_cast<std::size_t>(given.count()) != addresses.size())
        throw Error(std::to_string(given.count()) +
                    " arrays were passed and the exchange was made with " +
                    std::to_string(addresses.size()) +
                    ": pass one for each, in that order, or none for those that it was made with");
    int i = 0;
    for (const MadeField& field : made)
        for (const ArrayShape& like : field.shapes) {
            const FortranArray& array = given[i];
            ArrayShape shape = array.shape;
            shape.goes_on = like.goes_on;  // arguments do not tell
            addresses[static_cast<std::size_t>(i++)] = array.address;
            if (!(shape == like))
                throw Error(
                    "array " + std::to_string(i) +
                    " has another type or shape than the exchange was made for: pass arrays like "
                    "those that it was made with, or make another one, on every rank");
            array.require_contiguous();
        }
}

// In the order in which addresses were taken.
auto address_in(const MadeFields& made, const std::vector<std::byte*>& addresses) {
    return [&made, next = addresses.data(), field = std::size_t{0}](std::size_t f,
                                                                    std::size_t array) mutable {
        while (field < f) next += made[field++].shapes.size();
        return next[array];
    };
}

ArrayList arrays_of(ExchangeObject& object, const Arguments& given) {
    if (given.count() == 0) return {};
    take_arrays(given, object.made, object.addresses);
    return object.arrays(address_in(object.made, object.addresses));
}

}  // namespace

extern "C" {

int phl_f_cartesian_create(const int* comm, Array extents, Array halo, Array lower, Array upper,
                           Array periodic, Array process_grid, int faces_only, int staged,
                           Array splits, int first_fastest, Array ranks, int of_communicator,
                           int owned_ends, Array blocks_per_rank, phl_cartesian* domain) {
    return guarded([&] {
        const Communicator own(comm_from_fortran(*comm));
        std::vector<global_index> all, cells;
        std::vector<int32_t> table;
        const int dims = static_cast<int>(extents->dim[0].extent);
        make_grid(own, "cartesian_domain%init", dims, domain, [&] {
            phl_cartesian_options options{};
            all = integers_of(*extents, "extents");
            std::fill_n(options.halo_lower, dims,
                        halo != nullptr ? static_cast<int32_t>(integers_of(*halo, "halo")[0]) : 1);
            std::copy_n(options.halo_lower, dims, options.halo_upper);
            spread(options.halo_lower, lower, dims, "lower");
            spread(options.halo_upper, upper, dims, "upper");
            spread(options.periodic, periodic, dims, "periodic");
            spread(options.process_grid, process_grid, dims, "process_grid", false);
            spread(options.blocks_per_rank, blocks_per_rank, dims, "blocks_per_rank");
            options.neighbors = faces_only;
            options.algorithm = staged;
            options.boundary = owned_ends;
            options.rank_order = std::max(first_fastest, 2 * of_communicator);
            if (splits != nullptr) {
                cells = integers_of(*splits, "splits");
                std::size_t needed = 0;
                for (int d = 0; d < dims;
                     needed += static_cast<std::size_t>(options.process_grid[d++]))
                    options.splits[d] = cells.data() + needed;
                if (needed < 1) throw Error("splits are given without a process grid: give both");
                if (cells.size() != needed)
                    throw Error("splits has " + std::to_string(cells.size()) +
                                " values and the process grid " + std::to_string(needed) +
                                " coordinates in all dimensions: give the cells of each, dimension "
                                "after dimension");
            }
            if (ranks != nullptr) {
                const auto given = integers_of(*ranks, "ranks");
                table.assign(given.begin(), given.end());
                options.ranks = table.data();
                if (static_cast<int>(table.size()) != own.size())
                    throw Error("ranks has " + std::to_string(table.size()) +
                                " entries and the communicator " + std::to_string(own.size()) +
                                " ranks: give the rank at each place of the process grid");
            }
            return std::pair{static_cast<const int64_t*>(all.data()), options};
        });
    });
}

int phl_f_cartesian_staggered(phl_cartesian domain, Array stagger, phl_cartesian* points) {
    return with(domain, [&](const auto& object) {
        int32_t along[PHL_MAX_DIMENSIONS] = {};
        spread(along, stagger, object.grid.dimensions(), "stagger");
        require_status(phl_cartesian_staggered(domain, along, points));
    });
}

// First and last cell of a block, from 1, of its owned cells or with the halo, of fields that are
// staggered and have layers so.
int phl_f_cartesian_box(phl_cartesian domain, int with_halo, Array first, Array last, Array block,
                        Array stagger, Array array_halo) {
    return with(domain, [&](const auto& object) {
        const int dims = object.grid.dimensions();
        const int number =
            block != nullptr ? static_cast<int>(integers_of(*block, "block")[0]) - 1 : 0;
        int64_t more[PHL_MAX_DIMENSIONS] = {}, layers[PHL_MAX_DIMENSIONS] = {},
                lower[PHL_MAX_DIMENSIONS], upper[PHL_MAX_DIMENSIONS];
        spread(more, stagger, dims, "stagger");
        spread(layers, array_halo, dims, "array_halo");
        require_status((with_halo != 0 && array_halo == nullptr
                            ? phl_cartesian_extended
                            : phl_cartesian_owned)(domain, number, lower, upper));
        for (int d = 0; d < dims; ++d) lower[d] += 1 - layers[d], upper[d] += layers[d] + more[d];
        assign(*first, {lower, lower + dims}, "first");
        assign(*last, {upper, upper + dims}, "last");
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

void phl_f_describe(Array array, int goes_on, FortranArray* described, Array stagger,
                    Array array_halo, Array depth) {
    *described = FortranArray(*array, goes_on != 0, Layers({stagger, array_halo, depth}));
}

int phl_f_group_check(const FortranGroup* group) {
    return guarded([&] {
        const Source source = source_of(*group);
        std::vector<Field> fields;
        MadeFields made;
        collective(
            source.communicator(), "field_group%init", 0,
            [&] { read_fields(source, arrays_of(*group), fields, made); }, [] {});
    });
}

int phl_f_exchange_groups(int count, const FortranGroup* group, const phl_exchange_options* options,
                          phl_exchange* exchange) {
    return guarded([&] {
        if (count < 1)
            throw Error(
                "an exchange needs at least one group: pass a domain or map with its fields");
        make_exchange(
            source_of(group[0]), "halo_exchange%init", options, exchange,
            [&](std::vector<Group>& groups, MadeFields& made) {
                for (const FortranGroup& each : std::span(group, static_cast<std::size_t>(count))) {
                    const Source source = source_of(each);
                    std::vector<Field> fields;
                    read_fields(source, arrays_of(each), fields, made);
                    groups.push_back(source.group(std::move(fields)));
                }
            });
    });
}

int phl_f_exchange_only(phl_exchange whole, Array fields, Array depth, phl_exchange* subset) {
    return guarded([&] {
        Only only;
        const auto made = static_cast<int>(get(whole)->made.size());
        if (fields != nullptr) {
            const auto numbers = integers_of(*fields, "fields");
            if (numbers.empty())
                throw Error(
                    "no field is named: name at least one, or leave fields out for all of them");
            for (const auto number : numbers) {
                if (number < 1 || number > made)
                    throw Error("there is no field " + std::to_string(number) +
                                " in this exchange: it has fields 1 to " + std::to_string(made));
                only.fields.push_back(static_cast<int>(number) - 1);
            }
        }
        if (depth != nullptr) {
            const auto widths = integers_of(*depth, "depth");
            if (widths.size() == 1) only.depth = static_cast<int>(widths[0]);
            else only.depth.listed = static_cast<int>(widths.size());
            for (std::size_t d = 0;
                 widths.size() > 1 && d < std::min<std::size_t>(widths.size(), PHL_MAX_DIMENSIONS);
                 ++d)
                only.depth.lower[d] = only.depth.upper[d] = static_cast<int>(widths[d]);
        }
        make_subset(whole, only, *subset);
    });
}

int phl_f_exchange_call(phl_exchange exchange, int call, int reduction, Array a, Array b, Array c,
                        Array d, Array e, Array f, Array g, Array h, int count,
                        const FortranArray* list) {
    return with(exchange, [&](auto& object) {
        run(object, static_cast<Call>(call), reduction,
            arrays_of(object, {{a, b, c, d, e, f, g, h}, count, list}));
    });
}

int phl_f_exchange_stale(phl_exchange exchange, Array a, Array b, Array c, Array d, Array e,
                         Array f, Array g, Array h, int count, const FortranArray* list,
                         int counts_size, int64_t* counts, int32_t capacity, phl_stale_ghost* first,
                         int32_t* told) {
    return with(exchange, [&](auto& object) {
        if (static_cast<std::size_t>(counts_size) != object.made.size())
            throw Error("counts has " + std::to_string(counts_size) + " entries and the exchange " +
                        std::to_string(object.made.size()) + " arrays: make them equal");
        copy_stale(object, arrays_of(object, {{a, b, c, d, e, f, g, h}, count, list}), counts,
                   capacity, first, told);
    });
}

int phl_f_redistribution_move(phl_redistribution redistribution, int back, Array a, Array b,
                              int from_count, const FortranArray* from, int to_count,
                              const FortranArray* to) {
    return with(redistribution, [&](auto& object) {
        move(object, back != 0, [&] {
            std::vector<Field> before, after;
            MadeFields made;
            read_fields(object.from, Arguments({a}, from_count, from).all(), before, made);
            read_fields(object.to, Arguments({b}, to_count, to).all(), after, made);
            if (before.size() != after.size())
                throw Error(
                    std::to_string(before.size()) + " and " + std::to_string(after.size()) +
                    " fields were passed: pass as many of the second domain as of the first");
            std::vector<Move> moves;
            for (std::size_t i = 0; i < before.size(); ++i) moves.push_back({before[i], after[i]});
            return moves;
        });
    });
}

int phl_f_point_sums_create(const FortranGroup* group, const phl_exchange_options* options,
                            phl_point_sums* sums) {
    return guarded([&] {
        const Source source = source_of(*group);
        make_sums(source, options, sums, [&](std::vector<Field>& fields, MadeFields& made) {
            read_fields(source, arrays_of(*group), fields, made);
        });
    });
}

int phl_f_point_sums_reduce(phl_point_sums sums, int begin, int reduction, Array a, Array b,
                            Array c, Array d, Array e, Array f, Array g, Array h, int count,
                            const FortranArray* list) {
    return with(sums, [&](auto& object) {
        const Arguments given({a, b, c, d, e, f, g, h}, count, list);
        if (given.count() == 0) return run(object, begin != 0, reduction, {});
        std::vector<std::byte*> addresses(count_arrays(object.made));
        take_arrays(given, object.made, addresses);
        auto address = address_in(object.made, addresses);
        auto fields = object.views;
        for (std::size_t f = 0; f < fields.size(); ++f)
            for (std::size_t block = 0; block < fields[f].blocks.size(); ++block) {
                const auto& [array, offset] = object.made[f].places[block];
                fields[f].blocks[block].first = address(f, array) + offset;
            }
        run(object, begin != 0, reduction, fields);
    });
}

int phl_f_reduction_create(Array mold, void (*combine)(void*, const void*, int64_t),
                           int* reduction) {
    const auto call = [](void* into, const void* from, int64_t count, void* context) {
        reinterpret_cast<void (*)(void*, const void*, int64_t)>(context)(into, from, count);
    };
    return guarded([&] {
        const Element element = kind_of(*mold).element;
        require_status(phl_reduction_create({static_cast<int32_t>(element.scalar), 1, element.size},
                                            combine == nullptr ? nullptr : +call,
                                            reinterpret_cast<void*>(combine), reduction));
    });
}

}  // extern "C"
