!> Checks that count failures, and a small unstructured mesh that every rank can compute for every other.
module support
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use parhelion
  implicit none

  integer :: failures = 0, rank = 0, ranks = 1, world = 0
  integer, parameter :: most_ghosts = 24

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    failures = failures + 1
    write (error_unit, '(a,i0,2a)') '[rank ', rank, '] wrong: ', what
  end subroutine

  !> After a call with `stat` and `errmsg` that must have failed so.
  subroutine check_failure(what, status, expected, message, words)
    character(*), intent(in) :: what, words
    integer, intent(in) :: status, expected
    character(*), intent(inout) :: message
    call check(status == expected, what // ': status')
    call check(index(message, words) > 0, what // ': message "' // trim(message) // '"')
    message = ''
  end subroutine

  !> Owned cells of a rank: some ranks own nothing.
  pure integer function owned_by(r)
    integer, intent(in) :: r
    owned_by = merge(0, 5 + 3 * r, mod(r, 3) == 1)
  end function

  !> Cells of the ranks before.
  pure integer function before(r)
    integer, intent(in) :: r
    integer :: i
    before = 0
    do i = 0, r - 1
      before = before + owned_by(i)
    end do
  end function

  pure integer function owner_of(id)
    integer, intent(in) :: id
    owner_of = 0
    do while (id > before(owner_of + 1))
      owner_of = owner_of + 1
    end do
  end function

  !> Ghosts of a rank, some of them twice; none where it owns all cells.
  pure function ghosts_of(r) result(ids)
    integer, intent(in) :: r
    integer, allocatable :: ids(:)
    integer :: i, others
    integer(int64) :: state
    others = before(ranks) - owned_by(r)
    allocate (ids(merge(most_ghosts, 0, others > 0)))
    state = 12345 + 77 * r
    do i = 1, size(ids)
      state = mod(state * 1664525_int64 + 1013904223_int64, 4294967296_int64)
      ids(i) = int(mod(state / 256, int(others, int64))) + 1
      if (ids(i) > before(r)) ids(i) = ids(i) + owned_by(r)
    end do
  end function

  !> Whole numbers that tell cell and component, and those that ghosts give back.
  pure integer function value_of(id, component)
    integer, intent(in) :: id, component
    value_of = mod(id * 37 + component * 11, 101)
  end function

  pure integer function ghost_value(r, i, component)
    integer, intent(in) :: r, i, component
    ghost_value = mod(r * 31 + i * 7 + component * 3, 40)
  end function

  !> What the owner should have after the ghosts of all ranks came back.
  pure integer function combined(id, component, reduction)
    integer, intent(in) :: id, component, reduction
    integer, allocatable :: ids(:)
    integer :: r, i
    combined = value_of(id, component)
    do r = 0, ranks - 1
      ids = ghosts_of(r)
      do i = 1, size(ids)
        if (ids(i) == id) combined = combine(combined, ghost_value(r, i, component), reduction)
      end do
    end do
  end function

  pure integer function combine(a, b, reduction)
    integer, intent(in) :: a, b, reduction
    select case (reduction)
    case (phl_sum); combine = a + b
    case (phl_min); combine = min(a, b)
    case (phl_max); combine = max(a, b)
    case (phl_and); combine = iand(a, b)
    case (phl_or); combine = ior(a, b)
    case default; combine = b
    end select
  end function
end module support
