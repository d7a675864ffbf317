!> Halo exchange for structured grids and index maps. `use parhelion` is all that a program needs.
module parhelion
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64
  use phl_bindings, only: phl_allocate, phl_f_rank, phl_release, phl_start, phl_stop
  use phl_cartesian, only: cartesian_domain
  use phl_exchange, only: field_group, field_list, halo_exchange, phl_as_made, stale_ghost
  use phl_index_map, only: index_map
  use phl_options, only: exchange_options
  use phl_point_sums, only: point_sums
  use phl_redistribution, only: redistribution
  use phl_reductions
  use phl_status
  implicit none
  private
  public :: index_map, cartesian_domain, field_group, field_list, halo_exchange, phl_as_made
  public :: exchange_options, point_sums, redistribution, stale_ghost
  public :: phl_replace, phl_sum, phl_min, phl_max, phl_and, phl_or, phl_prod
  public :: phl_success, phl_error_value, phl_error_type, phl_error_communication, phl_error_timeout, phl_error_lost_peer, &
      phl_error_system, phl_error_handle, phl_error_internal
  public :: start_mpi, stop_mpi, get_rank, allocate_shared, release_shared, create_reduction, free_reduction

contains

  !> For programs without MPI's Fortran interface: MPI_Init unless that was done, and the communicator of all ranks.
  subroutine start_mpi(world, stat, errmsg)
    integer, intent(out) :: world
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: handle
    call finish(phl_start(handle), stat, errmsg)
    world = handle
  end subroutine

  !> MPI_Finalize unless that was done.
  subroutine stop_mpi(stat, errmsg)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_stop(), stat, errmsg)
  end subroutine

  !> This process among those of a communicator, from 0, and how many they are. Local.
  subroutine get_rank(comm, rank, size, stat, errmsg)
    type(*), intent(in) :: comm
    integer, intent(out) :: rank, size
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: r, n
    call finish(phl_f_rank(comm, r, n), stat, errmsg)
    rank = r
    size = n
  end subroutine

  !> Zeroed memory that the ranks of a node can reach, for c_f_pointer: exchanges of arrays there copy less. Local.
  subroutine allocate_shared(bytes, memory, stat, errmsg)
    integer(int64), intent(in) :: bytes
    type(c_ptr), intent(out) :: memory
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_allocate(int(bytes, c_int64_t), memory), stat, errmsg)
  end subroutine

  !> Gives back what allocate_shared gave; an exchange that still uses it keeps it. Local.
  subroutine release_shared(memory, stat, errmsg)
    type(c_ptr), intent(in) :: memory
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_release(memory), stat, errmsg)
  end subroutine
end module parhelion
