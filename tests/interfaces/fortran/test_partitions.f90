!> Published partitions of real meshes, where they are (directory in PARHELION_DATA) and made for this number of ranks.
module test_partitions
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use support
  implicit none
  private
  public :: run_partitions

contains

  subroutine run_partitions()
    character(500) :: directory
    character(600) :: file
    integer :: mesh, length
    logical :: there
    call get_environment_variable('PARHELION_DATA', directory, length)
    if (length == 0) return
    do mesh = 0, 2
      write (file, '(2a,i0,a,i0,a,i3.3)') trim(directory), '/opencalc-B', mesh, '-', ranks, '/data', rank + 1
      inquire (file=trim(file), exist=there)
      if (there) call one_partition(trim(file))
    end do
  end subroutine

  subroutine one_partition(file)
    character(*), intent(in) :: file
    type(index_map) :: map
    integer, allocatable :: ghosts(:), x(:)
    real(real64), allocatable :: y(:, :)
    integer :: unit, owned, count, i
    open (newunit=unit, file=file, access='stream', form='unformatted', status='old', action='read')
    read (unit) owned, count
    allocate (ghosts(count))
    read (unit) ghosts
    close (unit)
    call map%init(world, owned, ghosts)
    allocate (x(owned + count), y(2, owned + count))
    x = -1
    do i = 1, owned
      x(i) = int(map%first_id()) + i - 1
    end do
    call map%gather(x)
    call check(all(x(owned + 1:) == ghosts), 'gather of ' // file)
    y(:, :owned) = 0
    y(1, owned + 1:) = 1
    y(2, owned + 1:) = ghosts
    call map%scatter_sum(y)
    ! Every owner got its own id as often as a ghost of it exists.
    call check(all(y(2, :owned) == y(1, :owned) * x(:owned)), 'scatter of ' // file)
    call check(nint(total(sum(y(1, :owned)))) == nint(total(real(count, real64))), 'number of ghosts of ' // file)
  end subroutine

  !> Sum over the ranks, on rank 0; elsewhere 0.
  real(real64) function total(part)
    real(real64), intent(in) :: part
    type(index_map) :: one_each
    real(real64) :: parts(ranks)
    call one_each%init(world, 1)
    parts = 0
    call one_each%collate(0, [part], parts)
    total = sum(parts)
  end function
end module test_partitions
