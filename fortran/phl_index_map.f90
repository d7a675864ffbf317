!> Index maps: who owns which cell, and which cells of others a rank reads (its ghosts).
!>
!> Local numbering: owned cells 1 … owned_size(), then ghosts in the order given. Global ids start at 1, ranks at 0.
!> Arrays have any intrinsic type (or a derived type without pointers) and rank; their last dimension holds the cells, all
!> dimensions before it are components. `x` holds owned cells and ghosts; with `ghosts` it holds the owned cells alone.
!> `comm` is an integer handle or a type(MPI_Comm). Every procedure has `stat` and `errmsg`: without `stat`, a mistake ends
!> the program with its message. Collective procedures report a mistake on every rank, others where it was made.
module phl_index_map
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_int, c_int32_t, c_int64_t, c_null_char, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64
  use phl_bindings
  use phl_options, only: c_options, exchange_options, phl_name_length
  use phl_reductions, only: phl_and, phl_max, phl_min, phl_or, phl_replace, phl_sum
  use phl_status, only: finish, replace
  implicit none
  private
  public :: index_map

  !> A handle: a copy by assignment is the same map, which is freed once, with the first of them that ends.
  type :: index_map
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    !> Collective. init(comm, owned), init(comm, owned, ghosts), init(comm, owned_ids, ghosts),
    !> init(comm, root, owned, ghost_counts, ghosts), init(rows, counts): see the procedures; all but the last take `options`, of the map's exchanges.
    generic :: init => init_block, init_ghosts, init_ids, init_root, init_ragged
    procedure, private :: init_block, init_ghosts, init_ids, init_root, init_ragged
    procedure :: read => read_map, read_keys, push
    procedure :: free
    final :: finalize

    procedure :: owned_size, ghost_size, local_size, global_size, first_id, last_id
    procedure :: ghosts, neighbors, cells_sent, cells_received
    procedure :: to_global, to_local, owners
    procedure :: localize, localize_in_place, localize_ragged

    procedure :: gather, gather_begin, gather_end
    procedure :: scatter, scatter_sum, scatter_min, scatter_max, scatter_and, scatter_or
    procedure :: scatter_begin, scatter_end
    procedure :: forward, begin_forward, end_forward
    procedure :: reverse, begin_reverse, end_reverse
    procedure :: sum_shared, reduce_shared, begin_reduce_shared, end_reduce_shared
    procedure :: distribute, collate
    !> For phl_exchange.
    procedure :: c_handle
  end type

contains

  !> Blocks in rank order, no ghosts.
  subroutine init_block(this, comm, owned, stat, errmsg, options)
    class(index_map), intent(inout) :: this
    type(*), intent(in) :: comm
    integer, intent(in) :: owned
    type(exchange_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: none(0)
    call init_ghosts(this, comm, owned, none, stat, errmsg, options)
  end subroutine

  !> Blocks in rank order: this rank owns the `owned` ids behind those of the rank before, and reads `ghosts`.
  subroutine init_ghosts(this, comm, owned, ghosts, stat, errmsg, options)
    class(index_map), intent(inout) :: this
    type(*), intent(in) :: comm
    integer, intent(in) :: owned
    type(*), intent(in) :: ghosts(:)
    type(exchange_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), target :: name(phl_name_length + 1)
    type(c_ptr) :: made
    made = c_null_ptr
    call replace(this%handle, phl_index_map_free, &
                 phl_f_index_map_create(comm, int(owned, c_int32_t), ghosts, c_options(options, name), made), made, stat, errmsg)
  end subroutine

  !> This rank owns the ids `owned`, in that local order, and reads `ghosts`; with `self_ghosts` a ghost may be an own cell.
  subroutine init_ids(this, comm, owned, ghosts, self_ghosts, stat, errmsg, options)
    class(index_map), intent(inout) :: this
    type(*), intent(in) :: comm
    type(*), intent(in) :: owned(:), ghosts(:)
    logical, intent(in), optional :: self_ghosts
    type(exchange_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), target :: name(phl_name_length + 1)
    integer(c_int) :: allowed
    type(c_ptr) :: made
    allowed = 0
    if (present(self_ghosts)) allowed = merge(1_c_int, 0_c_int, self_ghosts)
    made = c_null_ptr
    call replace(this%handle, phl_index_map_free, &
                 phl_f_index_map_create_with_ids(comm, owned, ghosts, allowed, c_options(options, name), made), made, stat, errmsg)
  end subroutine

  !> From lists that rank `root` alone has (others may pass empty ones): owned cells and number of ghosts of each rank,
  !> and the ghosts, rank after rank.
  subroutine init_root(this, comm, root, owned, ghost_counts, ghosts, stat, errmsg, options)
    class(index_map), intent(inout) :: this
    type(*), intent(in) :: comm
    integer, intent(in) :: root, owned(:), ghost_counts(:)
    type(*), intent(in) :: ghosts(:)
    type(exchange_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), target :: name(phl_name_length + 1)
    type(c_ptr) :: made
    made = c_null_ptr
    call replace(this%handle, phl_index_map_free, &
                 phl_f_index_map_create_from_root(comm, int(root, c_int32_t), owned, ghost_counts, ghosts, &
                                                  c_options(options, name), made), made, stat, errmsg)
  end subroutine

  !> Ragged: entries of the rows of another map, row i having counts(i). `counts` has an entry for each owned row (those of
  !> ghost rows may follow). The ghosts are the entries of the ghost rows.
  subroutine init_ragged(this, rows, counts, stat, errmsg)
    class(index_map), intent(inout) :: this
    class(index_map), intent(in) :: rows
    type(*), intent(in) :: counts(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    made = c_null_ptr
    call replace(this%handle, phl_index_map_free, phl_f_index_map_create_ragged(rows%handle, counts, made), made, stat, errmsg)
  end subroutine

  !> Collective. Every rank reads its part of a partition: of a folder with data001, data002, …, or of a file NAME-P.phlmap.
  subroutine read_map(this, comm, path, stat, errmsg, options)
    class(index_map), intent(inout) :: this
    type(*), intent(in) :: comm
    character(*), intent(in) :: path
    type(exchange_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), target :: name(phl_name_length + 1)
    type(c_ptr) :: made
    made = c_null_ptr
    call replace(this%handle, phl_index_map_free, &
                 phl_f_index_map_read(comm, trim(path) // c_null_char, c_options(options, name), made), made, stat, errmsg)
  end subroutine

  !> Collective. What the owned ids are in the mesh file, of the file NAME-P.phlmap that the map was read from: keys(:, i) of owned cell i, from 1
  !> (of cells and nodes one number; of edges and faces those of their points, then 0).
  subroutine read_keys(this, path, keys, stat, errmsg)
    class(index_map), intent(in) :: this
    character(*), intent(in) :: path
    integer(int64), allocatable, intent(out) :: keys(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: per_id
    integer(c_int) :: status
    status = phl_index_map_read_keys(this%handle, trim(path) // c_null_char, per_id, 0_c_int64_t)
    if (status == 0) then
      allocate (keys(per_id, this%owned_size()))
      status = phl_index_map_read_keys(this%handle, trim(path) // c_null_char, per_id, size(keys, kind=c_int64_t), keys)
      if (status == 0) keys = keys + 1
    end if
    call finish(status, stat, errmsg)
  end subroutine

  !> Collective. The owner decides: owned cell cells(i) of `owners`, whose ghosts do not matter, becomes a ghost on rank ranks(i). Ghosts stand in
  !> the order of the ranks that sent them, those of one rank in the order in which it named them; `ghosts` tells which came.
  subroutine push(this, owners, cells, ranks, stat, errmsg)
    class(index_map), intent(inout) :: this
    class(index_map), intent(in) :: owners
    integer, intent(in) :: cells(:), ranks(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    made = c_null_ptr
    call replace(this%handle, phl_index_map_free, phl_f_index_map_push(owners%handle, cells, ranks, made), made, stat, errmsg)
  end subroutine

  !> Local. A second call, and one for a map that was never made, is an error.
  subroutine free(this, stat, errmsg)
    class(index_map), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_index_map_free(this%handle), stat, errmsg)
  end subroutine

  impure elemental subroutine finalize(this)
    type(index_map), intent(inout) :: this
    integer(c_int) :: ignored
    if (c_associated(this%handle)) ignored = phl_index_map_free(this%handle)
  end subroutine

  !> Owned cells, ghosts, cells of all ranks, and the first owned id from 0.
  function sizes(this)
    class(index_map), intent(in) :: this
    integer(c_int64_t) :: sizes(4)
    integer(c_int32_t) :: owned, ghosts
    call finish(phl_index_map_sizes(this%handle, owned, ghosts, sizes(3), sizes(4)))
    sizes(:2) = [owned, ghosts]
  end function

  !> Cells that this rank owns. Local, as all sizes.
  integer function owned_size(this)
    class(index_map), intent(in) :: this
    owned_size = int(dot_product(sizes(this), [1, 0, 0, 0]))
  end function

  !> Ghosts of this rank.
  integer function ghost_size(this)
    class(index_map), intent(in) :: this
    ghost_size = int(dot_product(sizes(this), [0, 1, 0, 0]))
  end function

  !> Owned cells and ghosts.
  integer function local_size(this)
    class(index_map), intent(in) :: this
    local_size = int(dot_product(sizes(this), [1, 1, 0, 0]))
  end function

  !> Cells of all ranks.
  integer(int64) function global_size(this)
    class(index_map), intent(in) :: this
    global_size = dot_product(sizes(this), [0, 0, 1, 0])
  end function

  !> Global ids of the first and the last owned cell (last_id < first_id where there are none).
  integer(int64) function first_id(this)
    class(index_map), intent(in) :: this
    first_id = dot_product(sizes(this), [0, 0, 0, 1]) + 1
  end function

  !> Global id of the last owned cell.
  integer(int64) function last_id(this)
    class(index_map), intent(in) :: this
    last_id = dot_product(sizes(this), [1, 0, 0, 1])
  end function

  !> Global ids and owning ranks of the ghosts: integer arrays of ghost_size() elements. Local.
  subroutine ghosts(this, ids, owners, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout), optional :: ids, owners
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_ghosts(this%handle, ids, owners), stat, errmsg)
  end subroutine

  !> Ranks with which this one exchanges. Local.
  function neighbors(this) result(ranks)
    class(index_map), intent(in) :: this
    integer, allocatable :: ranks(:)
    integer(c_int32_t) :: count, nothing(1)
    integer(c_int32_t), allocatable :: all(:)
    count = 0
    call finish(phl_index_map_neighbors(this%handle, count, 0_c_int32_t, nothing))
    allocate (all(count))
    if (count > 0) call finish(phl_index_map_neighbors(this%handle, count, count, all))
    ranks = int(all)
  end function

  !> Cells that this rank sends and receives in a gather; times bytes per cell: bytes. Local.
  integer(int64) function cells_sent(this)
    class(index_map), intent(in) :: this
    integer(c_int64_t) :: received
    call finish(phl_index_map_traffic(this%handle, cells_sent, received))
  end function

  !> Cells that this rank receives in a gather. Local.
  integer(int64) function cells_received(this)
    class(index_map), intent(in) :: this
    integer(c_int64_t) :: sent
    call finish(phl_index_map_traffic(this%handle, sent, cells_received))
  end function

  !> Global ids of local cells: integers of any kind and rank, as many of both. Local.
  subroutine to_global(this, cells, ids, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(in) :: cells
    type(*), dimension(..), intent(inout) :: ids
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_to_global(this%handle, cells, ids), stat, errmsg)
  end subroutine

  !> Local cells of global ids, 0 for one that is neither owned nor a ghost. Local.
  subroutine to_local(this, ids, cells, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(in) :: ids
    type(*), dimension(..), intent(inout) :: cells
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_to_local(this%handle, ids, cells), stat, errmsg)
  end subroutine

  !> Ranks that own the ids. Collective.
  subroutine owners(this, ids, ranks, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(in) :: ids
    type(*), dimension(..), intent(inout) :: ranks
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_owners(this%handle, ids, ranks), stat, errmsg)
  end subroutine

  !> Collective. Turns global ids (cells of a face, nodes of a cell, …) into local cells, and adds to the map the ghosts
  !> that they need. 0 stands for none and stays 0.
  subroutine localize(this, ids, cells, stat, errmsg)
    class(index_map), intent(inout) :: this
    type(*), dimension(..), intent(in) :: ids
    type(*), dimension(..), intent(inout) :: cells
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_localize(this%handle, ids, cells), stat, errmsg)
  end subroutine

  !> Collective. As localize, in one array.
  subroutine localize_in_place(this, ids, stat, errmsg)
    class(index_map), intent(inout) :: this
    type(*), dimension(..), intent(inout) :: ids
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_localize_in_place(this%handle, ids), stat, errmsg)
  end subroutine

  !> Collective. The same for ragged arrays: owned row i of `rows` has counts(i) entries of `ids`. The results have those of
  !> the ghost rows too.
  subroutine localize_ragged(this, rows, counts, ids, all_counts, cells, stat, errmsg)
    class(index_map), intent(inout) :: this
    class(index_map), intent(in) :: rows
    integer, intent(in) :: counts(:), ids(:)
    integer, allocatable, intent(out) :: all_counts(:), cells(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(index_map) :: entries
    integer :: status
    call entries%init(rows, counts, status, errmsg)
    if (status == 0) then
      allocate (all_counts(rows%local_size()), cells(entries%local_size()))
      all_counts(:rows%owned_size()) = counts(:rows%owned_size())
      call rows%gather(all_counts)
      status = phl_f_gather_ids(entries%handle, ids, cells)
      if (status == 0) status = phl_f_localize_in_place(this%handle, cells)
    end if
    call finish(int(status, c_int), stat, errmsg)
  end subroutine

  !> Fetches the ghosts' values from their owners. The first call for a type and number of components is collective,
  !> later ones wait for neighbors only.
  subroutine gather(this, x, ghosts, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: x
    type(*), dimension(..), intent(inout), optional :: ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_values(this%handle, map_forward, whole, phl_replace, x, ghosts), stat, errmsg)
  end subroutine

  !> The same in two calls with the same arrays. Afterwards the owned values may change; the ghosts are
  !> written by gather_end. Pass whole arrays or contiguous sections.
  subroutine gather_begin(this, x, ghosts, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: x
    type(*), dimension(..), intent(inout), optional :: ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_values(this%handle, map_forward, begin_only, phl_replace, x, ghosts), stat, errmsg)
  end subroutine

  !> Ends what gather_begin began; writes the ghosts.
  subroutine gather_end(this, x, ghosts, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: x
    type(*), dimension(..), intent(inout), optional :: ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_values(this%handle, map_forward, end_only, phl_replace, x, ghosts), stat, errmsg)
  end subroutine

  !> The same for up to eight arrays of any types, in one message for each neighbor. Each holds owned cells and ghosts. Every call names
  !> what arrays it likes; the first one for a list of types and components is collective.
  subroutine forward(this, a, b, c, d, e, f, g, h, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: a
    type(*), dimension(..), intent(inout), optional :: b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_arrays(this%handle, map_forward, whole, phl_replace, a, b, c, d, e, f, g, h), stat, errmsg)
  end subroutine

  !> `forward` in two halves, with work that needs no ghosts between them; owned values may change after this one.
  subroutine begin_forward(this, a, b, c, d, e, f, g, h, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: a
    type(*), dimension(..), intent(inout), optional :: b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_arrays(this%handle, map_forward, begin_only, phl_replace, a, b, c, d, e, f, g, h), stat, errmsg)
  end subroutine

  !> The second half, with the same arrays: ghosts have their owners' values when it returns.
  subroutine end_forward(this, a, b, c, d, e, f, g, h, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: a
    type(*), dimension(..), intent(inout), optional :: b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_arrays(this%handle, map_forward, end_only, phl_replace, a, b, c, d, e, f, g, h), stat, errmsg)
  end subroutine

  !> Combines the ghosts' values into their owners' (phl_sum, phl_min, …), in a fixed order, so that sums repeat bit for bit.
  !> Complex numbers have no minimum; and, or are for logicals, and for integers bit by bit. Ghosts keep their values.
  subroutine scatter(this, reduction, x, ghosts, stat, errmsg)
    class(index_map), intent(in) :: this
    integer, intent(in) :: reduction
    type(*), dimension(..), intent(inout) :: x
    type(*), dimension(..), intent(inout), optional :: ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_values(this%handle, map_reverse, whole, int(reduction, c_int), x, ghosts), stat, errmsg)
  end subroutine

  !> Owners add what ghosts hold.
  subroutine scatter_sum(this, x, ghosts, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: x
    type(*), dimension(..), intent(inout), optional :: ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_values(this%handle, map_reverse, whole, phl_sum, x, ghosts), stat, errmsg)
  end subroutine

  !> Owners keep the least of their value and the ghosts'.
  subroutine scatter_min(this, x, ghosts, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: x
    type(*), dimension(..), intent(inout), optional :: ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_values(this%handle, map_reverse, whole, phl_min, x, ghosts), stat, errmsg)
  end subroutine

  !> Owners keep the greatest of their value and the ghosts'.
  subroutine scatter_max(this, x, ghosts, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: x
    type(*), dimension(..), intent(inout), optional :: ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_values(this%handle, map_reverse, whole, phl_max, x, ghosts), stat, errmsg)
  end subroutine

  !> Owners combine by and: logicals, or bits.
  subroutine scatter_and(this, x, ghosts, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: x
    type(*), dimension(..), intent(inout), optional :: ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_values(this%handle, map_reverse, whole, phl_and, x, ghosts), stat, errmsg)
  end subroutine

  !> Owners combine by or: logicals, or bits.
  subroutine scatter_or(this, x, ghosts, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: x
    type(*), dimension(..), intent(inout), optional :: ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_values(this%handle, map_reverse, whole, phl_or, x, ghosts), stat, errmsg)
  end subroutine

  !> In two calls with the same arrays. Afterwards the ghosts may change; the owned values are written by scatter_end.
  subroutine scatter_begin(this, reduction, x, ghosts, stat, errmsg)
    class(index_map), intent(in) :: this
    integer, intent(in) :: reduction
    type(*), dimension(..), intent(inout) :: x
    type(*), dimension(..), intent(inout), optional :: ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_values(this%handle, map_reverse, begin_only, int(reduction, c_int), x, ghosts), stat, errmsg)
  end subroutine

  !> Ends what scatter_begin began; writes the owned values.
  subroutine scatter_end(this, x, ghosts, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: x
    type(*), dimension(..), intent(inout), optional :: ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_values(this%handle, map_reverse, end_only, phl_replace, x, ghosts), stat, errmsg)
  end subroutine

  !> The same for up to eight arrays.
  subroutine reverse(this, reduction, a, b, c, d, e, f, g, h, stat, errmsg)
    class(index_map), intent(in) :: this
    integer, intent(in) :: reduction
    type(*), dimension(..), intent(inout) :: a
    type(*), dimension(..), intent(inout), optional :: b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_arrays(this%handle, map_reverse, whole, int(reduction, c_int), a, b, c, d, e, f, g, h), stat, errmsg)
  end subroutine

  !> `reverse` in two halves: ghosts may change after this one, owned values until the second.
  subroutine begin_reverse(this, reduction, a, b, c, d, e, f, g, h, stat, errmsg)
    class(index_map), intent(in) :: this
    integer, intent(in) :: reduction
    type(*), dimension(..), intent(inout) :: a
    type(*), dimension(..), intent(inout), optional :: b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_arrays(this%handle, map_reverse, begin_only, int(reduction, c_int), a, b, c, d, e, f, g, h), stat, errmsg)
  end subroutine

  !> The second half, with the same arrays: owners have what ghosts gave when it returns.
  subroutine end_reverse(this, a, b, c, d, e, f, g, h, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: a
    type(*), dimension(..), intent(inout), optional :: b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_arrays(this%handle, map_reverse, end_only, phl_replace, a, b, c, d, e, f, g, h), stat, errmsg)
  end subroutine

  !> Points that several ranks hold, as owner or as ghosts: each of them gets the sum of all their values, in one round of messages.
  !> Values are added in ascending order of rank, everywhere alike, so that all get the same bits. A rank holds a point once. The
  !> first call for such arrays is collective.
  subroutine sum_shared(this, a, b, c, d, e, f, g, h, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: a
    type(*), dimension(..), intent(inout), optional :: b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_arrays(this%handle, map_shared, whole, phl_sum, a, b, c, d, e, f, g, h), stat, errmsg)
  end subroutine

  !> The same with another reduction (phl_min, …); phl_replace gives the value of the last rank that holds a point.
  subroutine reduce_shared(this, reduction, a, b, c, d, e, f, g, h, stat, errmsg)
    class(index_map), intent(in) :: this
    integer, intent(in) :: reduction
    type(*), dimension(..), intent(inout) :: a
    type(*), dimension(..), intent(inout), optional :: b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_arrays(this%handle, map_shared, whole, int(reduction, c_int), a, b, c, d, e, f, g, h), stat, errmsg)
  end subroutine

  !> `reduce_shared` in two halves, with the same arrays: shared points must not be written between them, others may.
  subroutine begin_reduce_shared(this, reduction, a, b, c, d, e, f, g, h, stat, errmsg)
    class(index_map), intent(in) :: this
    integer, intent(in) :: reduction
    type(*), dimension(..), intent(inout) :: a
    type(*), dimension(..), intent(inout), optional :: b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_arrays(this%handle, map_shared, begin_only, int(reduction, c_int), a, b, c, d, e, f, g, h), stat, errmsg)
  end subroutine

  !> The second half: shared points have their values when it returns.
  subroutine end_reduce_shared(this, a, b, c, d, e, f, g, h, stat, errmsg)
    class(index_map), intent(in) :: this
    type(*), dimension(..), intent(inout) :: a
    type(*), dimension(..), intent(inout), optional :: b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_map_arrays(this%handle, map_shared, end_only, phl_replace, a, b, c, d, e, f, g, h), stat, errmsg)
  end subroutine

  !> Collective. Values of all cells, which `root` has in `all` in the order of their ids, to their owners. Other ranks may
  !> pass an array without cells. `x` has the owned cells, or the ghosts too, which then stay as they are.
  subroutine distribute(this, root, all, x, stat, errmsg)
    class(index_map), intent(in) :: this
    integer, intent(in) :: root
    type(*), dimension(..), intent(in) :: all
    type(*), dimension(..), intent(inout) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_distribute(this%handle, int(root, c_int), all, x), stat, errmsg)
  end subroutine

  !> The way back.
  subroutine collate(this, root, x, all, stat, errmsg)
    class(index_map), intent(in) :: this
    integer, intent(in) :: root
    type(*), dimension(..), intent(in) :: x
    type(*), dimension(..), intent(inout) :: all
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_collate(this%handle, int(root, c_int), x, all), stat, errmsg)
  end subroutine

  function c_handle(this) result(handle)
    class(index_map), intent(in) :: this
    type(c_ptr) :: handle
    handle = this%handle
  end function
end module phl_index_map
