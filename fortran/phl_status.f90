!> Statuses of the C interface become `stat` and `errmsg`, or end the program with the message.
module phl_status
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_int, c_int64_t, c_ptr
  use phl_bindings, only: phl_f_last_error
  implicit none
  private
  public :: finish, replace, text_at

  public :: phl_success, phl_error_value, phl_error_type, phl_error_communication, phl_error_timeout
  public :: phl_error_lost_peer, phl_error_system, phl_error_handle, phl_error_internal

  !> Values of `stat`.
  enum, bind(c)
    enumerator :: phl_success = 0, phl_error_value, phl_error_type, phl_error_communication, phl_error_timeout
    enumerator :: phl_error_lost_peer, phl_error_system, phl_error_handle, phl_error_internal
  end enum

  abstract interface
    integer(c_int) function free_handle(handle) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: handle
    end function
  end interface

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

  !> Takes a new handle for the old one, which is kept where making the new one failed.
  subroutine replace(handle, free, status, made, stat, errmsg)
    type(c_ptr), intent(inout) :: handle
    procedure(free_handle) :: free
    integer(c_int), intent(in) :: status
    type(c_ptr), intent(in) :: made
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: ignored
    call finish(status, stat, errmsg)
    if (.not. c_associated(made)) return
    if (c_associated(handle)) ignored = free(handle)
    handle = made
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
