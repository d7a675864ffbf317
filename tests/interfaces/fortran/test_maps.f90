!> Maps made in every way, and questions to them.
module test_maps
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use support
  implicit none
  private
  public :: run_maps

contains

  subroutine run_maps()
    call sizes_and_ids()
    call from_a_typed_communicator()
    call with_owned_ids()
    call from_root(0)
    call from_root(ranks - 1)
    call ragged()
    call localize_flat()
    call localize_rows()
    call one_and_all()
    call several_at_once()
    call replaced()
    call shared_points()
    if (ranks > 1) call masked_ghosts()
    call places_in_blocks()
    call neighbor_lists()
    call ids_with_gaps()
  end subroutine

  !> Ids beyond 32 bits, whose owners and local cells fit integers of default kind.
  subroutine ids_with_gaps()
    type(index_map) :: map
    integer(int64) :: own(2), id(1)
    integer :: next, of(1), cells(1)
    next = mod(rank + 1, ranks)
    own = 3000000000_int64 + 10 * rank + [1, 2]
    id = 3000000000_int64 + 10 * next + 2
    call map%init(world, own, [integer(int64) ::])
    call map%owners(id, of)
    call check(of(1) == next, 'owners of ids with gaps')
    call map%localize(id, cells)
    call check(cells(1) == merge(2, 3, ranks == 1), 'localize: ids with gaps')
  end subroutine

  !> A ring of blocks of two cells, two on each rank, with a ghost at both ends, in arrays with and without levels between.
  subroutine places_in_blocks()
    type(index_map) :: ring, map
    integer :: ghosts(4), places(4), ghost_places(4), level, status
    character(200) :: message
    integer :: depth(4, 2)
    real(real64), target :: padded(6, 5, 2)
    ghosts = 1 + modulo([4 * rank - 1, 4 * rank + 2, 4 * rank + 1, 4 * rank + 4], 4 * ranks)
    call ring%init(world, 4, ghosts)                     ! own cells among them where there is one rank
    call ring%init(world, 4 * rank + [1, 2, 3, 4], ghosts)
    call map%place(ring, [2, 3, 6, 7], [1, 4, 5, 8], shape=[4, 2], components_dim=2)
    depth = -1
    depth(2:3, :) = reshape(4 * rank + [1, 2, 3, 4], [2, 2])
    padded = -1
    do level = 1, 3
      padded(2:3, level, :) = 10 * depth(2:3, :) + level
    end do
    call map%forward(depth, padded(1:4, 1:3, :))
    call check(all(depth([1, 4], :) == reshape(ghosts, [2, 2])), 'ghosts among owned cells')
    do level = 1, 3
      call check(all(nint(padded([1, 4], level, :)) == 10 * reshape(ghosts, [2, 2]) + level), 'ghosts of levels')
    end do
    call check(all(padded(5:, :, :) == -1) .and. all(padded(:, 4:, :) == -1), 'padding stays as it is')
    depth = 1
    call map%reverse(phl_sum, depth)
    call check(all(depth(2:3, :) == 2), 'sums in places')
    call map%places(places, ghost_places)
    call check(all(places == [2, 3, 6, 7]) .and. all(ghost_places == [1, 4, 5, 8]), 'places')
    call map%forward(padded, stat=status, errmsg=message)
    call check(status /= 0 .and. index(message, 'pass arrays of the extents') > 0, 'other extents')
    call map%place(ring, [2, 3, 6, 6], [1, 4, 5, 8], stat=status, errmsg=message)
    call check(status /= 0 .and. index(message, 'two cells have the place') > 0, 'one place of two cells')
  end subroutine

  !> The last point of each rank is the first one of the next.
  subroutine neighbor_lists()
    type(index_map) :: map
    integer :: left, right, x(3), before_sum(3, 0:ranks - 1), r, status
    character(200) :: message
    if (ranks == 1) return
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    if (ranks == 2) then
      call map%from_neighbor_lists(world, [right], [2], merge([1, 3], [3, 1], rank == 0))
    else
      call map%from_neighbor_lists(world, [left, right], [1, 1], [1, 3])
    end if
    do r = 0, ranks - 1
      before_sum(:, r) = 10 * r + [1, 2, 3]
    end do
    x = before_sum(:, rank)
    call map%sum_shared(x)
    call check(x(1) == before_sum(1, rank) + before_sum(3, left), 'sum with the left')
    call check(x(2) == before_sum(2, rank), 'a point of one rank')
    call check(x(3) == before_sum(3, rank) + before_sum(1, right), 'sum with the right')
    if (ranks == 2) then
      call map%from_neighbor_lists(world, [right], [2], [1, 2], received_counts=[1], received=[3], stat=status, errmsg=message)
      call check(status /= 0 .and. index(message, 'lists 2 cells to send') > 0, 'two sent and one received')
    else
      call map%from_neighbor_lists(world, [left, right], [0, 1], [2], received_counts=[1, 0], received=[3])
      x = before_sum(:, rank)
      call map%gather(x)
      call check(x(3) == before_sum(2, left), 'received from the left')
    end if
  end subroutine

  !> Each rank has the two points of the next rank as ghosts, one of which counts, then the other.
  subroutine masked_ghosts()
    type(index_map) :: map, some
    integer :: next, turn, stat
    logical :: mask(4)
    real(real64) :: x(4)
    character(200) :: message
    next = mod(rank + 1, ranks)
    call map%init(world, 2, [2 * next + 2, 2 * next + 1])
    do turn = 0, 2
      mask = [.true., .false., mod(turn, 2) == 0, mod(turn, 2) == 1]
      if (turn == 0) call some%only(map, mask)
      if (turn > 0) call some%update(mask(:2), mask(3:))
      x = [2 * rank + 1, 2 * rank + 2, -1, -1]
      call some%gather(x)
      call check(all(x(3:) == merge([2 * next + 2, 2 * next + 1], [-1, -1], mask(3:))), 'ghosts that count')
      x(3:) = 100
      call some%begin_reverse(phl_sum, x)
      call some%update(mask, stat=stat, errmsg=message)
      call check(stat /= 0 .and. index(message, 'under way') > 0, 'a mask that changes too early')
      call some%end(x)
      call check(all(x(:2) == [2 * rank + 1, 2 * rank + 2] + merge(100, 0, mask([4, 3]))), 'what ghosts that count give')
    end do
    call some%update(x, stat=stat, errmsg=message)
    call check(stat == phl_error_type .and. index(message, 'one integer or bool') > 0, 'a mask of real numbers')
    call map%update(mask, stat=stat, errmsg=message)
    call check(stat /= 0 .and. index(message, 'not a subset') > 0, 'a map that is not a subset')
  end subroutine

  !> Every rank holds points 1 and 2, which rank 0 owns; all get the sum, in the order of ranks.
  subroutine shared_points()
    type(index_map) :: map
    integer :: ids(2), r
    real(real64) :: x(2), expected(2)
    integer :: most(2)
    ids = [2, 1]
    if (rank == 0) then
      call map%init(world, 2)
      ids = [1, 2]
    else
      call map%init(world, 0, ids)
    end if
    x = 0.1_real64 * ids * (rank + 1)
    expected = 0.1_real64 * ids
    do r = 1, ranks - 1
      expected = expected + 0.1_real64 * ids * (r + 1)
    end do
    most = rank
    call map%prepare(x)
    call map%prepare_shared(x)   ! neither moves anything
    call map%sum_shared(x)
    call check(all(x == expected), 'sum of shared points')
    call map%begin_reduce_shared(phl_max, most)
    call map%end(most)
    call check(all(most == ranks - 1), 'maximum of shared points')
  end subroutine

  subroutine sizes_and_ids()
    type(index_map) :: map
    integer, allocatable :: ids(:), back(:), owners(:), cells(:), mine(:)
    integer(int64), allocatable :: wide(:)
    integer :: i, nobody(1)
    ids = ghosts_of(rank)
    call map%init(world, owned_by(rank), int(ids, int64))
    call check(map%owned_size() == owned_by(rank) .and. map%ghost_size() == size(ids), 'sizes')
    call check(map%local_size() == owned_by(rank) + size(ids), 'local size')
    call check(map%global_size() == before(ranks), 'global size')
    call check(map%first_id() == before(rank) + 1 .and. map%last_id() == before(rank + 1), 'first and last id')
    allocate (back(size(ids)), owners(size(ids)), cells(map%local_size()), mine(map%local_size()), wide(map%local_size()))
    call map%ghosts(back, owners)
    call check(all(back == ids), 'ghost ids')
    do i = 1, size(ids)
      call check(owners(i) == owner_of(ids(i)), 'ghost owners')
    end do
    cells = [(i, i=1, size(cells))]
    call map%to_global(cells, wide)
    call check(all(wide(:map%owned_size()) == before(rank) + cells(:map%owned_size())), 'owned ids')
    call check(all(wide(map%owned_size() + 1:) == ids), 'ids of ghosts')
    call map%to_local(wide, mine)
    call map%to_global(mine, cells)
    call check(all(cells == wide), 'local cell of a global id')
    call map%to_local([before(ranks) + 1], nobody)
    call check(nobody(1) == 0, 'local cell of an id that is not here')
    call map%owners(ids, owners)
    do i = 1, size(ids)
      call check(owners(i) == owner_of(ids(i)), 'owners')
    end do
    call check(size(map%neighbors()) < ranks .and. all(map%neighbors() /= rank), 'neighbors')
    call check(map%cells_received() <= size(ids) .and. map%cells_sent() >= 0, 'traffic')
  end subroutine

  !> A communicator may be a type(MPI_Comm) of MPI's own module: a type with nothing but the handle in it (MPI 4.1, 19.1.3).
  !> Where that module is not there, one of the same build stands for it.
  subroutine from_a_typed_communicator()
    type, bind(c) :: mpi_comm
      integer :: mpi_val
    end type
    type(index_map) :: map
    type(cartesian_domain) :: domain
    integer :: r, n
    call map%init(mpi_comm(world), owned_by(rank), ghosts_of(rank))
    call check(map%global_size() == before(ranks), 'map of a typed communicator')
    call domain%init(mpi_comm(world), [4, 4])
    call get_rank(mpi_comm(world), r, n)
    call check(r == rank .and. n == ranks, 'rank in a typed communicator')
  end subroutine

  !> Rank r owns the ids r + 1, r + 1 + ranks, …, the last first, and reads what the rank before it owns.
  subroutine with_owned_ids()
    type(index_map) :: map
    integer, allocatable :: x(:), ids(:)
    integer, target :: ghosts(3)
    integer :: i, stat
    character(200) :: message
    ids = [(rank + 1 + ranks * i, i=2, 0, -1)]
    ghosts = [(modulo(rank - 1, ranks) + 1 + ranks * i, i=0, 2)]
    call map%init(world, ids, ghosts, self_ghosts=ranks == 1, options=exchange_options(timeout=60d0, check=.true.))
    call check(map%owned_size() == 3 .and. map%global_size() == 3 * ranks .and. map%first_id() == 0, 'owned ids: sizes')
    allocate (x(6), source=0)
    x(:3) = ids
    call map%gather(x)
    call check(all(x(4:) == ghosts), 'owned ids: gather')
    call map%init(world, [ids, ids(1)], ghosts, stat=stat, errmsg=message)
    call check(stat == phl_error_value .and. index(message, 'more than once') > 0, 'owned ids: twice')
  end subroutine

  subroutine from_root(root)
    integer, intent(in) :: root
    type(index_map) :: map
    integer, allocatable :: owned(:), counts(:), ghosts(:), x(:)
    integer :: r
    allocate (owned(0), counts(0), ghosts(0))
    if (rank == root) then
      owned = [(owned_by(r), r=0, ranks - 1)]
      counts = [(size(ghosts_of(r)), r=0, ranks - 1)]
      do r = 0, ranks - 1
        ghosts = [ghosts, ghosts_of(r)]
      end do
    end if
    call map%init(world, root, owned, counts, ghosts)
    call check(map%owned_size() == owned_by(rank), 'from root: owned')
    allocate (x(map%local_size()))
    x(:owned_by(rank)) = [(before(rank) + r, r=1, owned_by(rank))]
    call map%gather(x)
    call check(all(x(owned_by(rank) + 1:) == ghosts_of(rank)), 'from root: gather')
  end subroutine

  pure integer function row_length(row)
    integer, intent(in) :: row
    row_length = mod(row * 7, 4)
  end function

  pure integer function entries_before(row)
    integer, intent(in) :: row
    integer :: i
    entries_before = sum([(row_length(i), i=1, row - 1)])
  end function

  subroutine ragged()
    type(index_map) :: rows, entries
    integer, allocatable :: counts(:), ids(:), got(:)
    integer :: i, j, k
    ids = ghosts_of(rank)
    call rows%init(world, owned_by(rank), ids)
    counts = [(row_length(before(rank) + i), i=1, owned_by(rank))]
    call entries%init(rows, counts)
    call check(entries%first_id() == entries_before(before(rank) + 1) + 1, 'ragged: first entry')
    call check(entries%owned_size() == sum(counts), 'ragged: owned entries')
    allocate (got(entries%ghost_size()))
    call entries%ghosts(got)
    k = 0
    do i = 1, size(ids)
      do j = 1, row_length(ids(i))
        k = k + 1
        call check(got(k) == entries_before(ids(i)) + j, 'ragged: ghost entries')
      end do
    end do
    call check(k == size(got), 'ragged: number of ghost entries')
  end subroutine

  subroutine localize_flat()
    type(index_map) :: map
    integer, allocatable :: faces(:, :), cells(:, :), back(:), x(:)
    integer :: i, n
    ! A ring of cells: face i lies between cell i and the next; the last one has nothing beyond.
    n = int(before(ranks))
    allocate (faces(2, owned_by(rank)))
    do i = 1, owned_by(rank)
      faces(:, i) = [before(rank) + i, mod(before(rank) + i, n + 1)]
      if (faces(2, i) < n) faces(2, i) = faces(2, i) + 1
      if (before(rank) + i == n) faces(2, i) = 0
    end do
    call map%init(world, owned_by(rank))
    allocate (cells, mold=faces)
    call map%localize(faces, cells)
    call check(map%ghost_size() <= 1, 'localize: ghosts')
    allocate (x(map%local_size()), back(size(faces)))
    x(:owned_by(rank)) = [(before(rank) + i, i=1, owned_by(rank))]
    call map%gather(x)
    do i = 1, owned_by(rank)
      call check(x(cells(1, i)) == faces(1, i), 'localize: own side')
      if (faces(2, i) == 0) then
        call check(cells(2, i) == 0, 'localize: none')
      else
        call check(x(cells(2, i)) == faces(2, i), 'localize: other side')
      end if
    end do
    call map%localize_in_place(faces)
    call check(all(faces == cells), 'localize: again, in place')
    faces = reshape([5 * rank + 6, 5 * rank + 1, 0], [1, 3])
    call map%from_cells(world, faces)
    call map%localize_in_place(faces)
    call check(all(faces == reshape([merge(2, 1, rank == 0), merge(1, 2, rank == 0), 0], [1, 3])), 'localize: without owners')
  end subroutine

  subroutine localize_rows()
    type(index_map) :: rows, columns, none
    integer, allocatable :: counts(:), ids(:), all_counts(:), cells(:), back(:), ghosts(:)
    integer :: i, j, k, row, n
    ! Row i of a sparse matrix has columns i, i+3, i+6, … round about.
    n = int(before(ranks))
    ghosts = ghosts_of(rank)
    counts = [(row_length(before(rank) + i), i=1, owned_by(rank))]
    ids = [integer ::]
    do i = 1, owned_by(rank)
      ids = [ids, [(mod(before(rank) + i - 1 + 3 * j, n) + 1, j=1, counts(i))]]
    end do
    call rows%init(world, owned_by(rank), ghosts)
    call columns%init(world, owned_by(rank))
    call columns%localize_ragged(rows, counts, ids, all_counts, cells)
    allocate (back(size(cells)))
    call columns%to_global(cells, back)
    call check(all(all_counts(:owned_by(rank)) == counts), 'localize rows: counts')
    call check(all(back(:size(ids)) == ids), 'localize rows: own rows')
    k = size(ids)
    do i = 1, size(ghosts)
      row = ghosts(i)
      call check(all_counts(owned_by(rank) + i) == row_length(row), 'localize rows: counts of ghost rows')
      do j = 1, row_length(row)
        k = k + 1
        call check(back(k) == mod(row - 1 + 3 * j, n) + 1, 'localize rows: ghost rows')
      end do
    end do
    back = [(0, i=1, rows%local_size())]
    call none%only(rows, back)
    call columns%localize_ragged(none, counts, ids, all_counts, cells)
    call check(all(all_counts == [counts, (0, i=1, size(ghosts))]), 'localize rows: no ghost rows')
  end subroutine

  subroutine one_and_all()
    type(index_map) :: map
    real, allocatable :: everything(:, :), mine(:, :)
    integer :: i, root
    root = ranks - 1
    call map%init(world, owned_by(rank), ghosts_of(rank))
    allocate (everything(2, merge(before(ranks), 0, rank == root)), mine(2, map%local_size()))
    everything = reshape([(real(i), i=1, size(everything))], shape(everything))
    mine = -1
    call map%distribute(root, everything, mine)
    call check(all(mine(2, :owned_by(rank)) == 2 * [(before(rank) + i, i=1, owned_by(rank))]), 'distribute')
    call check(all(mine(:, owned_by(rank) + 1:) == -1), 'distribute leaves ghosts')
    mine = mine + 0.5
    everything = 0
    call map%collate(root, mine(:, :owned_by(rank)), everything)
    if (rank == root) call check(all([everything] == [(i + 0.5, i=1, size(everything))]), 'collate')
  end subroutine

  !> Arrays of several types and shapes in one call, allocated anew each time.
  subroutine several_at_once()
    type(index_map) :: map
    real(real64), allocatable :: x(:), sums(:, :)
    integer, allocatable :: y(:, :), ids(:), ones(:), count(:)
    logical, allocatable :: flags(:)
    integer :: i, r, n, all, round
    ids = ghosts_of(rank)
    n = owned_by(rank)
    all = n + size(ids)
    call map%init(world, n, ids)
    do round = 1, 5
      allocate (x(all), y(3, all), flags(all))
      x = -1
      y = -1
      flags = .false.
      do i = 1, n
        x(i) = before(rank) + i + 0.5 * round
        y(:, i) = (before(rank) + i) * [1, 2, 3] + round
        flags(i) = mod(before(rank) + i + round, 2) == 0
      end do
      if (round < 4) then
        call map%forward(x, y, flags)
      else
        call map%begin_forward(x, y, flags)
        x(:n) = -2
        call map%end(x, y, flags)
      end if
      do i = 1, size(ids)
        call check(abs(x(n + i) - ids(i) - 0.5 * round) < 1e-9, 'several at once: real')
        call check(all_equal(y(:, n + i), ids(i) * [1, 2, 3] + round), 'several at once: integer')
        call check(flags(n + i) .eqv. (mod(ids(i) + round, 2) == 0), 'several at once: logical')
      end do
      deallocate (x, y, flags)
    end do
    allocate (sums(2, all), ones(all), count(n))
    count = 0
    do r = 0, ranks - 1
      ids = ghosts_of(r)
      do i = 1, size(ids)
        if (ids(i) > before(rank) .and. ids(i) <= before(rank) + n) count(ids(i) - before(rank)) = count(ids(i) - before(rank)) + 1
      end do
    end do
    do round = 1, 2
      sums = 0
      ones = 0
      sums(1, n + 1:) = 1
      sums(2, n + 1:) = -2
      ones(n + 1:) = 1
      if (round == 1) then
        call map%reverse(phl_sum, sums, ones)
      else
        call map%begin_reverse(phl_sum, sums, ones)
        ones(n + 1:) = 7
        call map%end(sums, ones)
      end if
      call check(all_equal(ones(:n), count) .and. all_equal(nint(sums(1, :n)), count), 'several back')
      call check(all_equal(nint(sums(2, :n)), -2 * count), 'several back: second component')
    end do
  end subroutine

  pure logical function all_equal(a, b)
    integer, intent(in) :: a(:), b(:)
    all_equal = all(a == b)
  end function

  !> A map that is made anew, and one in a block that ends, free what they had.
  subroutine replaced()
    type(index_map) :: map
    integer :: i, x(8)
    do i = 1, 20
      block
        type(index_map) :: inner
        call inner%init(world, 3)
      end block
      call map%init(world, 8)
    end do
    x = rank
    call map%gather(x)
    call check(map%owned_size() == 8 .and. all(x == rank), 'made anew')
  end subroutine
end module test_maps
