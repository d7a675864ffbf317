!> Exchanges of arrays: set up once, then as fast as it gets.
!>
!> The arrays must be contiguous and have the target (or asynchronous) attribute. Each call may name others of the same types and
!> shapes (swapped time levels, temporaries, reallocated arrays), at no cost; without any, those of `init` are exchanged, which must
!> still be there then. Between `begin` and `end` arrays stay where they are, owned cells must not be written and ghosts not be touched.
module phl_exchange
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_int, c_int32_t, c_int64_t, c_loc, c_null_char, &
      c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64
  use phl_bindings
  use phl_cartesian, only: cartesian_domain
  use phl_index_map, only: index_map
  use phl_options, only: c_options, exchange_options, phl_name_length
  use phl_status, only: finish, replace, text_at
  implicit none
  private
  public :: halo_exchange, field_group, field_list, stale_ghost, phl_as_made
  public :: collect_cartesian, count_of, native, place_of  ! for phl_point_sums and phl_redistribution

  !> A depth of a subset that is that of the exchange.
  integer, parameter :: phl_as_made = -1

  !> Any number of arrays, for exchanges, groups and calls: `call list%add(u)`. It owns nothing: the arrays stay the caller's. A list
  !> that was cleared is filled again without allocating.
  type :: field_list
    private
    type(phl_array), allocatable :: arrays(:)
    integer :: count = 0
  contains
    procedure :: add => add_array
    procedure :: add_block
    procedure :: clear
    procedure :: length
  end type

  !> Arrays of one grid or index map, for exchanges of several. It owns nothing: the arrays stay the caller's.
  type :: field_group
    private
    type(c_ptr) :: domain = c_null_ptr, map = c_null_ptr
    type(field_list) :: list
  contains
    !> Collective, with the arguments of an exchange: init(domain, a, b, …, h, fields, stagger, array_halo, depth),
    !> init(map, x, ghosts, fields).
    generic :: init => group_cartesian, group_index_map
    procedure, private :: group_cartesian, group_index_map
  end type

  !> A value of a ghost that differs from its owner's: of which array (from 1), the owner's rank, the component (from 1), and the
  !> cell where its owner has it (from 1; a global id has one number), the two values in words.
  type :: stale_ghost
    integer :: field = 0, owner = 0, component = 0
    integer(int64), allocatable :: cell(:)
    character(32) :: here = '', there = ''
  end type

  !> Arrays of some layout between their owners and ghosts. Free it, or let its variable end, before MPI_Finalize.
  type :: halo_exchange
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    !> Collective. init(domain, a, b, …, h): up to eight arrays of the block with its halo, components last; `stagger`, `array_halo` and
    !> `depth` are those of all of them, as in field_list's `add`, which has them for each array;
    !> init(map, x) or init(map, x, ghosts): arrays of cells, components first; `fields=list`: any number of either, after those.
    !> init([group, …]): all their arrays, one message for each neighbor. Their grids and maps have one communicator.
    !> init(whole, fields, depth): a subset of another exchange, see init_subset; local.
    generic :: init => init_cartesian, init_index_map, init_groups, init_subset
    procedure, private :: init_cartesian, init_index_map, init_groups, init_subset
    procedure :: prepare
    procedure :: free
    final :: finalize
    procedure :: forward, begin, test, end => end_exchange
    procedure :: reverse, begin_reverse
    procedure :: stale, check
    procedure :: bytes_sent, messages_sent
    procedure :: transport, explain
  end type

contains

  !> `ghosts`: of an index map whose cells without ghosts are `x`. Of a grid, one value for all dimensions or one for each: `stagger`, 1 where
  !> `x` lives on points and has one value more on every rank; `array_halo`, its layers on both sides of the cells, else the domain's halo;
  !> `depth`, how many of them are exchanged, else as many as the array and the domain both have. At a call the arrays alone count.
  !> Local. What does not fit is told by the exchange.
  subroutine add_array(this, x, ghosts, stagger, array_halo, depth)
    class(field_list), intent(inout) :: this
    type(*), dimension(..), target :: x
    type(*), dimension(..), target, optional :: ghosts
    integer, intent(in), optional :: stagger(:), array_halo(:), depth(:)
    call grow(this)
    call phl_f_describe(x, 0_c_int, this%arrays(this%count))
    if (present(stagger)) call tell(this%arrays(this%count), 0_c_int, stagger)
    if (present(array_halo)) call tell(this%arrays(this%count), 1_c_int, array_halo)
    if (present(depth)) call tell(this%arrays(this%count), 2_c_int, depth)
    if (present(ghosts)) call this%add_block(ghosts)
  end subroutine

  !> The next block of the field that was added last, where a rank has several: block 1 by `add`, which tells its stagger, halo and depth.
  subroutine add_block(this, x)
    class(field_list), intent(inout) :: this
    type(*), dimension(..), target :: x
    call grow(this)
    call phl_f_describe(x, 1_c_int, this%arrays(this%count))
  end subroutine

  subroutine tell(array, which, values)
    type(phl_array), intent(inout) :: array
    integer(c_int), intent(in) :: which
    integer, intent(in) :: values(:)
    call phl_f_layers(array, which, size(values, kind=c_int), int(values, c_int32_t))
  end subroutine

  subroutine grow(list)
    class(field_list), intent(inout) :: list
    type(phl_array), allocatable :: more(:)
    if (.not. allocated(list%arrays)) allocate (list%arrays(8))
    if (list%count == size(list%arrays)) then
      allocate (more(2 * list%count))
      more(:list%count) = list%arrays
      call move_alloc(more, list%arrays)
    end if
    list%count = list%count + 1
  end subroutine

  !> Makes the list empty.
  subroutine clear(this)
    class(field_list), intent(inout) :: this
    this%count = 0
  end subroutine

  !> How many arrays it has, those of ghosts and further blocks too.
  integer function length(this)
    class(field_list), intent(in) :: this
    length = this%count
  end function

  type(c_ptr) function place_of(list)
    type(field_list), intent(in), target, optional :: list
    place_of = c_null_ptr
    if (.not. present(list)) return
    if (list%count > 0) place_of = c_loc(list%arrays)
  end function

  integer(c_int) function count_of(list)
    type(field_list), intent(in), optional :: list
    count_of = 0
    if (present(list)) count_of = int(list%count, c_int)
  end function

  subroutine init_cartesian(this, domain, a, b, c, d, e, f, g, h, fields, options, stat, errmsg, stagger, array_halo, depth)
    class(halo_exchange), intent(inout) :: this
    class(cartesian_domain), intent(in) :: domain
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    type(exchange_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer, intent(in), optional :: stagger(:), array_halo(:), depth(:)
    type(field_group) :: group
    call collect_cartesian(group, domain, a, b, c, d, e, f, g, h, fields, stagger, array_halo, depth)
    call this%init([group], options, stat, errmsg)
  end subroutine

  subroutine init_index_map(this, map, x, ghosts, fields, options, stat, errmsg)
    class(halo_exchange), intent(inout) :: this
    class(index_map), intent(in) :: map
    type(*), dimension(..), target, optional :: x, ghosts
    type(field_list), intent(in), optional :: fields
    type(exchange_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(field_group) :: group
    call collect_index_map(group, map, x, ghosts, fields)
    call this%init([group], options, stat, errmsg)
  end subroutine

  subroutine init_groups(this, groups, options, stat, errmsg)
    class(halo_exchange), intent(inout) :: this
    type(field_group), intent(in), target :: groups(:)
    type(exchange_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(phl_field_group) :: all(size(groups))
    character(kind=c_char), target :: name(phl_name_length + 1)
    type(c_ptr) :: made
    integer :: i
    do i = 1, size(groups)
      all(i) = native(groups(i))
    end do
    made = c_null_ptr
    call replace(this%handle, phl_exchange_free, &
                 phl_f_exchange_groups(size(groups, kind=c_int), all, c_options(options, name), made), made, stat, errmsg)
  end subroutine

  !> A subset of what `whole` moves: fields by their numbers, from 1, in the order in which arrays were passed, group after group (an
  !> array of ghosts belongs to the field before it), and the depth in cells, one for all dimensions or one for each, at most the halo;
  !> phl_as_made: as deep as `whole`. Local; its first use is collective, for then its transports are made, those of `whole`, without
  !> measuring. Equal subsets are one exchange; a subset stays good when `whole` is freed.
  subroutine init_subset(this, whole, fields, depth, stat, errmsg)
    class(halo_exchange), intent(inout) :: this
    class(halo_exchange), intent(in) :: whole
    integer, intent(in), optional :: fields(:), depth(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t), allocatable :: numbers(:), depths(:)
    integer(c_int) :: number_count, depth_count
    type(c_ptr) :: made
    number_count = -1
    depth_count = -1
    numbers = [integer(c_int32_t) ::]
    depths = numbers
    if (present(fields)) then
      numbers = int(fields, c_int32_t)
      number_count = size(fields, kind=c_int)
    end if
    if (present(depth)) then
      depths = int(depth, c_int32_t)
      depth_count = size(depth, kind=c_int)
    end if
    made = c_null_ptr
    call replace(this%handle, phl_exchange_free, &
                 phl_f_exchange_only(whole%handle, number_count, numbers, depth_count, depths, made), made, stat, errmsg)
  end subroutine

  !> Collective: what the first use of a subset would do. Nothing where that is done.
  subroutine prepare(this, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_exchange_prepare(this%handle, c_null_ptr, 0_c_int), stat, errmsg)
  end subroutine

  type(phl_field_group) function native(group)
    type(field_group), intent(in), target :: group
    native = phl_field_group(group%domain, group%map, int(group%list%count, c_int64_t), place_of(group%list))
  end function

  subroutine group_cartesian(this, domain, a, b, c, d, e, f, g, h, fields, stat, errmsg, stagger, array_halo, depth)
    class(field_group), intent(inout) :: this
    class(cartesian_domain), intent(in) :: domain
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer, intent(in), optional :: stagger(:), array_halo(:), depth(:)
    call collect_cartesian(this, domain, a, b, c, d, e, f, g, h, fields, stagger, array_halo, depth)
    call check_group(this, stat, errmsg)
  end subroutine

  subroutine group_index_map(this, map, x, ghosts, fields, stat, errmsg)
    class(field_group), intent(inout) :: this
    class(index_map), intent(in) :: map
    type(*), dimension(..), target, optional :: x, ghosts
    type(field_list), intent(in), optional :: fields
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call collect_index_map(this, map, x, ghosts, fields)
    call check_group(this, stat, errmsg)
  end subroutine

  subroutine check_group(group, stat, errmsg)
    class(field_group), intent(in) :: group
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(field_group), target :: copy
    copy%domain = group%domain
    copy%map = group%map
    copy%list = group%list
    call finish(phl_f_group_check(native(copy)), stat, errmsg)
  end subroutine

  subroutine collect_cartesian(this, domain, a, b, c, d, e, f, g, h, fields, stagger, array_halo, depth)
    class(field_group), intent(inout) :: this
    class(cartesian_domain), intent(in) :: domain
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    integer, intent(in), optional :: stagger(:), array_halo(:), depth(:)
    this%domain = domain%c_handle()
    this%map = c_null_ptr
    call this%list%clear()
    if (present(a)) call this%list%add(a, stagger=stagger, array_halo=array_halo, depth=depth)
    if (present(b)) call this%list%add(b, stagger=stagger, array_halo=array_halo, depth=depth)
    if (present(c)) call this%list%add(c, stagger=stagger, array_halo=array_halo, depth=depth)
    if (present(d)) call this%list%add(d, stagger=stagger, array_halo=array_halo, depth=depth)
    if (present(e)) call this%list%add(e, stagger=stagger, array_halo=array_halo, depth=depth)
    if (present(f)) call this%list%add(f, stagger=stagger, array_halo=array_halo, depth=depth)
    if (present(g)) call this%list%add(g, stagger=stagger, array_halo=array_halo, depth=depth)
    if (present(h)) call this%list%add(h, stagger=stagger, array_halo=array_halo, depth=depth)
    if (present(fields)) call append(this%list, fields)
  end subroutine

  subroutine collect_index_map(this, map, x, ghosts, fields)
    class(field_group), intent(inout) :: this
    class(index_map), intent(in) :: map
    type(*), dimension(..), target, optional :: x, ghosts
    type(field_list), intent(in), optional :: fields
    this%domain = c_null_ptr
    this%map = map%c_handle()
    call this%list%clear()
    if (present(x)) call this%list%add(x, ghosts)
    if (present(fields)) call append(this%list, fields)
  end subroutine

  subroutine append(list, more)
    type(field_list), intent(inout) :: list
    type(field_list), intent(in) :: more
    integer :: i
    do i = 1, more%count
      call grow(list)
      list%arrays(list%count) = more%arrays(i)
    end do
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

  !> Owner → ghost. `a`, `b`, …: as many arrays as `init` was given, those of groups one after another, or none.
  !> `fields`: a list of more, after those.
  !> Errors of `a` … are of this rank alone.
  subroutine forward(this, a, b, c, d, e, f, g, h, fields, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_exchange_call(this%handle, call_forward, 0_c_int, a, b, c, d, e, f, g, h, count_of(fields), &
                                    place_of(fields)), stat, errmsg)
  end subroutine

  !> Forward in two halves, with work that needs no ghosts between `begin` and `end`; begin waits for nobody.
  subroutine begin(this, a, b, c, d, e, f, g, h, fields, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_exchange_call(this%handle, call_begin, 0_c_int, a, b, c, d, e, f, g, h, count_of(fields), &
                                    place_of(fields)), stat, errmsg)
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

  !> Ghost → owner, combined there: phl_sum, phl_min, phl_max, phl_and, phl_or, phl_prod, phl_replace.
  subroutine reverse(this, reduction, a, b, c, d, e, f, g, h, fields, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    integer, intent(in) :: reduction
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_exchange_call(this%handle, call_reverse, int(reduction, c_int), a, b, c, d, e, f, g, h, &
                                    count_of(fields), place_of(fields)), stat, errmsg)
  end subroutine

  !> Reverse in two halves.
  subroutine begin_reverse(this, reduction, a, b, c, d, e, f, g, h, fields, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    integer, intent(in) :: reduction
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_exchange_call(this%handle, call_begin_reverse, int(reduction, c_int), a, b, c, d, e, f, g, h, &
                                    count_of(fields), place_of(fields)), stat, errmsg)
  end subroutine

  !> Collective. Of each array how many values of this rank's ghosts differ from their owners', byte by byte; `counts` has as many
  !> entries. `first`: the first few of each. Arrays as in `forward`; they are read only.
  subroutine stale(this, counts, a, b, c, d, e, f, g, h, fields, first, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    integer(int64), intent(out) :: counts(:)
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    type(stale_ghost), intent(out), allocatable, optional :: first(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer, parameter :: most_of_a_field = 8
    type(phl_stale_ghost) :: few(most_of_a_field * size(counts))
    integer(c_int32_t) :: told
    integer(c_int64_t) :: all(size(counts))
    integer(c_int) :: status
    integer :: i
    told = 0
    all = 0
    status = phl_f_exchange_stale(this%handle, a, b, c, d, e, f, g, h, count_of(fields), place_of(fields), &
                                  size(counts, kind=c_int), all, size(few, kind=c_int32_t), few, told)
    counts = all
    if (present(first)) first = [(fortran_ghost(few(i)), i = 1, int(told))]
    call finish(status, stat, errmsg)
  end subroutine

  type(stale_ghost) function fortran_ghost(found) result(ghost)
    type(phl_stale_ghost), intent(in) :: found
    integer :: i
    ghost%field = found%field + 1
    ghost%owner = found%owner
    ghost%component = found%component + 1
    ghost%cell = found%cell(:found%dimensions) + 1
    do i = 1, 32
      if (found%here(i) /= c_null_char) ghost%here(i:i) = found%here(i)
      if (found%there(i) /= c_null_char) ghost%there(i:i) = found%there(i)
    end do
  end function

  !> Collective. An error on every rank where some rank has a ghost that differs from its owner; the message tells the first one.
  subroutine check(this, a, b, c, d, e, f, g, h, fields, stat, errmsg)
    class(halo_exchange), intent(in) :: this
    type(*), dimension(..), target, optional :: a, b, c, d, e, f, g, h
    type(field_list), intent(in), optional :: fields
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(phl_f_exchange_call(this%handle, call_check, 0_c_int, a, b, c, d, e, f, g, h, count_of(fields), &
                                    place_of(fields)), stat, errmsg)
  end subroutine

  !> Name of what moves the data, such as 'mpi'. Local.
  function transport(this) result(name)
    class(halo_exchange), intent(in) :: this
    character(:), allocatable :: name
    name = text_of(this, 1_c_int)
  end function

  !> What was chosen for which neighbor and why, in a few lines. Local.
  function explain(this) result(text)
    class(halo_exchange), intent(in) :: this
    character(:), allocatable :: text
    text = text_of(this, 0_c_int)
  end function

  function text_of(this, of_transport) result(text)
    class(halo_exchange), intent(in) :: this
    integer(c_int), intent(in) :: of_transport
    character(:), allocatable :: text
    type(c_ptr) :: address
    integer(c_int64_t) :: length
    length = 0
    address = c_null_ptr
    call finish(phl_f_exchange_text(this%handle, of_transport, address, length))
    text = text_at(address, length)
  end function

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
