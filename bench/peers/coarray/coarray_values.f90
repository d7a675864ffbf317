!> Cells of one image with their ghosts: what they must hold, and how many do not.
module coarray_values
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t
  use, intrinsic :: iso_fortran_env, only: int32, int64
  implicit none
  private
  public :: cell_values

  !> One cell more than there are stands as a guard on each side of the ghosts.
  type :: cell_values
    integer :: words = 1
    integer(int64) :: first_id = 0
    integer, allocatable :: ids(:)
    integer(int32), allocatable :: x(:, :), ghosts(:, :)
  contains
    procedure :: init, refresh, count_wrong
  end type

  interface
    subroutine phl_coarray_fill(cells, count, first_id, words, round) bind(c)
      import :: c_int, c_int32_t, c_int64_t
      integer(c_int32_t), intent(inout) :: cells(*)
      integer(c_int64_t), value :: count, first_id
      integer(c_int), value :: words, round
    end subroutine
    integer(c_int64_t) function phl_coarray_wrong(cells, count, first_id, words, round) bind(c)
      import :: c_int, c_int32_t, c_int64_t
      integer(c_int32_t), intent(in) :: cells(*)
      integer(c_int64_t), value :: count, first_id
      integer(c_int), value :: words, round
    end function
    subroutine phl_coarray_poison(values, count) bind(c)
      import :: c_int32_t, c_int64_t
      integer(c_int32_t), intent(inout) :: values(*)
      integer(c_int64_t), value :: count
    end subroutine
    integer(c_int64_t) function phl_coarray_not_poison(values, count) bind(c)
      import :: c_int32_t, c_int64_t
      integer(c_int32_t), intent(in) :: values(*)
      integer(c_int64_t), value :: count
    end function
  end interface

contains

  subroutine init(this, words, owned, first_id, ids)
    class(cell_values), intent(inout) :: this
    integer, intent(in) :: words, owned, ids(:)
    integer(int64), intent(in) :: first_id
    this%words = words
    this%first_id = first_id
    this%ids = ids
    allocate (this%x(words, owned), this%ghosts(words, 0:size(ids) + 1))
  end subroutine

  !> The round's values into the owned cells, poison into the ghosts and their guards.
  subroutine refresh(this, round)
    class(cell_values), intent(inout) :: this
    integer, intent(in) :: round
    call phl_coarray_fill(this%x, size(this%x, 2, c_int64_t), this%first_id, this%words, round)
    call phl_coarray_poison(this%ghosts, size(this%ghosts, kind=c_int64_t))
  end subroutine

  integer(int64) function count_wrong(this, round)
    class(cell_values), intent(in) :: this
    integer, intent(in) :: round
    integer :: i
    count_wrong = phl_coarray_wrong(this%x, size(this%x, 2, c_int64_t), this%first_id, this%words, round) &
        + phl_coarray_not_poison(this%ghosts(:, 0), int(this%words, c_int64_t)) &
        + phl_coarray_not_poison(this%ghosts(:, size(this%ids) + 1), int(this%words, c_int64_t))
    do i = 1, size(this%ids)
      count_wrong = count_wrong + phl_coarray_wrong(this%ghosts(:, i), 1_c_int64_t, int(this%ids(i) - 1, c_int64_t), &
                                                    this%words, round)
    end do
  end function
end module coarray_values
