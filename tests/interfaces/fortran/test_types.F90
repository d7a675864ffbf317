!> Every type that solvers use, arrays of rank 1 to 3, in place and with separate ghosts, both directions.
module test_types
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use support
  implicit none
  private
  public :: run_types

contains

  subroutine run_types()
    type(index_map) :: map
    call map%init(world, owned_by(rank), ghosts_of(rank))
    call gather_int32(map)
    call gather_int64(map)
    call gather_real32(map)
    call gather_real64(map)
    call gather_complex32(map)
    call gather_complex64(map)
    call gather_logical(map)
    call scatter_int32(map)
    call scatter_int64(map)
    call scatter_real32(map)
    call scatter_real64(map)
    call scatter_complex32(map)
    call scatter_complex64(map)
    call scatter_logical(map)
    call gather_derived(map)
  end subroutine

  !> Derived types without pointers are moved as they are.
  subroutine gather_derived(map)
    type(index_map), intent(in) :: map
    type particle
      integer :: id
      real(real64) :: position(3)
    end type
    type(particle), allocatable :: p(:)
    integer, allocatable :: ids(:)
    integer :: i
    ids = ghosts_of(rank)
    allocate (p(map%local_size()))
    do i = 1, map%owned_size()
      p(i) = particle(before(rank) + i, real([1, 2, 3] * (before(rank) + i), real64))
    end do
    call map%gather(p)
    do i = 1, size(ids)
      call check(p(map%owned_size() + i)%id == ids(i), 'gather of a derived type')
      call check(all(p(map%owned_size() + i)%position == [1, 2, 3] * ids(i)), 'gather of a derived type')
    end do
  end subroutine

#define WHOLE(n) n
#define EQUAL(a, b) ((a) == (b))
#define ODD(n) (mod(n, 2) == 1)
#define ALIKE(a, b) ((a) .eqv. (b))

#define NAME gather_int32
#define TYPE_ integer(int32)
#define FROM WHOLE
#define SAME EQUAL
#include "gather_of_type.inc"

#define NAME gather_int64
#define TYPE_ integer(int64)
#define FROM WHOLE
#define SAME EQUAL
#include "gather_of_type.inc"

#define NAME gather_real32
#define TYPE_ real(real32)
#define FROM WHOLE
#define SAME EQUAL
#include "gather_of_type.inc"

#define NAME gather_real64
#define TYPE_ real(real64)
#define FROM WHOLE
#define SAME EQUAL
#include "gather_of_type.inc"

#define NAME gather_complex32
#define TYPE_ complex(real32)
#define FROM WHOLE
#define SAME EQUAL
#include "gather_of_type.inc"

#define NAME gather_complex64
#define TYPE_ complex(real64)
#define FROM WHOLE
#define SAME EQUAL
#include "gather_of_type.inc"

#define NAME gather_logical
#define TYPE_ logical
#define FROM ODD
#define SAME ALIKE
#include "gather_of_type.inc"

#define NAME scatter_int32
#define TYPE_ integer(int32)
#define FROM WHOLE
#define SAME EQUAL
#define REDUCTIONS phl_sum, phl_min, phl_max, phl_and, phl_or
#include "scatter_of_type.inc"

#define NAME scatter_int64
#define TYPE_ integer(int64)
#define FROM WHOLE
#define SAME EQUAL
#define REDUCTIONS phl_sum, phl_min, phl_max, phl_and, phl_or
#include "scatter_of_type.inc"

#define NAME scatter_real32
#define TYPE_ real(real32)
#define FROM WHOLE
#define SAME EQUAL
#define REDUCTIONS phl_sum, phl_min, phl_max
#include "scatter_of_type.inc"

#define NAME scatter_real64
#define TYPE_ real(real64)
#define FROM WHOLE
#define SAME EQUAL
#define REDUCTIONS phl_sum, phl_min, phl_max
#include "scatter_of_type.inc"

#define NAME scatter_complex32
#define TYPE_ complex(real32)
#define FROM WHOLE
#define SAME EQUAL
#define REDUCTIONS phl_sum
#include "scatter_of_type.inc"

#define NAME scatter_complex64
#define TYPE_ complex(real64)
#define FROM WHOLE
#define SAME EQUAL
#define REDUCTIONS phl_sum
#include "scatter_of_type.inc"

#define NAME scatter_logical
#define TYPE_ logical
#define FROM ODD
#define SAME ALIKE
#define REDUCTIONS phl_and, phl_or
#include "scatter_of_type.inc"

end module test_types
