!> Structured grids and exchanges that belong to arrays.
module test_grids
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use support
  implicit none
  private
  public :: run_grids
  integer, parameter :: extent(2) = [9, 7], width = 2

contains

  subroutine run_grids()
    call exchange_grid()
    call exchange_cells()
  end subroutine

  pure real(real64) function value_at(i, j, c)
    integer, intent(in) :: i, j, c
    value_at = 100 * (modulo(i - 1, extent(1)) + 1) + modulo(j - 1, extent(2)) + 1 + 0.25_real64 * c
  end function

  subroutine exchange_grid()
    type(cartesian_domain) :: domain
    type(halo_exchange) :: exchange
    real(real64), allocatable, target :: u(:, :)
    real(real64), pointer :: v(:, :, :)
    type(c_ptr) :: memory
    integer :: a(2), b(2), lo(2), hi(2), i, j
    call domain%init(world, extent, halo=width, periodic=[.true., .true.])
    call domain%owned(a, b)
    call domain%extended(lo, hi)
    call check(product(domain%process_grid()) == ranks, 'process grid')
    call check(all(lo == a - width) .and. all(hi == b + width), 'extended box')
    if (all(a <= b)) call check(domain%owner(a) == rank .and. domain%owner(b) == rank, 'owner of a cell')
    allocate (u(lo(1):hi(1), lo(2):hi(2)))
    call allocate_shared(8_int64 * size(u) * 3, memory)
    call c_f_pointer(memory, v, [size(u, 1), size(u, 2), 3])
    u = -1
    v = -1
    do j = a(2), b(2)
      do i = a(1), b(1)
        u(i, j) = value_at(i, j, 0)
        v(i - lo(1) + 1, j - lo(2) + 1, :) = [value_at(i, j, 1), value_at(i, j, 2), value_at(i, j, 3)]
      end do
    end do
    call exchange%init(domain, u, v)
    call exchange%begin()
    call exchange%end()
    do j = lo(2), hi(2)
      do i = lo(1), hi(1)
        call check(u(i, j) == value_at(i, j, 0), 'halo of the first field')
        call check(v(i - lo(1) + 1, j - lo(2) + 1, 3) == value_at(i, j, 3), 'halo of the second field')
      end do
    end do
    call exchange_others(exchange, u, v)
    call check(exchange%bytes_sent() >= 0 .and. exchange%messages_sent() < ranks, 'traffic')
    call exchange%free()
    call release_shared(memory)
  end subroutine

  !> Arrays that live for one call, or are named in halves, after those of `init`.
  subroutine exchange_others(exchange, u, v)
    type(halo_exchange), intent(in) :: exchange
    real(real64), intent(in) :: u(:, :), v(:, :, :)
    real(real64), allocatable, target :: a(:, :), b(:, :, :)
    real(real64), target :: short(1, 1)
    character(200) :: message
    integer :: round, status
    logical :: done
    do round = 1, 3
      a = u
      b = v
      call clear_ghosts(a)
      if (round == 2) then
        call exchange%begin(a, b)
        done = .false.
        do while (.not. done)
          call exchange%test(done)
        end do
        call exchange%end()
      else
        call exchange%forward(a, b)
      end if
      call check(all(a == u) .and. all(b == v), 'arrays of the call')
      call exchange%forward(a, short, stat=status, errmsg=message)
      call check(status /= 0 .and. index(message, 'array 2 has another type or shape') > 0, 'array of another shape')
      call exchange%forward(a, stat=status, errmsg=message)
      call check(status /= 0 .and. index(message, '1 arrays were passed') > 0, 'too few arrays')
      deallocate (a, b)
    end do
  end subroutine

  subroutine clear_ghosts(a)
    real(real64), intent(inout) :: a(:, :)
    a(:width, :) = -1
    a(size(a, 1) - width + 1:, :) = -1
    a(:, :width) = -1
    a(:, size(a, 2) - width + 1:) = -1
  end subroutine

  subroutine exchange_cells()
    type(index_map) :: map
    type(halo_exchange) :: exchange
    integer, allocatable, target :: x(:, :), g(:, :), other(:, :)
    integer, allocatable :: ids(:)
    integer :: i
    ids = ghosts_of(rank)
    call map%init(world, owned_by(rank), ids)
    allocate (x(2, owned_by(rank)), g(2, size(ids)))
    call exchange%init(map, x, g, transport='mpi_p2p')
    do i = 1, owned_by(rank)
      x(:, i) = (before(rank) + i) * [1, -1]
    end do
    call exchange%forward()
    call check(all(g(1, :) == ids) .and. all(g(2, :) == -ids), 'fixed arrays: ghosts')
    allocate (other, mold=g)
    call exchange%forward(x, other)
    call check(all(other == g), 'ghosts in another array')
    do i = 1, owned_by(rank)
      x(:, i) = [value_of(before(rank) + i, 1), value_of(before(rank) + i, 2)]
    end do
    do i = 1, size(ids)
      g(:, i) = [ghost_value(rank, i, 1), ghost_value(rank, i, 2)]
    end do
    call exchange%reverse(phl_max)
    do i = 1, owned_by(rank)
      call check(x(1, i) == combined(before(rank) + i, 1, phl_max), 'fixed arrays: reverse')
    end do
  end subroutine
end module test_grids
