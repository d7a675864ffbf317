!> The shallow-water equations on a C grid, conserving potential enstrophy (Sadourny 1975), leapfrog with a time filter.
module shallow_water
  use, intrinsic :: iso_c_binding, only: c_null_ptr, c_ptr
  use c_grid
  implicit none
  private
  public :: model, start, step

  integer, parameter :: h = 1, u = 2, v = 3                          ! of a time level
  integer, parameter :: mass_x = 1, mass_y = 2, vorticity = 3, head = 4  ! made in each step
  integer, parameter, public :: exchange_of_fluxes = 1, exchange_of_level = 2
  integer, parameter :: stagger_of_level(2, 3) = reshape([0, 0, 1, 0, 0, 1], [2, 3])
  integer, parameter :: stagger_of_fluxes(2, 4) = reshape([1, 0, 0, 1, 1, 1, 0, 0], [2, 4])
  integer, parameter :: steps_of_a_run = 500
  real(real64), parameter :: dx = 1e5_real64, dt = 90, filter = 0.001_real64, depth = 5e4_real64, pi = 3.14159265358979323846_real64

  !> Called around each exchange.
  abstract interface
    subroutine notice(clock) bind(c)
      import :: c_ptr
      type(c_ptr), intent(in), value :: clock
    end subroutine
  end interface

  type :: model
    class(c_grid_exchange), allocatable :: way
    type(field) :: old(3), now(3), new(3), fluxes(4)
    integer :: steps = 0, round = 0
    integer(int64) :: exchanges(2) = 0
    type(c_ptr) :: clock = c_null_ptr  !< for these
    procedure(notice), pointer, nopass :: begins => null(), ends => null()
  contains
    procedure :: prepare, release, level
  end type

contains

  !> Collective.
  subroutine prepare(this)
    class(model), intent(inout) :: this
    integer :: n
    do n = 1, 3
      this%old(n)%stagger = stagger_of_level(:, n)
      this%now(n)%stagger = stagger_of_level(:, n)
      this%new(n)%stagger = stagger_of_level(:, n)
    end do
    do n = 1, 4
      this%fluxes(n)%stagger = stagger_of_fluxes(:, n)
    end do
    call this%way%allocate(this%old)
    call this%way%allocate(this%now)
    call this%way%allocate(this%new)
    call this%way%allocate(this%fluxes)
    call this%way%prepare(exchange_of_fluxes, this%fluxes)
    call this%way%prepare(exchange_of_level, this%now)
  end subroutine

  subroutine release(this)
    class(model), intent(inout) :: this
    call this%way%deallocate(this%old)
    call this%way%deallocate(this%now)
    call this%way%deallocate(this%new)
    call this%way%deallocate(this%fluxes)
  end subroutine

  !> Height or a velocity, 1 to 3, now (0) or a step before (1).
  type(field) function level(this, before, which)
    class(model), intent(in) :: this
    integer, intent(in) :: before, which
    level = this%now(which)
    if (before == 1) level = this%old(which)
  end function

  subroutine update(this, number, fields)
    type(model), intent(inout) :: this
    integer, intent(in) :: number
    type(field), intent(in) :: fields(:)
    call this%begins(this%clock)
    call this%way%exchange(number, fields)
    call this%ends(this%clock)
    this%exchanges(number) = this%exchanges(number) + 1
  end subroutine

  !> Eddies from a stream function, and the height that goes with them; others in each round.
  subroutine start(this, round)
    type(model), intent(inout) :: this
    integer, intent(in) :: round
    integer :: i, j, n
    this%round = round
    this%steps = 0
    do n = 1, 3
      this%now(n)%at = 0
      this%old(n)%at = 0
    end do
    associate (grid => this%way%grid)
      do j = grid%first(2), grid%last(2)
        do i = grid%first(1), grid%last(1)
          this%now(h)%at(i, j) = depth + 2e3_real64 * cos(wave(i, 1)) * cos(wave(j, 2))
          this%now(u)%at(i, j) = -(stream(i, j + 1) - stream(i, j)) / dx
          if (j > 1) this%now(v)%at(i, j) = (stream(i + 1, j) - stream(i, j)) / dx
        end do
      end do
    end associate
    call update(this, exchange_of_level, this%now)
    do n = 1, 3
      this%old(n)%at = this%now(n)%at
    end do
  contains
    real(real64) function wave(i, dimension)
      integer, intent(in) :: i, dimension
      integer :: periodic
      periodic = i
      if (dimension == 1) periodic = modulo(i - 1, this%way%grid%cells(1)) + 1
      wave = (1 + mod(this%round, 3)) * 2 * pi * (periodic - 1) / this%way%grid%cells(dimension)
    end function
    real(real64) function stream(i, j)
      integer, intent(in) :: i, j
      stream = 1e6_real64 * sin(wave(i, 1)) * sin(wave(j, 2) / 2)
    end function
  end subroutine

  subroutine step(this)
    type(model), intent(inout) :: this
    type(field) :: newest(3)
    if (this%steps == steps_of_a_run) call start(this, this%round)
    call make_fluxes(this%way%grid, this%now(h)%at, this%now(u)%at, this%now(v)%at, &
                     this%fluxes(mass_x)%at, this%fluxes(mass_y)%at, this%fluxes(vorticity)%at, this%fluxes(head)%at)
    call update(this, exchange_of_fluxes, this%fluxes)
    call leap(this%way%grid, merge(dt, 2 * dt, this%steps == 0), this%old(h)%at, this%old(u)%at, this%old(v)%at, &
              this%fluxes(mass_x)%at, this%fluxes(mass_y)%at, this%fluxes(vorticity)%at, this%fluxes(head)%at, &
              this%new(h)%at, this%new(u)%at, this%new(v)%at)
    call update(this, exchange_of_level, this%new)
    call smooth(this)
    newest = this%new
    this%new = this%now
    this%now = newest
    this%steps = this%steps + 1
  end subroutine

  !> Mass through faces, potential vorticity at corners (none at walls), Bernoulli's head in cells.
  subroutine make_fluxes(grid, h, u, v, mass_x, mass_y, vorticity, head)
    type(grid_part), intent(in) :: grid
    real(real64), intent(in), dimension(grid%first(1) - 1:, grid%first(2) - 1:), contiguous :: h, u, v
    real(real64), intent(inout), dimension(grid%first(1) - 1:, grid%first(2) - 1:), contiguous :: mass_x, mass_y, vorticity, head
    integer :: i, j
    do j = grid%first(2), grid%last(2)
      do i = grid%first(1), grid%last(1)
        mass_x(i, j) = 0.5_real64 * (h(i, j) + h(i - 1, j)) * u(i, j)
        head(i, j) = h(i, j) + 0.25_real64 * (u(i + 1, j)**2 + u(i, j)**2 + v(i, j + 1)**2 + v(i, j)**2)
      end do
    end do
    do j = max(grid%first(2), 2), grid%last(2)
      do i = grid%first(1), grid%last(1)
        mass_y(i, j) = 0.5_real64 * (h(i, j) + h(i, j - 1)) * v(i, j)
        vorticity(i, j) = 4 * (v(i, j) - v(i - 1, j) - u(i, j) + u(i, j - 1)) &
            / (dx * (h(i - 1, j - 1) + h(i, j - 1) + h(i, j) + h(i - 1, j)))
      end do
    end do
  end subroutine

  subroutine leap(grid, dt, h, u, v, mass_x, mass_y, vorticity, head, new_h, new_u, new_v)
    type(grid_part), intent(in) :: grid
    real(real64), intent(in) :: dt
    real(real64), intent(in), dimension(grid%first(1) - 1:, grid%first(2) - 1:), contiguous :: &
        h, u, v, mass_x, mass_y, vorticity, head
    real(real64), intent(inout), dimension(grid%first(1) - 1:, grid%first(2) - 1:), contiguous :: new_h, new_u, new_v
    integer :: i, j
    do j = grid%first(2), grid%last(2)
      do i = grid%first(1), grid%last(1)
        new_u(i, j) = u(i, j) + dt / 8 * (vorticity(i, j + 1) + vorticity(i, j)) &
            * (mass_y(i, j + 1) + mass_y(i - 1, j + 1) + mass_y(i - 1, j) + mass_y(i, j)) - dt / dx * (head(i, j) - head(i - 1, j))
        new_h(i, j) = h(i, j) - dt / dx * (mass_x(i + 1, j) - mass_x(i, j) + mass_y(i, j + 1) - mass_y(i, j))
      end do
    end do
    do j = max(grid%first(2), 2), grid%last(2)
      do i = grid%first(1), grid%last(1)
        new_v(i, j) = v(i, j) - dt / 8 * (vorticity(i + 1, j) + vorticity(i, j)) &
            * (mass_x(i + 1, j) + mass_x(i, j) + mass_x(i, j - 1) + mass_x(i + 1, j - 1)) - dt / dx * (head(i, j) - head(i, j - 1))
      end do
    end do
  end subroutine

  !> The level before takes the filtered values of this one, ghosts included.
  subroutine smooth(this)
    type(model), intent(inout) :: this
    integer :: n
    do n = 1, 3
      associate (old => this%old(n)%at, now => this%now(n)%at, new => this%new(n)%at)
        old = now + filter * (new - 2 * now + old)
      end associate
    end do
  end subroutine
end module
