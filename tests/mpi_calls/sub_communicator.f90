!> What sub_communicator.cpp does, from Fortran.
program sub_communicator
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: real64
  use parhelion
  implicit none
  interface
    integer(c_int) function watched_split() bind(c)
      import :: c_int
    end function
    subroutine watched_meet() bind(c)
    end subroutine
    integer(c_int) function watched_world_calls() bind(c)
      import :: c_int
    end function
  end interface
  integer :: world, rank, ranks, before, calls
  integer(c_int) :: comm
  type(index_map), save :: kept
  real(real64) :: y(11) = 0
  character(200) :: message
  integer :: status

  call start_mpi(world)
  call get_rank(world, rank, ranks)
  comm = watched_split()
  calls = 0
  if (rank < ranks - 1) then
    before = watched_world_calls()
    call exchange_all(comm)
    call kept%init(comm, 10, [merge(13, 4, rank == 0)])
    call kept%gather(y)
    calls = watched_world_calls() - before
    call watched_meet()
  end if
  call stop_mpi()
  if (rank < ranks - 1) then
    call kept%gather(y, stat=status, errmsg=message)
    if (status /= phl_error_communication .or. index(message, 'MPI has ended') == 0) error stop 'used after MPI has ended'
    call kept%free(stat=status)
    if (status == 0) error stop 'freed after MPI has ended'
  end if
  if (calls > 0) error stop 'MPI_COMM_WORLD was touched'

contains

  subroutine exchange_all(comm)
    integer(c_int), intent(in) :: comm
    type(index_map) :: map
    type(cartesian_domain) :: domain
    type(halo_exchange) :: halo, cells
    real(real64), target :: x(11)
    real(real64), allocatable, target :: u(:, :)
    integer :: lower(2), upper(2)
    x = rank
    call map%init(comm, 10, [merge(13, 4, rank == 0)])
    call map%gather(x)
    call map%scatter_sum(x)
    call cells%init(map, x)
    call cells%forward()
    call cells%free()
    call domain%init(comm, [12, 10], periodic=[.true., .true.])
    call domain%extended(lower, upper)
    allocate (u(upper(1) - lower(1) + 1, upper(2) - lower(2) + 1))
    u = rank
    call halo%init(domain, u)
    call halo%forward()
    call halo%reverse(phl_sum)
    call halo%free()
    call domain%free()
    call map%free()
  end subroutine
end program
