!> Sums of the points that several ranks of a grid hold.
module phl_point_sums
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_int, c_null_ptr, c_ptr
  use phl_bindings
  use phl_cartesian, only: cartesian_domain
  use phl_exchange, only: collect_cartesian, count_of, field_group, field_list, native, place_of
  use phl_reductions, only: phl_sum
  use phl_options, only: c_options, exchange_options, phl_name_length
  use phl_status, only: finish, replace
  implicit none
  private
  public :: point_sums

  !> The planes of points between two blocks are on both ranks. All that hold a point get the sum of their values, in one round of messages, added
  !> in ascending order of rank and with the same bits everywhere; points that a rank holds on both ends of a periodic dimension, or in two of its
  !> blocks, are added up on it first. Layers around the points are neither read nor written. Free it, or let its variable end, before MPI_Finalize.
  type :: point_sums
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: init
    procedure :: sum => sum_points, reduce, begin, end => end_sums
    procedure :: free
    final :: finalize
  end type

contains

  !> Collective. Arrays of one stagger, equal extents and order, as for an exchange.
  subroutine init(this, domain, a, b, c, d, e, f, g, h, fields, options, stat, errmsg, stagger, array_halo)
    class(point_sums), intent(inout) :: this
    class(cartesian_domain), intent(in) :: domain
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    type(exchange_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer, intent(in), optional :: stagger(:), array_halo(:)
    character(kind=c_char), target :: name(phl_name_length + 1)
    type(field_group), target :: group
    type(c_ptr) :: made
    made = c_null_ptr
    call collect_cartesian(group, domain, a, b, c, d, e, f, g, h, fields, stagger, array_halo)
    call replace(this%handle, phl_point_sums_free, &
                 phl_f_point_sums_create(native(group), c_options(options, name), made), made, stat, errmsg)
  end subroutine

  !> As many arrays of the types and shapes of `init`, or none for those of `init`, which must still be there then; `fields`: a list of more, after
  !> those. At a call the arrays alone count.
  subroutine sum_points(this, a, b, c, d, e, f, g, h, fields, stat, errmsg)
    class(point_sums), intent(in) :: this
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call this%reduce(phl_sum, a, b, c, d, e, f, g, h, fields, stat, errmsg)
  end subroutine

  !> The same with another reduction (phl_min, …, create_reduction); phl_replace gives the value of the last rank that holds a point.
  subroutine reduce(this, reduction, a, b, c, d, e, f, g, h, fields, stat, errmsg)
    class(point_sums), intent(in) :: this
    integer, intent(in) :: reduction
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_point_sums_reduce(this%handle, whole, int(reduction, c_int), a, b, c, d, e, f, g, h, count_of(fields), &
                                        place_of(fields)), stat, errmsg)
  end subroutine

  !> `reduce` in two halves: points that others hold must not be written between them, all others may.
  subroutine begin(this, reduction, a, b, c, d, e, f, g, h, fields, stat, errmsg)
    class(point_sums), intent(in) :: this
    integer, intent(in) :: reduction
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_point_sums_reduce(this%handle, begin_only, int(reduction, c_int), a, b, c, d, e, f, g, h, count_of(fields), &
                                        place_of(fields)), stat, errmsg)
  end subroutine

  !> The second half: points have their values when it returns.
  subroutine end_sums(this, stat, errmsg)
    class(point_sums), intent(in) :: this
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_point_sums_end(this%handle), stat, errmsg)
  end subroutine

  !> Local. Refused while they are under way.
  subroutine free(this, stat, errmsg)
    class(point_sums), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_point_sums_free(this%handle), stat, errmsg)
  end subroutine

  impure elemental subroutine finalize(this)
    type(point_sums), intent(inout) :: this
    integer(c_int) :: ignored
    if (c_associated(this%handle)) ignored = phl_point_sums_free(this%handle)
  end subroutine
end module phl_point_sums
