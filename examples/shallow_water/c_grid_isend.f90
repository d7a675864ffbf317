!> All fields packed into one message for each of eight neighbors, MPI_Isend and MPI_Irecv.
module c_grid_isend
  use c_grid
  use c_grid_boxes
  use mpi_calls
  implicit none
  private
  public :: by_hand_isend

  integer, parameter :: directions(2, 8) = reshape([-1, 0, 1, 0, 0, -1, 0, 1, -1, -1, 1, 1, 1, -1, -1, 1], [2, 8])

  !> To the neighbors of one exchange; direction k ^ 1 is opposite to k, counted from 0.
  type :: messages
    integer, allocatable :: send_boxes(:, :, :, :), receive_boxes(:, :, :, :)
    integer :: counts(8) = 0, receive_counts(8) = 0
    real(real64), allocatable :: packed(:, :), received(:, :)
  end type

  type, extends(c_grid_exchange) :: by_hand_isend
    type(messages) :: of(2)
    integer :: neighbors(8) = no_rank, me = 0
  contains
    procedure :: prepare, exchange, sent
  end type

contains

  subroutine prepare(this, number, fields)
    class(by_hand_isend), intent(inout) :: this
    integer, intent(in) :: number
    type(field), intent(in) :: fields(:)
    integer :: k, n
    this%me = neighbor_of(this%grid, [0, 0])
    associate (all => this%of(number))
      allocate (all%send_boxes(2, 2, size(fields), 8), all%receive_boxes(2, 2, size(fields), 8))
      do k = 1, 8
        this%neighbors(k) = neighbor_of(this%grid, directions(:, k))
        do n = 1, size(fields)
          all%send_boxes(:, :, n, k) = send_box(this%grid, fields(n)%stagger, directions(:, k))
          all%receive_boxes(:, :, n, k) = receive_box(this%grid, fields(n)%stagger, directions(:, k))
        end do
        all%counts(k) = count_in(all%send_boxes(:, :, :, k))
        all%receive_counts(k) = count_in(all%receive_boxes(:, :, :, k))
      end do
      allocate (all%packed(maxval(all%counts), 8), all%received(maxval(all%receive_counts), 8))
    end associate
  end subroutine

  subroutine exchange(this, number, fields)
    class(by_hand_isend), intent(inout) :: this
    integer, intent(in) :: number
    type(field), intent(in) :: fields(:)
    integer :: k, started, requests(16)
    started = 0
    associate (all => this%of(number))
      do k = 1, 8
        if (this%neighbors(k) == no_rank .or. this%neighbors(k) == this%me) cycle
        started = started + 1
        call mpi_irecv(all%received(:, k), all%receive_counts(k), this%neighbors(k), opposite(k), this%grid%comm, requests(started))
      end do
      do k = 1, 8
        if (this%neighbors(k) == no_rank) cycle
        if (this%neighbors(k) == this%me) then
          call pack_boxes(fields, all%send_boxes(:, :, :, k), all%received(:, opposite(k)))
        else
          call pack_boxes(fields, all%send_boxes(:, :, :, k), all%packed(:, k))
          started = started + 1
          call mpi_isend(all%packed(:, k), all%counts(k), this%neighbors(k), k, this%grid%comm, requests(started))
        end if
      end do
      call mpi_waitall(started, requests)
      do k = 1, 8
        if (this%neighbors(k) /= no_rank) call unpack_boxes(fields, all%receive_boxes(:, :, :, k), all%received(:, k))
      end do
    end associate
  end subroutine

  integer function opposite(k)
    integer, intent(in) :: k
    opposite = ieor(k - 1, 1) + 1
  end function

  subroutine sent(this, number, bytes, messages)
    class(by_hand_isend), intent(in) :: this
    integer, intent(in) :: number
    integer(int64), intent(out) :: bytes, messages
    logical :: others(8)
    others = this%neighbors /= no_rank .and. this%neighbors /= this%me
    bytes = 8_int64 * sum(this%of(number)%counts, others)
    messages = count(others)
  end subroutine
end module
