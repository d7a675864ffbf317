!> Out of memory in a call without `stat`: the program stops with a message.
program out_of_memory
  use, intrinsic :: iso_c_binding, only: c_int
  use parhelion
  implicit none
  interface
    subroutine refuse_allocation(number) bind(c)
      import
      integer(c_int), value :: number
    end subroutine
  end interface
  type(field_list) :: list
  real, target :: u(3)
  call list%add(u)
  call refuse_allocation(1_c_int)
  call list%add(u, depth=[1])
end program
