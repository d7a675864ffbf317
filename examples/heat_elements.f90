!> Heat on a disk with finite elements, on one process and on many: the difference is the lesson.
!>
!>     parhelion run -n 4 ./heat_elements
!>
!> Linear elements on triangles, lumped masses. Every element adds to its three nodes, some of which may belong to another
!> rank: ghosts collect what is added here, and scatter_sum brings it to their owners. An owner adds what other ranks' elements
!> gave after what its own did, which is another order than that of the serial run: results agree to within 10⁻¹² of the
!> hottest node and not to the last bit.
module elements
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: rings = 10, sectors = 24, nodes = 1 + rings * sectors, steps = 400
  integer, parameter :: triangles = sectors * (2 * rings - 1)
  real(real64), parameter :: pi = 3.14159265358979323846_real64, time_step = 1e-4_real64

contains

  !> Nodes of each triangle, places and first temperatures of the nodes; the rim is kept cold (inside is 0 there, else 1).
  subroutine make_mesh(corners, place, inside, start)
    integer, allocatable, intent(out) :: corners(:, :)
    real(real64), allocatable, intent(out) :: place(:, :), inside(:), start(:)
    integer :: ring, sector, i
    real(real64) :: angle
    allocate (corners(3, triangles), place(2, nodes), inside(nodes), start(nodes))
    place(:, 1) = 0
    inside(1) = 1
    i = 0
    do sector = 1, sectors
      do ring = 1, rings
        angle = 2 * pi * (sector - 1) / sectors
        place(:, node_at(ring, sector)) = [cos(angle), sin(angle)] * ring / rings
        inside(node_at(ring, sector)) = merge(0, 1, ring == rings)
        corners(:, i + 1) = [node_at(ring - 1, sector), node_at(ring, sector), node_at(ring, sector + 1)]
        i = i + 1
        if (ring == 1) cycle
        corners(:, i + 1) = [node_at(ring - 1, sector), node_at(ring, sector + 1), node_at(ring - 1, sector + 1)]
        i = i + 1
      end do
    end do
    start = inside * merge(1, 0, place(1, :) > 0)
  end subroutine

  !> The middle is node 1, then sector follows sector.
  pure integer function node_at(ring, sector)
    integer, intent(in) :: ring, sector
    node_at = merge(1, 1 + mod(sector - 1, sectors) * rings + ring, ring == 0)
  end function

  !> What every triangle adds to its nodes: a third of its area to their masses, and the heat that flows into them.
  subroutine add_elements(corners, place, u, mass, gain)
    integer, intent(in) :: corners(:, :)
    real(real64), intent(in) :: place(:, :), u(:)
    real(real64), intent(inout) :: mass(:), gain(:)
    real(real64) :: edge(2, 3), double_area, slope(2)
    integer :: i, n(3)
    do i = 1, size(corners, 2)
      n = corners(:, i)
      edge(:, 1) = place(:, n(3)) - place(:, n(2))                         ! opposite of each node
      edge(:, 2) = place(:, n(1)) - place(:, n(3))
      edge(:, 3) = place(:, n(2)) - place(:, n(1))
      double_area = edge(1, 1) * edge(2, 2) - edge(2, 1) * edge(1, 2)
      slope = (edge(:, 1) * u(n(1)) + edge(:, 2) * u(n(2)) + edge(:, 3) * u(n(3))) / (2 * double_area)
      mass(n) = mass(n) + double_area / 6
      gain(n) = gain(n) - matmul(slope, edge)
    end do
  end subroutine

  function serial() result(u)
    integer, allocatable :: corners(:, :)
    real(real64), allocatable :: place(:, :), inside(:), u(:)
    real(real64) :: mass(nodes), gain(nodes)
    integer :: i
    call make_mesh(corners, place, inside, u)
    do i = 1, steps
      mass = 0
      gain = 0
      call add_elements(corners, place, u, mass, gain)
      u = u + time_step * inside * gain / mass
    end do
  end function

  !> The result on rank 0, nothing on the others.
  function parallel(comm, rank, ranks) result(all)
    use parhelion
    integer, intent(in) :: comm, rank, ranks
    type(index_map) :: map
    integer, allocatable :: corners(:, :)
    real(real64), allocatable :: place(:, :), inside(:), start(:), u(:), mass(:), gain(:), here(:, :), all(:)
    integer :: i, first, last, n
    call make_mesh(corners, place, inside, start)
    first = nodes * rank / ranks + 1                                       ! this rank's nodes …
    last = nodes * (rank + 1) / ranks
    corners = corners(:, triangles * rank / ranks + 1:triangles * (rank + 1) / ranks)  ! … and triangles
    n = last - first + 1
    call map%init(comm, n)
    call map%localize_in_place(corners)                                    ! their other nodes become ghosts
    allocate (u(map%local_size()), mass(map%local_size()), gain(map%local_size()), here(2, map%local_size()))
    u(:n) = start(first:last)
    here(:, :n) = place(:, first:last)
    call map%gather(here)                                                  ! … and get their places
    do i = 1, steps
      mass = 0
      gain = 0
      call map%gather(u)                                                   ! ghosts get their owners' values
      call add_elements(corners, here, u, mass, gain)
      call map%scatter_sum(mass)                                           ! owners get what was added to ghosts
      call map%scatter_sum(gain)
      u(:n) = u(:n) + time_step * inside(first:last) * gain(:n) / mass(:n)
    end do
    allocate (all(merge(nodes, 0, rank == 0)))
    call map%collate(0, u, all)
  end function
end module elements

program heat_elements
  use elements
  use parhelion, only: get_rank, start_mpi, stop_mpi
  implicit none
  integer :: comm, rank, ranks
  logical :: same
  real(real64), allocatable :: result(:), expected(:)

  call start_mpi(comm)
  call get_rank(comm, rank, ranks)
  result = parallel(comm, rank, ranks)
  same = .true.
  if (rank == 0) then
    expected = serial()
    same = maxval(abs(result - expected)) <= 1e-12_real64 * maxval(expected)
    write (*, '(i0,2a,f6.3)') ranks, ' ranks: ', trim(merge('within 1e-12 of', 'DIFFERENT FROM ', same)) // &
        ' the serial result, hottest node', maxval(result)
  end if
  call stop_mpi()
  if (.not. same) stop 1
end program
