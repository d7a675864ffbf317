!> What the measuring program calls: shallow_water.hpp.
module shallow_water_c
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_f_procpointer, c_funptr, &
      c_int, c_int64_t, c_loc, c_null_char, c_ptr
  use c_grid
  use c_grid_alone, only: alone
  use c_grid_isend, only: by_hand_isend
  use c_grid_parhelion, only: with_parhelion
  use c_grid_sendrecv, only: by_hand_sendrecv
  use shallow_water
  implicit none
  private

  type, bind(c) :: problem
    integer(c_int) :: way, comm, rank, cells(2), ranks(2)
    type(c_funptr) :: begins, ends
    type(c_ptr) :: clock
  end type

  !> `window`: what of the model's arrays is this rank's.
  type :: run
    type(model) :: of
    type(grid_part) :: window
  end type

contains

  !> Collective. The way: 0 the library, 1 Isend, 2 Sendrecv, 3 the whole grid on each rank.
  type(c_ptr) function create(asked, transport) bind(c, name='phl_shallow_water_create')
    type(problem), intent(in) :: asked
    character(kind=c_char), intent(in) :: transport(64)
    type(run), pointer :: made
    allocate (made)
    made%window = part_of(asked%comm, asked%rank, asked%cells, asked%ranks)
    select case (asked%way)
    case (0)
      allocate (made%of%way, source=with_parhelion(transport=text_of(transport)))
    case (1)
      allocate (made%of%way, source=by_hand_isend())
    case (2)
      allocate (made%of%way, source=by_hand_sendrecv())
    case default
      allocate (made%of%way, source=alone())
    end select
    made%of%way%grid = made%window
    if (asked%way == 3) made%of%way%grid = part_of(asked%comm, 0, asked%cells, [1, 1])
    call c_f_procpointer(asked%begins, made%of%begins)
    call c_f_procpointer(asked%ends, made%of%ends)
    made%of%clock = asked%clock
    create = c_loc(made)
  end function

  function text_of(letters) result(text)
    character(kind=c_char), intent(in) :: letters(64)
    character(64) :: text
    integer :: n
    text = ''
    do n = 1, 64
      if (letters(n) == c_null_char) return
      text(n:n) = letters(n)
    end do
  end function

  function run_of(handle) result(found)
    type(c_ptr), intent(in), value :: handle
    type(run), pointer :: found
    call c_f_pointer(handle, found)
  end function

  !> Collective. Arrays and exchanges; 1 where they could not be made, which phl_shallow_water_text explains.
  integer(c_int) function prepare_run(handle) bind(c, name='phl_shallow_water_prepare') result(failed)
    type(c_ptr), intent(in), value :: handle
    type(run), pointer :: this
    this => run_of(handle)
    call this%of%prepare()
    failed = merge(1, 0, this%of%way%error /= '')
  end function

  subroutine free_run(handle) bind(c, name='phl_shallow_water_free')
    type(c_ptr), intent(in), value :: handle
    type(run), pointer :: this
    this => run_of(handle)
    call this%of%release()
    deallocate (this)
  end subroutine

  subroutine start_run(handle, round) bind(c, name='phl_shallow_water_start')
    type(c_ptr), intent(in), value :: handle
    integer(c_int), intent(in), value :: round
    type(run), pointer :: this
    this => run_of(handle)
    call start(this%of, round)
  end subroutine

  subroutine step_run(handle) bind(c, name='phl_shallow_water_step')
    type(c_ptr), intent(in), value :: handle
    type(run), pointer :: this
    this => run_of(handle)
    call step(this%of)
  end subroutine

  !> The rank's part of array 0 to 5, ghosts included: height and two velocities, now and before. Tells how many values; null: that alone.
  integer(c_int64_t) function state_of(handle, which, values) bind(c, name='phl_shallow_water_state') result(count)
    type(c_ptr), intent(in), value :: handle, values
    integer(c_int), intent(in), value :: which
    type(run), pointer :: this
    type(field) :: found
    real(c_double), pointer :: copy(:, :)
    integer :: low(2), high(2)
    this => run_of(handle)
    found = this%of%level(which / 3, mod(which, 3) + 1)
    low = lower_bound(this%window)
    high = upper_bound(this%window, found%stagger)
    count = product(int(high - low + 1, c_int64_t))
    if (.not. c_associated(values)) return
    call c_f_pointer(values, copy, high - low + 1)
    copy = found%at(low(1):high(1), low(2):high(2))
  end function

  !> A value of the state, where it lies.
  type(c_ptr) function value_of(handle) bind(c, name='phl_shallow_water_value')
    type(c_ptr), intent(in), value :: handle
    type(run), pointer :: this
    type(field) :: found
    this => run_of(handle)
    found = this%of%level(1, 1)
    value_of = c_loc(found%at(this%window%last(1), this%window%last(2)))
  end function

  !> What all exchanges so far have sent.
  subroutine traffic_of(handle, bytes, messages) bind(c, name='phl_shallow_water_traffic')
    type(c_ptr), intent(in), value :: handle
    integer(c_int64_t), intent(out) :: bytes, messages
    type(run), pointer :: this
    integer(int64) :: each_bytes, each_messages
    integer :: number
    this => run_of(handle)
    bytes = 0
    messages = 0
    do number = 1, 2
      call this%of%way%sent(number, each_bytes, each_messages)
      bytes = bytes + each_bytes * this%of%exchanges(number)
      messages = messages + each_messages * this%of%exchanges(number)
    end do
  end subroutine

  !> Why it could not be prepared, or does what it does; cut to the memory there.
  subroutine text_into(handle, length, text) bind(c, name='phl_shallow_water_text')
    type(c_ptr), intent(in), value :: handle
    integer(c_int), intent(in), value :: length
    character(kind=c_char), intent(out) :: text(length)
    type(run), pointer :: this
    character(:), allocatable :: told
    integer :: n
    this => run_of(handle)
    told = trim(this%of%way%error)
    if (told == '') call this%of%way%explain(told)
    do n = 1, min(len(told), length - 1)
      text(n) = told(n:n)
    end do
    text(min(len(told), length - 1) + 1) = c_null_char
  end subroutine
end module
