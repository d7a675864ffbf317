!> The library, in arrays of its node-shared memory.
module c_grid_parhelion
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_loc, c_ptr
  use c_grid, only: c_grid_exchange, field, first_of, grid_part, int64, lower_bound, real64, upper_bound
  use parhelion
  implicit none
  private
  public :: with_parhelion

  type, extends(c_grid_exchange) :: with_parhelion
    character(64) :: transport = 'auto'
    type(cartesian_domain) :: domain
    type(halo_exchange) :: fluxes, level
  contains
    procedure :: allocate => allocate_in_shared_memory
    procedure, nopass :: deallocate => release
    procedure :: prepare, exchange, sent, explain
  end type

contains

  subroutine allocate_in_shared_memory(this, fields)
    class(with_parhelion), intent(inout) :: this
    type(field), intent(inout) :: fields(:)
    real(real64), pointer, contiguous :: at(:, :)
    type(c_ptr) :: memory
    integer :: n, low(2), sizes(2)
    low = lower_bound(this%grid)
    do n = 1, size(fields)
      sizes = upper_bound(this%grid, fields(n)%stagger) - low + 1
      call allocate_shared(8_int64 * product(sizes), memory)
      call c_f_pointer(memory, at, sizes)
      fields(n)%at(low(1):, low(2):) => at
    end do
  end subroutine

  subroutine release(fields)
    type(field), intent(inout) :: fields(:)
    integer :: n
    do n = 1, size(fields)
      call release_shared(c_loc(fields(n)%at))
    end do
  end subroutine

  subroutine prepare(this, number, fields)
    class(with_parhelion), intent(inout) :: this
    integer, intent(in) :: number
    type(field), intent(in) :: fields(:)
    type(field_list) :: list
    type(exchange_options) :: options
    integer :: n, stat
    if (this%domain%dimensions() == 0) call make_domain(this%domain, this%grid)
    do n = 1, size(fields)
      call list%add(fields(n)%at, stagger=fields(n)%stagger)
    end do
    options = exchange_options(transport=this%transport, at_once=.true.)
    if (number == 1) call this%fluxes%init(this%domain, fields=list, options=options, stat=stat, errmsg=this%error)
    if (number == 2) call this%level%init(this%domain, fields=list, options=options, stat=stat, errmsg=this%error)
  end subroutine

  subroutine make_domain(domain, grid)
    type(cartesian_domain), intent(inout) :: domain
    type(grid_part), intent(in) :: grid
    integer :: k
    call domain%init(grid%comm, grid%cells, halo=1, periodic=[.true., .false.], process_grid=grid%ranks, first_fastest=.true., &
                     splits=[(size_of(k, 1), k = 1, grid%ranks(1)), (size_of(k, 2), k = 1, grid%ranks(2))])
  contains
    integer function size_of(k, dimension)
      integer, intent(in) :: k, dimension
      integer :: first(2), beyond(2)
      first = first_of(grid, [k - 1, k - 1])
      beyond = first_of(grid, [k, k])
      size_of = beyond(dimension) - first(dimension)
    end function
  end subroutine

  subroutine exchange(this, number, fields)
    class(with_parhelion), intent(inout) :: this
    integer, intent(in) :: number
    type(field), intent(in) :: fields(:)
    if (number == 1) call this%fluxes%forward(fields(1)%at, fields(2)%at, fields(3)%at, fields(4)%at)
    if (number == 2) call this%level%forward(fields(1)%at, fields(2)%at, fields(3)%at)
  end subroutine

  subroutine explain(this, text)
    class(with_parhelion), intent(in) :: this
    character(:), allocatable, intent(out) :: text
    text = this%level%explain()
  end subroutine

  subroutine sent(this, number, bytes, messages)
    class(with_parhelion), intent(in) :: this
    integer, intent(in) :: number
    integer(int64), intent(out) :: bytes, messages
    bytes = merge(this%fluxes%bytes_sent(), this%level%bytes_sent(), number == 1)
    messages = merge(this%fluxes%messages_sent(), this%level%messages_sent(), number == 1)
  end subroutine
end module
