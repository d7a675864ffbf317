!> Exchanges of arrays: set up once, then as fast as it gets.
!>
!> The arrays must be contiguous and have the target (or asynchronous) attribute. Each call may name others of the same types and
!> shapes (swapped time levels, temporaries, reallocated arrays), at no cost; without any, those of `init` are exchanged, which must
!> still be there then. Between `begin` and `end` arrays stay where they are, owned cells must not be written and ghosts not be touched.
module phl_exchange
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_null_char, c_null_ptr, c_ptr, c_associated
  use, intrinsic :: iso_fortran_env, only: int64
  use phl_bindings
  use phl_cartesian, only: cartesian_domain
  use phl_index_map, only: index_map, phl_max, phl_min, phl_sum
  use phl_status, only: finish
  implicit none
  private
  public :: halo_exchange, field_group

  !> Arrays of one grid or index map, for exchanges of several. It owns nothing: the arrays stay the caller's.
  type :: field_group
    private
    type(phl_field_group) :: group
  contains
    !> Collective, with the arguments of an exchange: init(domain, a, b, …, h), init(map, x) or init(map, x, ghosts).
    generic :: init => group_cartesian, group_index_map
    procedure, private :: group_cartesian, group_index_map
  end type

  !> Arrays of some layout between their owners and ghosts. Free it, or let its variable end, before MPI_Finalize.
  type :: halo_exchange
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    !> Collective. init(domain, a, b, …, h): one to eight arrays of the block with its halo, components last;
    !> init(map, x) or init(map, x, ghosts): arrays of cells, components first;
    !> init([group, …]): all their arrays, one message for each neighbor. Their grids and maps have one communicator.
    generic :: init => init_cartesian, init_index_map, init_groups
    procedure, private :: init_cartesian, init_index_map, init_groups
    procedure :: free
    final :: finalize
    procedure :: forward, begin, test, end => end_exchange
    procedure :: reverse, begin_reverse
    procedure :: bytes_sent, messages_sent
  end type

contains

  subroutine init_cartesian(this, domain, a, b, c, d, e, f, g, h, transport, stat, errmsg)
    class(halo_exchange), intent(inout) :: this
    class(cartesian_domain), intent(in) :: domain
    type(*), dimension(..), target :: a
    type(*), dimension(..), target, optional :: b, c, d, e, f, g, h
    character(*), intent(in), optional :: transport
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    made = c_null_ptr
    call replace(this, phl_f_exchange_cartesian(domain%c_handle(), a, b, c, d, e, f, g, h, c_string(transport), made), &
                 made, stat, errmsg)
  end subroutine

  subroutine init_index_map(this, map, x, ghosts, transport, stat, errmsg)
    class(halo_exchange), intent(inout) :: this
    class(index_map), intent(in) :: map
    type(*), dimension(..), target :: x
    type(*), dimension(..), target, optional :: ghosts
    character(*), intent(in), optional :: transport
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    made = c_null_ptr
    call replace(this, phl_f_exchange_index_map(map%c_handle(), x, ghosts, c_string(transport), made), made, stat, errmsg)
  end subroutine

  subroutine init_groups(this, groups, transport, stat, errmsg)
    class(halo_exchange), intent(inout) :: this
    type(field_group), intent(in) :: groups(:)
    character(*), intent(in), optional :: transport
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    made = c_null_ptr
    call replace(this, phl_f_exchange_groups(size(groups, kind=c_int), groups%group, c_string(transport), made), made, stat, errmsg)
  end subroutine

  subroutine group_cartesian(this, domain, a, b, c, d, e, f, g, h, stat, errmsg)
    class(field_group), intent(inout) :: this
    class(cartesian_domain), intent(in) :: domain
    type(*), dimension(..), target :: a
    type(*), dimension(..), target, optional :: b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_group_cartesian(domain%c_handle(), a, b, c, d, e, f, g, h, this%group), stat, errmsg)
  end subroutine

  subroutine group_index_map(this, map, x, ghosts, stat, errmsg)
    class(field_group), intent(inout) :: this
    class(index_map), intent(in) :: map
    type(*), dimension(..), target :: x
    type(*), dimension(..), target, optional :: ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_group_index_map(map%c_handle(), x, ghosts, this%group), stat, errmsg)
  end subroutine

  function c_string(text) result(string)
    character(*), intent(in), optional :: text
    character(:), allocatable :: string
    string = c_null_char
    if (present(text)) string = trim(text) // c_null_char
  end function

  subroutine replace(this, status, made, stat, errmsg)
    class(halo_exchange), intent(inout) :: this
    integer(c_int), intent(in) :: status
    type(c_ptr), intent(in) :: made
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: ignored
    call finish(status, stat, errmsg)
    if (.not. c_associated(made)) return
    if (c_associated(this%handle)) ignored = phl_exchange_free(this%handle)
    this%handle = made
  end subroutine

  !> Local. Refused while it is under way.
  subroutine free(this, stat, errmsg)
    class(halo_exchange), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_exchange_free(this%handle), stat, errmsg)
  end subroutine

  impure elemental subroutine finalize(this)
    type(halo_exchange), intent(inout) :: this
    integer(c_int) :: ignored
    if (c_associated(this%handle)) ignored = phl_exchange_free(this%handle)
  end subroutine

  !> Owner → ghost. `a`, `b`, …: as many arrays as `init` was given, those of groups one after another, or none. Up to eight in all.
  !> Errors of `a` … are of this rank alone.
  subroutine forward(this, a, b, c, d, e, f, g, h, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = phl_f_exchange_begin(this%handle, a, b, c, d, e, f, g, h)
    if (status == 0) status = phl_exchange_end(this%handle)
    call finish(status, stat, errmsg)
  end subroutine

  !> Forward in two halves, with work that needs no ghosts between `begin` and `end`; begin waits for nobody.
  subroutine begin(this, a, b, c, d, e, f, g, h, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_exchange_begin(this%handle, a, b, c, d, e, f, g, h), stat, errmsg)
  end subroutine

  !> Between begin and end: gets the exchange on without waiting. `done`: `end` will return at once; it has to be called all the same.
  subroutine test(this, done, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    logical, intent(out) :: done
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: is_done
    is_done = 0
    call finish(phl_exchange_test(this%handle, is_done), stat, errmsg)
    done = is_done /= 0
  end subroutine

  !> Ends what begin or begin_reverse began; waits for the neighbors.
  subroutine end_exchange(this, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_exchange_end(this%handle), stat, errmsg)
  end subroutine

  !> Ghost → owner, combined there: phl_sum, phl_min, phl_max, phl_and, phl_or, phl_replace.
  subroutine reverse(this, reduction, a, b, c, d, e, f, g, h, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    integer, intent(in) :: reduction
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = phl_f_exchange_begin_reverse(this%handle, int(reduction, c_int), a, b, c, d, e, f, g, h)
    if (status == 0) status = phl_exchange_end(this%handle)
    call finish(status, stat, errmsg)
  end subroutine

  !> Reverse in two halves.
  subroutine begin_reverse(this, reduction, a, b, c, d, e, f, g, h, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    integer, intent(in) :: reduction
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_exchange_begin_reverse(this%handle, int(reduction, c_int), a, b, c, d, e, f, g, h), stat, errmsg)
  end subroutine

  !> What this rank sends to others in a forward exchange. Local.
  integer(int64) function bytes_sent(this)
    class(halo_exchange), intent(in) :: this
    integer(c_int32_t) :: messages
    call finish(phl_exchange_traffic(this%handle, 0_c_int, bytes_sent, messages))
  end function

  !> Messages that this rank sends to others in a forward exchange. Local.
  integer function messages_sent(this)
    class(halo_exchange), intent(in) :: this
    integer(c_int64_t) :: bytes
    integer(c_int32_t) :: messages
    call finish(phl_exchange_traffic(this%handle, 0_c_int, bytes, messages))
    messages_sent = messages
  end function
end module phl_exchange
