program test_fortran
  use support
  use test_device, only: run_device
  use test_enums, only: run_enums
  use test_grids, only: run_grids
  use test_laws, only: run_laws
  use test_maps, only: run_maps
  use test_mistakes, only: run_mistakes
  use test_moves, only: run_moves
  use test_partitions, only: run_partitions
  use test_points, only: run_points
  use test_types, only: run_types
  implicit none
  type(index_map) :: map
  integer, allocatable :: all_failures(:)
  integer :: mine(1)
  logical :: was_run

  call start_mpi(world)
  call get_rank(world, rank, ranks)
  call run_device(was_run)
  if (.not. was_run) then
    call run_enums()
    call run_types()
    call run_maps()
    call run_grids()
    call run_points()
    call run_laws()
    call run_moves()
    call run_mistakes()
    call run_partitions()
  end if
  call map%init(world, 1)
  allocate (all_failures(ranks))
  mine = failures
  call map%collate(0, mine, all_failures)
  call map%free()
  if (rank == 0) write (*, '(i0,2a)') ranks, ' ranks: ', merge('FAILED', 'passed', sum(all_failures) > 0)
  call stop_mpi()
  if (failures > 0) stop 1
end program
