!> Arakawa's C grid over ranks: periodic in x, walls at both ends of y. Points i are the lower faces of cells i.
module c_grid
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  public

  !> A rank's part: cells first to last of 1 to cells; ranks with x fastest.
  type :: grid_part
    integer :: comm = 0, cells(2) = 0, ranks(2) = 1, place(2) = 0, first(2) = 1, last(2) = 0
  end type

  !> One array: a layer of ghosts around cells (stagger 0) or points (stagger 1, one more on every rank).
  type :: field
    real(real64), pointer, contiguous :: at(:, :) => null()
    integer :: stagger(2) = 0
  end type

  !> How ghosts, and the points that the next rank owns, get their values. There is a file c_grid_*.f90 for each.
  type, abstract :: c_grid_exchange
    type(grid_part) :: grid
    character(400) :: error = ''  !< why it could not be prepared
  contains
    !> Zeroed arrays, with the bounds of lower_bound and upper_bound.
    procedure :: allocate => allocate_fields
    procedure, nopass :: deallocate => deallocate_fields
    !> Collective. Fields like these will be exchanged together, as number 1, 2, …
    procedure(fields_together), deferred :: prepare
    procedure(fields_of_number), deferred :: exchange
    procedure(count_sent), deferred :: sent
    procedure :: explain
  end type

  abstract interface
    subroutine fields_together(this, number, fields)
      import :: c_grid_exchange, field
      class(c_grid_exchange), intent(inout) :: this
      integer, intent(in) :: number
      type(field), intent(in) :: fields(:)
    end subroutine
    subroutine fields_of_number(this, number, fields)
      import :: c_grid_exchange, field
      class(c_grid_exchange), intent(inout) :: this
      integer, intent(in) :: number
      type(field), intent(in) :: fields(:)
    end subroutine
    !> What one exchange of this number sends.
    subroutine count_sent(this, number, bytes, messages)
      import :: c_grid_exchange, int64
      class(c_grid_exchange), intent(in) :: this
      integer, intent(in) :: number
      integer(int64), intent(out) :: bytes, messages
    end subroutine
  end interface

contains

  !> Why it does what it does, for those that choose.
  subroutine explain(this, text)
    class(c_grid_exchange), intent(in) :: this
    character(:), allocatable, intent(out) :: text
    text = trim(this%error)
  end subroutine

  !> Cells are divided as evenly as they get.
  type(grid_part) function part_of(comm, rank, cells, ranks) result(part)
    integer, intent(in) :: comm, rank, cells(2), ranks(2)
    part%comm = comm
    part%cells = cells
    part%ranks = ranks
    part%place = [mod(rank, ranks(1)), rank / ranks(1)]
    part%first = first_of(part, part%place)
    part%last = first_of(part, part%place + 1) - 1
  end function

  function first_of(part, place) result(first)
    type(grid_part), intent(in) :: part
    integer, intent(in) :: place(2)
    integer :: first(2)
    first = int(int(part%cells, int64) * place / part%ranks) + 1
  end function

  function lower_bound(grid) result(bound)
    type(grid_part), intent(in) :: grid
    integer :: bound(2)
    bound = grid%first - 1
  end function

  function upper_bound(grid, stagger) result(bound)
    type(grid_part), intent(in) :: grid
    integer, intent(in) :: stagger(2)
    integer :: bound(2)
    bound = grid%last + stagger + 1
  end function

  !> In private memory.
  subroutine allocate_fields(this, fields)
    class(c_grid_exchange), intent(inout) :: this
    type(field), intent(inout) :: fields(:)
    integer :: n, low(2), high(2)
    low = lower_bound(this%grid)
    do n = 1, size(fields)
      high = upper_bound(this%grid, fields(n)%stagger)
      allocate (fields(n)%at(low(1):high(1), low(2):high(2)), source=0._real64)
    end do
  end subroutine

  subroutine deallocate_fields(fields)
    type(field), intent(inout) :: fields(:)
    integer :: n
    do n = 1, size(fields)
      if (associated(fields(n)%at)) deallocate (fields(n)%at)
    end do
  end subroutine
end module
