!> Heat on a disk with an unstructured mesh, on one process and on many: the difference is the lesson.
!>
!>     parhelion run -n 4 ./heat_disk
!>
!> Finite volumes: every face moves heat between its two cells, in proportion to their difference. The parallel run takes
!> the faces of its own cells, in the same order, so that the results are equal to the last bit.
module disk
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: rings = 12, sectors = 24, cells = rings * sectors, steps = 400
  real(real64), parameter :: pi = 3.14159265358979323846_real64, time_step = 5e-5_real64

contains

  !> Cells on both sides of each face (0: the cold rim) and how well it conducts; volume and first temperature of each cell.
  subroutine make_mesh(faces, conductance, volume, start)
    integer, allocatable, intent(out) :: faces(:, :)
    real(real64), allocatable, intent(out) :: conductance(:), volume(:), start(:)
    real(real64), parameter :: width = 1._real64 / rings, angle = 2 * pi / sectors
    integer :: ring, sector, face, cell
    allocate (faces(2, 2 * cells), conductance(2 * cells), volume(cells), start(cells))
    face = 0
    do sector = 1, sectors
      do ring = 1, rings
        cell = cell_at(ring, sector)
        volume(cell) = angle * width**2 * (ring - 0.5_real64)
        start(cell) = merge(1, 0, sector <= sectors / 3)
        faces(:, face + 1) = [cell, cell_at(ring + 1, sector)]
        conductance(face + 1) = angle * ring * merge(2, 1, ring == rings)
        faces(:, face + 2) = [cell, cell_at(ring, mod(sector, sectors) + 1)]
        conductance(face + 2) = 1 / (angle * (ring - 0.5_real64))
        face = face + 2
      end do
    end do
  end subroutine

  pure integer function cell_at(ring, sector)
    integer, intent(in) :: ring, sector
    cell_at = merge(0, (sector - 1) * rings + ring, ring > rings)
  end function

  !> One time step of the first size(volume) cells.
  subroutine step(faces, conductance, volume, u)
    integer, intent(in) :: faces(:, :)
    real(real64), intent(in) :: conductance(:), volume(:)
    real(real64), intent(inout) :: u(:)
    real(real64) :: gain(size(u)), flow
    integer :: face, a, b
    gain = 0
    do face = 1, size(conductance)
      a = faces(1, face)
      b = faces(2, face)
      if (b == 0) then
        gain(a) = gain(a) - conductance(face) * u(a)
      else
        flow = conductance(face) * (u(b) - u(a))
        gain(a) = gain(a) + flow
        gain(b) = gain(b) - flow
      end if
    end do
    u(:size(volume)) = u(:size(volume)) + time_step * gain(:size(volume)) / volume
  end subroutine

  function serial() result(u)
    integer, allocatable :: faces(:, :)
    real(real64), allocatable :: conductance(:), volume(:), u(:)
    integer :: i
    call make_mesh(faces, conductance, volume, u)
    do i = 1, steps
      call step(faces, conductance, volume, u)
    end do
  end function

  !> The result on rank 0, nothing on the others.
  function parallel(comm, rank, ranks) result(all)
    use parhelion
    integer, intent(in) :: comm, rank, ranks
    type(index_map) :: map
    integer, allocatable :: faces(:, :), mine(:)
    real(real64), allocatable :: conductance(:), volume(:), start(:), u(:), all(:)
    integer :: i, first, last
    call make_mesh(faces, conductance, volume, start)
    first = cells * rank / ranks + 1                                     ! this rank's cells …
    last = cells * (rank + 1) / ranks
    mine = pack([(i, i=1, size(conductance))], &
                any(faces >= first .and. faces <= last, dim=1))          ! … and the faces that touch them
    faces = faces(:, mine)
    call map%init(comm, last - first + 1)
    call map%localize_in_place(faces)                                    ! cells beyond them become ghosts
    allocate (u(map%local_size()))
    u(:map%owned_size()) = start(first:last)
    do i = 1, steps
      call map%gather(u)                                                 ! ghosts get their owners' values
      call step(faces, conductance(mine), volume(first:last), u)
    end do
    allocate (all(merge(cells, 0, rank == 0)))
    call map%collate(0, u, all)
  end function
end module disk

program heat_disk
  use disk
  use parhelion, only: get_rank, start_mpi, stop_mpi
  implicit none
  integer :: comm, rank, ranks
  logical :: same
  real(real64), allocatable :: result(:)

  call start_mpi(comm)
  call get_rank(comm, rank, ranks)
  result = parallel(comm, rank, ranks)
  same = .true.
  if (rank == 0) then
    same = all(transfer(result, [0]) == transfer(serial(), [0]))
    write (*, '(i0,2a,f6.3)') ranks, ' ranks: ', trim(merge('equal to      ', 'DIFFERENT FROM', same)) // &
        ' the serial result, hottest cell', maxval(result)
  end if
  call stop_mpi()
  if (.not. same) stop 1
end program
