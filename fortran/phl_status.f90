!> Statuses of the C interface become `stat` and `errmsg`, or end the program with the message.
module phl_status
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_int64_t, c_ptr
  use phl_bindings, only: phl_f_last_error
  implicit none
  private
  public :: finish

  public :: phl_success, phl_error_value, phl_error_type, phl_error_communication, phl_error_timeout
  public :: phl_error_lost_peer, phl_error_system, phl_error_handle, phl_error_internal

  !> Values of `stat`.
  enum, bind(c)
    enumerator :: phl_success = 0, phl_error_value, phl_error_type, phl_error_communication, phl_error_timeout
    enumerator :: phl_error_lost_peer, phl_error_system, phl_error_handle, phl_error_internal
  end enum

contains

  !> Hands a status to the caller. One who did not ask for it gets the message and the end of the program.
  subroutine finish(status, stat, errmsg)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: message
    if (present(stat)) stat = int(status)
    if (status == phl_success) return
    message = last_message()
    if (present(errmsg)) errmsg = message
    if (.not. present(stat)) error stop 'parhelion: ' // message
  end subroutine

  function last_message() result(message)
    character(:), allocatable :: message
    character(kind=c_char), pointer :: text(:)
    type(c_ptr) :: address
    integer(c_int64_t) :: length, i
    address = phl_f_last_error(length)
    allocate (character(len=int(length)) :: message)
    if (length == 0) return
    call c_f_pointer(address, text, [length])
    do i = 1, length
      message(i:i) = text(i)
    end do
  end function
end module phl_status
