!> Builds where coarrays, collectives on them and sync images are there.
program coarrays
  implicit none
  integer, allocatable :: x(:)[:]
  integer :: sum
  allocate (x(2)[*])
  x = this_image()
  sum = x(1)
  sync images (*)
  call co_sum(sum)
  if (x(2)[1] /= 1) error stop
end program
