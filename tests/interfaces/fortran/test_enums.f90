!> Enumerations have the numbers of the C header.
module test_enums
  use, intrinsic :: iso_c_binding, only: c_int
  use support
  implicit none
  private
  public :: run_enums

  interface
    integer(c_int) function number_in_c(kind, place) bind(c)
      import :: c_int
      integer(c_int), value :: kind, place
    end function
  end interface

contains

  subroutine run_enums()
    call compare(0_c_int, [integer :: phl_success, phl_error_value, phl_error_type, phl_error_communication, &
        phl_error_timeout, phl_error_lost_peer, phl_error_system, phl_error_handle, phl_error_internal], 'status')
    call compare(1_c_int, [integer :: phl_replace, phl_sum, phl_min, phl_max, phl_and, phl_or, phl_prod], 'reduction')
  end subroutine

  subroutine compare(kind, numbers, what)
    integer(c_int), intent(in) :: kind
    integer, intent(in) :: numbers(:)
    character(*), intent(in) :: what
    integer :: i
    do i = 1, size(numbers)
      call check(numbers(i) == number_in_c(kind, int(i - 1, c_int)), 'numbers of ' // what)
    end do
    call check(number_in_c(kind, size(numbers, kind=c_int)) == -1, 'one more in C: ' // what)
  end subroutine
end module test_enums
