!> Measures the gather on coarrays as the other contenders of `bench gather` are measured: values are verified before and
!> after, each image keeps its times, results are case lines of the same record.
!>
!>     mpiexec -n IMAGES phl-coarray-gather JOB
program phl_coarray_gather
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use coarray_job
  use coarray_record
  use coarray_values
  use phl_coarray_map
  implicit none
  type(job_t) :: job
  character(2000) :: file
  integer :: which, way

  call get_command_argument(1, file)
  if (len_trim(file) == 0) error stop 'usage: mpiexec -n IMAGES phl-coarray-gather JOB'
  job = read_job(trim(file))
  do which = 1, size(job%cases)
    do way = 1, size(job%ways)
      call measure(job%cases(which), job%ways(way))
    end do
  end do

contains

  subroutine measure(which, how)
    type(case_t), intent(in) :: which
    type(way_t), intent(in) :: how
    type(coarray_map) :: map
    type(cell_values) :: values
    type(outcome_t) :: outcome
    integer, allocatable :: ids(:)
    integer :: owned
    real(real64) :: start
    call read_part(which%dataset, owned, ids)
    sync all
    start = seconds()
    call map%init(owned, ids, which%words, how%way)
    outcome%setup_s = slowest(seconds() - start)
    call values%init(which%words, owned, first_id(owned), ids)
    call verify_and_time(map, values, outcome)
    outcome%bytes = 4_int64 * which%words * map%cells_sent()
    outcome%messages = map%messages_sent()
    call co_max(outcome%bytes)
    call co_max(outcome%messages)
    if (this_image() == 1) call write_case(trim(job%record), job%launch, which%name, which%params, how%contender, outcome)
    sync all
  end subroutine

  !> Both halves of the buffers are verified twice before and once after the samples. Where one gather takes more than the
  !> time there is, the verified ones are the samples.
  subroutine verify_and_time(map, values, outcome)
    type(coarray_map), intent(inout) :: map
    type(cell_values), intent(inout) :: values
    type(outcome_t), intent(inout) :: outcome
    real(real64) :: times(4, num_images())
    integer :: round, rounds
    times = 0
    rounds = 4
    do round = 1, 4
      if (round > rounds .or. outcome%wrong > 0) exit
      call checked_round(map, values, round, 1, times(round, this_image()), outcome)
      if (round == 1) outcome%first_s = slowest(times(1, this_image()))
      if (round == 2 .and. slowest(times(2, this_image())) > job%budget_s / 4) rounds = 3
    end do
    allocate (outcome%samples(0, num_images()))
    if (outcome%wrong > 0) return
    if (rounds == 3) then
      call co_sum(times)
      outcome%samples = times(2:3, :)
      return
    end if
    call take_samples(map, values, outcome)
    call checked_round(map, values, 5, outcome%iterations, times(1, this_image()), outcome)
  end subroutine

  !> New values each time, so that what an earlier gather left cannot pass for right.
  subroutine checked_round(map, values, round, gathers, time, outcome)
    type(coarray_map), intent(inout) :: map
    type(cell_values), intent(inout) :: values
    integer, intent(in) :: round, gathers
    real(real64), intent(out) :: time
    type(outcome_t), intent(inout) :: outcome
    integer(int64) :: wrong
    call values%refresh(round)
    time = batch(map, values, gathers)
    wrong = values%count_wrong(round)
    call co_sum(wrong)
    outcome%wrong = outcome%wrong + wrong
  end subroutine

  subroutine take_samples(map, values, outcome)
    type(coarray_map), intent(inout) :: map
    type(cell_values), intent(inout) :: values
    type(outcome_t), intent(inout) :: outcome
    real(real64), allocatable :: samples(:, :)
    real(real64) :: spent, time
    integer :: taken
    call choose_iterations(map, values, outcome, spent)
    allocate (samples(job%repetitions, num_images()), source=0._real64)
    taken = 0
    do while (taken < job%repetitions .and. (taken < 2 .or. spent < job%budget_s))
      time = batch(map, values, outcome%iterations)
      taken = taken + 1
      samples(taken, this_image()) = time / outcome%iterations
      spent = spent + slowest(time)
    end do
    call co_sum(samples)
    outcome%samples = samples(:taken, :)
  end subroutine

  !> So many gathers make a sample that it takes `least_s`. `spent`: what finding out took.
  subroutine choose_iterations(map, values, outcome, spent)
    type(coarray_map), intent(inout) :: map
    type(cell_values), intent(inout) :: values
    type(outcome_t), intent(inout) :: outcome
    real(real64), intent(out) :: spent
    real(real64) :: time
    spent = 0
    do
      time = slowest(batch(map, values, outcome%iterations))
      spent = spent + time
      if (time >= job%least_s) exit
      outcome%iterations = max(2 * outcome%iterations, int(1.25 * outcome%iterations * job%least_s / max(time, 1e-7_real64)))
    end do
  end subroutine

  real(real64) function batch(map, values, gathers)
    type(coarray_map), intent(inout) :: map
    type(cell_values), intent(inout) :: values
    integer, intent(in) :: gathers
    integer :: i
    real(real64) :: start
    sync all
    start = seconds()
    do i = 1, gathers
      call map%gather(values%x, values%ghosts(:, 1:size(values%ids)))
    end do
    batch = seconds() - start
  end function

  integer(int64) function first_id(owned)
    integer, intent(in) :: owned
    integer(int64) :: all(num_images())
    all = 0
    all(this_image()) = owned
    call co_sum(all)
    first_id = sum(all(:this_image() - 1))
  end function

  real(real64) function slowest(time)
    real(real64), intent(in) :: time
    slowest = time
    call co_max(slowest)
  end function

  real(real64) function seconds()
    integer(int64) :: now, rate
    call system_clock(now, rate)
    seconds = real(now, real64) / real(rate, real64)
  end function
end program
