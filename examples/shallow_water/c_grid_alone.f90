!> The whole grid on every rank, for itself: what all ways are compared with.
module c_grid_alone
  use c_grid
  implicit none
  private
  public :: alone

  type, extends(c_grid_exchange) :: alone
  contains
    procedure :: prepare, exchange, sent
  end type

contains

  subroutine prepare(this, number, fields)
    class(alone), intent(inout) :: this
    integer, intent(in) :: number
    type(field), intent(in) :: fields(:)
    if (number > 2 .or. size(fields) == 0) this%error = 'nothing to exchange'
  end subroutine

  !> Periodic in x.
  subroutine exchange(this, number, fields)
    class(alone), intent(inout) :: this
    integer, intent(in) :: number
    type(field), intent(in) :: fields(:)
    integer :: n, beyond
    if (number > 2) return
    associate (last => this%grid%last(1))
      do n = 1, size(fields)
        beyond = 1 + fields(n)%stagger(1)
        fields(n)%at(0, :) = fields(n)%at(last, :)
        fields(n)%at(last + 1:last + beyond, :) = fields(n)%at(1:beyond, :)
      end do
    end associate
  end subroutine

  subroutine sent(this, number, bytes, messages)
    class(alone), intent(in) :: this
    integer, intent(in) :: number
    integer(int64), intent(out) :: bytes, messages
    bytes = 0 * number * this%grid%first(1)
    messages = 0
  end subroutine
end module
