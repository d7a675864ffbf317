!> Integers of 8 bytes by default: numbers beyond 32 bits are refused, not cut to their low halves.
program test_wide
  use, intrinsic :: iso_fortran_env, only: error_unit
  use parhelion
  implicit none
  integer, parameter :: beyond = 2**32
  type(cartesian_domain) :: domain
  type(index_map) :: map
  type(halo_exchange) :: exchange
  type(point_sums) :: sums
  type(field_list) :: list
  real, target :: u(0:4)
  real :: x(3), all(99)
  integer :: world, rank, ranks, stat, failures
  character(300) :: message
  failures = 0
  x = 1
  all = 1
  u = 1
  call start_mpi(world)
  call get_rank(world, rank, ranks)
  call map%init(world, beyond + 3, stat=stat, errmsg=message)
  call refused('owned cells', 'owned')
  call map%init(world, beyond, [3], [0], [integer ::], stat, message)
  call refused('the root of lists', 'root')
  call map%init(world, 3)
  if (size(map%neighbors()) /= 0) failures = failures + 1
  call map%distribute(beyond, all(:3 * ranks), x, stat, message)
  call refused('the root of a distribution', 'root')
  call map%collate(beyond, x, all(:3 * ranks), stat, message)
  call refused('the root of a collection', 'root')
  call map%scatter(beyond + phl_sum, x, stat=stat, errmsg=message)
  call refused('a reduction of a map', 'does not exist')
  call domain%init(world, [3 * ranks], halo=1, periodic=[.true.])
  call domain%gather(u, all(:3 * ranks), beyond, stat, message)
  call refused('the root of a gather', 'root')
  call exchange%init(domain, u)
  call exchange%reverse(beyond + phl_sum, u, stat=stat, errmsg=message)
  call refused('a reduction of a grid', 'does not exist')
  call sums%init(domain, u(:3), stagger=[1], array_halo=[0])
  call sums%reduce(beyond + phl_sum, u(:3), stat=stat, errmsg=message)
  call refused('a reduction of points', 'does not exist')
  call list%add(u, vector=beyond + 1)
  call exchange%init(domain, fields=list, stat=stat, errmsg=message)
  call refused('a vector', 'vector')
  call list%clear()
  call list%add(u, vector=1, along=beyond + 1)
  call exchange%init(domain, fields=list, stat=stat, errmsg=message)
  call refused('an axis', 'vector')
  call exchange%forward()
  call exchange%free()
  call sums%free()
  call map%free()
  call domain%free()
  call stop_mpi()
  if (failures > 0) stop 1

contains

  subroutine refused(what, words)
    character(*), intent(in) :: what, words
    if (stat == phl_error_value .and. index(message, words) > 0) return
    failures = failures + 1
    write (error_unit, '(3a,i0,2a)') 'wrong: ', what, ': status ', stat, ', ', trim(message)
    message = ''
  end subroutine
end program
