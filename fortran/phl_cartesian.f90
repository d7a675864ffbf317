!> Structured grids: who owns which cells. Cells and dimensions start at 1, ranks at 0. Arrays have the first dimension
!> contiguous, as always in Fortran; ranks fill the process grid with the last dimension fastest, or as `init` is told.
module phl_cartesian
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_null_ptr, c_ptr, c_associated, c_loc
  use phl_bindings
  use phl_status, only: finish
  implicit none
  private
  public :: cartesian_domain

  !> A grid and how it is split. Free it, or let its variable end, before MPI_Finalize.
  type :: cartesian_domain
    private
    type(c_ptr) :: handle = c_null_ptr
    integer :: dimensions_ = 0
  contains
    procedure :: init => init_domain
    procedure :: free
    final :: finalize
    procedure :: staggered
    procedure :: dimensions, process_grid, coordinates, blocks
    procedure :: owned, extended, owner
    !> For phl_exchange.
    procedure :: c_handle
  end type

contains

  !> Collective, the same arguments everywhere. `halo` is the width on every side; `lower` and `upper` give it per dimension
  !> instead. These and `periodic` have one value for all dimensions or one for each. Without `process_grid` the one with the
  !> least halo is chosen. `splits`: cells of each process coordinate, those of the first dimension, then those of the next one;
  !> needs `process_grid`. Ranks fill the process grid with the last dimension fastest, or by `first_fastest` with the first one, by
  !> `ranks` with the rank at each place (places counted with the last dimension fastest), or by `of_communicator` as MPI_Cart_create has
  !> numbered them, with the grid and the periodicity of the Cartesian communicator. `owned_ends`: the layers beyond an end that is not
  !> periodic belong to the rank there, as many as a field's depth, so that they travel to its neighbors, too; else they are left alone.
  !> `blocks_per_rank`: blocks along each dimension on every rank, each of which has arrays of its own.
  subroutine init_domain(this, comm, extents, halo, lower, upper, periodic, process_grid, faces_only, staged, stat, errmsg, &
                         splits, first_fastest, ranks, of_communicator, owned_ends, blocks_per_rank)
    class(cartesian_domain), intent(inout) :: this
    type(*), intent(in) :: comm
    integer, intent(in) :: extents(:)
    integer, intent(in), optional :: halo, lower(:), upper(:), process_grid(:)
    logical, intent(in), optional :: periodic(:), faces_only, staged, first_fastest, of_communicator, owned_ends
    integer, intent(in), optional :: splits(:), ranks(:), blocks_per_rank(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(phl_cartesian_options) :: options
    type(c_ptr) :: made
    integer(c_int) :: status
    integer(c_int) :: given(7)  ! values in each list; 0: not passed
    integer(c_int64_t), allocatable, target :: cells(:)
    integer(c_int32_t), allocatable, target :: table(:)
    given = 0
    options%halo_lower = 1
    if (present(halo)) options%halo_lower = halo
    options%halo_upper = options%halo_lower
    if (present(lower)) call fill(options%halo_lower, lower, given(1))
    if (present(upper)) call fill(options%halo_upper, upper, given(2))
    if (present(periodic)) call fill(options%periodic, merge(1, 0, periodic), given(3))
    if (present(process_grid)) call fill(options%process_grid, process_grid, given(4))
    if (present(faces_only)) options%neighbors = merge(1, 0, faces_only)
    if (present(staged)) options%algorithm = merge(1, 0, staged)
    if (present(owned_ends)) options%boundary = merge(1, 0, owned_ends)
    if (present(first_fastest)) options%rank_order = merge(1, options%rank_order, first_fastest)
    if (present(of_communicator)) options%rank_order = merge(2, options%rank_order, of_communicator)
    if (present(splits)) then
      cells = int(splits, c_int64_t)
      given(5) = merge(-1, size(splits), size(splits) == 0)
      options%splits(1) = c_loc(cells)
    end if
    if (present(ranks)) then
      table = int(ranks, c_int32_t)
      given(6) = merge(-1, size(ranks), size(ranks) == 0)
      options%ranks = c_loc(table)
    end if
    if (present(blocks_per_rank)) call fill(options%blocks_per_rank, blocks_per_rank, given(7))
    made = c_null_ptr
    status = phl_f_cartesian_create(comm, size(extents, kind=c_int), int(extents, c_int64_t), options, given, made)
    call finish(status, stat, errmsg)
    if (status == 0) call take(this, made, size(extents))
  end subroutine

  subroutine take(this, made, dimensions)
    class(cartesian_domain), intent(inout) :: this
    type(c_ptr), intent(in) :: made
    integer, intent(in) :: dimensions
    call finalize(this)
    this%handle = made
    this%dimensions_ = dimensions
  end subroutine

  !> The domain of the points of fields that are staggered so, one value for all dimensions or one for each, into `points`: of it arrays tell
  !> no stagger. Redistributions of such fields are between these. Local.
  subroutine staggered(this, stagger, points, stat, errmsg)
    class(cartesian_domain), intent(in) :: this
    integer, intent(in) :: stagger(:)
    type(cartesian_domain), intent(inout) :: points
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: along(4)
    type(c_ptr) :: made
    integer(c_int) :: status
    along = 0
    along(:this%dimensions_) = int(each(stagger, this%dimensions_), c_int32_t)
    made = c_null_ptr
    status = phl_cartesian_staggered(this%handle, along, made)
    call finish(status, stat, errmsg)
    if (status == 0) call take(points, made, this%dimensions_)
  end subroutine

  !> Blocks of this rank, one unless `blocks_per_rank` says more; the last dimension of their grid is the fastest. Local.
  integer function blocks(this)
    class(cartesian_domain), intent(in) :: this
    integer(c_int32_t) :: count
    call finish(phl_cartesian_blocks(this%handle, count))
    blocks = count
  end function

  subroutine fill(list, values, given)
    integer(c_int32_t), intent(inout) :: list(:)
    integer, intent(in) :: values(:)
    integer(c_int), intent(out) :: given
    integer :: count
    given = merge(-1, size(values), size(values) == 0)  ! none is a number, too, and never right
    count = min(size(list), size(values))
    list(:count) = int(values(:count), c_int32_t)
  end subroutine

  !> Local.
  subroutine free(this, stat, errmsg)
    class(cartesian_domain), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_cartesian_free(this%handle), stat, errmsg)
  end subroutine

  impure elemental subroutine finalize(this)
    type(cartesian_domain), intent(inout) :: this
    integer(c_int) :: ignored
    if (c_associated(this%handle)) ignored = phl_cartesian_free(this%handle)
  end subroutine

  !> 1 to 4. Local.
  pure integer function dimensions(this)
    class(cartesian_domain), intent(in) :: this
    dimensions = this%dimensions_
  end function

  !> Ranks along each dimension. Local, as all questions.
  function process_grid(this) result(grid)
    class(cartesian_domain), intent(in) :: this
    integer :: grid(this%dimensions_)
    integer(c_int32_t) :: all(4), mine(4)
    call finish(phl_cartesian_process_grid(this%handle, all, mine))
    grid = all(:this%dimensions_)
  end function

  !> This rank's place in the process grid, from 0.
  function coordinates(this) result(place)
    class(cartesian_domain), intent(in) :: this
    integer :: place(this%dimensions_)
    integer(c_int32_t) :: all(4), mine(4)
    call finish(phl_cartesian_process_grid(this%handle, all, mine))
    place = mine(:this%dimensions_)
  end function

  !> First and last owned cell in each dimension, of block `block`, from 1, the first one where it is left out; last < first where there are none.
  subroutine owned(this, first, last, block)
    class(cartesian_domain), intent(in) :: this
    integer, intent(out) :: first(:), last(:)
    integer, intent(in), optional :: block
    integer(c_int64_t) :: lower(4), upper(4)
    call finish(phl_cartesian_owned(this%handle, number_of(block), lower, upper))
    first = int(lower(:this%dimensions_)) + 1
    last = int(upper(:this%dimensions_))
  end subroutine

  !> The same with the halo: bounds for arrays, allocate(u(first(1):last(1), …)). Those of fields of a `stagger` and `array_halo` of
  !> their own, one value for all dimensions or one for each, have one point more, and as many layers on both sides of the cells.
  subroutine extended(this, first, last, stagger, array_halo, block)
    class(cartesian_domain), intent(in) :: this
    integer, intent(out) :: first(:), last(:)
    integer, intent(in), optional :: stagger(:), array_halo(:), block
    integer(c_int64_t) :: lower(4), upper(4)
    if (present(array_halo)) then
      call this%owned(first, last, block)
      first = first - each(array_halo, this%dimensions_)
      last = last + each(array_halo, this%dimensions_)
    else
      call finish(phl_cartesian_extended(this%handle, number_of(block), lower, upper))
      first = int(lower(:this%dimensions_)) + 1
      last = int(upper(:this%dimensions_))
    end if
    if (present(stagger)) last = last + each(stagger, this%dimensions_)
  end subroutine

  pure integer(c_int) function number_of(block)
    integer, intent(in), optional :: block
    number_of = 0
    if (present(block)) number_of = int(block - 1, c_int)
  end function

  pure function each(values, dimensions)
    integer, intent(in) :: values(:), dimensions
    integer :: each(dimensions)
    if (size(values) /= 1 .and. size(values) /= dimensions) &
      error stop "parhelion: give one value for all dimensions, or one for each"
    each = values(1)
    if (size(values) == dimensions) each = values
  end function

  !> Rank that owns a cell, and the number of the block there.
  integer function owner(this, cell, block)
    class(cartesian_domain), intent(in) :: this
    integer, intent(in) :: cell(:)
    integer, intent(out), optional :: block
    integer(c_int64_t) :: place(4)
    integer(c_int32_t) :: rank, number
    place = 0
    place(:size(cell)) = cell - 1
    call finish(phl_cartesian_owner(this%handle, place, rank, number))
    owner = rank
    if (present(block)) block = number + 1
  end function

  function c_handle(this) result(handle)
    class(cartesian_domain), intent(in) :: this
    type(c_ptr) :: handle
    handle = this%handle
  end function
end module phl_cartesian
