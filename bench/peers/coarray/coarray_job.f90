!> What to measure, read from a file of namelists by every image: one &job, then its &case and &way groups.
module coarray_job
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use phl_coarray_map, only: gather_way
  implicit none
  private
  public :: job_t, case_t, way_t, read_job, read_part

  type :: case_t
    character(2000) :: dataset = '', name = '', params = ''
    integer :: words = 1
  end type

  type :: way_t
    character(200) :: contender = ''
    type(gather_way) :: way
  end type

  !> `repetitions` samples of at least `least_s` seconds each, but no more than `budget_s` seconds a contender.
  type :: job_t
    character(2000) :: record = ''
    integer :: launch = 0, repetitions = 10
    real(real64) :: least_s = 5e-4_real64, budget_s = 1
    type(case_t), allocatable :: cases(:)
    type(way_t), allocatable :: ways(:)
  end type

contains

  function read_job(file) result(job)
    character(*), intent(in) :: file
    type(job_t) :: job
    character(2000) :: record
    integer :: launch, repetitions, cases, ways, unit, i
    real(real64) :: least_s, budget_s
    namelist /job_/ record, launch, repetitions, least_s, budget_s, cases, ways
    open (newunit=unit, file=file, status='old', action='read')
    read (unit, nml=job_)
    job%record = record
    job%launch = launch
    job%repetitions = repetitions
    job%least_s = least_s
    job%budget_s = budget_s
    allocate (job%cases(cases), job%ways(ways))
    do i = 1, cases
      job%cases(i) = next_case(unit)
    end do
    do i = 1, ways
      job%ways(i) = next_way(unit)
    end do
    close (unit)
  end function

  function next_case(unit) result(this)
    integer, intent(in) :: unit
    type(case_t) :: this
    character(2000) :: dataset, name, params
    integer :: words
    namelist /case_/ dataset, name, params, words
    read (unit, nml=case_)
    this = case_t(dataset, name, params, words)
  end function

  function next_way(unit) result(this)
    integer, intent(in) :: unit
    type(way_t) :: this
    character(200) :: contender
    integer :: kind
    logical :: kept, images
    namelist /way_/ contender, kind, kept, images
    read (unit, nml=way_)
    this = way_t(contender, gather_way(kind, kept, images))
  end function

  !> This image's part of a set in the published layout: owned cells and ids of the ghosts.
  subroutine read_part(dataset, owned, ids)
    character(*), intent(in) :: dataset
    integer, intent(out) :: owned
    integer, allocatable, intent(out) :: ids(:)
    character(:), allocatable :: file
    character(20) :: number
    integer :: unit, count
    write (number, '(i0.3)') this_image()
    file = trim(dataset) // '/data' // trim(number)
    open (newunit=unit, file=file, access='stream', form='unformatted', status='old', action='read')
    read (unit) owned, count
    allocate (ids(count))
    read (unit) ids
    close (unit)
  end subroutine
end module coarray_job
