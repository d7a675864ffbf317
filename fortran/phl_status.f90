!> Statuses of the C interface become `stat` and `errmsg`, or end the program with the message.
module phl_status
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_int64_t, c_ptr
  use phl_bindings, only: phl_f_last_error
  implicit none
  private
  public :: finish, text_at

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
    type(c_ptr) :: address
    integer(c_int64_t) :: length
    address = phl_f_last_error(length)
    message = text_at(address, length)
  end function

  !> A copy of `length` letters of C's.
  function text_at(address, length) result(text)
    type(c_ptr), intent(in) :: address
    integer(c_int64_t), intent(in) :: length
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer(c_int64_t) :: i
    allocate (character(len=int(length)) :: text)
    if (length == 0) return
    call c_f_pointer(address, letters, [length])
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function
end module phl_status
