!> Case lines of a record, schema parhelion.record/1, appended by image 1.
module coarray_record
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: outcome_t, write_case

  type :: outcome_t
    integer(int64) :: wrong = 0
    real(real64) :: setup_s = 0, first_s = 0
    integer :: iterations = 1, messages = 0
    integer(int64) :: bytes = 0
    real(real64), allocatable :: samples(:, :)  ! of each image
  end type

contains

  !> `params` is JSON already.
  subroutine write_case(file, launch, name, params, contender, outcome)
    character(*), intent(in) :: file, name, params, contender
    integer, intent(in) :: launch
    type(outcome_t), intent(in) :: outcome
    character(:), allocatable :: line
    character(200) :: complaint
    integer :: unit, i
    line = '{"type":"case","schema":"parhelion.record/1","launch":' // text(int(launch, int64)) // ',"name":"' // trim(name) &
        // '","params":' // trim(params) // ',"contender":"' // trim(contender) // '","role":"peer","verified":' &
        // trim(merge('true ', 'false', outcome%wrong == 0)) // ',"error":'
    write (complaint, '(i0,a)') outcome%wrong, ' elements were wrong after a gather'
    if (outcome%wrong > 0) then
      line = line // '"' // trim(complaint) // '"'
    else
      line = line // 'null'
    end if
    line = line // ',"skipped":null,"setup_s":{"pattern":' // number(outcome%setup_s) // ',"plan":0,"first":' &
        // number(outcome%first_s) // '},"iterations":' // text(int(outcome%iterations, int64)) // ',"samples":' &
        // list(maxval(outcome%samples, dim=2)) // ',"samples_by_rank":['
    do i = 1, size(outcome%samples, 2)
      if (i > 1) line = line // ','
      line = line // list(outcome%samples(:, i))
    end do
    line = line // '],"probe_ns":null,"bytes":' // text(outcome%bytes) // ',"messages":' &
        // text(int(outcome%messages, int64)) // ',"explain":null}'
    open (newunit=unit, file=file, access='stream', form='formatted', position='append', action='write')
    write (unit, '(a)') line
    close (unit)
  end subroutine

  function list(values) result(json)
    real(real64), intent(in) :: values(:)
    character(:), allocatable :: json
    integer :: i
    json = '['
    do i = 1, size(values)
      if (i > 1) json = json // ','
      json = json // number(values(i))
    end do
    json = json // ']'
  end function

  function number(value) result(json)
    real(real64), intent(in) :: value
    character(:), allocatable :: json
    character(40) :: word
    write (word, '(es16.9e3)') value
    json = trim(adjustl(word))
  end function

  function text(value) result(json)
    integer(int64), intent(in) :: value
    character(:), allocatable :: json
    character(40) :: word
    write (word, '(i0)') value
    json = trim(word)
  end function
end module coarray_record
