!> Stagger × depth × order of ranks × ends × blocks: after a forward exchange all that is within the depth has its owner's value and nothing
!> else was written; forward and reverse are each other's adjoints.
module test_laws
  use, intrinsic :: iso_fortran_env, only: real64
  use support
  implicit none
  private
  public :: run_laws
  integer, parameter :: across = 3, layers = 2, most_blocks = 2, most = 16

  type :: setting
    integer :: stagger(2), depth, blocks, extent(2), grid(2)
    logical :: first_fastest, owned_ends, periodic
  end type

  !> Points of a block: those that it owns, those that are right after an exchange, and where the array begins.
  type :: points_of_block
    integer :: own(2, 2), right(2, 2), first(2), last(2)
  end type

  type :: array_type
    real(real64), pointer :: values(:, :)
  end type

contains

  subroutine run_laws()
    integer :: number, rest, step
    type(setting) :: s
    s%grid = [merge(2, 1, mod(ranks, 2) == 0), ranks / merge(2, 1, mod(ranks, 2) == 0)]
    step = merge(1, 23, ranks <= 2)  ! many ranks share few cores here: some of the settings, of all kinds
    do number = 0, 4 * 3 * 2 * 2 * 2 * 2 - 1, step
      rest = number
      s%stagger = [take(rest, 2), take(rest, 2)]
      s%depth = take(rest, 3)
      s%first_fastest = take(rest, 2) == 1
      s%owned_ends = take(rest, 2) == 1
      s%periodic = take(rest, 2) == 1
      s%blocks = 1 + take(rest, 2)
      if (s%depth + sum(s%stagger) > 0) call one_setting(s)
    end do
  end subroutine

  integer function take(rest, choices)
    integer, intent(inout) :: rest
    integer, intent(in) :: choices
    take = mod(rest, choices)
    rest = rest / choices
  end function

  subroutine one_setting(s)
    type(setting), intent(inout) :: s
    type(cartesian_domain) :: domain
    type(halo_exchange) :: exchange
    type(field_list) :: list
    type(array_type) :: u(most_blocks)
    type(points_of_block) :: points(most_blocks)
    integer :: b
    s%extent = across * s%grid * [s%blocks, 1]
    call domain%init(world, s%extent, halo=layers, periodic=[s%periodic], process_grid=s%grid, first_fastest=s%first_fastest, &
                     owned_ends=s%owned_ends, blocks_per_rank=[s%blocks, 1])
    call check(domain%blocks() == s%blocks, 'blocks of a rank')
    do b = 1, s%blocks
      points(b) = points_of(s, domain, b)
      associate (first => points(b)%first, last => points(b)%last)
        allocate (u(b)%values(first(1):last(1), first(2):last(2)))
      end associate
      if (b == 1) call list%add(u(b)%values, stagger=s%stagger, depth=[s%depth])
      if (b > 1) call list%add_block(u(b)%values)
    end do
    call exchange%init(domain, fields=list, options=exchange_options(transport='mpi'))
    call check_laws(s, exchange, list, u(:s%blocks), points(:s%blocks))
    do b = 1, s%blocks
      deallocate (u(b)%values)
    end do
  end subroutine

  type(points_of_block) function points_of(s, domain, b) result(p)
    type(setting), intent(in) :: s
    type(cartesian_domain), intent(in) :: domain
    integer, intent(in) :: b
    integer :: lower(2), upper(2), beyond
    beyond = merge(s%depth, 0, s%owned_ends)
    call domain%owned(lower, upper, block=b)
    call domain%extended(p%first, p%last, stagger=s%stagger, block=b)
    call check(domain%owner(lower) == rank, 'owner of a block')
    p%own = reshape([lower, upper], [2, 2])
    p%right(:, 1) = lower - s%depth
    p%right(:, 2) = upper + s%stagger + s%depth
    if (s%periodic) return
    p%own(:, 1) = lower - merge(beyond, 0, lower == 1)
    p%own(:, 2) = upper + merge(s%stagger + beyond, 0, upper == s%extent)
    p%right(:, 1) = max(p%right(:, 1), 1 - beyond)
    p%right(:, 2) = min(p%right(:, 2), s%extent + s%stagger + beyond)
  end function

  pure logical function within(box, i, j)
    integer, intent(in) :: box(2, 2), i, j
    within = all([i, j] >= box(:, 1)) .and. all([i, j] <= box(:, 2))
  end function

  pure real(real64) function value_at(s, i, j)
    type(setting), intent(in) :: s
    integer, intent(in) :: i, j
    integer :: place(2)
    place = [i, j]
    if (s%periodic) place = modulo(place - 1, s%extent) + 1
    value_at = 37 * (place(1) + 9) + 5 * (place(2) + 9) + mod((place(1) + 9) * (place(2) + 9), 11)
  end function

  subroutine check_laws(s, exchange, list, u, points)
    type(setting), intent(in) :: s
    type(halo_exchange), intent(in) :: exchange
    type(field_list), intent(in) :: list
    type(array_type), intent(in) :: u(:)
    type(points_of_block), intent(in) :: points(:)
    real(real64) :: sums(2), expected, other
    integer :: b, i, j, wrong
    character(120) :: what
    wrong = 0
    sums = 0
    do b = 1, size(u)
      do j = points(b)%first(2), points(b)%last(2)
        do i = points(b)%first(1), points(b)%last(1)
          u(b)%values(i, j) = merge(value_at(s, i, j), -1.0_real64, within(points(b)%own, i, j))
        end do
      end do
    end do
    if (s%first_fastest) call exchange%forward(fields=list)
    if (.not. s%first_fastest) call exchange%forward()
    do b = 1, size(u)
      do j = points(b)%first(2), points(b)%last(2)
        do i = points(b)%first(1), points(b)%last(1)
          expected = merge(value_at(s, i, j), -1.0_real64, within(points(b)%right, i, j))
          wrong = wrong + merge(0, 1, u(b)%values(i, j) == expected)
          other = merge(modulo(7 * rank + 3 * b + 5 * i + 11 * j, 13), 0, within(points(b)%right, i, j))
          sums(1) = sums(1) + u(b)%values(i, j) * other
          u(b)%values(i, j) = other
        end do
      end do
    end do
    call exchange%reverse(phl_sum, fields=list)
    do b = 1, size(u)
      do j = points(b)%own(2, 1), points(b)%own(2, 2)
        do i = points(b)%own(1, 1), points(b)%own(1, 2)
          sums(2) = sums(2) + u(b)%values(i, j) * value_at(s, i, j)
        end do
      end do
    end do
    write (what, '(a,4i2,3l2)') 'stagger, depth, blocks, order, ends, periodic', s%stagger, s%depth, s%blocks, &
        s%first_fastest, s%owned_ends, s%periodic
    call check(wrong == 0, 'forward: ' // what)
    sums = everybody(sums)
    call check(sums(1) == sums(2), 'adjoint: ' // what)
  end subroutine

  !> Sums over the ranks, of whole numbers.
  function everybody(mine) result(all_of_them)
    real(real64), intent(in) :: mine(2)
    real(real64) :: all_of_them(2), x(2, 1)
    type(index_map) :: one
    integer :: ghosts(1)
    ghosts = 1
    call one%init(world, merge(1, 0, rank == 0), ghosts(:merge(0, 1, rank == 0)))
    x(:, 1) = mine
    call one%sum_shared(x)
    all_of_them = x(:, 1)
  end function
end module test_laws
