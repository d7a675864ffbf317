! −Δu = 4 on the unit disk by linear finite elements: docs/tutorial-mesh.md.
program poisson
  use, intrinsic :: iso_fortran_env, only: real64
  use parhelion
  implicit none
  integer, parameter :: f = real64
  type(index_map) :: map, everybody
  integer :: comm, rank, ranks, owned, size_here
  integer, allocatable :: corners(:, :)
  real(f), allocatable :: place(:, :), u(:), p(:), q(:), r(:), load(:)
  real(f) :: rr, start, alpha, before, error

  call start_mpi(comm)
  call get_rank(comm, rank, ranks)
  if (rank == 0) call everybody%init(comm, 1)  ! one number: rank 0 owns it, others read it
  if (rank > 0) call everybody%init(comm, 0, [1])
  call read_part('disk.txt')
  call map%init(comm, owned)
  call map%localize_in_place(corners)  ! nodes of other parts that triangles touch become ghosts
  place = reshape(place, [2, map%local_size()], pad=[0._f])
  call map%gather(place)                                 ! coordinates of ghosts
  size_here = map%local_size()
  allocate (u(size_here), p(size_here), q(size_here), r(size_here), load(size_here))

  u = 0
  q = 0
  load = 0
  call add_triangles(u, q, load)
  call to_owners(load)
  r = load
  p = r
  rr = dot(r, r)
  start = rr
  do while (rr > 1e-20_f * start)
    call map%gather(p)
    q = 0
    call add_triangles(p, q)
    call to_owners(q)
    alpha = rr / dot(p, q)
    u(:owned) = u(:owned) + alpha * p(:owned)
    r(:owned) = r(:owned) - alpha * q(:owned)
    before = rr
    rr = dot(r, r)
    p(:owned) = r(:owned) + rr / before * p(:owned)
  end do

  error = maxval(abs(u(:owned) - (1 - sum(place(:, :owned)**2, dim=1))))
  call over_ranks(error, phl_max)
  if (rank == 0) print '(a, es7.1e2)', 'converged, largest error ', error
  call map%free()
  call everybody%free()
  call stop_mpi()

contains

  !> This rank's share of the file: coordinates of its nodes, and its triangles.
  subroutine read_part(name)
    character(*), intent(in) :: name
    integer :: unit, sizes(3), first(2), i
    integer, allocatable :: counts(:, :)
    open (newunit=unit, file=name, status='old', action='read')
    read (unit, *) sizes                                 ! parts, nodes, triangles
    allocate (counts(2, sizes(1)))
    read (unit, *) counts
    first = sum(counts(:, :rank), dim=2)
    owned = counts(1, rank + 1)
    allocate (place(2, owned), corners(3, counts(2, rank + 1)))
    do i = 1, first(1); read (unit, *); end do
    read (unit, *) place
    do i = 1, sizes(2) - first(1) - owned + first(2); read (unit, *); end do
    read (unit, *) corners
    corners = corners + 1                                ! ids count from 1 here
    close (unit)
  end subroutine

  !> y = y + A x, and the load vector of −Δu = 4.
  subroutine add_triangles(x, y, load)
    real(f), intent(in) :: x(:)
    real(f), intent(inout) :: y(:)
    real(f), intent(inout), optional :: load(:)
    real(f) :: edge(2, 3), area
    integer :: i, n(3)
    do i = 1, size(corners, 2)
      n = corners(:, i)
      edge = place(:, n([3, 1, 2])) - place(:, n([2, 3, 1]))           ! opposite of each corner
      area = abs(edge(1, 1) * edge(2, 2) - edge(2, 1) * edge(1, 2)) / 2
      y(n) = y(n) + matmul(transpose(edge), matmul(edge, x(n))) / (4 * area)
      if (present(load)) load(n) = load(n) + 4 * area / 3
    end do
  end subroutine

  !> Adds the ghosts' values to their owners; the rim stays cold.
  subroutine to_owners(y)
    real(f), intent(inout) :: y(:)
    call map%scatter_sum(y)
    where (norm2(place(:, :owned), dim=1) > 1 - 1e-9_f) y(:owned) = 0
  end subroutine

  real(f) function dot(a, b)
    real(f), intent(in) :: a(:), b(:)
    dot = dot_product(a(:owned), b(:owned))
    call over_ranks(dot, phl_sum)
  end function

  !> MPI_Allreduce, for MPIs without a Fortran interface: ranks combine into one number and read it.
  subroutine over_ranks(value, reduction)
    real(f), intent(inout) :: value
    integer, intent(in) :: reduction
    real(f) :: x(1)
    x = value
    call everybody%scatter(reduction, x)
    call everybody%gather(x)
    value = x(1)
  end subroutine
end program
