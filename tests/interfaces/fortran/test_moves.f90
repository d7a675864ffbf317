!> Values from one domain to another, reductions of the program's own, owners that decide, partitions on disk.
module test_moves
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funloc, c_int, c_int32_t, c_int64_t, c_null_char, c_null_funptr
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use support
  implicit none
  private
  public :: run_moves
  integer, parameter :: extent(2) = [7, 5]

  type, bind(c) :: hit
    real(c_double) :: distance
    integer(c_int32_t) :: who, unused
  end type

contains

  subroutine run_moves()
    call move_grids([0, 0])
    call move_grids([1, 1])
    call transpose_grids()
    call move_blocks()
    call gather_and_scatter([0, 0])
    call gather_and_scatter([1, 0])
    call gather_blocks()
    call move_cells()
    call sum_of_points()
    call own_reductions()
    call owners_decide()
    call rows_move()
    call miss_a_folder()
    call keys_of_a_file()
    call sum_points_of_blocks()
    call all_are_told()
  end subroutine

  subroutine make_grid(points, along, halo, stagger)
    type(cartesian_domain), intent(inout) :: points
    integer, intent(in) :: along, halo, stagger(2)
    type(cartesian_domain) :: cells
    integer :: grid(2)
    grid = 1
    grid(along) = ranks
    call cells%init(world, extent, halo=halo, process_grid=grid)
    call cells%staggered(stagger, points)
  end subroutine

  subroutine fill(domain, u, right, block)
    type(cartesian_domain), intent(in) :: domain
    real(real64), allocatable, intent(out) :: u(:, :), right(:, :)
    integer, intent(in), optional :: block
    integer :: a(2), b(2), first(2), last(2), i, j
    call domain%owned(a, b, block)
    call domain%extended(first, last, block=block)
    allocate (u(first(1):last(1), first(2):last(2)))
    u = -1
    right = u
    do j = a(2), b(2)
      do i = a(1), b(1)
        right(i, j) = 100 * i + j
      end do
    end do
  end subroutine

  subroutine move_grids(stagger)
    integer, intent(in) :: stagger(2)
    type(cartesian_domain) :: rows, columns
    type(redistribution) :: move
    type(field_list) :: from, to
    real(real64), allocatable, target :: u(:, :), v(:, :), w(:, :), before(:, :), after(:, :)
    real, target :: wrong(1, 1)
    integer :: status
    character(300) :: message
    call make_grid(rows, 1, 1, stagger)
    call make_grid(columns, 2, 2, stagger)
    call move%init(rows, columns)
    call fill(rows, u, before)
    call fill(columns, v, after)
    u = before
    call move%forward(u, v)
    call check(all(v == after), 'rows to columns')
    w = after
    w = -1
    u = -1
    call move%back(u, v)
    call check(all(u == before), 'columns to rows')
    call from%add(u)
    call to%add(w)
    v = -1
    call move%forward(u, v, from=from, to=to)
    call check(all(v == after) .and. all(w == after), 'two fields in one message')
    call move%forward(u, from=from, stat=status, errmsg=message)
    call check_failure('a field of one domain alone', status, phl_error_value, message, 'pass equal numbers for both')
    call move%forward(u, wrong, stat=status, errmsg=message)
    call check_failure('an array of another size', status, phl_error_value, message, 'the block with its halo')
    call move%free()
    call move%forward(u, v, stat=status, errmsg=message)
    call check_failure('a redistribution that was freed', status, phl_error_handle, message, 'null')
  end subroutine

  !> Dimensions change places, two fields in one message.
  subroutine transpose_grids()
    type(cartesian_domain) :: rows, columns
    type(redistribution) :: move
    type(field_list) :: from, to
    real(real64), allocatable, target :: u(:, :), v(:, :), w(:, :)
    integer :: a(2), b(2), i, j, status
    character(300) :: message
    call rows%init(world, extent, halo=0, process_grid=[1, ranks])
    call columns%init(world, extent(2:1:-1), halo=0, process_grid=[1, ranks])
    call move%init(rows, columns, axes=[2, 1])
    call rows%owned(a, b)
    allocate (u(a(1):b(1), a(2):b(2)))
    do j = a(2), b(2)
      u(:, j) = [(100 * i + j, i = a(1), b(1))]
    end do
    call columns%owned(a, b)
    allocate (v(a(1):b(1), a(2):b(2)), w(a(1):b(1), a(2):b(2)))
    call from%add(u)
    call to%add(w)
    call move%prepare(u, v, from=from, to=to)
    call move%forward(u, v, from=from, to=to)
    do j = a(2), b(2)
      call check(all(nint(v(:, j)) == [(100 * j + i, i = a(1), b(1))]) .and. all(v(:, j) == w(:, j)), 'a transposed column')
    end do
    call move%init(rows, columns, axes=[1, 1], stat=status, errmsg=message)
    call check_failure('a dimension twice', status, phl_error_value, message, 'not a permutation')
  end subroutine

  !> From one block on each rank to two.
  subroutine move_blocks()
    type(cartesian_domain) :: whole, halves
    type(redistribution) :: move
    type(field_list) :: from, to
    real(real64), allocatable, target :: u(:, :), before(:, :), v1(:, :), v2(:, :), after1(:, :), after2(:, :)
    integer :: status
    character(300) :: message
    call make_grid(whole, 1, 1, [0, 0])
    call halves%init(world, extent, halo=1, process_grid=[1, ranks], blocks_per_rank=[2, 1])
    call fill(whole, u, before)
    call fill(halves, v1, after1, block=1)
    call fill(halves, v2, after2, block=2)
    u = before
    call from%add(u)
    call to%add(v1)
    call move%init(whole, halves)
    call move%forward(from=from, to=to, stat=status, errmsg=message)
    call check_failure('one array for two blocks', status, phl_error_value, message, 'add_block')
    call to%add_block(v2)
    call move%forward(from=from, to=to)
    call check(all(v1 == after1) .and. all(v2 == after2), 'to two blocks')
    u = -1
    call move%back(from=from, to=to)
    call check(all(u == before), 'from two blocks')
  end subroutine

  !> To the last rank, which alone has allocated room for all, and back.
  subroutine gather_and_scatter(stagger)
    integer, intent(in) :: stagger(2)
    type(cartesian_domain) :: points
    real(real64), allocatable, target :: u(:, :), right(:, :), whole(:, :)
    integer, target :: wrong(extent(1), extent(2))
    integer :: status, i, j, last
    character(300) :: message
    last = ranks - 1
    call make_grid(points, 1, 1, stagger)
    call fill(points, u, right)
    u = right
    if (rank == last) allocate (whole(extent(1) + stagger(1), extent(2)))
    call points%gather(u, whole, last)
    if (rank == last) then
      do j = 1, extent(2)
        call check(all(nint(whole(:, j)) == [(100 * i + j, i = 1, size(whole, 1))]), 'gather')
      end do
    end if
    where (u /= -1) u = 0
    call points%scatter(whole, u, last)
    call check(all(u == right), 'scatter')
    call points%gather(u, root=last, stat=status, errmsg=message)
    call check_failure('no array for all', status, phl_error_value, message, 'allocate one there')
    call points%gather(u, wrong, 0, stat=status, errmsg=message)
    if (all(stagger == 0)) then
      call check_failure('an array of another type', status, phl_error_type, message, 'view_whole')
    else
      call check_failure('an array of cells', status, phl_error_value, message, 'but the grid has 8')
    end if
    call points%scatter(whole, wrong(:, :1), last, stat=status, errmsg=message)
    call check_failure('another block', status, phl_error_value, message, 'the block with its halo')
    call points%gather(whole=whole, root=last, stat=status, errmsg=message)
    call check_failure('no field', status, phl_error_value, message, '0 fields')
  end subroutine

  !> Two staggered blocks on each rank, of two complex numbers in each point.
  subroutine gather_blocks()
    type(cartesian_domain) :: domain
    type(field_list) :: list
    complex, target :: left(3, 2), right(3, 2)
    complex, allocatable :: whole(:, :)
    integer :: i
    call domain%init(world, [4 * ranks], halo=0, process_grid=[ranks], blocks_per_rank=[2])
    left(:, 1) = [(4 * rank + i, i = 0, 2)]
    right(:, 1) = [(4 * rank + i, i = 2, 4)]
    left(:, 2) = cmplx(0, left(:, 1)%re)
    right(:, 2) = cmplx(0, right(:, 1)%re)
    call list%add(left, stagger=[1])
    call list%add_block(right)
    if (rank == 0) allocate (whole(4 * ranks + 1, 2))
    call domain%gather(whole=whole, root=0, fields=list)
    if (rank == 0) then
      call check(all(whole(:, 1) == [(i, i = 0, 4 * ranks)]), 'gather of two blocks')
      call check(all(whole(:, 2) == (0, 1) * whole(:, 1)), 'gather of two components')
      whole = -whole
    end if
    call domain%scatter(whole, root=0, fields=list)
    call check(all(left(:2, 1) == [(-4 * rank - i, i = 0, 1)]), 'scatter to a block')
    call check(left(3, 1) == 4 * rank + 2, 'scatter leaves points of the next block')
    call check(right(1, 2) == cmplx(0, -4 * rank - 2), 'scatter to another block')
    call check(right(3, 1)%re < 0 .eqv. rank == ranks - 1, 'scatter to the last point')
  end subroutine

  !> From blocks in the order of ranks to every ranks-th cell.
  subroutine move_cells()
    type(index_map) :: blocks, dealt
    type(redistribution) :: move
    integer :: ids(3), none(0), i
    real(real64), target :: x(3), y(3)
    ids = [((i - 1) * ranks + rank + 1, i = 1, 3)]
    x = [(3 * rank + i, i = 1, 3)]
    y = 0
    call blocks%init(world, 3)
    call dealt%init(world, ids, none)
    call move%init(blocks, dealt)
    call move%forward(x, y)
    call check(all(nint(y) == ids), 'cells to others')
    x = 0
    call move%back(x, y)
    call check(all(nint(x) == [(3 * rank + i, i = 1, 3)]), 'and back')
  end subroutine

  !> Nodes of two columns of cells on each rank.
  subroutine sum_of_points()
    type(cartesian_domain) :: domain
    type(point_sums) :: sums
    real(real64), target :: u(0:4, 2), other(0:4, 2), wrong(5, 3)
    real(real64) :: right(3)
    integer :: status
    character(300) :: message
    call domain%init(world, [2 * ranks], process_grid=[ranks])
    u = -1
    u(1:3, 1) = rank + [1, 2, 3]
    u(1:3, 2) = 1
    right = rank + [1, 2, 3]
    if (rank > 0) right(1) = right(1) + rank + 2
    if (rank < ranks - 1) right(3) = right(3) + rank + 2
    other = u
    call sums%init(domain, u, stagger=[1])
    call sums%sum()
    call check(all(u(1:3, 1) == right) .and. all(u(0, :) == -1) .and. all(u(4, :) == -1), 'sums of points')
    call check(all(u(1:3, 2) == [merge(2, 1, rank > 0), 1, merge(2, 1, rank < ranks - 1)]), 'numbers of holders')
    call sums%begin(phl_max, other)
    call sums%end()
    call check(all(other(1:3, 1) == [rank + 1 + merge(1, 0, rank > 0), rank + 2, rank + 3]), 'the greatest of points')
    call sums%sum(wrong, stat=status, errmsg=message)
    call check_failure('an array of another shape', status, phl_error_value, message, 'differs in type or shape')
    call sums%init(domain, u(:4, 1), stat=status, errmsg=message)
    call check(status /= 0, 'sums of cells')
    call sums%free()
  end subroutine

  subroutine nearer(into, from, count) bind(c)
    integer(c_int64_t), value :: count
    type(hit), intent(inout) :: into(count)
    type(hit), intent(in) :: from(count)
    where (from%distance < into%distance)
      into%who = from%who
      into%distance = from%distance
    end where
  end subroutine

  subroutine own_reductions()
    type(index_map) :: map
    type(halo_exchange) :: exchange
    type(cartesian_domain) :: line
    type(hit), target :: hits(2), u(0:3)
    integer :: closest, ghosts(2), kept, status
    character(300) :: message
    call create_reduction(c_funloc(nearer), hits, closest)
    ghosts = [1, 2]
    call map%init(world, merge(2, 0, rank == 0), ghosts(:merge(0, 2, rank == 0)))
    hits = [hit(50 - rank, rank, 0), hit(70 + rank, rank, 0)]
    call map%reduce_shared(closest, hits)
    call check(hits(1)%who == ranks - 1 .and. hits(2)%who == 0, 'the nearest of all holders')
    hits = [hit(50 - rank, rank, 0), hit(70 + rank, rank, 0)]
    call map%reverse(closest, hits)
    if (rank == 0) call check(hits(1)%who == ranks - 1 .and. hits(2)%who == 0, 'the nearest, at its owner')
    call line%init(world, [2 * ranks], halo=1, process_grid=[ranks], periodic=[.true.])
    u = hit(9, -1, 0)
    u(0) = hit(1, rank, 0)
    call exchange%init(line, u)
    call exchange%reverse(closest, u)
    call check(u(2)%who == mod(rank + 1, ranks) .and. u(1)%who == -1, 'the nearest of a grid')
    call create_reduction(c_null_funptr, hits, kept, stat=status, errmsg=message)
    call check_failure('no function', status, phl_error_value, message, 'null pointer')
    kept = closest
    call free_reduction(closest)
    call map%reverse(kept, hits, stat=status, errmsg=message)
    call check_failure('a reduction that was freed', status, phl_error_value, message, 'until it is freed')
  end subroutine

  !> Rank 0 pushes its last cell to everybody.
  subroutine owners_decide()
    type(index_map) :: owners, map
    integer :: cells(ranks), everybody(ranks), i, count, x(3), status
    character(300) :: message
    cells = 2
    everybody = [(i, i = 0, ranks - 1)]
    count = merge(ranks, 0, rank == 0)
    call owners%init(world, 2)
    call map%push(owners, cells(:count), everybody(:count))
    x = 10 * rank + [1, 2, 0]
    call map%gather(x)
    call check(map%ghost_size() == 1 .and. x(3) == 2, 'what the owner sends')
    cells = 3
    call map%push(owners, cells(:count), everybody(:count), stat=status, errmsg=message)
    call check_failure('a cell that nobody owns', status, phl_error_value, message, 'use 1 … 2')
    ! The low half of 2^32 is rank 0.
    call map%push(owners, [1_int64], [2_int64**32], stat=status, errmsg=message)
    call check_failure('a rank beyond 32 bits', status, phl_error_value, message, 'does not exist')
  end subroutine

  !> Row i of rank r goes to rank i - 2: the first is dropped. Arrays are longer than their rows.
  subroutine rows_move()
    type(migration) :: migrate
    real(real64) :: x(3, 2 * ranks + 4)
    integer :: id(ranks + 1), ranks_of(2, ranks + 1), sources(ranks), i, r, received, two(2), status
    character(300) :: message
    call migrate%init(world)
    id = [(100 * rank + i, i = 1, ranks + 1)]
    x = -1
    do i = 1, ranks + 1
      x(:, i) = id(i) + [0, 1000, 2000]
    end do
    ranks_of(1, :) = [(i - 2, i = 1, ranks + 1)]
    call migrate%send(ranks_of(1, :), received, x, id)
    call check(received == ranks, 'rows that came')
    x = -1
    call migrate%receive(x, id, sources=sources)
    do r = 1, ranks
      call check(id(r) == 100 * (r - 1) + rank + 2 .and. all(nint(x(:, r)) == id(r) + [0, 1000, 2000]), 'a row that came')
      call check(sources(r) == r - 1, 'where a row came from')
    end do
    call check(all(nint(x(:, ranks + 1:)) == -1), 'rows behind those that came')
    call migrate%receive(x, x, stat=status, errmsg=message)
    call check_failure('other arrays', status, phl_error_type, message, 'the arrays differ from those sent')
    call migrate%send([2_int64**32], received, x, stat=status, errmsg=message)
    call check_failure('a rank beyond 32 bits', status, phl_error_value, message, 'does not exist')
    if (rank == 0) call migrate%send([0], two, id, stat=status, errmsg=message)
    if (rank > 0) call migrate%send([0], received, id, stat=status, errmsg=message)
    call check_failure('two numbers of rows on a rank', status, phl_error_value, message, 'received has 2 elements')
    call migrate%send([(0, i = 1, ranks + 2)], received, id, stat=status, errmsg=message)
    call check_failure('fewer rows than ranks', status, phl_error_value, message, 'to move')
    if (ranks > 1) then
      if (rank == 0) call migrate%send([0], received, x, stat=status, errmsg=message)
      if (rank > 0) call migrate%send([0], received, id, stat=status, errmsg=message)
      call check_failure('other arrays on a rank', status, phl_error_value, message, 'differ between ranks')
    end if
    call migrate%send([0], received, id)
    call check(received == merge(ranks, 0, rank == 0), 'rows that came after mistakes')
    call migrate%free()
  end subroutine

  !> Those that are there: sets/check_sets.f90.
  subroutine miss_a_folder()
    type(index_map) :: map
    integer :: status
    character(300) :: message
    call map%read(world, '/no/such/place', stat=status, errmsg=message)
    call check_failure('a partition that is not there', status, phl_error_value, message, 'is not a folder')
  end subroutine

  subroutine keys_of_a_file()
    interface
      subroutine write_partition(folder, ranks) bind(c)
        import :: c_char, c_int
        character(kind=c_char), intent(in) :: folder(*)
        integer(c_int), value :: ranks
      end subroutine
      integer(c_int) function getpid() bind(c)
        import :: c_int
      end function
      subroutine remove_partition(folder, ranks) bind(c)
        import :: c_char, c_int
        character(kind=c_char), intent(in) :: folder(*)
        integer(c_int), value :: ranks
      end subroutine
    end interface
    type(index_map) :: map, everybody
    character(60) :: name
    character(:), allocatable :: folder
    integer(int64), allocatable :: keys(:, :)
    integer :: status, here(1)
    character(300) :: message
    if (rank == 0) call everybody%init(world, 1)
    if (rank > 0) call everybody%init(world, 0, [1])
    here = getpid()
    call everybody%gather(here)
    write (name, '(a, i0, a, i0)') '/tmp/phl-keys', here(1), '-', ranks
    folder = trim(name)
    if (rank == 0) call write_partition(folder // c_null_char, ranks)
    call everybody%gather(here)                          ! waits for rank 0
    call map%read(world, folder)
    call map%read_keys(folder, keys)
    call check(all(shape(keys) == 2) .and. all(keys(1, :) == 10 * (2 * rank + [0, 1]) + 1), 'keys of a file')
    call check(all(keys(2, :) == merge(0_int64, keys(1, :) + 1, 2 * rank + [0, 1] == 0)), 'none is 0')
    call map%read_keys('/tmp', keys, stat=status, errmsg=message)
    call check_failure('keys of a folder', status, phl_error_value, message, 'missing')
    if (rank == 0) call remove_partition(folder // c_null_char, ranks)
  end subroutine

  !> Two blocks on each rank: every node is in two cells, of which each has given one.
  subroutine sum_points_of_blocks()
    type(cartesian_domain) :: domain
    type(field_list) :: list, others
    type(point_sums) :: sums
    real(real64), target :: left(3), right(3), again(3), more(3)
    call domain%init(world, [4 * ranks], halo=0, process_grid=[ranks], blocks_per_rank=[2], periodic=[.true.])
    left = [1, 2, 1]
    right = left
    again = 2 * left
    more = again
    call list%add(left, stagger=[1])
    call list%add_block(right)
    call others%add(again)
    call others%add_block(more)
    call sums%init(domain, fields=list)
    call sums%sum()
    call check(all(left == 2) .and. all(right == 2), 'points of two blocks')
    call sums%sum(fields=others)
    call check(all(again == 4) .and. all(more == 4), 'those of a call')
    call sums%free()
  end subroutine

  !> A mistake of one rank in the first call, which is collective.
  subroutine all_are_told()
    type(cartesian_domain) :: rows, columns
    type(redistribution) :: move
    real(real64), allocatable, target :: u(:, :), v(:, :), before(:, :), after(:, :)
    integer :: status
    character(300) :: message
    call make_grid(rows, 1, 1, [0, 0])
    call make_grid(columns, 2, 2, [0, 0])
    call fill(rows, u, before)
    call fill(columns, v, after)
    u = before
    call move%init(rows, columns)
    if (rank == ranks - 1) then
      call move%forward(u, stat=status, errmsg=message)
    else
      call move%forward(u, v, stat=status, errmsg=message)
    end if
    call check_failure('an array that one rank leaves out', status, phl_error_value, message, 'pass equal numbers for both')
    call move%forward(u, v)
    call check(all(v == after), 'after a mistake')
  end subroutine
end module test_moves
