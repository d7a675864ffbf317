!> The few calls of MPI that the hand-written exchanges make, as MPI's own module has them, for a build with any MPI.
module mpi_calls
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  implicit none
  public

  !> To and from nobody.
  integer, parameter :: mpi_proc_null = -1

  interface
    !> And MPI_Comm_rank and MPI_Comm_size of MPI_COMM_WORLD.
    subroutine mpi_init(comm, rank, ranks) bind(c, name='phl_app_init')
      import :: c_int
      integer(c_int), intent(out) :: comm, rank, ranks
    end subroutine
    subroutine mpi_finalize() bind(c, name='phl_app_finalize')
    end subroutine
    !> MPI_Allreduce: 1 where all ranks say 1.
    integer(c_int) function mpi_all(here, comm) bind(c, name='phl_app_all')
      import :: c_int
      integer(c_int), value :: here, comm
    end function
    subroutine mpi_isend(values, count, to, tag, comm, request) bind(c, name='phl_app_isend')
      import :: c_double, c_int
      real(c_double), intent(in), asynchronous :: values(*)
      integer(c_int), value :: count, to, tag, comm
      integer(c_int), intent(out) :: request
    end subroutine
    subroutine mpi_irecv(values, count, from, tag, comm, request) bind(c, name='phl_app_irecv')
      import :: c_double, c_int
      real(c_double), intent(inout), asynchronous :: values(*)
      integer(c_int), value :: count, from, tag, comm
      integer(c_int), intent(out) :: request
    end subroutine
    subroutine mpi_waitall(count, requests) bind(c, name='phl_app_waitall')
      import :: c_int
      integer(c_int), value :: count
      integer(c_int), intent(inout) :: requests(*)
    end subroutine
    subroutine mpi_sendrecv(sent, send_count, to, received, receive_count, from, tag, comm) bind(c, name='phl_app_sendrecv')
      import :: c_double, c_int
      real(c_double), intent(in) :: sent(*)
      real(c_double), intent(inout) :: received(*)
      integer(c_int), value :: send_count, to, receive_count, from, tag, comm
    end subroutine
  end interface
end module
