!> What those by hand have in common: which points of a field go where, packed and unpacked.
module c_grid_boxes
  use c_grid
  use mpi_calls, only: no_rank => mpi_proc_null
  implicit none
  private
  public :: neighbor_of, send_box, receive_box, row_box, count_in, pack_boxes, unpack_boxes, no_rank

contains

  !> The rank in a direction, each -1, 0 or 1; no_rank behind walls.
  integer function neighbor_of(grid, direction)
    type(grid_part), intent(in) :: grid
    integer, intent(in) :: direction(2)
    integer :: place(2)
    place = grid%place + direction
    place(1) = modulo(place(1), grid%ranks(1))
    neighbor_of = no_rank
    if (place(2) >= 0 .and. place(2) < grid%ranks(2)) neighbor_of = place(1) + grid%ranks(1) * place(2)
  end function

  !> First and last point in each dimension of what a neighbor gets; of staggered fields the lower one gets its duplicates, too.
  function send_box(grid, stagger, direction) result(box)
    type(grid_part), intent(in) :: grid
    integer, intent(in) :: stagger(2), direction(2)
    integer :: box(2, 2), d
    do d = 1, 2
      box(:, d) = owned(grid, stagger, d)
      if (direction(d) < 0) box(:, d) = grid%first(d) + [0, stagger(d)]
      if (direction(d) > 0) box(:, d) = grid%last(d)
    end do
  end function

  function receive_box(grid, stagger, direction) result(box)
    type(grid_part), intent(in) :: grid
    integer, intent(in) :: stagger(2), direction(2)
    integer :: box(2, 2), d
    do d = 1, 2
      box(:, d) = owned(grid, stagger, d)
      if (direction(d) < 0) box(:, d) = grid%first(d) - 1
      if (direction(d) > 0) box(:, d) = grid%last(d) + 1 + [0, stagger(d)]
    end do
  end function

  !> A box over the whole width of the array.
  function row_box(grid, stagger, box) result(wide)
    type(grid_part), intent(in) :: grid
    integer, intent(in) :: stagger(2), box(2, 2)
    integer :: wide(2, 2)
    wide(:, 1) = [grid%first(1) - 1, grid%last(1) + 1 + stagger(1)]
    wide(:, 2) = box(:, 2)
  end function

  !> The point at the upper wall belongs to the rank there.
  function owned(grid, stagger, dimension)
    type(grid_part), intent(in) :: grid
    integer, intent(in) :: stagger(2), dimension
    integer :: owned(2)
    owned = [grid%first(dimension), grid%last(dimension)]
    if (dimension == 2 .and. grid%place(2) + 1 == grid%ranks(2)) owned(2) = owned(2) + stagger(2)
  end function

  integer function count_in(boxes)
    integer, intent(in) :: boxes(:, :, :)
    count_in = sum((boxes(2, 1, :) - boxes(1, 1, :) + 1) * (boxes(2, 2, :) - boxes(1, 2, :) + 1))
  end function

  subroutine pack_boxes(fields, boxes, packed)
    type(field), intent(in) :: fields(:)
    integer, intent(in) :: boxes(:, :, :)
    real(real64), intent(inout) :: packed(*)
    integer :: n, i, j, k
    k = 0
    do n = 1, size(fields)
      do j = boxes(1, 2, n), boxes(2, 2, n)
        do i = boxes(1, 1, n), boxes(2, 1, n)
          k = k + 1
          packed(k) = fields(n)%at(i, j)
        end do
      end do
    end do
  end subroutine

  subroutine unpack_boxes(fields, boxes, packed)
    type(field), intent(in) :: fields(:)
    integer, intent(in) :: boxes(:, :, :)
    real(real64), intent(in) :: packed(*)
    integer :: n, i, j, k
    k = 0
    do n = 1, size(fields)
      do j = boxes(1, 2, n), boxes(2, 2, n)
        do i = boxes(1, 1, n), boxes(2, 1, n)
          k = k + 1
          fields(n)%at(i, j) = packed(k)
        end do
      end do
    end do
  end subroutine
end module
