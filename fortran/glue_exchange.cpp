// Grids and exchanges: reads array descriptors, and counts cells, dimensions and fields from 0.
#include <cstring>
#include <numeric>

#include "descriptors.hpp"

using namespace parhelion;
using namespace parhelion::c;
using namespace parhelion::fortran;

namespace {

// `cells`: cells per process coordinate, dimension by dimension.
std::vector<Ids> splits_of(const Ids& cells, const std::vector<int>& process_grid) {
  if (process_grid.empty()) refuse("splits are given without a process grid: give both");
  for (const int count : process_grid)
    if (count < 1) refuse("process_grid has ", count, " ranks in a dimension: give 1 or more");
  const auto needed = std::accumulate(process_grid.begin(), process_grid.end(), std::size_t{0});
  if (cells.size() != needed)
    refuse("splits has ", cells.size(), " values, but the process grid has ", needed,
        " coordinates: give the cells of each, dimension after dimension");
  std::vector<Ids> splits;
  auto next = cells.begin();
  for (const int count : process_grid) {
    splits.emplace_back(next, next + count);
    next += count;
  }
  return splits;
}

// The mask is constant along missing dimensions.
Mask mask_from(Array array, const Ids& extents) {
  Ids own(std::max<std::size_t>(extents.size(), array->rank), 1);
  for (int d = 0; d < array->rank; ++d) own[static_cast<std::size_t>(d)] = array->dim[d].extent;
  return mask_of(extents, own, [array](const Coordinates& at) {
    const auto* cell = static_cast<const std::byte*>(array->base_addr);
    for (int d = 0; d < array->rank; ++d) cell += at[d] * array->dim[d].sm;
    return std::any_of(
        cell, cell + array->elem_len, [](std::byte byte) { return byte != std::byte{}; });
  });
}

// One for all dimensions, one for each, or those of lower, then of upper sides.
struct Values {
  std::int32_t listed = -1;  // -1: absent
  std::int32_t along[2 * PHL_MAX_DIMENSIONS] = {};

  explicit Values(Array given, const char* name = "a list of layers") {
    const Ids values = integers_of(given, name);
    if (given != nullptr) listed = static_cast<std::int32_t>(values.size());
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

// A column of field_list's `arrays`: an array and the arguments of `add`, validated at first use.
struct FortranArray {
  CFI_CDESC_T(CFI_MAX_RANK) copy;
  std::int32_t goes_on = 0;  // ghosts or next block of the previous array's field
  std::int32_t changes_sign = 0, vector = 0, along = 0;
  Values stagger{nullptr}, array_halo{nullptr}, depth{nullptr};

  explicit FortranArray(Array given) {
    std::memcpy(&copy, given,
        sizeof copy - (CFI_MAX_RANK - static_cast<std::size_t>(given->rank)) * sizeof(CFI_dim_t));
  }
  operator Array() const { return reinterpret_cast<Array>(&copy); }
};
static_assert(sizeof(FortranArray) == 64 * 8, "field_list has columns of 64 numbers");
using Arrays = std::span<const FortranArray>;

ArrayLayout layout_of(const FortranArray& array, int dimensions) {
  ArrayLayout layout{Order::fortran};
  layout.sign = array.changes_sign != 0 ? -1 : 1;
  layout.vector = array.vector, layout.along = array.along;
  if (array.stagger.fit(dimensions, false, "stagger"))
    layout.stagger = stagger_from(array.stagger.along, dimensions);
  layout.array_halo = array.array_halo.width(dimensions, "array_halo");
  layout.depth = array.depth.width(dimensions, "depth");
  return layout;
}

int grid_components(Array array, const Ids& needed, const char* of) {
  const auto dims = static_cast<int>(needed.size());
  if (array->rank != dims && array->rank != dims + 1)
    refuse("the array has ", array->rank, " dimensions: pass those of the domain, ", dims,
        ", and one more last for components");
  for (int d = 0; d < dims; ++d)
    if (array->dim[d].extent != needed[static_cast<std::size_t>(d)])
      refuse("the array has ", array->dim[d].extent, " cells in dimension ", d + 1, ", but ", of,
          " has ", needed[static_cast<std::size_t>(d)],
          ": make them equal, or give stagger and array_halo");
  return array->rank == dims ? 1 : static_cast<int>(array->dim[dims].extent);
}

// One array per block.
Field grid_field(const CartesianDomain& domain, Arrays arrays, ArrayLayout layout) {
  if (arrays.size() != domain.blocks().size())
    refuse("a field has ", arrays.size(), " arrays, but the rank has ", domain.blocks().size(),
        " blocks: pass the first to list%add, the others to list%add_block");
  std::vector<ArrayShape> shapes;
  for (const FortranArray& array : arrays) {
    const auto block = static_cast<int>(shapes.size());
    shapes.push_back(shape_of(array));
    grid_components(array, array_extents(domain, layout, block), "the block with its halo");
  }
  return view_shapes(domain, shapes, layout);
}

// One array of owned cells and ghosts, or one of each.
Field cell_field(const IndexedDomain& domain, Arrays arrays) {
  if (arrays.size() > 2)
    refuse("a field of an index map has ", arrays.size(),
        " arrays: add owned cells, and at most one of ghosts");
  require_whole(arrays[0], "the array");
  const Array ghosts = arrays.size() > 1 ? Array(arrays[1]) : nullptr;
  if (ghosts != nullptr) require_whole(ghosts, "the array of ghosts");
  const CellValues values = values_of(domain, arrays[0], ghosts);
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
    try {
      if (source.grid() != nullptr) made.layout = layout_of(arrays[0], source.grid()->dimensions());
      group.fields.push_back(field_of(made, arrays.first(made.arrays)));
    } catch (const Error& error) {
      throw Error(concat("field ", group.made.size() + 1, ": ", error.what()), error.kind());
    }
    const Field& field = group.fields.back();
    made.element = field.element, made.layout.components = field.components;
    arrays = arrays.subspan(made.arrays);
    group.made.push_back(std::move(made));
  }
  return group;
}

// `phl_list` in phl_fields.fypp: of an exchange's group, `source` is its domain or map.
struct FortranList {
  void* source;
  std::int64_t count;
  const FortranArray* arrays;

  Source domain() const {
    const auto kind = reinterpret_cast<std::uintptr_t>(source) & 0xf;
    return kind == CartesianObject::kind.number ? Source(static_cast<phl_cartesian>(source))
                                                : Source(static_cast<phl_index_map>(source));
  }
  Arrays all() const { return {arrays, static_cast<std::size_t>(count)}; }
};
using Fields = const FortranList*;

// The present arguments, then the list. Valid until the next call on this thread.
Arrays all_of(std::initializer_list<Array> arguments, Fields list) {
  thread_local std::vector<FortranArray> all;  // repeated calls do not allocate
  all.clear();
  for (Array array : arguments)
    if (array != nullptr) all.emplace_back(array);
  all.insert(all.end(), list->all().begin(), list->all().end());
  return all;
}

// In other arrays of equal layouts; empty without arrays.
const std::vector<Field>& views(FieldsObject& object, Arrays arrays) {
  object.called.clear();
  if (arrays.empty()) return object.called;
  std::size_t needed = 0, first = 0;
  for (const MadeField& made : object.made) needed += made.arrays;
  if (arrays.size() != needed)
    refuse(arrays.size(), " arrays were passed, but the exchange needs ", needed,
        ": pass one for each, in order, or none");
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
      refuse("array ", first + 1, " differs in type or shape from what the exchange needs, ",
          difference, "; pass arrays of its layouts, or construct another exchange, on every rank");
    first += made.arrays;
  }
  return object.called;
}

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
  require_whole(whole, "the array of all cells");
  const Stagger& stagger = group.made[0].layout.stagger;
  const int components =
      grid_components(whole, domain.grid()->staggered(stagger).extents(), "the grid");
  given.whole = view_whole(*domain.grid(), static_cast<std::byte*>(whole->base_addr),
      element_of(whole), {Order::fortran, components, stagger});
  return given;
}

// A status, and a result even of a failure.
int tell(int status, int result, Array to) {
  const int written = guarded([&] { assign(to, {result}, "the result"); });
  return status != 0 ? status : written;
}

// Errors of handles name the group.
GivenGroup group_of(const FortranList& group, std::size_t number) {
  try {
    return group_of(group.domain(), group.all());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind{PHL_ERROR_HANDLE}) throw;
    refuse("group ", number, ": ", error.what());
  }
}

}  // namespace

extern "C" {

int phl_f_init_domain(const int* comm, Array extents, Array halo, Array lower, Array upper,
    Array periodic, Array process_grid, Array faces_only, Array by_dimension, Array splits,
    Array first_fastest, Array ranks, Array of_communicator, Array owned_ends,
    Array blocks_per_rank, Array seams, Array tile_axis, Array mask, phl_cartesian* made) {
  const auto make = [&](const Communicator& own) {
    const auto cells = integers_of(extents, "extents");
    CartesianOptions options;
    const int dims = static_cast<int>(cells.size());
    require_dimensions(dims);
    options.halo = int_of(number_of(halo, 1));
    spread(options.halo.lower, lower, dims, "lower");
    spread(options.halo.upper, upper, dims, "upper");
    spread(options.periodic.along, periodic, dims, "periodic");
    const auto list = [&](std::vector<int>& to, Array given, const char* name, bool for_all) {
      if (given != nullptr) to.resize(static_cast<std::size_t>(dims));
      spread(to, given, dims, name, for_all);
    };
    list(options.process_grid, process_grid, "process_grid", false);
    list(options.blocks_per_rank, blocks_per_rank, "blocks_per_rank", true);
    if (is_set(faces_only)) options.neighbors = Neighbors::faces;
    if (is_set(by_dimension)) options.algorithm = Algorithm::by_dimension;
    if (is_set(owned_ends)) options.boundary = Boundary::owned;
    if (splits != nullptr)
      options.splits = splits_of(integers_of(splits, "splits"), options.process_grid);
    options.tile_axis = int_of(number_of(tile_axis, 0) - 1);
    if (tile_axis != nullptr && options.tile_axis < 0) refuse("tile_axis starts at 1");
    const auto values = ints_of(seams, "seams");
    constexpr std::size_t each = sizeof(phl_seam) / sizeof(int);
    if (values.size() % each != 0)
      refuse("seams has ", values.size(),
          " values: give a list of results of fold, seam and cube_seams");
    for (std::size_t at = 0; at < values.size(); at += each) {
      phl_seam seam{};
      std::memcpy(&seam, &values[at], sizeof seam);
      options.seams.push_back(seam_from(seam, tile_axis != nullptr, dims));
    }
    if (mask != nullptr) options.mask = mask_from(mask, cells);
    const int rule = std::max<int>(is_set(first_fastest), 2 * is_set(of_communicator));
    options.rank_order = rank_order_from(rule, ints_of(ranks, "ranks"));
    return CartesianObject{{cells, options, own}};
  };
  return create_on(comm_of(comm), "cartesian_domain%init", made, make);
}

int phl_f_staggered(phl_cartesian domain, Array stagger, phl_cartesian* points) {
  return with(domain, [&](const auto& object) {
    int32_t along[PHL_MAX_DIMENSIONS] = {};
    spread(along, stagger, object.dimensions(), "stagger");
    create(points, [&] {
      return CartesianObject{object.staggered(stagger_from(along, object.dimensions()))};
    });
  });
}

// First and last cell of a block, from 1, for arrays of this stagger and halo.
int phl_f_box(phl_cartesian domain, int with_halo, Array first, Array last, Array block,
    Array stagger, Array array_halo) {
  return with(domain, [&](const auto& object) {
    const int dims = object.dimensions();
    const int number = block_of(object, number_of(block, 1) - 1);
    const Box box =
        with_halo != 0 && array_halo == nullptr ? object.extended(number) : object.owned(number);
    int64_t more[PHL_MAX_DIMENSIONS] = {}, layers[PHL_MAX_DIMENSIONS] = {};
    spread(more, stagger, dims, "stagger");
    spread(layers, array_halo, dims, "array_halo");
    Ids lower, upper;
    for (int d = 0; d < dims; ++d) {
      lower.push_back(box.lo[d] - layers[d] + 1);
      upper.push_back(box.hi[d] + layers[d] + std::max<int64_t>(more[d], 0));
    }
    assign(first, lower, "first");
    assign(last, upper, "last");
  });
}

int phl_f_move_whole(
    phl_cartesian domain, int to_root, Array u, Array whole, Array root, Fields fields) {
  const char* const call = to_root != 0 ? "cartesian_domain%gather" : "cartesian_domain%scatter";
  const int from = int_of(number_of(root));
  return with(domain, [&](auto& grid) {
    collectively(grid.communicator(), call, [&] {
      const auto [field, all] = whole_grid(Source(domain), from, whole, all_of({u}, fields));
      if (to_root != 0) gather(grid, field, all, from);
      else scatter(grid, all, field, from);
    });
  });
}

int phl_f_start(Array world) {
  int handle = 0;
  const int status = phl_start(&handle);
  return tell(status, handle, world);
}

int phl_f_rank(const int* comm, Array rank, Array size) {
  return guarded([&] {
    const MPI_Comm handle = comm_from_fortran(*comm);
    if (handle == MPI_COMM_NULL) refuse("the communicator is null: pass a valid one");
    int told[2] = {};
    check_mpi(MPI_Comm_rank(handle, &told[0]), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(handle, &told[1]), "MPI_Comm_size");
    assign(rank, {told[0]}, "rank");
    assign(size, {told[1]}, "size");
  });
}

int phl_f_describe(Array array, int goes_on, Array described, Array stagger, Array array_halo,
    Array depth, Array changes_sign, Array vector, Array along) {
  return guarded([&] {
    FortranArray made(array);
    made.goes_on = goes_on, made.changes_sign = is_set(changes_sign);
    made.along = int_of(number_of(along, 1) - 1);
    made.vector = int_of(number_of(vector));
    made.stagger = Values(stagger), made.array_halo = Values(array_halo);
    made.depth = Values(depth);
    std::memcpy(described->base_addr, &made, sizeof made);
  });
}

int phl_f_group_check(Fields group) {
  return guarded([&] {
    const Source source = group->domain();
    collectively(
        source.communicator(), "field_group%init", [&] { group_of(source, group->all()); });
  });
}

int phl_f_init_groups(Array groups, Options options, phl_exchange* made) {
  return guarded([&] {
    const std::span all(
        static_cast<Fields>(groups->base_addr), static_cast<std::size_t>(groups->dim[0].extent));
    require_groups(static_cast<int>(all.size()));
    const Source first = all[0].domain();  // whose communicator reports errors of the others
    make_exchange(first.communicator(), "halo_exchange%init", options, made, [&] {
      std::vector<GivenGroup> read;
      for (const FortranList& group : all) read.push_back(group_of(group, read.size()));
      return read;
    });
  });
}

int phl_f_init_subset(
    phl_exchange whole, Array fields, Array depth, Array faces_only, phl_exchange* made) {
  return guarded([&] {
    Only only;
    const Plan& plan = get(whole)->exchange.plan();
    for (const int field : ints_of(fields, "fields", -1)) {
      if (field < 0 || field >= plan.field_count())
        refuse("there is no field ", field + 1LL, " in this exchange: it has fields 1 to ",
            plan.field_count());
      only.fields.push_back(field);
    }
    if (fields != nullptr && only.fields.empty())
      refuse("no field is named: name at least one, or leave fields out for all of them");
    if (const Values layers(depth); layers.listed > 0) {
      int dims = 0;
      for (const int field : resolve(plan, only).fields)
        dims = std::max(dims, plan.pattern_of(field).dimensions);
      const int upper = layers.listed == 2 * dims ? dims : 0;
      std::copy_n(layers.along, PHL_MAX_DIMENSIONS, only.depth.lower.begin());
      std::copy_n(layers.along + upper, PHL_MAX_DIMENSIONS, only.depth.upper.begin());
      only.depth.listed = upper > 0 ? dims : layers.listed == 1 ? 0 : layers.listed;
    }
    if (is_set(faces_only)) only.neighbors = Neighbors::faces;
    make_subset(whole, only, made);
  });
}

int phl_f_exchange_call(
    phl_exchange exchange, int call, PHL_EIGHT, Fields fields, Array stream, Array reduction) {
  return with(exchange, [&](auto& object) {
    void* const queue = stream == nullptr ? nullptr : *static_cast<void**>(stream->base_addr);
    object.queue = queue == nullptr ? nullptr : queue_of_stream(queue);
    run(object, static_cast<Call>(call), int_of(number_of(reduction)),
        views(object, all_of({a, b, c, d, e, f, g, h}, fields)));
  });
}

int phl_f_stale(
    phl_exchange exchange, PHL_EIGHT, Fields fields, Array counts, Array first, Array told) {
  return with(exchange, [&](auto& object) {
    Ids all(object.made.size());
    if (counts->dim[0].extent != static_cast<byte_count>(all.size()))
      refuse("counts has ", counts->dim[0].extent, " entries, but the exchange has ", all.size(),
          " arrays: make them equal");
    const auto& viewed = views(object, all_of({a, b, c, d, e, f, g, h}, fields));
    int32_t few = 0;
    tell_stale(object, viewed, all.data(), static_cast<int32_t>(first->dim[0].extent),
        static_cast<phl_stale_ghost*>(first->base_addr), &few);
    assign(counts, all, "counts");
    assign(told, {few}, "told");
  });
}

int phl_f_init_redistribution(
    phl_cartesian from, phl_cartesian to, Options options, Array axes, phl_redistribution* made) {
  return make_move(from, to, options, made, [&] { return ints_of(axes, "axes", -1); });
}

int phl_f_move(
    phl_redistribution redistribution, int call, Array u, Array v, Fields from, Fields to) {
  return with(redistribution, [&](auto& object) {
    constexpr MoveCall calls[] = {
        &Redistribution::forward, &Redistribution::back, &Redistribution::prepare};
    move(object, calls[call], [&] {
      const auto before = group_of(object.from, all_of({u}, from)).fields,
                 after = group_of(object.to, all_of({v}, to)).fields;
      if (before.size() != after.size())
        refuse(before.size(), " and ", after.size(),
            " fields were passed: pass equal numbers for both domains");
      std::vector<Move> moves;
      for (std::size_t i = 0; i < before.size(); ++i) moves.push_back({before[i], after[i]});
      return moves;
    });
  });
}

int phl_f_init_sums(Fields group, Options options, phl_point_sums* made) {
  return guarded([&] {
    const Source source = group->domain();
    make_point_sums(source, options, made, [&] { return group_of(source, group->all()); });
  });
}

int phl_f_sums_call(phl_point_sums sums, int begin, PHL_EIGHT, Fields fields, Array reduction) {
  return with(sums, [&](auto& object) {
    reduce(object, begin != 0, int_of(number_of(reduction)),
        views(object, all_of({a, b, c, d, e, f, g, h}, fields)));
  });
}

int phl_f_create_reduction(Combine combine, Array mold, Array reduction) {
  const auto call = [](void* into, const void* from, int64_t count, void* context) {
    reinterpret_cast<Combine>(context)(into, from, count);
  };
  int number = 0;
  const int status = guarded([&] {
    number = make_reduction(
        element_of(mold), combine == nullptr ? nullptr : +call, reinterpret_cast<void*>(combine));
  });
  return tell(status, number, reduction);
}
int phl_f_free_reduction(Array reduction) {
  int number = int_of(number_of(reduction));
  const int status = phl_reduction_free(&number);
  return tell(status, number, reduction);
}

}  // extern "C"
