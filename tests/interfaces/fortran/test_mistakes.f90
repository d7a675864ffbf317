!> Bad input gives a status and a message, and never a crash.
module test_mistakes
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use support
  implicit none
  private
  public :: run_mistakes

contains

  subroutine run_mistakes()
    call bad_ghosts()
    call options_stay()
    call bad_handles()
    call bad_arrays()
    call bad_grids()
    call unlike_ranks()
    call bad_lists()
    call shared_memory()
  end subroutine

  !> One value is for all dimensions; lists of another length than the dimensions are refused.
  subroutine bad_lists()
    type(cartesian_domain) :: domain
    integer :: a(2), b(2), lo(2), hi(2), none(0), status
    character(300) :: message
    call domain%init(world, [8 * ranks, 8], lower=[2], upper=[1], periodic=[.true.])
    call domain%owned(a, b)
    call domain%extended(lo, hi)
    call check(all(lo == a - 2) .and. all(hi == b + 1), 'one width for all dimensions')
    call domain%init(world, [8 * ranks, 8, 8], lower=[2, 1], stat=status, errmsg=message)
    call check_failure('two widths for three dimensions', status, phl_error_value, message, 'lower has 2 values for 3')
    call domain%init(world, [8 * ranks, 8], halo=1, periodic=[.true., .true., .true.], stat=status, errmsg=message)
    call check_failure('three flags for two dimensions', status, phl_error_value, message, 'periodic has 3 values for 2')
    call domain%init(world, [8 * ranks, 8], upper=none, stat=status, errmsg=message)
    call check_failure('no width', status, phl_error_value, message, 'upper has 0 values for 2')
    call domain%init(world, [8 * ranks, 8], process_grid=[ranks], stat=status, errmsg=message)
    call check_failure('a short process grid', status, phl_error_value, message, 'process_grid has 1 values for 2')
    call domain%init(world, [8 * ranks, 8], process_grid=[3, -1], splits=[4, 4], stat=status, errmsg=message)
    call check_failure('splits of no ranks', status, phl_error_value, message, 'process_grid has -1 ranks')
    call domain%init(world, [8 * ranks, 8], tile_axis=merge(0, 2, rank == 0), stat=status, errmsg=message)
    call check_failure('an axis from 0 on a rank', status, phl_error_value, message, 'tile_axis starts at 1')
  end subroutine

  !> Arrays that share cells, on one rank alone where that can be.
  subroutine shared_memory()
    type(cartesian_domain) :: domain
    type(halo_exchange) :: exchange
    type(index_map) :: map
    real(real64), target :: u(6, 2)
    real(real64) :: x(4)
    integer :: status
    character(300) :: message
    u = 0
    x = 0
    call domain%init(world, [4 * ranks], halo=1, periodic=[.true.])
    call exchange%init(domain, u(:, 1), u(:, merge(1, 2, rank == ranks - 1)), stat=status, errmsg=message)
    call check_failure('one array twice', status, phl_error_value, message, 'share memory')
    call exchange%init(domain, u(:, 1), u(:, 2), stat=status, errmsg=message)
    call check(status == 0, 'two columns')
    call exchange%free()
    if (ranks == 1) return
    call map%init(world, 2, [mod(2 * rank + 2, 2 * ranks) + 1])
    call map%gather(x(1:2), x(2:2), stat=status, errmsg=message)
    call check_failure('a ghost among the owned cells', status, phl_error_value, message, 'share memory')
    call map%scatter_sum(x(1:2), x(2:2), stat=status, errmsg=message)
    call check_failure('the same, backwards', status, phl_error_value, message, 'share memory')
    call map%gather(x(1:3:2), x(2:2), stat=status, errmsg=message)
    call check(status == 0, 'a ghost between owned cells')
  end subroutine

  !> What fits on each rank and does not fit together.
  subroutine unlike_ranks()
    type(index_map) :: map, entries
    integer, allocatable :: x(:, :), counts(:)
    integer :: status, wide
    character(300) :: message
    call map%init(world, merge(2, 3, rank == 0), [integer ::])
    call map%free()
    if (ranks == 1) return
    call map%init(world, 2, [mod(2 * rank + 2, 2 * ranks) + 1])
    wide = merge(3, 2, rank == ranks - 1)
    allocate (x(wide, 3), source=1)
    call map%gather(x, stat=status, errmsg=message)
    call check_failure('cells of another width on one rank', status, phl_error_value, message, 'differ between ranks')
    call map%scatter_sum(x, stat=status, errmsg=message)
    call check_failure('the same, backwards', status, phl_error_value, message, 'differ between ranks')
    allocate (counts(merge(1, 2, rank == 0)), source=1)
    call entries%init(map, counts, status, message)
    call check_failure('too few counts on one rank', status, phl_error_value, message, 'counts')
    counts = merge(-1, 1, rank == 1)
    counts = [counts, counts(1:2 - size(counts))]
    call entries%init(map, counts, status, message)
    call check_failure('a negative count on one rank', status, phl_error_value, message, '-1')
    call map%distribute(merge(1, 0, rank == 0), x(1, :), x(1, :2), status, message)
    call check_failure('another root on one rank', status, phl_error_value, message, 'root')
  end subroutine

  subroutine bad_ghosts()
    type(index_map) :: map
    integer :: status, i, cell(1)
    character(300) :: message
    call map%init(world, 3 * rank + [1, 2, 3], [3 * rank + 1], self_ghosts=.false., stat=status, errmsg=message)
    call check_failure('own ghost', status, phl_error_value, message, 'which this rank owns')
    call map%init(world, 3, [3 * ranks + 1], status, message)
    call check_failure('ghost beyond the end', status, phl_error_value, message, 'outside')
    call map%init(world, merge(-1, 3, rank == ranks - 1), stat=status, errmsg=message)
    call check_failure('negative size on one rank', status, phl_error_value, message, '-1')
    call map%init(world, 0, [(1, i=1, ranks)], [(1, i=1, ranks)], [(1, i=0, ranks)], status, message)
    call check_failure('lists of another length', status, phl_error_value, message, 'add up')
    call map%localize([1], cell, status, message)
    call check_failure('a map that was never made', status, phl_error_handle, message, 'null')
  end subroutine

  !> A transport that carries nothing to other ranks is found by the first exchange, after the map got further ghosts, too; one that
  !> does not exist, when the map is made.
  subroutine options_stay()
    type(index_map) :: map
    integer :: status, cell(1), x(2)
    character(300) :: message
    call map%init(world, 1, [integer ::], options=exchange_options(transport='carrier_pigeon'), stat=status, errmsg=message)
    call check_failure('a transport that there is not', status, phl_error_value, message, 'carrier_pigeon')
    if (ranks == 1) return
    call map%init(world, 1, [integer ::], options=exchange_options(transport='loopback'))
    call map%localize([mod(rank + 1, ranks) + 1], cell)
    x = 0
    call map%gather(x, stat=status, errmsg=message)
    call check_failure('the options of a localized map', status, phl_error_value, message, 'loopback')
  end subroutine

  subroutine bad_handles()
    type(index_map) :: map, copy
    integer :: status, x(3)
    character(300) :: message
    call map%init(world, 3)
    copy = map
    call map%free()
    call map%free(status, message)
    call check_failure('freed twice', status, phl_error_handle, message, 'null')
    call copy%free(status, message)
    call check_failure('a copy freed again', status, phl_error_handle, message, 'freed already')
    x = 0
    call copy%gather(x, stat=status, errmsg=message)
    call check_failure('gather with a freed map', status, phl_error_handle, message, 'freed already')
  end subroutine

  subroutine bad_arrays()
    type(index_map) :: map
    integer :: status, scalar, n, cell(1)
    real(real64), allocatable :: x(:), y(:, :), z(:, :)
    complex :: c(4)
    logical :: l(4)
    character(300) :: message
    n = 4
    call map%init(world, n)
    allocate (x(n + 1), y(2, n), z(3, 0))
    x = 0
    call map%gather(x, stat=status, errmsg=message)
    call check_failure('too many cells', status, phl_error_value, message, 'last dimension')
    call map%gather(scalar, stat=status, errmsg=message)
    call check_failure('a scalar', status, phl_error_value, message, 'scalar')
    call map%gather(y, z, status, message)
    call check_failure('other components', status, phl_error_type, message, 'differ')
    call map%gather(y(1:1, :), z(1:2, :), status, message)
    call check_failure('other components of a section', status, phl_error_type, message, 'differ')
    call map%scatter_min(c, stat=status, errmsg=message)
    call check_failure('minimum of complex', status, phl_error_type, message, 'cannot be combined')
    call map%scatter_sum(l, stat=status, errmsg=message)
    call check_failure('sum of logicals', status, phl_error_type, message, 'logicals')
    call map%scatter_and(x(:n), stat=status, errmsg=message)
    call check_failure('and of reals', status, phl_error_type, message, 'cannot be combined')
    call map%end(x(:n), stat=status, errmsg=message)
    call check_failure('end without begin', status, phl_error_value, message, 'under way')
    call map%localize([4 * ranks + 1], cell, status, message)
    call check_failure('index out of range', status, phl_error_value, message, 'outside of 1')
    call map%localize([1, 2], cell, status, message)
    call check_failure('indices that do not fit', status, phl_error_value, message, 'elements')
    call map%to_global([5], cell, status, message)
    call check_failure('local cell out of range', status, phl_error_value, message, 'local cell 5')
    call map%distribute(ranks, x, x(:n), status, message)
    call check_failure('a root that does not exist', status, phl_error_value, message, 'root')
    call map%distribute(0, x(:1), x(:n), status, message)
    call check_failure('too few cells to distribute', status, phl_error_value, message, 'all cells')
  end subroutine

  subroutine bad_grids()
    type(cartesian_domain) :: domain
    type(halo_exchange) :: exchange
    real, target :: u(3)
    integer :: status
    character(300) :: message
    call domain%init(world, [10, 10], process_grid=[ranks + 1, 1], stat=status, errmsg=message)
    call check_failure('process grid', status, phl_error_value, message, 'process grid')
    call domain%init(world, [4, 4], halo=-1, stat=status, errmsg=message)
    call check_failure('negative halo', status, phl_error_value, message, 'negative')
    call domain%init(world, [8 * ranks], halo=1)
    call exchange%init(domain, u, stat=status, errmsg=message)
    call check_failure('array of another extent', status, phl_error_value, message, 'dimension 1')
    call exchange%begin(stat=status, errmsg=message)
    call check_failure('an exchange that was not made', status, phl_error_handle, message, 'null')
    call exchange%free(status, message)
    call check_failure('freeing what was not made', status, phl_error_handle, message, 'null')
  end subroutine
end module test_mistakes
