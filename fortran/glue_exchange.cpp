#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <numeric>

#include "descriptors.hpp"

using namespace parhelion;
using namespace parhelion::c;
using namespace parhelion::fortran;

namespace {

global_index number_of(Array given, const char* name, global_index otherwise) {
  return given != nullptr ? integers_of(*given, name).at(0) : otherwise;
}

// `cells`: cells per process coordinate, dimension by dimension.
std::vector<std::vector<global_index>> splits_of(
    const std::vector<global_index>& cells, const std::vector<int>& process_grid) {
  if (process_grid.empty()) refuse("splits are given without a process grid: give both");
  for (const int count : process_grid)
    if (count < 1) refuse("process_grid has ", count, " ranks in a dimension: give 1 or more");
  const auto needed = std::accumulate(process_grid.begin(), process_grid.end(), std::size_t{0});
  if (cells.size() != needed)
    refuse("splits has ", cells.size(), " values and the process grid ", needed,
        " coordinates in all dimensions: give the cells of each, dimension after "
        "dimension");
  std::vector<std::vector<global_index>> splits;
  auto next = cells.begin();
  for (const int count : process_grid) {
    splits.emplace_back(next, next + count);
    next += count;
  }
  return splits;
}

// The mask is constant along missing dimensions.
Mask mask_from(const CFI_cdesc_t& array, const std::vector<global_index>& extents) {
  std::vector<global_index> own(extents.size(), 1);
  own.resize(std::max<std::size_t>(own.size(), array.rank), 1);
  for (int d = 0; d < array.rank; ++d) own[static_cast<std::size_t>(d)] = array.dim[d].extent;
  return mask_of(extents, own, [&array](const Coordinates& at) {
    const auto* cell = static_cast<const std::byte*>(array.base_addr);
    for (int d = 0; d < array.rank; ++d) cell += at[d] * array.dim[d].sm;
    return std::any_of(
        cell, cell + array.elem_len, [](std::byte byte) { return byte != std::byte{0}; });
  });
}

// One for all dimensions, one for each, or those of lower, then of upper sides.
struct Values {
  std::int32_t listed = -1;  // -1: absent
  std::int32_t along[2 * PHL_MAX_DIMENSIONS] = {};

  explicit Values(Array given, const char* name = "a list of layers") {
    if (given == nullptr) return;
    const auto values = integers_of(*given, name);
    listed = static_cast<std::int32_t>(values.size());
    for (std::size_t d = 0; d < std::size(along) && listed > 0; ++d)
      along[d] = int_of(values[std::min(d, values.size() - 1)]);
  }
  // Whether there are any. Throws Error for a wrong number.
  bool fit(int dimensions, bool sides, const char* name, bool one_for_all = true) const {
    if (listed >= 0 && (listed != 1 || !one_for_all) && listed != dimensions &&
        !(sides && listed == 2 * dimensions))
      refuse(name, " has ", listed, " values for ", dimensions, " dimensions: give ",
          one_for_all ? "one for all, or one for each" : "one for each",
          sides ? ", or those of all lower sides and then of the upper ones" : "");
    return listed >= 0;
  }
  HaloWidth width(int dimensions, const char* name) const {
    if (!fit(dimensions, true, name)) return as_domain;
    return width_from(along, along + (listed == 2 * dimensions ? dimensions : 0), dimensions, name);
  }
};

// An absent argument changes nothing.
template <class To>
void spread(To& to, Array given, int dimensions, const char* name, bool one_for_all = true) {
  const Values values(given, name);
  if (values.fit(dimensions, false, name, one_for_all))
    std::copy_n(values.along, dimensions, std::begin(to));
}

// `phl_array` in phl_fields.fypp: an array and the arguments of `add`, validated at first use.
struct FortranArray {
  CFI_CDESC_T(CFI_MAX_RANK) copy;
  std::int32_t goes_on = 0;  // ghosts or next block of the previous array's field
  std::int32_t changes_sign = 0, vector = 0, along = 1;
  Values stagger{nullptr}, array_halo{nullptr}, depth{nullptr};

  explicit FortranArray(const CFI_cdesc_t& given) {
    std::memcpy(&copy, &given,
        sizeof copy - (CFI_MAX_RANK - static_cast<std::size_t>(given.rank)) * sizeof(CFI_dim_t));
  }
  const CFI_cdesc_t& operator*() const { return reinterpret_cast<const CFI_cdesc_t&>(copy); }
};
static_assert(sizeof(FortranArray) == 64 * 8, "phl_array in phl_fields.fypp has so many bytes");
using Arrays = std::span<const FortranArray>;

ArrayLayout layout_of(const FortranArray& array, int dimensions) {
  ArrayLayout layout{Order::fortran};
  layout.sign = array.changes_sign != 0 ? -1 : 1;
  layout.vector = array.vector, layout.along = array.along - 1;
  if (array.stagger.fit(dimensions, false, "stagger"))
    layout.stagger = stagger_from(array.stagger.along, dimensions);
  layout.array_halo = array.array_halo.width(dimensions, "array_halo");
  layout.depth = array.depth.width(dimensions, "depth");
  return layout;
}

int grid_components(
    const CFI_cdesc_t& array, const std::vector<global_index>& needed, const char* of) {
  const int dims = static_cast<int>(needed.size());
  if (array.rank != dims && array.rank != dims + 1)
    refuse("the array has ", array.rank, " dimensions: pass those of the domain, ", dims,
        ", and one more last for components where there are any");
  for (int d = 0; d < dims; ++d)
    if (array.dim[d].extent != needed[static_cast<std::size_t>(d)])
      refuse("the array has ", array.dim[d].extent, " cells in dimension ", d + 1, " and ", of, " ",
          needed[static_cast<std::size_t>(d)], ": make them equal, or tell stagger and array_halo");
  return array.rank == dims ? 1 : static_cast<int>(array.dim[dims].extent);
}

// One array per block.
Field grid_field(const CartesianDomain& domain, Arrays arrays, ArrayLayout layout) {
  if (arrays.size() != domain.blocks().size())
    refuse("a field has ", arrays.size(), " arrays and the rank ", domain.blocks().size(),
        " blocks: add the first with list%add, and each further one behind it with "
        "list%add_block");
  std::vector<ArrayShape> shapes;
  for (const FortranArray& array : arrays) {
    const auto block = static_cast<int>(shapes.size());
    shapes.push_back(shape_of(*array, "the array"));
    grid_components(*array, array_extents(domain, layout, block), "the block with its halo");
  }
  return view_shapes(domain, shapes, layout);
}

// One array of owned cells and ghosts, or one of each.
Field cell_field(const IndexedDomain& domain, Arrays arrays) {
  if (arrays.size() > 2)
    refuse("a field of an index map has ", arrays.size(),
        " arrays: add owned cells, and at most one of ghosts");
  const Array ghosts = arrays.size() > 1 ? &*arrays[1] : nullptr;
  require_whole(*arrays[0], "the array");
  if (ghosts != nullptr) require_whole(*ghosts, "the array of ghosts");
  const CellValues values = values_of(domain, *arrays[0], ghosts);
  std::byte* const owned = values.owned.first;
  return view_cells(owned, domain.owned(),
      ghosts != nullptr ? values.ghosts.first : owned + domain.owned() * values.width(),
      domain.ghosts(), values.element, {Order::c, values.components});
}

Field field_of(const MadeField& made, Arrays arrays) {
  return made.source.grid() != nullptr ? grid_field(*made.source.grid(), arrays, made.layout)
                                       : cell_field(*made.source.cells(), arrays);
}

// Ghosts and further blocks follow the first array of their field.
GivenGroup group_of(const Source& source, Arrays arrays) {
  GivenGroup group{source, {}};
  while (!arrays.empty()) {
    MadeField made{source};
    while (made.arrays < arrays.size() && arrays[made.arrays].goes_on != 0) ++made.arrays;
    if (source.grid() != nullptr) made.layout = layout_of(arrays[0], source.grid()->dimensions());
    const Field field = field_of(made, arrays.first(made.arrays));
    made.element = field.element, made.layout.components = field.components;
    group.fields.push_back(field);
    arrays = arrays.subspan(made.arrays);
    group.made.push_back(std::move(made));
  }
  return group;
}

// The present arguments, then the list. Valid until the next call on this thread.
Arrays all_of(std::initializer_list<Array> arguments, int count, const FortranArray* list) {
  thread_local std::vector<FortranArray> all;  // repeated calls do not allocate
  all.clear();
  for (Array array : arguments)
    if (array != nullptr) all.emplace_back(*array);
  all.insert(all.end(), list, list + count);
  return all;
}

// In other arrays of equal layouts; empty without arrays.
const std::vector<Field>& views(FieldsObject& object, Arrays arrays) {
  object.called.clear();
  if (arrays.empty()) return object.called;
  std::size_t needed = 0, first = 0;
  for (const MadeField& made : object.made) needed += made.arrays;
  if (arrays.size() != needed)
    refuse(arrays.size(), " arrays were passed and the exchange was made with ", needed,
        ": pass one for each, in that order, or none for those that it was made with");
  for (const MadeField& made : object.made) {
    std::string difference;
    try {
      const Field& field =
          object.called.emplace_back(field_of(made, arrays.subspan(first, made.arrays)));
      if (field.element != made.element || field.components != made.layout.components)
        difference = "it is " + to_string(field);
    } catch (const Error& error) {
      difference = error.what();
    }
    if (!difference.empty())
      refuse("array ", first + 1, " has another type or shape than the exchange was made for, ",
          difference,
          "; pass arrays like those that it was made with, or make another one, on "
          "every rank");
    first += made.arrays;
  }
  return object.called;
}

// A field and, on the root, the array of all its cells.
struct WholeGrid {
  Field field, whole;
};
WholeGrid whole_grid(const Source& domain, int root, Array whole, Arrays arrays) {
  const GivenGroup group = group_of(domain, arrays);
  if (group.fields.size() != 1)
    refuse(group.fields.size(), " fields were passed: pass an array, or a list of one field");
  WholeGrid given{group.fields[0], {}};
  if (domain.communicator().rank() != root) return given;
  if (whole == nullptr) refuse("the root passes no array of all cells: allocate one there");
  require_whole(*whole, "the array of all cells");
  const Stagger& stagger = group.made[0].layout.stagger;
  const int components =
      grid_components(*whole, domain.grid()->staggered(stagger).extents(), "the grid");
  given.whole = view_whole(*domain.grid(), static_cast<std::byte*>(whole->base_addr),
      element_of(*whole), {Order::fortran, components, stagger});
  return given;
}

// `phl_field_group` in phl_exchange.fypp: exactly one of the two handles is set.
struct FortranGroup {
  phl_cartesian domain;
  phl_index_map map;
  std::int64_t count;
  const FortranArray* arrays;

  Source source() const { return domain != nullptr ? Source(domain) : Source(map); }
  GivenGroup read() const { return group_of(source(), {arrays, static_cast<std::size_t>(count)}); }
};

}  // namespace

extern "C" {

int phl_f_cartesian_create(const int* comm, Array extents, Array halo, Array lower, Array upper,
    Array periodic, Array process_grid, int faces_only, int staged, Array splits, int first_fastest,
    Array ranks, int of_communicator, int owned_ends, Array blocks_per_rank, Array seams,
    Array tile_axis, Array mask, phl_cartesian* domain) {
  const auto make = [&](const Communicator& own) {
    const auto cells = integers_of(*extents, "extents");
    CartesianOptions options;
    const int dims = static_cast<int>(cells.size());
    require_dimensions(dims);
    options.halo = int_of(number_of(halo, "halo", 1));
    spread(options.halo.lower, lower, dims, "lower");
    spread(options.halo.upper, upper, dims, "upper");
    spread(options.periodic.along, periodic, dims, "periodic");
    const auto list = [&](std::vector<int>& to, Array given, const char* name, bool for_all) {
      if (given != nullptr) to.resize(static_cast<std::size_t>(dims));
      spread(to, given, dims, name, for_all);
    };
    list(options.process_grid, process_grid, "process_grid", false);
    list(options.blocks_per_rank, blocks_per_rank, "blocks_per_rank", true);
    options.neighbors = faces_only != 0 ? Neighbors::faces : Neighbors::full;
    options.algorithm = staged != 0 ? Algorithm::staged : Algorithm::standard;
    options.boundary = owned_ends != 0 ? Boundary::owned : Boundary::open;
    if (splits != nullptr)
      options.splits = splits_of(integers_of(*splits, "splits"), options.process_grid);
    if (tile_axis != nullptr) {
      options.tile_axis = int_of(number_of(tile_axis, "tile_axis", 0) - 1);
      if (options.tile_axis < 0) refuse("tile_axis starts at 1");
    }
    const auto values = ints_of(seams, "seams");
    constexpr std::size_t each = sizeof(phl_seam) / sizeof(int32_t);
    if (values.size() % each != 0)
      refuse("seams has ", values.size(),
          " values: give a list of what fold, seam and cube_seams return");
    for (auto next = values.begin(); next != values.end(); next += each) {
      std::array<int32_t, each> seam{};
      std::copy_n(next, each, seam.begin());
      options.seams.push_back(seam_from(std::bit_cast<phl_seam>(seam), tile_axis != nullptr, dims));
    }
    if (mask != nullptr) options.mask = mask_from(*mask, cells);
    std::vector<int> table = ints_of(ranks, "ranks");
    if (ranks != nullptr && static_cast<int>(table.size()) != own.size())
      refuse("ranks has ", table.size(), " entries and the communicator ", own.size(),
          " ranks: give the rank at each place of the process grid");
    options.rank_order =
        rank_order_from(std::max(first_fastest, 2 * of_communicator), std::move(table));
    return CartesianObject{{cells, options, own}};
  };
  return create_on(comm_of(comm), "cartesian_domain%init", domain, make);
}

int phl_f_cartesian_staggered(phl_cartesian domain, Array stagger, phl_cartesian* points) {
  return with(domain, [&](const auto& object) {
    int32_t along[PHL_MAX_DIMENSIONS] = {};
    spread(along, stagger, object.dimensions(), "stagger");
    create(points, [&] {
      return CartesianObject{object.staggered(stagger_from(along, object.dimensions()))};
    });
  });
}

// First and last cell of a block, from 1, for arrays of this stagger and halo.
int phl_f_cartesian_box(phl_cartesian domain, int with_halo, Array first, Array last, Array block,
    Array stagger, Array array_halo) {
  return with(domain, [&](const auto& object) {
    const int dims = object.dimensions();
    const int number = block_of(object, number_of(block, "block", 1) - 1);
    const Box box =
        with_halo != 0 && array_halo == nullptr ? object.extended(number) : object.owned(number);
    int64_t more[PHL_MAX_DIMENSIONS] = {}, layers[PHL_MAX_DIMENSIONS] = {};
    spread(more, stagger, dims, "stagger");
    spread(layers, array_halo, dims, "array_halo");
    std::vector<global_index> lower, upper;
    for (int d = 0; d < dims; ++d) {
      lower.push_back(box.lo[d] - layers[d] + 1);
      upper.push_back(box.hi[d] + layers[d] + std::max<int64_t>(more[d], 0));
    }
    assign(*first, lower, "first");
    assign(*last, upper, "last");
  });
}

int phl_f_cartesian_move_whole(phl_cartesian domain, int to_root, Array u, Array whole, int root,
    int count, const FortranArray* list) {
  const char* const call = to_root != 0 ? "cartesian_domain%gather" : "cartesian_domain%scatter";
  return with(domain, [&](auto& grid) {
    collectively(grid.communicator(), call, [&] {
      const auto [field, all] = whole_grid(Source(domain), root, whole, all_of({u}, count, list));
      if (to_root != 0) gather(grid, field, all, root);
      else scatter(grid, all, field, root);
    });
  });
}

int phl_f_rank(const int* comm, int32_t* rank, int32_t* size) {
  return guarded([&] {
    const MPI_Comm handle = comm_from_fortran(*comm);
    if (handle == MPI_COMM_NULL) refuse("the communicator is null: pass a valid one");
    check_mpi(MPI_Comm_rank(handle, rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(handle, size), "MPI_Comm_size");
  });
}

void phl_f_describe(Array array, int goes_on, FortranArray* described, Array stagger,
    Array array_halo, Array depth, int changes_sign, int vector, int along) {
  FortranArray made(*array);
  made.goes_on = goes_on, made.changes_sign = changes_sign;
  made.vector = vector, made.along = along;
  made.stagger = Values(stagger), made.array_halo = Values(array_halo);
  made.depth = Values(depth);
  *described = made;
}

int phl_f_group_check(const FortranGroup* group) {
  return guarded([&] {
    collectively(group->source().communicator(), "field_group%init", [&] { group->read(); });
  });
}

int phl_f_exchange_groups(int count, const FortranGroup* group, const phl_exchange_options* options,
    phl_exchange* exchange) {
  return guarded([&] {
    require_groups(count);
    const auto read = [&] {
      std::vector<GivenGroup> groups;
      for (int g = 0; g < count; ++g) groups.push_back(group[g].read());
      return groups;
    };
    make_exchange(group->source().communicator(), "halo_exchange%init", options, exchange, read);
  });
}

int phl_f_exchange_only(
    phl_exchange whole, Array fields, Array depth, int faces_only, phl_exchange* subset) {
  return guarded([&] {
    Only only;
    const auto made = static_cast<int>(get(whole)->made.size());
    for (const int field : ints_of(fields, "fields", -1)) {
      if (field < 0 || field >= made)
        throw Error("there is no field " + std::to_string(field + 1LL) +
                    " in this exchange: it has fields 1 to " + std::to_string(made));
      only.fields.push_back(field);
    }
    if (fields != nullptr && only.fields.empty())
      throw Error("no field is named: name at least one, or leave fields out for all of them");
    if (const Values layers(depth); layers.listed > 0) {
      const Plan& plan = get(whole)->exchange.plan();
      int dimensions = 0;  // of the named fields
      for (int f = 0; f < made; ++f)
        if (only.fields.empty() || std::ranges::count(only.fields, f) != 0)
          dimensions = std::max(dimensions, plan.pattern_of(f).dimensions);
      const bool sides = layers.listed > 1 && layers.listed == 2 * dimensions;
      std::copy_n(layers.along, PHL_MAX_DIMENSIONS, only.depth.lower.begin());
      std::copy_n(
          layers.along + (sides ? dimensions : 0), PHL_MAX_DIMENSIONS, only.depth.upper.begin());
      only.depth.listed = layers.listed == 1 ? 0 : layers.listed / (sides ? 2 : 1);
    }
    if (faces_only != 0) only.neighbors = Neighbors::faces;
    make_subset(whole, only, subset);
  });
}

int phl_f_exchange_call(phl_exchange exchange, int call, int reduction, Array a, Array b, Array c,
    Array d, Array e, Array f, Array g, Array h, int count, const FortranArray* list,
    void* stream) {
  return with(exchange, [&](auto& object) {
    object.queue = stream == nullptr ? nullptr : queue_of_stream(stream);
    run(object, static_cast<Call>(call), reduction,
        views(object, all_of({a, b, c, d, e, f, g, h}, count, list)));
  });
}

int phl_f_exchange_stale(phl_exchange exchange, Array a, Array b, Array c, Array d, Array e,
    Array f, Array g, Array h, int count, const FortranArray* list, int counts_size,
    int64_t* counts, int32_t capacity, phl_stale_ghost* first, int32_t* told) {
  return with(exchange, [&](auto& object) {
    if (static_cast<std::size_t>(counts_size) != object.made.size())
      refuse("counts has ", counts_size, " entries and the exchange ", object.made.size(),
          " arrays: make them equal");
    const auto& fields = views(object, all_of({a, b, c, d, e, f, g, h}, count, list));
    tell_stale(object, fields, counts, capacity, first, told);
  });
}

int phl_f_redistribution_create(phl_cartesian from, phl_cartesian to, Array axes,
    const phl_exchange_options* options, phl_redistribution* redistribution) {
  return make_move(from, to, options, redistribution, [&] { return ints_of(axes, "axes", -1); });
}

int phl_f_redistribution_move(phl_redistribution redistribution, int call, Array a, Array b,
    int from_count, const FortranArray* from, int to_count, const FortranArray* to) {
  return with(redistribution, [&](auto& object) {
    constexpr MoveCall calls[] = {
        &Redistribution::forward, &Redistribution::back, &Redistribution::prepare};
    move(object, calls[call], [&] {
      const auto before = group_of(object.from, all_of({a}, from_count, from)).fields,
                 after = group_of(object.to, all_of({b}, to_count, to)).fields;
      if (before.size() != after.size())
        refuse(before.size(), " and ", after.size(),
            " fields were passed: pass as many of the second domain as of the first");
      std::vector<Move> moves;
      for (std::size_t i = 0; i < before.size(); ++i) moves.push_back({before[i], after[i]});
      return moves;
    });
  });
}

int phl_f_point_sums_create(
    const FortranGroup* group, const phl_exchange_options* options, phl_point_sums* sums) {
  return guarded(
      [&] { make_point_sums(group->source(), options, sums, [&] { return group->read(); }); });
}

int phl_f_point_sums_reduce(phl_point_sums sums, int begin, int reduction, Array a, Array b,
    Array c, Array d, Array e, Array f, Array g, Array h, int count, const FortranArray* list) {
  return with(sums, [&](auto& object) {
    reduce(object, begin != 0, reduction,
        views(object, all_of({a, b, c, d, e, f, g, h}, count, list)));
  });
}

int phl_f_reduction_create(
    Array mold, void (*combine)(void*, const void*, int64_t), int* reduction) {
  const auto call = [](void* into, const void* from, int64_t count, void* context) {
    reinterpret_cast<void (*)(void*, const void*, int64_t)>(context)(into, from, count);
  };
  return guarded([&] {
    *reduction = make_reduction(
        element_of(*mold), combine == nullptr ? nullptr : +call, reinterpret_cast<void*>(combine));
  });
}

}  // extern "C"
