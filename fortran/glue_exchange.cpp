// Grids and exchanges of arrays behind the Fortran modules.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "descriptors.hpp"

using namespace parhelion;
using namespace parhelion::c;
using namespace parhelion::fortran;

namespace {

[[noreturn]] void refuse_list(const char* name, int count, int dimensions,
                              bool one_for_all = true) {
    throw Error(std::string(name) + " has " + std::to_string(count) + " values for " +
                std::to_string(dimensions) + " dimensions: give " +
                (one_for_all ? "one for all, or one for each" : "one for each"));
}

// One value stands for all dimensions. Nothing where none are given.
template <class T>
void spread(T* to, Array given, int dimensions, const char* name, bool one_for_all = true) {
    if (given == nullptr) return;
    const auto values = integers_of(*given, name);
    const int count = static_cast<int>(values.size());
    if (count != dimensions && (count != 1 || !one_for_all))
        refuse_list(name, count, dimensions, one_for_all);
    for (int d = 0; d < dimensions; ++d)
        to[d] = static_cast<T>(values[static_cast<std::size_t>(count == 1 ? 0 : d)]);
}

// As `phl_array` in phl_exchange.fypp: an array, to be checked when it is used.
struct FortranArray {
    phl_field
        field;  // `cells` and what `add` was told, one value for all dimensions or one for each
    ArrayShape shape;
    std::int32_t contiguous;
    std::int32_t listed[3];  // so many values of stagger, array_halo and depth; -1: not told

    FortranArray() = default;
    FortranArray(const CFI_cdesc_t& array, bool goes_on, Array stagger = nullptr,
                 Array array_halo = nullptr, Array depth = nullptr)
        : field(), shape(shape_of(array, goes_on)), contiguous(is_contiguous(array)) {
        field.cells = array.base_addr;
        listed[0] = list(stagger, field.stagger);
        listed[1] = list(array_halo, field.halo_lower);
        listed[2] = list(depth, field.depth_lower);
        field.own_halo = listed[1] >= 0;
        field.own_depth = listed[2] >= 0;
        std::copy_n(field.halo_lower, PHL_MAX_DIMENSIONS, field.halo_upper);
        std::copy_n(field.depth_lower, PHL_MAX_DIMENSIONS, field.depth_upper);
    }
    void require_contiguous(const char* name = "the array") const {
        require_extents(shape, name);
        if (contiguous == 0)
            throw Error(std::string(name) + " is not contiguous: pass a whole array");
    }
    void require_layers(int dimensions) const {
        static constexpr const char* names[] = {"stagger", "array_halo", "depth"};
        for (int which = 0; which < 3; ++which)
            if (const int count = listed[which]; count >= 0 && count != 1 && count != dimensions)
                refuse_list(names[which], count, dimensions);
    }

private:
    static int list(Array given, std::int32_t (&to)[PHL_MAX_DIMENSIONS]) {
        if (given == nullptr) return -1;
        const auto values = integers_of(*given, "a list of layers");
        for (std::size_t d = 0; d < PHL_MAX_DIMENSIONS && !values.empty(); ++d)
            to[d] = static_cast<std::int32_t>(values[std::min(d, values.size() - 1)]);
        return static_cast<int>(values.size());
    }
};
static_assert(sizeof(FortranArray) == 37 * 8, "phl_exchange.fypp leaves room for this many bytes");
using Arrays = std::span<const FortranArray>;

int grid_components(const CartesianDomain& domain, const FortranArray& array,
                    const phl_field& field, int block) {
    array.require_contiguous();
    const ArrayShape& shape = array.shape;
    const int dims = domain.dimensions();
    if (shape.rank != dims && shape.rank != dims + 1)
        throw Error("the array has " + std::to_string(shape.rank) +
                    " dimensions: pass those of the domain, " + std::to_string(dims) +
                    ", and one more last for components where there are any");
    const auto needed = array_extents(domain, grid_layout(field, dims), block);
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
phl_field grid_field(const CartesianDomain& domain, Arrays arrays) {
    arrays[0].require_layers(domain.dimensions());
    phl_field field = arrays[0].field;
    field.order = PHL_ORDER_FORTRAN;
    if (arrays.size() != domain.blocks().size())
        throw Error("a field has " + std::to_string(arrays.size()) + " arrays and the rank " +
                    std::to_string(domain.blocks().size()) +
                    " blocks: add the first with list%add, and each further one behind it with "
                    "list%add_block");
    field.element = element_of(arrays[0].shape);
    field.element.components = grid_components(domain, arrays[0], field, 0);
    for (int block = 1; block < static_cast<int>(arrays.size()); ++block) {
        const FortranArray& array = arrays[static_cast<std::size_t>(block)];
        const phl_element element = element_of(array.shape);
        if (grid_components(domain, array, field, block) != field.element.components ||
            element.scalar != field.element.scalar || element.bytes != field.element.bytes)
            throw Error(
                "the blocks of a field differ in type or components: pass arrays of one type",
                ErrorKind::type);
    }
    field.block_count = arrays.size() > 1 ? static_cast<int32_t>(arrays.size()) : 0;
    return field;
}

byte_count cells_of(const FortranArray& array) { return array.shape.extents[array.shape.rank - 1]; }

// Owned cells with ghosts behind them, or the two.
phl_field cell_field(const IndexedDomain& domain, Arrays arrays) {
    if (arrays.size() > 2)
        throw Error("a field of an index map has " + std::to_string(arrays.size()) +
                    " arrays: add owned cells, and at most one of ghosts");
    const FortranArray& x = arrays[0];
    x.require_contiguous();
    phl_field field{};
    field.element = element_of(x.shape);
    field.element.components = components_of(x.shape, "the array");
    const byte_count needed = arrays.size() == 2 ? domain.owned() : domain.size();
    if (cells_of(x) != needed)
        throw Error("the array has " + std::to_string(cells_of(x)) +
                    " cells in its last dimension and the map " + std::to_string(needed) +
                    ": make them equal");
    if (arrays.size() == 2) {
        arrays[1].require_contiguous("the array of ghosts");
        const phl_element element = element_of(arrays[1].shape);
        if (components_of(arrays[1].shape, "the array of ghosts") != field.element.components ||
            cells_of(arrays[1]) != domain.ghosts() || element.scalar != field.element.scalar ||
            element.bytes != field.element.bytes)
            throw Error(
                "the array of ghosts does not fit the map's " + std::to_string(domain.ghosts()) +
                " ghosts and the array of owned cells: give it the same type and first dimensions");
    }
    return field;
}

// Fields as C takes them, and the arrays that they are in, one field after the other.
struct CallFields {
    std::vector<phl_field> fields;
    std::vector<void*> starts;
    std::vector<std::size_t> counts;  // of the arrays of each field

    void clear() { fields.clear(), starts.clear(), counts.clear(); }
    int count() const { return static_cast<int>(fields.size()); }
    // Once all are there.
    void place() {
        static std::byte nothing;  // ghosts that are apart, though there are none
        void** next = starts.data();
        for (std::size_t f = 0; f < fields.size(); next += counts[f++]) {
            fields[f].cells = next[0];
            if (fields[f].block_count > 0) fields[f].blocks = next;
            else if (counts[f] > 1) fields[f].ghosts = next[1] != nullptr ? next[1] : &nothing;
        }
    }
};
using Shapes = std::vector<std::vector<ArrayShape>>;

// Ghosts and further blocks come behind the first array of their field.
void read_fields(const Source& source, Arrays arrays, CallFields& to, Shapes& shapes) {
    while (!arrays.empty()) {
        std::size_t count = 1;
        while (count < arrays.size() && arrays[count].shape.goes_on) ++count;
        const Arrays mine = arrays.first(count);
        to.fields.push_back(source.grid() != nullptr ? grid_field(*source.grid(), mine)
                                                     : cell_field(*source.cells(), mine));
        to.counts.push_back(count);
        shapes.emplace_back();
        for (const FortranArray& each : mine) {
            shapes.back().push_back(each.shape);
            to.starts.push_back(each.field.cells);
        }
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
    std::size_t count() const { return static_cast<std::size_t>(named_ + listed_); }
    const FortranArray& operator[](std::size_t i) const {
        const auto named = static_cast<std::size_t>(named_);
        return i < named ? few_[i] : list_[i - named];
    }
    CallFields fields(const Source& source) const {
        std::vector<FortranArray> arrays;
        for (std::size_t i = 0; i < count(); ++i) arrays.push_back((*this)[i]);
        CallFields read;
        Shapes shapes;
        read_fields(source, arrays, read, shapes);
        read.place();
        return read;
    }
    // The fields that something was made with, in arrays like those: none where none are passed.
    CallFields& like(const MadeFields& made) const {
        thread_local CallFields to;  // allocates nothing later on
        std::size_t needed = 0, i = 0;
        for (const MadeField& field : made) needed += field.shapes.size();
        to.clear();
        if (count() == 0) return to;
        if (count() != needed)
            throw Error(
                std::to_string(count()) + " arrays were passed and the exchange was made with " +
                std::to_string(needed) +
                ": pass one for each, in that order, or none for those that it was made with");
        for (const MadeField& field : made) {
            to.fields.push_back(field.given);
            to.counts.push_back(field.shapes.size());
            for (const ArrayShape& like : field.shapes) {
                const FortranArray& array = (*this)[i++];
                ArrayShape shape = array.shape;
                shape.goes_on = like.goes_on;  // arguments do not tell
                if (!(shape == like))
                    throw Error("array " + std::to_string(i) +
                                " has another type or shape than the exchange was made for: pass "
                                "arrays like those that it was made with, or make another one, on "
                                "every rank");
                array.require_contiguous();
                to.starts.push_back(array.field.cells);
            }
        }
        to.place();
        return to;
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

    Source source() const { return domain != nullptr ? Source(domain) : Source(map); }
    void read(CallFields& to, Shapes& shapes) const {
        read_fields(source(), {arrays, static_cast<std::size_t>(count)}, to, shapes);
        to.place();
    }
};

void keep_shapes(MadeFields& made, Shapes& shapes) {
    for (std::size_t f = 0; f < made.size(); ++f) made[f].shapes = std::move(shapes[f]);
}

}  // namespace

extern "C" {

int phl_f_cartesian_create(const int* comm, Array extents, Array halo, Array lower, Array upper,
                           Array periodic, Array process_grid, int faces_only, int staged,
                           Array splits, int first_fastest, Array ranks, int of_communicator,
                           int owned_ends, Array blocks_per_rank, phl_cartesian* domain) {
    std::vector<global_index> all, cells;
    std::vector<int32_t> table;
    phl_cartesian_options options{};
    const int dims = static_cast<int>(extents->dim[0].extent);
    const auto read = [&] {
        all = integers_of(*extents, "extents");
        if (dims < 1 || dims > PHL_MAX_DIMENSIONS) return;
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
            for (int d = 0; d < dims; needed += static_cast<std::size_t>(options.process_grid[d++]))
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
            const int size = communicator_of(comm).size();
            if (static_cast<int>(table.size()) != size)
                throw Error("ranks has " + std::to_string(table.size()) +
                            " entries and the communicator " + std::to_string(size) +
                            " ranks: give the rank at each place of the process grid");
        }
    };
    return read_and_call(comm, "cartesian_domain%init", nullptr, read, [&] {
        return phl_cartesian_create(comm_from_fortran(*comm), dims, all.data(), &options, domain);
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
    *described = FortranArray(*array, goes_on != 0, stagger, array_halo, depth);
}

int phl_f_group_check(const FortranGroup* group) {
    return guarded([&] {
        CallFields read;
        Shapes shapes;
        collective(
            group->source().communicator(), "field_group%init", 0,
            [&] { group->read(read, shapes); }, [] {});
    });
}

int phl_f_exchange_groups(int count, const FortranGroup* group, const phl_exchange_options* options,
                          phl_exchange* exchange) {
    return guarded([&] {
        const std::span given(group, static_cast<std::size_t>(std::max(count, 0)));
        std::vector<CallFields> read(given.size());
        std::vector<phl_group> groups;
        Shapes shapes;
        const auto read_all = [&] {
            for (std::size_t g = 0; g < given.size(); ++g) {
                given[g].read(read[g], shapes);
                groups.push_back(
                    {given[g].domain, given[g].map, read[g].fields.data(), read[g].count()});
            }
        };
        const auto create = [&] {
            require_status(phl_exchange_create_groups(count, groups.data(), options, exchange));
        };
        if (count < 1) return create();  // an error
        collective(given[0].source().communicator(), "halo_exchange%init", limit_of(options),
                   read_all, create);
        keep_shapes(get(*exchange)->made, shapes);
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
        const CallFields& given =
            Arguments({a, b, c, d, e, f, g, h}, count, list).like(object.made);
        run(object, static_cast<Call>(call), reduction, given.fields.data(), given.count());
    });
}

int phl_f_exchange_stale(phl_exchange exchange, Array a, Array b, Array c, Array d, Array e,
                         Array f, Array g, Array h, int count, const FortranArray* list,
                         int counts_size, int64_t* counts, int32_t capacity, phl_stale_ghost* first,
                         int32_t* told) {
    return with(exchange, [&](const auto& object) {
        if (static_cast<std::size_t>(counts_size) != object.made.size())
            throw Error("counts has " + std::to_string(counts_size) + " entries and the exchange " +
                        std::to_string(object.made.size()) + " arrays: make them equal");
        const CallFields& given =
            Arguments({a, b, c, d, e, f, g, h}, count, list).like(object.made);
        require_status(phl_exchange_stale(exchange, given.fields.data(), given.count(), counts,
                                          capacity, first, told));
    });
}

int phl_f_redistribution_move(phl_redistribution redistribution, int back, Array a, Array b,
                              int from_count, const FortranArray* from, int to_count,
                              const FortranArray* to) {
    return with(redistribution, [&](auto& object) {
        CallFields before, after;
        object.read([&] {
            before = Arguments({a}, from_count, from).fields(object.from);
            after = Arguments({b}, to_count, to).fields(object.to);
            if (before.count() != after.count())
                throw Error(
                    std::to_string(before.count()) + " and " + std::to_string(after.count()) +
                    " fields were passed: pass as many of the second domain as of the first");
        });
        const auto move = back != 0 ? phl_redistribution_back : phl_redistribution_forward;
        require_status(
            move(redistribution, before.fields.data(), after.fields.data(), before.count()));
    });
}

int phl_f_point_sums_create(const FortranGroup* group, const phl_exchange_options* options,
                            phl_point_sums* sums) {
    return guarded([&] {
        CallFields read;
        Shapes shapes;
        collective(
            group->source().communicator(), "phl_point_sums_create", limit_of(options),
            [&] { group->read(read, shapes); },
            [&] {
                require_status(phl_point_sums_create(group->domain, read.count(),
                                                     read.fields.data(), options, sums));
            });
        keep_shapes(get(*sums)->made, shapes);
    });
}

int phl_f_point_sums_reduce(phl_point_sums sums, int begin, int reduction, Array a, Array b,
                            Array c, Array d, Array e, Array f, Array g, Array h, int count,
                            const FortranArray* list) {
    return with(sums, [&](const auto& object) {
        const CallFields& given =
            Arguments({a, b, c, d, e, f, g, h}, count, list).like(object.made);
        const auto reduce = begin != 0 ? phl_point_sums_begin : phl_point_sums_reduce;
        require_status(reduce(sums, reduction, given.fields.data(), given.count()));
    });
}

int phl_f_reduction_create(Array mold, void (*combine)(void*, const void*, int64_t),
                           int* reduction) {
    const auto call = [](void* into, const void* from, int64_t count, void* context) {
        reinterpret_cast<void (*)(void*, const void*, int64_t)>(context)(into, from, count);
    };
    return guarded([&] {
        require_status(phl_reduction_create(element_of(shape_of(*mold)),
                                            combine == nullptr ? nullptr : +call,
                                            reinterpret_cast<void*>(combine), reduction));
    });
}

}  // extern "C"
