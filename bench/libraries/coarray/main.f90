!> Measures the gather on coarrays: `mpiexec -n IMAGES phl-coarray-gather JOB`; see measure.cpp.
module coarray_calls
  use, intrinsic :: iso_c_binding, only: c_bool, c_double, c_int, c_int32_t
  use, intrinsic :: iso_fortran_env, only: int64
  use phl_coarray_map
  implicit none
  type(coarray_map) :: map

contains

  integer(c_int) function image(images) bind(c, name='phl_coarray_image')
    integer(c_int), intent(out) :: images
    images = num_images()
    image = this_image()
  end function

  subroutine sum_over_images(values, count) bind(c, name='phl_coarray_sum')
    integer(c_int), value :: count
    real(c_double), intent(inout) :: values(count)
    call co_sum(values)
  end subroutine

  subroutine greatest_of_images(value) bind(c, name='phl_coarray_max')
    real(c_double), intent(inout) :: value
    call co_max(value)
  end subroutine

  !> Seconds that the map takes; what this image gives to others in a gather.
  real(c_double) function make_map(words, owned, ghosts, ids, kind, kept, images, cells, messages) &
      bind(c, name='phl_coarray_make_map')
    integer(c_int), value :: words, owned, ghosts, kind
    integer(c_int), intent(in) :: ids(ghosts)
    logical(c_bool), value :: kept, images
    integer(c_int), intent(out) :: cells, messages
    integer(int64) :: start
    sync all
    call system_clock(start)
    call map%init(owned, ids, words, gather_way(kind, logical(kept), logical(images)))
    make_map = seconds_since(start)
    cells = map%cells_sent()
    messages = map%messages_sent()
  end function

  !> Seconds of so many gathers, which the images begin together.
  real(c_double) function gathers(words, owned, ghosts, x, y, times) &
      bind(c, name='phl_coarray_gathers')
    integer(c_int), value :: words, owned, ghosts, times
    integer(c_int32_t), intent(in) :: x(words, owned)
    integer(c_int32_t), intent(inout) :: y(words, ghosts)
    integer(int64) :: start
    integer :: i
    sync all
    call system_clock(start)
    do i = 1, times
      call map%gather(x, y)
    end do
    gathers = seconds_since(start)
  end function

  real(c_double) function seconds_since(start)
    integer(int64), intent(in) :: start
    integer(int64) :: now, rate
    call system_clock(now, rate)
    seconds_since = real(now - start, c_double) / real(rate, c_double)
  end function
end module coarray_calls

program phl_coarray_gather
  use, intrinsic :: iso_c_binding, only: c_char, c_null_char
  implicit none
  interface
    subroutine measure(job) bind(c, name='phl_coarray_measure')
      import :: c_char
      character(kind=c_char), intent(in) :: job(*)
    end subroutine
  end interface
  character(2000) :: job
  call get_command_argument(1, job)
  if (len_trim(job) == 0) error stop 'usage: mpiexec -n IMAGES phl-coarray-gather JOB'
  call measure(trim(job) // c_null_char)
  sync all
end program
