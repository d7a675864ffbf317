!> Fields on cells, faces and corners of one grid in one exchange, as hydrodynamics codes have them: x-fastest ranks, arrays
!> (x_min-2:x_max+2) and (x_min-2:x_max+3), layers beyond the ends that travel, too.
module test_points
  use, intrinsic :: iso_fortran_env, only: real64
  use support
  implicit none
  private
  public :: run_points
  integer, parameter :: layers = 2
  integer, parameter :: staggers(2, 4) = reshape([0, 0, 1, 0, 0, 1, 1, 1], [2, 4])

  type :: block_type
    integer :: extent(2), first(2), last(2)
    logical :: at_lower(2), at_upper(2)
  end type

contains

  subroutine run_points()
    call exchange_points(2)
    call exchange_points(1)
    call take_communicator()
    call refuse_points()
  end subroutine

  subroutine make_domain(domain, here)
    type(cartesian_domain), intent(inout) :: domain
    type(block_type), intent(out) :: here
    integer :: grid(2), place(2), i
    integer, allocatable :: splits(:)
    grid = [merge(2, 1, mod(ranks, 2) == 0), 1]
    grid(2) = ranks / grid(1)
    splits = [(4 + mod(i, 2), i = 1, sum(grid))]
    here%extent = [sum(splits(:grid(1))), sum(splits(grid(1) + 1:))]
    call domain%init(world, here%extent, halo=layers, process_grid=grid, splits=splits, first_fastest=.true., owned_ends=.true.)
    call domain%owned(here%first, here%last)
    place = domain%coordinates()
    call check(all(place == [mod(rank, grid(1)), rank / grid(1)]), 'the first dimension is the fastest')
    call check(here%last(1) - here%first(1) + 1 == splits(place(1) + 1), 'cells of a process coordinate')
    call check(here%last(2) == sum(splits(grid(1) + 1:grid(1) + place(2) + 1)), 'cells of those before')
    here%at_lower = place == 0
    here%at_upper = place == grid - 1
  end subroutine

  pure real(real64) function value_at(i, j, f)
    integer, intent(in) :: i, j, f
    value_at = 1000 * f + 30 * (i + 5) + j
  end function

  !> What a rank owns of a field with `depth` layers beyond the ends.
  subroutine owned_points(here, stagger, depth, first, last)
    type(block_type), intent(in) :: here
    integer, intent(in) :: stagger(2), depth
    integer, intent(out) :: first(2), last(2)
    first = here%first - merge(depth, 0, here%at_lower)
    last = here%last + merge(stagger + depth, 0, here%at_upper)
  end subroutine

  subroutine fill(u, here, f, depth, low)
    integer, intent(in) :: low(2), f, depth
    real(real64), intent(inout) :: u(low(1):, low(2):)
    type(block_type), intent(in) :: here
    integer :: first(2), last(2), i, j
    u = -1
    call owned_points(here, staggers(:, f), depth, first, last)
    do j = first(2), last(2)
      do i = first(1), last(1)
        u(i, j) = value_at(i, j, f)
      end do
    end do
  end subroutine

  !> All that is at most `filled` layers from what the rank has is right, and nothing else was written.
  subroutine verify(u, here, f, depth, filled, low, what)
    integer, intent(in) :: low(2), f, depth, filled
    real(real64), intent(in) :: u(low(1):, low(2):)
    type(block_type), intent(in) :: here
    character(*), intent(in) :: what
    integer :: first(2), last(2), i, j
    logical :: right
    call owned_points(here, staggers(:, f), depth, first, last)
    first = max(first - filled, 1 - depth)
    last = min(last + staggers(:, f) + filled, here%extent + staggers(:, f) + depth)
    right = .true.
    do j = low(2), ubound(u, 2)
      do i = low(1), ubound(u, 1)
        if (all([i, j] >= first) .and. all([i, j] <= last)) then
          right = right .and. u(i, j) == value_at(i, j, f)
        else
          right = right .and. u(i, j) == -1
        end if
      end do
    end do
    call check(right, what)
  end subroutine

  subroutine exchange_points(depth)
    integer, intent(in) :: depth
    type(cartesian_domain) :: domain
    type(block_type) :: here
    type(halo_exchange) :: exchange, shallow
    type(field_list) :: list
    real(real64), allocatable, target :: density(:, :), flux_x(:, :), flux_y(:, :), speed(:, :)
    integer :: low(2), high(2)
    call make_domain(domain, here)
    associate (x_min => here%first(1), x_max => here%last(1), y_min => here%first(2), y_max => here%last(2))
      low = [x_min, y_min] - layers
      allocate (density(x_min - 2:x_max + 2, y_min - 2:y_max + 2), flux_x(x_min - 2:x_max + 3, y_min - 2:y_max + 2))
      allocate (flux_y(x_min - 2:x_max + 2, y_min - 2:y_max + 3), speed(x_min - 2:x_max + 3, y_min - 2:y_max + 3))
    end associate
    call list%add(density, depth=[depth])
    call list%add(flux_x, stagger=staggers(:, 2), depth=[depth])
    call list%add(flux_y, stagger=staggers(:, 3), array_halo=[layers], depth=[depth, depth])
    call list%add(speed, stagger=[1], array_halo=[layers, layers], depth=[depth])
    call exchange%init(domain, fields=list)
    call fill_all()
    call exchange%forward()
    call verify_all(depth, 'four staggers in one exchange')
    call fill_all()
    call exchange%forward(density, flux_x, flux_y, speed)
    call verify_all(depth, 'four staggers, named')
    call check(exchange%messages_sent() < max(ranks, 1), 'one message for each neighbor')
    call shallow%init(exchange, depth=[depth - 1])
    call fill_all()
    call shallow%begin()
    call shallow%end()
    call verify_all(depth - 1, 'four staggers, less deep')
    call domain%extended(low, high, stagger=[1, 0], array_halo=[layers])
    call check(all(low == lbound(flux_x)) .and. all(high == ubound(flux_x)), 'bounds of a staggered array')
    call domain%extended(low, high, stagger=[1])
    call check(all(low == lbound(speed)) .and. all(high == ubound(speed)), 'bounds of corners')

  contains

    subroutine fill_all()
      call fill(density, here, 1, depth, low)
      call fill(flux_x, here, 2, depth, low)
      call fill(flux_y, here, 3, depth, low)
      call fill(speed, here, 4, depth, low)
    end subroutine

    subroutine verify_all(filled, what)
      integer, intent(in) :: filled
      character(*), intent(in) :: what
      call verify(density, here, 1, depth, filled, low, what)
      call verify(flux_x, here, 2, depth, filled, low, what)
      call verify(flux_y, here, 3, depth, filled, low, what)
      call verify(speed, here, 4, depth, filled, low, what)
    end subroutine
  end subroutine

  subroutine take_communicator()
    type(cartesian_domain) :: domain
    integer :: status
    character(200) :: message
    call domain%init(world, [8, 8], of_communicator=.true., stat=status, errmsg=message)
    call check(status /= 0 .and. index(message, 'no Cartesian topology') > 0, 'a communicator without topology')
    call domain%init(world, [4 * ranks], process_grid=[ranks], ranks=table())
    call check(all(domain%coordinates() == [ranks - 1 - rank]), 'a table of ranks')
    call domain%init(world, [4 * ranks], process_grid=[ranks], ranks=[0, 0], stat=status, errmsg=message)
    call check(status /= 0 .and. index(message, 'ran') > 0, 'a table of ranks that is none')
    call domain%init(world, [4, 4], process_grid=[ranks, 1], splits=[4], stat=status, errmsg=message)
    call check(status /= 0 .and. index(message, 'splits has 1 values') > 0, 'too few splits')

  contains

    function table() result(backwards)
      integer :: backwards(ranks), i
      backwards = [(ranks - i, i = 1, ranks)]
    end function
  end subroutine

  subroutine refuse_points()
    type(cartesian_domain) :: domain
    type(halo_exchange) :: exchange
    real(real64), allocatable, target :: u(:, :)
    integer :: low(2), high(2), status
    character(300) :: message
    call domain%init(world, [6, 4 * ranks], halo=2, process_grid=[1, ranks])
    call domain%extended(low, high)
    allocate (u(low(1):high(1), low(2):high(2)))
    call exchange%init(domain, u, stagger=[1, 0], stat=status, errmsg=message)
    call check(status /= 0 .and. index(message, 'give stagger and array_halo') > 0, 'an array without the point more')
    call exchange%init(domain, u, u(:, low(2) + 1:), stat=status, errmsg=message)
    call check(status /= 0 .and. index(message, 'field 2: the array has') > 0, 'an error names the field')
    call exchange%init(domain, u, depth=[3], stat=status, errmsg=message)
    call check(status /= 0 .and. index(message, 'a halo of 3') > 0, 'a depth beyond the halo')
    call exchange%init(domain, u, depth=[1, 1, 1], stat=status, errmsg=message)
    call check(status /= 0 .and. index(message, 'depth has 3 values') > 0, 'a depth of three dimensions')
    call exchange%init(domain, u, depth=[1])
    u = rank
    call exchange%forward()
    call check(all(u(:, low(2)) == rank), 'a layer beyond the depth stays')
    call check(rank == 0 .or. all(u(low(1) + 2:high(1) - 2, low(2) + 1) == rank - 1), 'a layer within the depth is filled')
  end subroutine
end module test_points
