!> How exchanges move their data, and how long they wait.
module phl_options
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int32_t, c_loc, c_null_char, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: exchange_options, phl_exchange_options, c_options

  integer, parameter, public :: phl_name_length = 64

  !> Of an exchange, or of the exchanges of an index map: `options=exchange_options(timeout=30d0, check=.true.)`. What is left out is
  !> as the environment says, or else as the library chooses. All but timeout, threads, progress_thread and combine_in_end are equal
  !> on all ranks.
  type :: exchange_options
    !> 'auto' or the name of a transport.
    character(phl_name_length) :: transport = ''
    !> Seconds: a wait longer than this is an error. And of work between begin and end, or between calls, about.
    real(real64) :: timeout = 0, work = 0
    !> That share large copies.
    integer :: threads = 0
    !> A thread gets it on between begin and end; it will be begun and ended around work; it is never begun and ended apart; a
    !> reverse exchange combines in its end alone; checked mode.
    logical :: progress_thread = .false., overlap = .false., at_once = .false., combine_in_end = .false., check = .false.
  end type

  !> struct phl_exchange_options
  type, bind(c) :: phl_exchange_options
    type(c_ptr) :: transport = c_null_ptr
    real(c_double) :: timeout_s = 0, work_s = 0
    integer(c_int32_t) :: threads = 0, progress_thread = 0, overlap = 0, at_once = 0, combine_in_end = 0, check = 0
  end type

contains

  !> `name`: memory for the transport's name, which must be there as long as the result.
  type(phl_exchange_options) function c_options(options, name) result(all)
    type(exchange_options), intent(in), optional :: options
    character(kind=c_char), intent(out), target :: name(phl_name_length + 1)
    integer :: i, length
    if (.not. present(options)) return
    length = len_trim(options%transport)
    do i = 1, length
      name(i) = options%transport(i:i)
    end do
    name(length + 1) = c_null_char
    all%transport = c_loc(name)
    all%timeout_s = options%timeout
    all%work_s = options%work
    all%threads = int(options%threads, c_int32_t)
    all%progress_thread = flag(options%progress_thread)
    all%overlap = flag(options%overlap)
    all%at_once = flag(options%at_once)
    all%combine_in_end = flag(options%combine_in_end)
    all%check = flag(options%check)
  end function

  integer(c_int32_t) function flag(is_set)
    logical, intent(in) :: is_set
    flag = merge(1_c_int32_t, 0_c_int32_t, is_set)
  end function
end module phl_options
