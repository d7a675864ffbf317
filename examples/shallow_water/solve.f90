!> Eddies in a channel, with each exchange: mpiexec -n 2 ./solve_shallow_water [STEPS]
!>
!> Every rank's part must equal that of a model with the whole grid, bit for bit.
program solve_shallow_water
  use, intrinsic :: iso_c_binding, only: c_ptr
  use c_grid
  use c_grid_alone, only: alone
  use c_grid_isend, only: by_hand_isend
  use c_grid_parhelion, only: with_parhelion
  use c_grid_sendrecv, only: by_hand_sendrecv
  use mpi_calls
  use shallow_water
  implicit none
  integer, parameter :: cells(2) = [128, 64]
  integer :: comm, rank, ranks, steps
  logical :: all_right = .true.
  character(20) :: word
  type(model) :: reference

  steps = 20
  call get_command_argument(1, word)
  if (word /= '') read (word, *) steps
  call mpi_init(comm, rank, ranks)
  call run(reference, alone(), part_of(comm, 0, cells, [1, 1]))
  call compare('library', with_parhelion())
  call compare('MPI_Isend', by_hand_isend())
  call compare('MPI_Sendrecv', by_hand_sendrecv())
  call reference%release()
  call mpi_finalize()
  if (.not. all_right) error stop 1

contains

  subroutine run(this, way, grid)
    type(model), intent(inout) :: this
    class(c_grid_exchange), intent(in) :: way
    type(grid_part), intent(in) :: grid
    integer :: k
    allocate (this%way, source=way)
    this%way%grid = grid
    this%begins => nothing
    this%ends => nothing
    call this%prepare()
    if (this%way%error /= '') error stop 'the exchange could not be made'
    call start(this, 1)
    do k = 1, steps
      call step(this)
    end do
  end subroutine

  subroutine compare(name, way)
    character(*), intent(in) :: name
    class(c_grid_exchange), intent(in) :: way
    type(model) :: this
    logical :: right
    integer :: k
    call run(this, way, part_of(comm, rank, cells, [1, ranks]))
    right = all([(equal(this%way%grid, this%level(k / 3, mod(k, 3) + 1), reference%level(k / 3, mod(k, 3) + 1)), k = 0, 5)])
    right = mpi_all(merge(1, 0, right), comm) == 1
    all_right = all_right .and. right
    if (rank == 0) print '(a16, 2a)', name, ' ', trim(merge('equal to the reference', 'DIFFERENT             ', right))
    call this%release()
  end subroutine

  !> The rank's part of an array, ghosts included.
  logical function equal(grid, mine, whole)
    type(grid_part), intent(in) :: grid
    type(field), intent(in) :: mine, whole
    integer :: low(2), high(2)
    low = lower_bound(grid)
    high = upper_bound(grid, mine%stagger)
    equal = all(mine%at(low(1):high(1), low(2):high(2)) == whole%at(low(1):high(1), low(2):high(2)))
  end function

  subroutine nothing(clock) bind(c)
    type(c_ptr), intent(in), value :: clock
  end subroutine
end program
