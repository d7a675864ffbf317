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
    call exchange_groups()
    call exchange_with_options()
    call exchange_folded(pivot_corner)
    call exchange_folded(pivot_center)
    call exchange_folded_tiles(fold(2, 1), [1, 2, 3, 4, 5, 6])
    call exchange_folded_tiles(fold(2, 1, tile=2), [2])
    call exchange_cube()
    call exchange_around_land()
    call exchange_padded()
  end subroutine

  !> Arrays with more layers on the upper sides, every second value along y of another one, and a depth of the lower sides alone.
  subroutine exchange_padded()
    type(cartesian_domain) :: domain
    type(halo_exchange) :: exchange, below
    type(field_list) :: list
    real(real64), allocatable, target :: u(:, :), v(:, :, :)
    integer :: a(2), b(2), cells(2), i, j, c, stat
    character(200) :: message
    cells = [3 * ranks, 4]
    call domain%init(world, cells, halo=1, periodic=[.true., .true.])
    call domain%owned(a, b)
    allocate (u(a(1) - 1:b(1) + 4, a(2) - 1:b(2) + 2), v(a(1) - 1:b(1) + 1, 2 * (b(2) - a(2)) + 5, 2))
    call list%add(u, array_halo=[1, 1, 4, 2])
    call list%add(v(:, ::2, :))
    call exchange%init(domain, fields=list)
    call fill()
    call exchange%forward()
    do j = a(2) - 1, b(2) + 1
      do i = a(1) - 1, b(1) + 1
        call check(nint(u(i, j)) == value(i, j), 'a padded array')
        do c = 1, 2
          call check(nint(v(i, 2 * (j - a(2)) + 3, c)) == c * value(i, j), 'a section with steps')
        end do
      end do
    end do
    call check(all(u(b(1) + 2:, :) == -1) .and. all(u(:, b(2) + 2:) == -1) .and. all(v(:, 2::2, :) == -1), 'padding stays')
    call below%init(exchange, fields=[1], depth=[1, 1, 0, 0])
    call fill()
    call below%forward(u)
    call check(all(nint(u(a(1) - 1:b(1), a(2) - 1)) == [(value(i, a(2) - 1), i=a(1) - 1, b(1))]), 'lower sides')
    call check(all(u(b(1) + 1:, :) == -1) .and. all(u(:, b(2) + 1:) == -1), 'upper sides stay')
    call exchange%init(domain, u, array_halo=[1, 1, 4], stat=stat, errmsg=message)
    call check(stat /= 0 .and. index(message, 'all lower sides') > 0, 'three layers of two dimensions')
  contains
    integer function value(i, j)
      integer, intent(in) :: i, j
      value = 100 * modulo(i - 1, cells(1)) + modulo(j - 1, cells(2)) + 1
    end function
    subroutine fill()
      u = -1
      v = -1
      do j = a(2), b(2)
        do i = a(1), b(1)
          u(i, j) = value(i, j)
          v(i, 2 * (j - a(2)) + 3, :) = [1, 2] * value(i, j)
        end do
      end do
    end subroutine
  end subroutine

  !> The second of ranks + 1 places is land.
  subroutine exchange_around_land()
    type(cartesian_domain) :: domain
    type(halo_exchange) :: exchange
    real(real64), allocatable, target :: u(:, :)
    logical, allocatable :: wet(:, :)
    integer :: cells(2), a(2), b(2), lo(2), hi(2), grid(2), place(2), i, j, stat
    cells = [3 * (ranks + 1), 5]
    allocate (wet(cells(1), cells(2)))
    wet = .false.
    wet(1, 2) = .true.
    wet(7:, 3) = .true.
    call domain%init(world, cells, halo=width, process_grid=[ranks + 1, 1], mask=wet)
    grid = domain%process_grid()
    place = domain%coordinates()
    call check(grid(1) == ranks + 1 .and. place(1) == merge(0, rank + 1, rank == 0), 'places around land')
    call check(domain%owner([4, 1]) == -1 .and. domain%owner([1, 1]) == 0, 'owner of land')
    call domain%owned(a, b)
    call domain%extended(lo, hi)
    allocate (u(lo(1):hi(1), lo(2):hi(2)))
    u = -1
    do j = a(2), b(2)
      do i = a(1), b(1)
        u(i, j) = 100 * i + j
      end do
    end do
    call exchange%init(domain, u)
    call exchange%forward()
    do j = lo(2), hi(2)
      do i = lo(1), hi(1)
        if (i >= 1 .and. i <= cells(1) .and. (i < 4 .or. i > 6) .and. j >= 1 .and. j <= cells(2)) then
          call check(u(i, j) == 100 * i + j, 'a ghost beside land')
        else
          call check(u(i, j) == -1, 'a ghost beyond land')
        end if
      end do
    end do
    call domain%init(world, cells, halo=width, process_grid=[ranks + 1, 1], mask=merge(1, 0, wet(:, 3)), stat=stat)
    call check(stat /= 0, 'too many places of land')
    call domain%init(world, cells, halo=width, process_grid=[ranks + 1, 1], mask=merge(1, 0, any(wet, 2)))
    call check(all(domain%coordinates() == place), 'a mask of fewer dimensions')
    call domain%init(world, [ranks + 2, 4], process_grid=[ranks + 2, 2], first_fastest=.true., &
                     ranks=[0, 0, (modulo(i, ranks), i=0, 2 * ranks), -1])
    call check(domain%blocks() == merge(5, 2, rank == 0), 'blocks of places that a table deals out')
    call check(domain%owner([2, 2]) == 0 .and. domain%owner([ranks + 2, 4]) == -1, 'owners by a table')
  end subroutine

  !> The north side is folded: a scalar, and a component of a vector, which turns.
  subroutine exchange_folded(pivot)
    integer, intent(in) :: pivot
    type(cartesian_domain) :: domain
    type(field_list) :: fields
    type(halo_exchange) :: exchange
    real(real64), allocatable, target :: u(:, :), v(:, :)
    integer :: a(2), b(2), lo(2), hi(2), i, j, k
    call domain%init(world, extent, halo=width, periodic=[.true., .false.], seams=fold(2, 1, pivot=pivot))
    call domain%owned(a, b)
    call domain%extended(lo, hi)
    allocate (u(lo(1):hi(1), lo(2):hi(2)))
    do j = lo(2), hi(2)
      do i = lo(1), hi(1)
        u(i, j) = merge(value_at(i, j, 0), -1._real64, j >= 1 .and. j <= extent(2))
      end do
    end do
    v = u
    call fields%add(u)
    call fields%add(v, changes_sign=.true.)
    call exchange%init(domain, fields=fields)
    call exchange%forward()
    if (any(a > b)) return
    do j = extent(2) + 1, hi(2)
      k = j - extent(2)
      do i = lo(1), hi(1)
        if (pivot == pivot_corner) then
          call check(u(i, j) == value_at(extent(1) + 1 - i, extent(2) + 1 - k, 0), 'a scalar beyond a fold about a corner')
        else
          call check(u(i, j) == value_at(extent(1) + 2 - i, extent(2) - k, 0), 'a scalar beyond a fold about a center')
        end if
        call check(v(i, j) == -u(i, j), 'a component of a vector beyond a fold')
      end do
    end do
  end subroutine

  !> A fold without a tile is one of every tile.
  subroutine exchange_folded_tiles(seams, tiles)
    integer, intent(in) :: seams(:), tiles(:)
    integer, parameter :: n = 4
    type(cartesian_domain) :: domain
    type(halo_exchange) :: exchange
    integer, allocatable, target :: u(:, :, :)
    integer :: a(3), b(3), lo(3), hi(3), i, tile
    call domain%init(world, [n, n, 6], lower=[1, 1, 0], upper=[1, 1, 0], seams=seams, tile_axis=3)
    call domain%owned(a, b)
    call domain%extended(lo, hi)
    allocate (u(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)), source=0)
    do tile = a(3), b(3)
      do i = a(1), b(1)
        u(i, a(2):b(2), tile) = 10 * tile + i
      end do
    end do
    call exchange%init(domain, u)
    call exchange%forward()
    if (any(a > b) .or. b(2) < n) return
    do tile = a(3), b(3)
      do i = a(1), b(1)
        call check(u(i, n + 1, tile) == merge(10 * tile + n + 1 - i, 0, any(tiles == tile)), 'folds of tiles')
      end do
    end do
  end subroutine

  !> Beyond the edges of a cube a component of a vector is the other one, or has another sign. The tiles are the last axis.
  subroutine exchange_cube()
    integer, parameter :: n = 4
    type(cartesian_domain) :: cube
    type(field_list) :: fields
    type(halo_exchange) :: exchange
    integer, allocatable, target :: u(:, :, :), v(:, :, :)
    integer :: a(3), b(3), lo(3), hi(3), i, j, face
    logical :: across, along, swaps
    call cube%init(world, [n, n, 6], lower=[1, 1, 0], upper=[1, 1, 0], seams=cube_seams(1), tile_axis=3)
    call cube%owned(a, b)
    call cube%extended(lo, hi)
    allocate (u(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)), v(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)), source=0)
    u(a(1):b(1), a(2):b(2), a(3):b(3)) = 1
    v(a(1):b(1), a(2):b(2), a(3):b(3)) = 2
    call fields%add(u, vector=1, along=1)
    call fields%add(v, vector=1, along=2)
    call exchange%init(cube, fields=fields)
    call exchange%forward()
    if (any(a > b)) return
    do face = lo(3), hi(3)
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          across = i < 1 .or. i > n
          along = j < 1 .or. j > n
          if (across .and. along) then
            call check(u(i, j, face) == 0 .and. v(i, j, face) == 0, 'a corner where three faces meet keeps its value')
            cycle
          end if
          swaps = ((face == 2 .or. face == 4) .and. along) .or. (face >= 5 .and. across)
          call check(abs(u(i, j, face)) == merge(2, 1, swaps) .and. &
            abs(v(i, j, face)) == merge(1, 2, swaps), 'components on a cube')
        end do
      end do
    end do
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
      call check(status /= 0 .and. index(message, 'array 2 differs in type or shape') > 0, 'array of another shape')
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
    call exchange%init(map, x, g, options=exchange_options(transport='mpi'))
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
    call compare_with_owners(exchange, x, g)
    call exchange%reverse(phl_max)
    do i = 1, owned_by(rank)
      call check(x(1, i) == combined(before(rank) + i, 1, phl_max), 'fixed arrays: reverse')
    end do
  end subroutine

  !> Ghosts that hold something else: but for a chance most of them differ, and nothing is changed.
  subroutine compare_with_owners(exchange, x, g)
    type(halo_exchange), intent(in) :: exchange
    integer, intent(in), target :: x(:, :), g(:, :)
    type(stale_ghost), allocatable :: first(:)
    integer, allocatable, target :: right(:, :)
    integer(int64) :: counts(1)
    integer :: stat
    character(300) :: message
    call exchange%stale(counts, first=first)
    call check(counts(1) <= size(g) .and. 2 * counts(1) >= size(g) .and. size(first) == min(8_int64, counts(1)), 'stale: how many')
    if (size(first) > 0) &
      call check(first(1)%field == 1 .and. first(1)%here /= first(1)%there .and. size(first(1)%cell) == 1, 'stale: first')
    call exchange%check(stat=stat, errmsg=message)
    if (ranks > 1) call check(stat == phl_error_value .and. index(message, 'on its owner') > 0, 'check: ' // message)
    allocate (right, mold=g)
    call exchange%forward(x, right)
    call exchange%check(x, right)
    call exchange%stale(counts, x, right)
    call check(counts(1) == 0, 'stale: none')
    call check(exchange%transport() == 'mpi' .and. index(exchange%explain(), 'transport mpi') > 0, 'explain')
  end subroutine

  !> Checked.
  subroutine exchange_with_options()
    type(cartesian_domain) :: domain
    type(halo_exchange) :: exchange
    real(real64), allocatable, target :: u(:, :)
    integer :: a(2), b(2), lo(2), hi(2), stat
    character(300) :: message
    call domain%init(world, extent, halo=width, periodic=[.true., .true.])
    call domain%owned(a, b)
    call domain%extended(lo, hi)
    allocate (u(lo(1):hi(1), lo(2):hi(2)), source=real(rank, real64))
    call exchange%init(domain, u, options=exchange_options(transport='mpi', timeout=60d0, check=.true.))
    call exchange%begin()
    u = -7
    call exchange%end(stat=stat, errmsg=message)
    if (all(a <= b)) then
      call check(stat == phl_error_value .and. index(message, 'was written between begin and end') > 0, 'checked: ' // message)
    end if
    call exchange%begin()
    call exchange%end()
    call exchange%check()
    call exchange%init(domain, u, options=exchange_options(at_once=.true.))
    call exchange%forward()
    u = rank
    call exchange%retune()
    call exchange%retune(u)
    call exchange%forward()
    call exchange%check()
    call exchange%begin(stat=stat, errmsg=message)
    call check(stat /= 0 .and. index(message, 'constructed with at_once') > 0, 'at once: ' // message)
  end subroutine

  !> A grid and an index map in one exchange.
  subroutine exchange_groups()
    type(cartesian_domain) :: domain
    type(index_map) :: map
    type(field_group) :: groups(2)
    type(halo_exchange) :: both, grid, cells
    real(real64), allocatable, target :: u(:, :)
    integer, allocatable, target :: x(:, :)
    integer, allocatable :: ids(:)
    integer :: a(2), b(2), lo(2), hi(2), i, j, stat
    character(200) :: message
    call domain%init(world, extent, halo=width, periodic=[.true., .true.])
    call domain%owned(a, b)
    call domain%extended(lo, hi)
    ids = ghosts_of(rank)
    call map%init(world, owned_by(rank), ids)
    allocate (u(lo(1):hi(1), lo(2):hi(2)), source=-1.0_real64)
    allocate (x(2, owned_by(rank) + size(ids)), source=-1)
    do j = a(2), b(2)
      u(a(1):b(1), j) = [(value_at(i, j, 0), i = a(1), b(1))]
    end do
    do i = 1, owned_by(rank)
      x(:, i) = (before(rank) + i) * [1, -1]
    end do
    call groups(1)%init(domain, u)
    call groups(2)%init(map, x)
    call both%init(groups)
    call grid%init(groups(1:1), options=exchange_options(transport='mpi'))
    call cells%init(map, x, options=exchange_options(transport='mpi'))
    call check(both%messages_sent() <= ranks - 1 .and. both%messages_sent() >= max(grid%messages_sent(), cells%messages_sent()), &
               'one message for all groups')
    call both%forward()
    do j = lo(2), hi(2)
      call check(all(u(:, j) == [(value_at(i, j, 0), i = lo(1), hi(1))]), 'groups: halo of the grid')
    end do
    call check(all(x(1, owned_by(rank) + 1:) == ids) .and. all(x(2, owned_by(rank) + 1:) == -ids), 'groups: ghosts of the map')
    call exchange_others_of_groups(both, u, x)
    call groups(1)%init(domain, x, stat=stat, errmsg=message)
    call check(stat /= 0 .and. index(message, 'cells in dimension') > 0, 'groups: an array that does not fit')
    call both%init([groups(2), groups(2)], stat=stat, errmsg=message)
    call check(stat /= 0 .and. index(message, 'field 0 of group 1 share memory') > 0, 'groups: the same array twice')
    call groups(1)%init(domain, u)
    if (rank == ranks - 1) call map%free()
    call both%init(groups, stat=stat, errmsg=message)
    call check_failure('groups: freed on a rank', stat, phl_error_value, message, 'group 1: index map handle was freed')
  end subroutine

  !> Arrays of all groups that no exchange has seen, and ghosts apart from the owned cells in the middle of them.
  subroutine exchange_others_of_groups(both, u, x)
    type(halo_exchange), intent(inout) :: both
    real(real64), intent(in) :: u(:, :)
    integer, intent(in) :: x(:, :)
    type(cartesian_domain) :: domain
    type(index_map) :: map
    type(field_group) :: groups(3)
    type(halo_exchange) :: three
    real(real64), allocatable, target :: a(:, :), b(:, :), v(:, :)
    integer, allocatable, target :: c(:, :), d(:, :), g(:, :), h(:, :)
    integer :: owned, stat
    character(200) :: message
    owned = owned_by(rank)
    a = u
    c = x
    call clear_ghosts(a)
    c(:, owned + 1:) = -1
    call both%forward(a, c)
    call check(all(a == u) .and. all(c == x), 'groups: arrays of the call')
    call both%forward(c, a, stat=stat, errmsg=message)
    call check(stat /= 0 .and. index(message, 'array 1 differs in type or shape') > 0, 'groups: arrays in another order')
    call domain%init(world, extent, halo=width, periodic=[.true., .true.])
    call map%init(world, owned, ghosts_of(rank))
    allocate (b, v, mold=u)
    allocate (d(2, owned), g(2, size(x, 2) - owned))
    h = g
    call groups(1)%init(domain, b)
    call groups(2)%init(map, d, g)
    call groups(3)%init(domain, v)
    call three%init(groups)
    b = u
    call clear_ghosts(a)
    call clear_ghosts(b)
    g = -1
    h = -1
    call three%begin(a, c(:, :owned), h, b)
    call three%end()
    call check(all(a == u) .and. all(h == x(:, owned + 1:)) .and. all(b == u), 'groups: ghosts apart, at the call')
    call check(all(g == -1), 'groups: ghosts of init are left alone')
    call exchange_ten(domain, size(u, 1), size(u, 2))
  end subroutine

  !> More arrays in all than a call has arguments.
  subroutine exchange_ten(domain, n, m)
    type(cartesian_domain), intent(in) :: domain
    integer, intent(in) :: n, m
    type(field_group) :: groups(2)
    type(halo_exchange) :: ten
    real, target :: p(n, m, 10)
    integer :: i, stat
    character(200) :: message
    do i = 1, 10
      p(:, :, i) = i
      p(:width, :, i) = -1
    end do
    do i = 1, 2
      call groups(i)%init(domain, p(:, :, i), p(:, :, i + 2), p(:, :, i + 4), p(:, :, i + 6), p(:, :, i + 8))
    end do
    call ten%init(groups)
    call ten%forward()
    do i = 1, 10
      call check(all(p(:, :, i) == i), 'groups of ten arrays')
    end do
    call ten%forward(p(:, :, 1), p(:, :, 2), stat=stat, errmsg=message)
    call check(stat /= 0 .and. index(message, '2 arrays were passed, but the exchange needs 10') > 0, 'too few arrays')
    call check_lists(domain, ten, p)
  end subroutine

  !> Lists of any number of arrays, at calls and for exchanges, and subsets of them.
  subroutine check_lists(domain, ten, p)
    type(cartesian_domain), intent(in) :: domain
    type(halo_exchange), intent(in) :: ten
    real, intent(inout), target :: p(:, :, :)
    real, allocatable, target :: q(:, :, :)
    type(field_list) :: list
    type(halo_exchange) :: listed, mixed
    integer :: i, round, stat
    character(200) :: message
    q = p
    do round = 1, 2
      call list%clear()
      do i = 1, 10
        call list%add(q(:, :, i))
      end do
      call check(list%length() == 10, 'arrays of a list')
      call empty(q)
      if (round == 1) then
        call ten%forward(fields=list)
      else
        call ten%begin(fields=list)
        call ten%end()
      end if
      call check(all(q == p), 'ten arrays named at a call')
    end do
    call listed%init(domain, fields=list)
    call empty(q)
    call listed%forward()
    call check(all(q == p), 'an exchange of a list')
    call list%clear()
    do i = 2, 9
      call list%add(q(:, :, i))
    end do
    call empty(q)
    call mixed%init(domain, q(:, :, 1), q(:, :, 10), fields=list)
    call mixed%forward(q(:, :, 1), q(:, :, 10), fields=list)
    call check(all(q == p), 'arguments before those of a list')
    call list%add(q(::2, :, 1))
    call mixed%forward(q(:, :, 1), fields=list, stat=stat, errmsg=message)
    call check(stat /= 0 .and. index(message, 'array 10 differs in type or shape') > 0, 'a list of other arrays')
    call check_subsets(listed, p, q)
  end subroutine

  !> Of an exchange of all arrays in q, which p has with their ghosts.
  subroutine check_subsets(listed, p, q)
    type(halo_exchange), intent(in) :: listed
    real, intent(in) :: p(:, :, :)
    real, intent(inout), target :: q(:, :, :)
    type(halo_exchange) :: thin
    integer :: stat
    character(200) :: message
    call thin%init(listed, fields=[3, 1], depth=[1])
    call empty(q)
    call thin%prepare()
    call thin%forward()
    associate (last => size(q, 2) - width + 1)
      call check(all(q(width:, width:last, [1, 3]) == p(width:, width:last, [1, 3])), 'a subset')
    end associate
    call check(all(q(:width - 1, :, [1, 3]) == -1) .and. all(q(:width, :, 2) == -1), 'what a subset leaves')
    call empty(q)
    call thin%begin(q(:, :, 5), q(:, :, 1))
    call thin%end()
    associate (last => size(q, 2) - width + 1)
      call check(all(q(width:, width:last, 5) == p(width:, width:last, 5)) .and. all(q(:width, :, 3) == -1), 'arrays of a subset')
    end associate
    call thin%init(listed, depth=[phl_as_made, 0])
    call empty(q)
    call thin%forward()
    call check(all(q(:, width + 1:size(q, 2) - width, :) == p(:, width + 1:size(q, 2) - width, :)), 'a depth for each dimension')
    call thin%init(listed, faces_only=.true.)
    call empty(q)
    call thin%forward()
    call check(all(q(:, width + 1:size(q, 2) - width, :) == p(:, width + 1:size(q, 2) - width, :)), 'across faces')
    call check(all(q(:width, :width, :) == -1), 'corners that a subset leaves')
    call thin%init(listed, fields=[11], stat=stat, errmsg=message)
    call check(stat /= 0 .and. index(message, 'no field 11 in this exchange: it has fields 1 to 10') > 0, 'no such field')
    call thin%init(listed, depth=[1, 1, 1], stat=stat, errmsg=message)
    call check(stat /= 0 .and. index(message, 'given for 3 dimensions of 2') > 0, 'a depth of other dimensions')
    call thin%init(listed, depth=[width + 1], stat=stat, errmsg=message)
    call check(stat /= 0 .and. index(message, 'the widest halo of these fields') > 0, 'a depth beyond the halo')
  end subroutine

  subroutine empty(q)
    real, intent(inout) :: q(:, :, :)
    q(:width, :, :) = -1
  end subroutine
end module test_grids
