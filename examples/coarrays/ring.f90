!> Cells on a ring, their neighbors' values through coarrays alone, on two images or more: the parallel run against the
!> serial one.
program ring
  use, intrinsic :: iso_fortran_env, only: int32
  use phl_coarray_map
  implicit none
  integer, parameter :: owned = 5, steps = 50, prime = 1009
  type(coarray_map) :: map
  integer :: cells, first, left, right, i, step
  integer(int32) :: x(1, owned), ghosts(1, 2)
  integer(int32), allocatable :: whole(:)

  cells = owned * num_images()
  first = owned * (this_image() - 1) + 1
  left = modulo(first - 2, cells) + 1
  right = modulo(first + owned - 1, cells) + 1
  call map%init(owned, [min(left, right), max(left, right)])
  whole = [(i * i, i = 1, cells)]
  x(1, :) = whole(first:first + owned - 1)
  i = merge(1, 2, left < right)  ! which of the ghosts is the left neighbor
  do step = 1, steps
    call map%gather(x, ghosts)
    x(1, :) = mod([ghosts(1, i), x(1, :owned - 1)] + x(1, :) + [x(1, 2:), ghosts(1, 3 - i)], prime)
    whole = mod(cshift(whole, -1) + whole + cshift(whole, 1), prime)
  end do
  if (any(x(1, :) /= whole(first:first + owned - 1))) error stop 'ring: not equal to the serial run'
  if (this_image() == 1) print '(a, i0, a)', 'equal to the serial run, on ', num_images(), ' images'
end program
