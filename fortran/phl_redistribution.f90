!> Owned values from one domain to another of the same cells.
module phl_redistribution
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_int, c_null_ptr, c_ptr
  use phl_bindings
  use phl_cartesian, only: cartesian_domain
  use phl_exchange, only: count_of, field_list, place_of
  use phl_index_map, only: index_map
  use phl_options, only: c_options, exchange_options, phl_name_length
  use phl_status, only: finish, replace
  implicit none
  private
  public :: redistribution

  !> Moves owned values: to another process grid or other splits, another partition, more or fewer ranks that own something. Ghosts are
  !> neither read nor written. One message goes from each rank to each that gets cells of it. Free it, or let its variable end, before
  !> MPI_Finalize.
  type :: redistribution
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    !> Collective. init(from, to, options): two grids of equal extents, or two index maps of the same global ids, on one communicator.
    generic :: init => init_cartesian, init_index_map
    procedure, private :: init_cartesian, init_index_map
    procedure :: forward, back
    procedure :: free
    final :: finalize
  end type

contains

  subroutine init_cartesian(this, from, to, options, stat, errmsg)
    class(redistribution), intent(inout) :: this
    class(cartesian_domain), intent(in) :: from, to
    type(exchange_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), target :: name(phl_name_length + 1)
    type(c_ptr) :: made
    made = c_null_ptr
    call replace(this%handle, phl_redistribution_free, &
                 phl_redistribution_create_cartesian(from%c_handle(), to%c_handle(), c_options(options, name), made), made, &
                 stat, errmsg)
  end subroutine

  subroutine init_index_map(this, from, to, options, stat, errmsg)
    class(redistribution), intent(inout) :: this
    class(index_map), intent(in) :: from, to
    type(exchange_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), target :: name(phl_name_length + 1)
    type(c_ptr) :: made
    made = c_null_ptr
    call replace(this%handle, phl_redistribution_free, &
                 phl_redistribution_create_index_map(from%c_handle(), to%c_handle(), c_options(options, name), made), made, &
                 stat, errmsg)
  end subroutine

  !> Owned values of `u`, an array of the first domain, into those of `v`, one of the second, of equal type and components. `from`, `to`: any number
  !> of either, in pairs, after these, in the same messages. Arrays have their domain's halo, or what the list tells of them. The first call with
  !> cells of as many bytes in all is collective; every rank is told of errors of the arrays at the first call of all, later the one that has them.
  subroutine forward(this, u, v, from, to, stat, errmsg)
    class(redistribution), intent(in) :: this
    type(*), dimension(..), target, optional :: u, v
    type(field_list), intent(in), optional :: from, to
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_redistribution_move(this%handle, 0_c_int, u, v, count_of(from), place_of(from), count_of(to), place_of(to)), &
                stat, errmsg)
  end subroutine

  !> The other way: `v` into `u`, and `to` into `from`.
  subroutine back(this, u, v, from, to, stat, errmsg)
    class(redistribution), intent(in) :: this
    type(*), dimension(..), target, optional :: u, v
    type(field_list), intent(in), optional :: from, to
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_redistribution_move(this%handle, 1_c_int, u, v, count_of(from), place_of(from), count_of(to), place_of(to)), &
                stat, errmsg)
  end subroutine

  !> Local.
  subroutine free(this, stat, errmsg)
    class(redistribution), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_redistribution_free(this%handle), stat, errmsg)
  end subroutine

  impure elemental subroutine finalize(this)
    type(redistribution), intent(inout) :: this
    integer(c_int) :: ignored
    if (c_associated(this%handle)) ignored = phl_redistribution_free(this%handle)
  end subroutine
end module phl_redistribution
