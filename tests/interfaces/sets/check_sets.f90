!> Partition sets through Fortran: check_sets FOLDER... Every ghost, and every sum that comes back, is compared with a formula.
program check_sets
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use parhelion
  implicit none
  character(2000) :: folder
  integer :: world, rank, ranks, i, wrong, all_wrong

  call start_mpi(world)
  call get_rank(world, rank, ranks)
  all_wrong = 0
  do i = 1, command_argument_count()
    call get_command_argument(i, folder)
    wrong = check_set(trim(folder))
    if (rank == 0) print '(4a)', 'Fortran ', trim(folder), ': ', trim(merge('WRONG', 'right', wrong > 0))
    all_wrong = all_wrong + wrong
  end do
  call stop_mpi()
  if (all_wrong > 0) stop 1

contains

  elemental real(real64) function value_of(id, c)
    integer, intent(in) :: id, c
    value_of = 3 * real(id, real64) + 0.25_real64 * c + 1
  end function

  !> Wrong values on all ranks, known on rank 0.
  integer function check_set(folder)
    character(*), intent(in) :: folder
    type(index_map) :: map
    integer, allocatable :: ids(:), own(:), found(:)
    real(real64), allocatable :: x(:, :), g(:, :)
    integer :: owned, i, first, misread
    call read_part(folder, owned, ids)
    call map%read(world, folder)
    allocate (found(map%ghost_size()))
    call map%ghosts(found)
    misread = 1
    if (map%owned_size() == owned .and. size(found) == size(ids)) misread = count(found /= ids)
    first = int(map%first_id())
    own = [(first + i, i=0, owned - 1)]
    allocate (x(2, owned), g(2, size(ids)))
    x(1, :) = value_of(own, 1)
    x(2, :) = value_of(own, 2)
    call map%gather(x, g)
    check_set = misread + count(g(1, :) /= value_of(ids, 1)) + count(g(2, :) /= value_of(ids, 2))
    x = 0
    g(1, :) = 1
    g(2, :) = ids
    call map%scatter_sum(x, g)
    check_set = check_set + count(x(2, :) /= x(1, :) * own)
    check_set = total(check_set) + abs(total(size(ids)) - total(nint(sum(x(1, :)))))
  end function

  subroutine read_part(folder, owned, ids)
    character(*), intent(in) :: folder
    integer, intent(out) :: owned
    integer, allocatable, intent(out) :: ids(:)
    character(20) :: number
    integer :: unit, count
    write (number, '(i0.3)') rank + 1
    open (newunit=unit, file=folder // '/data' // trim(number), access='stream', form='unformatted', status='old', action='read')
    read (unit) owned, count
    allocate (ids(count))
    read (unit) ids
    close (unit)
  end subroutine

  !> Sum over the ranks, on every rank: each reads the others' numbers as ghosts.
  integer function total(part)
    integer, intent(in) :: part
    type(index_map) :: one_each
    integer :: parts(ranks), i
    call one_each%init(world, 1, [(i, i=1, rank), (i, i=rank + 2, ranks)])
    parts(1) = part
    call one_each%gather(parts)
    total = sum(parts)
  end function
end program
