!> The C functions that the module `parhelion` calls. Not for programs.
module phl_bindings
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_double, c_ptr, c_funptr, c_char, c_null_char, c_null_ptr
  use phl_options, only: phl_exchange_options
  implicit none
  public

  !> struct phl_cartesian_options
  type, bind(c) :: phl_cartesian_options
    integer(c_int32_t) :: halo_lower(4) = 0, halo_upper(4) = 0, periodic(4) = 0, process_grid(4) = 0
    integer(c_int32_t) :: blocks_per_rank(4) = 0
    type(c_ptr) :: splits(4) = c_null_ptr
    integer(c_int32_t) :: neighbors = 0, algorithm = 0, rank_order = 0, boundary = 0
    type(c_ptr) :: ranks = c_null_ptr
  end type

  !> struct FortranArray
  type, bind(c) :: phl_array
    integer(c_int64_t) :: room(28) = 0
  end type

  !> struct FortranGroup: one of the two handles
  type, bind(c) :: phl_field_group
    type(c_ptr) :: domain = c_null_ptr, map = c_null_ptr
    integer(c_int64_t) :: count = 0
    type(c_ptr) :: arrays = c_null_ptr
  end type

  !> struct phl_stale_ghost
  type, bind(c) :: phl_stale_ghost
    integer(c_int32_t) :: field = 0, owner = 0, component = 0, dimensions = 0
    integer(c_int64_t) :: cell(4) = 0
    character(kind=c_char) :: here(32) = c_null_char, there(32) = c_null_char
  end type

  enum, bind(c)
    enumerator :: whole = 0, begin_only, end_only
  end enum

  !> What phl_f_exchange_call does.
  enum, bind(c)
    enumerator :: call_forward = 0, call_begin, call_reverse, call_begin_reverse, call_check
  end enum

  !> What phl_f_map_values and phl_f_map_arrays do.
  enum, bind(c)
    enumerator :: map_forward = 0, map_reverse, map_shared
  end enum

  ! None with arrays of any rank, with which gfortran 12 passes values by reference at the second call of a procedure that is declared so.
  abstract interface
    integer(c_int) function on_handle(handle) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
    end function
    integer(c_int) function free_handle(handle) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: handle
    end function
    integer(c_int) function tell_number(handle, number) bind(c)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int32_t), intent(out) :: number
    end function
    integer(c_int) function between_domains(from, to, options, made) bind(c)
      import :: c_int, c_ptr, phl_exchange_options
      type(c_ptr), value :: from, to
      type(phl_exchange_options), intent(in) :: options
      type(c_ptr), intent(inout) :: made
    end function
    integer(c_int) function bounds(domain, block, lower, upper) bind(c)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: domain
      integer(c_int), value :: block
      integer(c_int64_t), intent(inout) :: lower(*), upper(*)
    end function
  end interface
  procedure(on_handle), bind(c) :: phl_exchange_end, phl_point_sums_end, phl_release
  procedure(free_handle), bind(c) :: phl_index_map_free, phl_cartesian_free, phl_exchange_free, &
      phl_redistribution_free, phl_point_sums_free
  procedure(tell_number), bind(c) :: phl_cartesian_blocks, phl_exchange_test
  procedure(between_domains), bind(c) :: phl_redistribution_create_cartesian, phl_redistribution_create_index_map
  procedure(bounds), bind(c) :: phl_cartesian_owned, phl_cartesian_extended

  interface
    integer(c_int) function phl_f_to_global(map, numbers, found) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: map
      type(*), dimension(..), intent(in) :: numbers
      type(*), dimension(..), intent(inout) :: found
    end function
    integer(c_int) function phl_f_to_local(map, numbers, found) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: map
      type(*), dimension(..), intent(in) :: numbers
      type(*), dimension(..), intent(inout) :: found
    end function
    integer(c_int) function phl_f_owners(map, numbers, found) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: map
      type(*), dimension(..), intent(in) :: numbers
      type(*), dimension(..), intent(inout) :: found
    end function
    integer(c_int) function phl_f_localize(map, numbers, found) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: map
      type(*), dimension(..), intent(in) :: numbers
      type(*), dimension(..), intent(inout) :: found
    end function
    integer(c_int) function phl_f_gather_ids(map, numbers, found) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: map
      type(*), dimension(..), intent(in) :: numbers
      type(*), dimension(..), intent(inout) :: found
    end function
    integer(c_int) function phl_f_distribute(map, root, from, to) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: map
      integer(c_int), value :: root
      type(*), dimension(..), intent(in) :: from
      type(*), dimension(..), intent(inout) :: to
    end function
    integer(c_int) function phl_f_collate(map, root, from, to) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: map
      integer(c_int), value :: root
      type(*), dimension(..), intent(in) :: from
      type(*), dimension(..), intent(inout) :: to
    end function
    integer(c_int) function phl_f_exchange_call(handle, call, reduction, a, b, c, d, e, f, g, h, count, list) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle, list
      integer(c_int), value :: call, reduction, count
      type(*), dimension(..), optional :: a, b, c, d, e, f, g, h
    end function
    integer(c_int) function phl_f_point_sums_reduce(handle, call, reduction, a, b, c, d, e, f, g, h, count, list) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle, list
      integer(c_int), value :: call, reduction, count
      type(*), dimension(..), optional :: a, b, c, d, e, f, g, h
    end function
    integer(c_int) function phl_f_map_values(map, call, phase, reduction, x, ghosts) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: map
      integer(c_int), value :: call, phase, reduction
      type(*), dimension(..), intent(inout) :: x
      type(*), dimension(..), intent(inout), optional :: ghosts
    end function
    integer(c_int) function phl_f_map_arrays(map, call, phase, reduction, a, b, c, d, e, f, g, h) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: map
      integer(c_int), value :: call, phase, reduction
      type(*), dimension(..), intent(inout), optional :: a, b, c, d, e, f, g, h
    end function
    integer(c_int) function phl_f_index_map_create(comm, owned, ghosts, options, map) bind(c)
      import :: c_int, c_int32_t, c_ptr, phl_exchange_options
      type(*), intent(in) :: comm
      integer(c_int32_t), value :: owned
      type(*), dimension(..), intent(in) :: ghosts
      type(phl_exchange_options), intent(in) :: options
      type(c_ptr), intent(out) :: map
    end function
    integer(c_int) function phl_f_index_map_create_with_ids(comm, owned_ids, ghosts, self_ghosts, options, map) bind(c)
      import :: c_int, c_ptr, phl_exchange_options
      type(*), intent(in) :: comm
      type(*), dimension(..), intent(in) :: owned_ids, ghosts
      integer(c_int), value :: self_ghosts
      type(phl_exchange_options), intent(in) :: options
      type(c_ptr), intent(out) :: map
    end function
    integer(c_int) function phl_f_index_map_create_from_root(comm, root, owned, ghost_counts, ghosts, options, map) bind(c)
      import :: c_int, c_int32_t, c_ptr, phl_exchange_options
      type(*), intent(in) :: comm
      integer(c_int32_t), value :: root
      type(*), dimension(..), intent(in) :: owned, ghost_counts, ghosts
      type(phl_exchange_options), intent(in) :: options
      type(c_ptr), intent(out) :: map
    end function
    integer(c_int) function phl_f_index_map_create_ragged(rows, counts, map) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: rows
      type(*), dimension(..), intent(in) :: counts
      type(c_ptr), intent(out) :: map
    end function
    integer(c_int) function phl_f_index_map_read(comm, path, options, map) bind(c)
      import :: c_char, c_int, c_ptr, phl_exchange_options
      type(*), intent(in) :: comm
      character(kind=c_char), intent(in) :: path(*)
      type(phl_exchange_options), intent(in) :: options
      type(c_ptr), intent(out) :: map
    end function
    integer(c_int) function phl_index_map_read_keys(map, path, per_id, capacity, keys) bind(c)
      import :: c_char, c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: map
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), intent(out) :: per_id
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(out), optional :: keys(*)
    end function
    integer(c_int) function phl_f_index_map_push(owners, cells, ranks, map) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: owners
      type(*), dimension(..), intent(in) :: cells, ranks
      type(c_ptr), intent(out) :: map
    end function
    integer(c_int) function phl_index_map_sizes(map, owned, ghosts, global, first) bind(c)
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: map
      integer(c_int32_t), intent(out) :: owned, ghosts
      integer(c_int64_t), intent(out) :: global, first
    end function
    integer(c_int) function phl_index_map_neighbors(map, count, capacity, ranks) bind(c)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: map
      integer(c_int32_t), intent(out) :: count
      integer(c_int32_t), value :: capacity
      integer(c_int32_t), intent(inout) :: ranks(*)
    end function
    integer(c_int) function phl_index_map_traffic(map, sent, received) bind(c)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: map
      integer(c_int64_t), intent(out) :: sent, received
    end function
    integer(c_int) function phl_f_localize_in_place(map, ids) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: map
      type(*), dimension(..), intent(inout) :: ids
    end function
    integer(c_int) function phl_f_ghosts(map, ids, owners) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: map
      type(*), dimension(..), intent(inout), optional :: ids, owners
    end function
    function phl_f_last_error(length) result(text) bind(c)
      import :: c_int64_t, c_ptr
      integer(c_int64_t), intent(out) :: length
      type(c_ptr) :: text
    end function

    integer(c_int) function phl_f_cartesian_create(comm, dimensions, extents, options, given, domain) bind(c)
      import :: c_int, c_int64_t, c_ptr, phl_cartesian_options
      type(*), intent(in) :: comm
      integer(c_int), value :: dimensions
      integer(c_int64_t), intent(in) :: extents(*)
      type(phl_cartesian_options), intent(in) :: options
      integer(c_int), intent(in) :: given(7)  ! values for lower, upper, periodic, process_grid, splits, ranks, blocks_per_rank; 0: not passed
      type(c_ptr), intent(out) :: domain
    end function
    integer(c_int) function phl_cartesian_staggered(domain, stagger, points) bind(c)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: domain
      integer(c_int32_t), intent(in) :: stagger(*)
      type(c_ptr), intent(out) :: points
    end function
    integer(c_int) function phl_cartesian_process_grid(domain, grid, coordinates) bind(c)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: domain
      integer(c_int32_t), intent(out) :: grid(*), coordinates(*)
    end function
    integer(c_int) function phl_cartesian_owner(domain, cell, rank, block) bind(c)
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: domain
      integer(c_int64_t), intent(in) :: cell(*)
      integer(c_int32_t), intent(out) :: rank, block
    end function

    subroutine phl_f_describe(array, goes_on, described) bind(c)
      import :: c_int, phl_array
      type(*), dimension(..) :: array
      integer(c_int), value :: goes_on
      type(phl_array), intent(out) :: described
    end subroutine
    subroutine phl_f_layers(described, which, count, values) bind(c)
      import :: c_int, c_int32_t, phl_array
      type(phl_array), intent(inout) :: described
      integer(c_int), value :: which, count
      integer(c_int32_t), intent(in) :: values(*)
    end subroutine
    integer(c_int) function phl_f_exchange_only(whole, field_count, fields, depths, depth, subset) bind(c)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: whole
      integer(c_int), value :: field_count, depths
      integer(c_int32_t), intent(in) :: fields(*), depth(*)
      type(c_ptr), intent(inout) :: subset
    end function
    integer(c_int) function phl_exchange_prepare(subset, fields, count) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: subset, fields
      integer(c_int), value :: count
    end function
    integer(c_int) function phl_f_group_check(group) bind(c)
      import :: c_int, phl_field_group
      type(phl_field_group), intent(in) :: group
    end function
    integer(c_int) function phl_f_exchange_groups(count, group, options, exchange) bind(c)
      import :: c_int, c_ptr, phl_exchange_options, phl_field_group
      integer(c_int), value :: count
      type(phl_field_group), intent(in) :: group(*)
      type(phl_exchange_options), intent(in) :: options
      type(c_ptr), intent(out) :: exchange
    end function
    integer(c_int) function phl_f_exchange_stale(exchange, a, b, c, d, e, f, g, h, count, list, counts_size, counts, &
                                                 capacity, first, told) bind(c)
      import :: c_int, c_int32_t, c_int64_t, c_ptr, phl_stale_ghost
      type(c_ptr), value :: exchange, list
      type(*), dimension(..), optional :: a, b, c, d, e, f, g, h
      integer(c_int), value :: count, counts_size
      integer(c_int64_t), intent(out) :: counts(*)
      integer(c_int32_t), value :: capacity
      type(phl_stale_ghost), intent(inout) :: first(*)
      integer(c_int32_t), intent(out) :: told
    end function
    integer(c_int) function phl_f_exchange_text(exchange, transport, text, length) bind(c)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: exchange
      integer(c_int), value :: transport
      type(c_ptr), intent(out) :: text
      integer(c_int64_t), intent(out) :: length
    end function
    integer(c_int) function phl_exchange_traffic(exchange, direction, bytes, messages) bind(c)
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: exchange
      integer(c_int), value :: direction
      integer(c_int64_t), intent(out) :: bytes
      integer(c_int32_t), intent(out) :: messages
    end function

    integer(c_int) function phl_f_redistribution_move(redistribution, back, a, b, from_count, from, to_count, to) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: redistribution, from, to
      integer(c_int), value :: back, from_count, to_count
      type(*), dimension(..), optional :: a, b
    end function
    integer(c_int) function phl_f_point_sums_create(group, options, sums) bind(c)
      import :: c_int, c_ptr, phl_exchange_options, phl_field_group
      type(phl_field_group), intent(in) :: group
      type(phl_exchange_options), intent(in) :: options
      type(c_ptr), intent(inout) :: sums
    end function
    integer(c_int) function phl_f_reduction_create(mold, combine, reduction) bind(c)
      import :: c_funptr, c_int
      type(*), dimension(..), intent(in) :: mold
      type(c_funptr), value :: combine
      integer(c_int), intent(inout) :: reduction
    end function
    integer(c_int) function phl_reduction_free(reduction) bind(c)
      import :: c_int
      integer(c_int), intent(inout) :: reduction
    end function

    integer(c_int) function phl_allocate(bytes, memory) bind(c)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: bytes
      type(c_ptr), intent(out) :: memory
    end function
    integer(c_int) function phl_start(world) bind(c)
      import :: c_int
      integer(c_int), intent(out) :: world
    end function
    integer(c_int) function phl_stop() bind(c)
      import :: c_int
    end function
    integer(c_int) function phl_f_rank(comm, rank, size) bind(c)
      import :: c_int, c_int32_t
      type(*), intent(in) :: comm
      integer(c_int32_t), intent(out) :: rank, size
    end function
  end interface
end module phl_bindings
