!> How values of one cell become one: the library's reductions, and those of the program.
module phl_reductions
  use, intrinsic :: iso_c_binding, only: c_funptr, c_int
  use phl_bindings, only: phl_f_reduction_create, phl_reduction_free
  use phl_status, only: finish
  implicit none
  private
  public :: phl_replace, phl_sum, phl_min, phl_max, phl_and, phl_or, phl_prod
  public :: create_reduction, free_reduction

  !> What an owner does with the values that come back; `phl_and` and `phl_or` of logicals, and of integers bit by bit.
  enum, bind(c)
    enumerator :: phl_replace = 0, phl_sum, phl_min, phl_max, phl_and, phl_or, phl_prod
  end enum

contains

  !> A reduction of the program's own, which goes wherever phl_sum does: an associative function, of arrays of the type of `mold`, whose values
  !> are combined in ascending order of rank. `combine` is c_funloc of a procedure with C's calling convention, which changes `into`:
  !>
  !>     subroutine nearest(into, from, count) bind(c)
  !>       integer(c_int64_t), value :: count
  !>       type(hit), intent(inout) :: into(count)
  !>       type(hit), intent(in) :: from(count)
  !>
  !> Components of a cell are elements of their own. It must not call this module or MPI. Local; each rank makes its own.
  subroutine create_reduction(combine, mold, reduction, stat, errmsg)
    type(c_funptr), intent(in) :: combine
    type(*), dimension(..), intent(in) :: mold
    integer, intent(out) :: reduction
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: number
    number = 0
    call finish(phl_f_reduction_create(mold, combine, number), stat, errmsg)
    reduction = number
  end subroutine

  !> Not needed at the end of a program. What is under way with it goes on. Local.
  subroutine free_reduction(reduction, stat, errmsg)
    integer, intent(inout) :: reduction
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: number
    number = int(reduction, c_int)
    call finish(phl_reduction_free(number), stat, errmsg)
    reduction = number
  end subroutine
end module phl_reductions
