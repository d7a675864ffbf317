!> All fields packed, MPI_Sendrecv to both sides in x, then, with the ghosts just received, in y.
module c_grid_sendrecv
  use c_grid
  use c_grid_boxes
  use mpi_calls
  implicit none
  private
  public :: by_hand_sendrecv

  integer, parameter :: directions(2, 4) = reshape([-1, 0, 1, 0, 0, -1, 0, 1], [2, 4])

  type :: messages
    integer, allocatable :: send_boxes(:, :, :, :), receive_boxes(:, :, :, :)
    integer :: counts(4) = 0, receive_counts(4) = 0
    real(real64), allocatable :: packed(:), received(:)
  end type

  type, extends(c_grid_exchange) :: by_hand_sendrecv
    type(messages) :: of(2)
    integer :: neighbors(4) = no_rank, me = 0
  contains
    procedure :: prepare, exchange, sent
  end type

contains

  subroutine prepare(this, number, fields)
    class(by_hand_sendrecv), intent(inout) :: this
    integer, intent(in) :: number
    type(field), intent(in) :: fields(:)
    integer :: k, n
    this%me = neighbor_of(this%grid, [0, 0])
    associate (all => this%of(number))
      allocate (all%send_boxes(2, 2, size(fields), 4), all%receive_boxes(2, 2, size(fields), 4))
      do k = 1, 4
        this%neighbors(k) = neighbor_of(this%grid, directions(:, k))
        do n = 1, size(fields)
          all%send_boxes(:, :, n, k) = boxes_of(send_box(this%grid, fields(n)%stagger, directions(:, k)))
          all%receive_boxes(:, :, n, k) = boxes_of(receive_box(this%grid, fields(n)%stagger, directions(:, k)))
        end do
        all%counts(k) = count_in(all%send_boxes(:, :, :, k))
        all%receive_counts(k) = count_in(all%receive_boxes(:, :, :, k))
      end do
      allocate (all%packed(maxval(all%counts)), all%received(maxval(all%receive_counts)))
    end associate
  contains
    function boxes_of(box) result(wide)
      integer, intent(in) :: box(2, 2)
      integer :: wide(2, 2)
      wide = box
      if (directions(2, k) /= 0) wide = row_box(this%grid, fields(n)%stagger, box)
    end function
  end subroutine

  !> Sends in direction k what the rank there receives from the opposite one.
  subroutine exchange(this, number, fields)
    class(by_hand_sendrecv), intent(inout) :: this
    integer, intent(in) :: number
    type(field), intent(in) :: fields(:)
    integer :: k, from
    do k = 1, 4
      from = opposite(k)
      associate (all => this%of(number), there => this%neighbors(k), behind => this%neighbors(from))
        if (there == this%me) then
          call pack_boxes(fields, all%send_boxes(:, :, :, k), all%received)
        else
          if (there /= no_rank) call pack_boxes(fields, all%send_boxes(:, :, :, k), all%packed)
          call mpi_sendrecv(all%packed, all%counts(k), there, all%received, &
                            all%receive_counts(from), behind, k, this%grid%comm)
        end if
        if (behind /= no_rank) call unpack_boxes(fields, all%receive_boxes(:, :, :, from), all%received)
      end associate
    end do
  end subroutine

  integer function opposite(k)
    integer, intent(in) :: k
    opposite = ieor(k - 1, 1) + 1
  end function

  subroutine sent(this, number, bytes, messages)
    class(by_hand_sendrecv), intent(in) :: this
    integer, intent(in) :: number
    integer(int64), intent(out) :: bytes, messages
    logical :: others(4)
    others = this%neighbors /= no_rank .and. this%neighbors /= this%me
    bytes = 8_int64 * sum(this%of(number)%counts, others)
    messages = count(others)
  end subroutine
end module
