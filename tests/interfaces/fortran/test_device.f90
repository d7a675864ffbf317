!> Exchanges of arrays on a device, on streams.
module test_device
  use, intrinsic :: iso_c_binding
  use support
  implicit none
  private
  public :: run_device
  integer, parameter :: extent(2) = [8, 6], values = 48  ! 6 × 4 cells with their halo

  interface
    integer(c_int) function device_begin() bind(c)
      import
    end function
    type(c_ptr) function device_array(values) bind(c)
      import
      integer(c_int), value :: values
    end function
    type(c_ptr) function device_seen(array) bind(c)
      import
      type(c_ptr), value :: array
    end function
    type(c_ptr) function device_stream() bind(c)
      import
    end function
    subroutine device_copy(from, to, values, stream) bind(c)
      import
      type(c_ptr), value :: from, to, stream
      integer(c_int), value :: values
    end subroutine
    subroutine device_wait(stream) bind(c)
      import
      type(c_ptr), value :: stream
    end subroutine
    subroutine device_capture(stream, on) bind(c)
      import
      type(c_ptr), value :: stream
      integer(c_int), value :: on
    end subroutine
  end interface

contains

  !> `was_run`: a driver is named.
  subroutine run_device(was_run)
    logical, intent(out) :: was_run
    type(cartesian_domain) :: domain
    type(halo_exchange) :: exchange
    type(c_ptr) :: made, there, seen, stream
    real(c_double), pointer :: u(:, :), written(:, :), shown(:, :)
    real(c_double) :: wanted(8, 6)
    integer :: time, i, j, stat
    character(400) :: message
    was_run = device_begin() /= 0
    if (.not. was_run) return
    made = device_array(values)
    there = device_array(values)
    seen = device_array(values)
    stream = device_stream()
    call c_f_pointer(there, u, extent)
    call c_f_pointer(device_seen(made), written, extent)
    call c_f_pointer(device_seen(seen), shown, extent)
    call domain%init(world, [6, 4 * ranks], halo=1, periodic=[.true., .true.], process_grid=[1, ranks])
    call exchange%init(domain, u)
    do time = 1, 10
      do j = 1, 6
        do i = 1, 8
          wanted(i, j) = modulo(i - 2, 6) + 10 * modulo(4 * rank + j - 2, 4 * ranks) + time
        end do
      end do
      written = -1
      written(2:7, 2:5) = wanted(2:7, 2:5)
      if (modulo(time, 5) > 2) written = 1
      call device_copy(made, there, values, stream)
      select case (modulo(time, 5))
      case (0)
        call exchange%forward(stream=stream)
      case (1)
        call exchange%begin(u, stream=stream)
        call exchange%end()
      case (2)
        call exchange%forward(u)
      case (3)
        call exchange%reverse(phl_sum, stream=stream)
      case (4)
        call exchange%begin_reverse(phl_sum, u, stream=stream)
        call exchange%end()
      end select
      call device_copy(there, seen, values, stream)
      call device_wait(stream)
      if (modulo(time, 5) > 2) then
        call check(nint(sum(shown(2:7, 2:5))) == values, 'sums on a stream')
      else
        call check(all(shown == wanted), 'an exchange on a stream')
      end if
    end do
    message = ''
    call device_capture(stream, 1)  ! none of them leaves the stream out
    do i = 1, 4
      select case (i)
      case (1)
        call exchange%forward(stat=stat, errmsg=message, stream=stream)
      case (2)
        call exchange%begin(stat=stat, errmsg=message, stream=stream)
      case (3)
        call exchange%reverse(phl_sum, stat=stat, errmsg=message, stream=stream)
      case (4)
        call exchange%begin_reverse(phl_sum, stat=stat, errmsg=message, stream=stream)
      end select
      call check_failure('a captured stream', stat, phl_error_value, message, 'is captured into a graph')
    end do
    call device_capture(stream, 0)
    call exchange%free()
    call domain%free()
  end subroutine
end module test_device
