!> The gather of an index map on coarrays alone: no MPI call, no Parhelion library. It is here to be compared with, and for
!> programs that have coarrays and nothing else.
!>
!>     type(coarray_map) :: map
!>     call map%init(owned, ghost_ids, way=gather_way(get_section))
!>     call map%gather(x, ghosts)
!>
!> Blocks lie in image order, global ids start at 1. Cells have any number of 32-bit words: x(words, owned),
!> ghosts(words, size(ghost_ids)).
!> All images call each procedure, in the same order.
module phl_coarray_map
  use, intrinsic :: iso_fortran_env, only: int32
  implicit none
  private
  public :: coarray_map, gather_way, get_elements, get_indexed, get_section, put_section

  !> What crosses between images: every value by itself, all of one owner's by a vector subscript, a section that the owner
  !> has packed, or a section that the owner packs and writes into the reader's buffer.
  enum, bind(c)
    enumerator :: get_elements = 1, get_indexed, get_section, put_section
  end enum

  !> `kept`: coarrays live as long as the map, or are allocated in each gather. `images`: an image waits for those that it
  !> exchanges with, or for all.
  type :: gather_way
    integer :: kind = get_section
    logical :: kept = .true., images = .true.
  end type

  !> Cells first … last of a list belong to one other image, where they begin at `there`.
  type :: part
    integer :: image = 0, first = 1, last = 0, there = 1
  end type

  type :: coarray_map
    private
    type(gather_way) :: way
    integer :: owned = 0, words = 1, cells = 0, half = 0
    integer, allocatable :: wanted(:)    ! place of each ghost in its owner's block
    integer, allocatable :: sent(:)      ! owned cells that others read, reader after reader
    type(part), allocatable :: sources(:), targets(:)
    integer, allocatable :: partners(:)
    integer(int32), allocatable :: buffer(:)[:]
  contains
    procedure :: init
    procedure :: gather
    procedure :: cells_sent, messages_sent
  end type

contains

  !> `ghost_ids` ascend and belong to other images. `words`: 32-bit words per cell [1]. What is wrong with the arguments on
  !> any image is told on every one; without `stat` it ends the program.
  subroutine init(this, owned, ghost_ids, words, way, stat, errmsg)
    class(coarray_map), intent(inout) :: this
    integer, intent(in) :: owned, ghost_ids(:)
    integer, intent(in), optional :: words
    type(gather_way), intent(in), optional :: way
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer, allocatable :: ends(:)
    integer :: wrong, me
    me = this_image()
    this%owned = owned
    if (present(words)) this%words = words
    if (present(way)) this%way = way
    allocate (ends(num_images()), source=0)
    ends(me:) = max(owned, 0)
    call co_sum(ends)
    wrong = mistake(owned, ghost_ids, ends, this%words, this%way)
    call co_max(wrong)
    if (present(stat)) stat = wrong
    if (wrong > 0) then
      if (present(errmsg)) errmsg = words_for(wrong)
      if (.not. present(stat)) error stop 'coarray_map: wrong arguments of init'
      return
    end if
    call find_sources(this, ghost_ids, ends)
    call ask_owners(this, ghost_ids, ends)
    this%cells = room(this)
    call co_max(this%cells)
    if (this%way%kept) allocate (this%buffer(2 * this%words * this%cells)[*])
  end subroutine

  pure integer function mistake(owned, ids, ends, words, way)
    integer, intent(in) :: owned, ids(:), ends(:), words
    type(gather_way), intent(in) :: way
    integer :: n
    n = size(ids)
    mistake = 0
    if (any(ids > ends(this_image()) - owned .and. ids <= ends(this_image()))) mistake = 4
    if (any(ids(2:) <= ids(:n - 1))) mistake = 3
    if (any(ids < 1 .or. ids > ends(size(ends)))) mistake = 2
    if (owned < 0 .or. words < 1 .or. way%kind < get_elements .or. way%kind > put_section) mistake = 1
  end function

  pure function words_for(wrong) result(text)
    integer, intent(in) :: wrong
    character(:), allocatable :: text
    character(*), parameter :: texts(*) = [character(80) :: &
        'a negative number of cells, no words, or no such way to gather', &
        'a ghost id lies outside of the ids that the images own: ids count from 1', &
        'ghost ids do not ascend: sort them and drop repeated ones', &
        'a ghost is owned by the image that reads it: take it from the owned cells']
    text = trim(texts(wrong))
  end function

  !> Ghosts ascend and blocks lie in image order, so that those of one owner follow each other.
  subroutine find_sources(this, ids, ends)
    class(coarray_map), intent(inout) :: this
    integer, intent(in) :: ids(:), ends(:)
    integer :: i, image
    allocate (this%sources(0), this%wanted(size(ids)))
    image = 0
    do i = 1, size(ids)
      if (image == 0) call open_part(1)
      if (ids(i) > ends(image)) call open_part(image)
      this%sources(size(this%sources))%last = i
      this%wanted(i) = ids(i)
      if (image > 1) this%wanted(i) = ids(i) - ends(image - 1)
    end do

  contains

    subroutine open_part(from)
      integer, intent(in) :: from
      image = from
      do while (ends(image) < ids(i))
        image = image + 1
      end do
      this%sources = [this%sources, part(image, i, i)]
    end subroutine
  end subroutine

  !> Everybody learns what everybody reads, by sums over the images: tables that grow with the number of images, which a
  !> library for many of them would avoid, but that do not depend on what is to be compared here, gets and puts.
  subroutine ask_owners(this, ids, ends)
    class(coarray_map), intent(inout) :: this
    integer, intent(in) :: ids(:), ends(:)
    integer, allocatable :: all_ids(:, :), asked(:, :, :), place(:, :)
    integer :: k, most, image, me
    me = this_image()
    most = size(ids)
    call co_max(most)
    allocate (all_ids(most, num_images()), asked(2, num_images(), num_images()), place(num_images(), num_images()), source=0)
    all_ids(:size(ids), me) = ids
    do k = 1, size(this%sources)
      asked(:, this%sources(k)%image, me) = [this%sources(k)%first, this%sources(k)%last]
    end do
    if (most > 0) call co_sum(all_ids)
    call co_sum(asked)
    allocate (this%targets(0), this%sent(0))
    do image = 1, num_images()
      associate (first => asked(1, me, image), last => asked(2, me, image))
        if (first == 0) cycle
        place(image, me) = size(this%sent) + 1
        this%targets = [this%targets, part(image, size(this%sent) + 1, size(this%sent) + last - first + 1, first)]
        this%sent = [this%sent, all_ids(first:last, image) - (ends(me) - this%owned)]
      end associate
    end do
    call co_sum(place)
    do k = 1, size(this%sources)
      this%sources(k)%there = place(me, this%sources(k)%image)
    end do
    this%partners = union(this%sources%image, this%targets%image)
  end subroutine

  pure function union(a, b) result(both)
    integer, intent(in) :: a(:), b(:)
    integer, allocatable :: both(:)
    integer :: i
    both = [a, pack(b, [(all(a /= b(i)), i=1, size(b))])]
  end function

  !> Cells that this image needs room for in its coarray.
  pure integer function room(this)
    class(coarray_map), intent(in) :: this
    select case (this%way%kind)
    case (get_section); room = size(this%sent)
    case (put_section); room = size(this%wanted)
    case default; room = this%owned
    end select
  end function

  !> Fetches the ghosts' values from their owners. Kept coarrays have two halves that take turns: who fills a half again has
  !> heard, in the gather between, from all who use it, so that one synchronisation per gather is enough.
  subroutine gather(this, x, ghosts)
    class(coarray_map), intent(inout) :: this
    integer(int32), intent(in), contiguous, target :: x(:, :)
    integer(int32), intent(inout), contiguous, target :: ghosts(:, :)
    integer(int32), pointer, contiguous :: cells(:), others(:)
    cells(1:size(x)) => x
    others(1:size(ghosts)) => ghosts
    if (size(x) < this%words * this%owned .or. size(ghosts) /= this%words * size(this%wanted)) &
      error stop 'coarray_map: arrays of gather do not fit the map'
    this%half = 1 - this%half
    if (this%way%kept) then
      call gather_through(this, this%buffer, cells, others)
    else
      call gather_through_fresh(this, cells, others)
    end if
  end subroutine

  subroutine gather_through_fresh(this, x, ghosts)
    class(coarray_map), intent(in) :: this
    integer(int32), intent(in), contiguous :: x(:)
    integer(int32), intent(inout), contiguous :: ghosts(:)
    integer(int32), allocatable :: buffer(:)[:]
    allocate (buffer(2 * this%words * this%cells)[*])
    call gather_through(this, buffer, x, ghosts)
    deallocate (buffer)
  end subroutine

  subroutine gather_through(this, buffer, x, ghosts)
    class(coarray_map), intent(in) :: this
    integer(int32), allocatable, intent(inout) :: buffer(:)[:]
    integer(int32), intent(in), contiguous :: x(:)
    integer(int32), intent(inout), contiguous :: ghosts(:)
    integer :: base
    base = this%half * this%words * this%cells
    select case (this%way%kind)
    case (get_elements); call by_elements(this, buffer, base, x, ghosts)
    case (get_indexed); call by_subscripts(this, buffer, base, x, ghosts)
    case (get_section); call by_sections(this, buffer, base, x, ghosts)
    case (put_section); call by_puts(this, buffer, base, x, ghosts)
    end select
  end subroutine

  subroutine synchronise(this)
    class(coarray_map), intent(in) :: this
    if (this%way%images) then
      sync images (this%partners)
    else
      sync all
    end if
  end subroutine

  subroutine by_elements(this, buffer, base, x, ghosts)
    class(coarray_map), intent(in) :: this
    integer(int32), allocatable, intent(inout) :: buffer(:)[:]
    integer, intent(in) :: base
    integer(int32), intent(in) :: x(:)
    integer(int32), intent(inout) :: ghosts(:)
    integer :: k, i, w, place
    buffer(base + 1:base + this%words * this%owned) = x(:this%words * this%owned)
    call synchronise(this)
    do k = 1, size(this%sources)
      do i = this%sources(k)%first, this%sources(k)%last
        place = base + this%words * (this%wanted(i) - 1)
        do w = 1, this%words
          ghosts(this%words * (i - 1) + w) = buffer(place + w)[this%sources(k)%image]
        end do
      end do
    end do
  end subroutine

  subroutine by_subscripts(this, buffer, base, x, ghosts)
    class(coarray_map), intent(in) :: this
    integer(int32), allocatable, intent(inout) :: buffer(:)[:]
    integer, intent(in) :: base
    integer(int32), intent(in) :: x(:)
    integer(int32), intent(inout) :: ghosts(:)
    integer, allocatable :: places(:)
    integer :: k, i, w, a, b
    buffer(base + 1:base + this%words * this%owned) = x(:this%words * this%owned)
    call synchronise(this)
    do k = 1, size(this%sources)
      a = this%sources(k)%first
      b = this%sources(k)%last
      places = [((base + this%words * (this%wanted(i) - 1) + w, w=1, this%words), i=a, b)]
      ghosts(this%words * (a - 1) + 1:this%words * b) = buffer(places)[this%sources(k)%image]
    end do
  end subroutine

  subroutine by_sections(this, buffer, base, x, ghosts)
    class(coarray_map), intent(in) :: this
    integer(int32), allocatable, intent(inout) :: buffer(:)[:]
    integer, intent(in) :: base
    integer(int32), intent(in) :: x(:)
    integer(int32), intent(inout) :: ghosts(:)
    integer :: k, a, b, c
    call pack_cells(this, x, buffer(base + 1:))
    call synchronise(this)
    do k = 1, size(this%sources)
      a = this%words * (this%sources(k)%first - 1) + 1
      b = this%words * this%sources(k)%last
      c = base + this%words * (this%sources(k)%there - 1) + 1
      ghosts(a:b) = buffer(c:c + b - a)[this%sources(k)%image]
    end do
  end subroutine

  subroutine by_puts(this, buffer, base, x, ghosts)
    class(coarray_map), intent(in) :: this
    integer(int32), allocatable, intent(inout) :: buffer(:)[:]
    integer, intent(in) :: base
    integer(int32), intent(in) :: x(:)
    integer(int32), intent(inout) :: ghosts(:)
    integer(int32) :: packed(this%words * size(this%sent))
    integer :: k, a, b, c
    call pack_cells(this, x, packed)
    do k = 1, size(this%targets)
      a = this%words * (this%targets(k)%first - 1) + 1
      b = this%words * this%targets(k)%last
      c = base + this%words * (this%targets(k)%there - 1) + 1
      buffer(c:c + b - a)[this%targets(k)%image] = packed(a:b)
    end do
    call synchronise(this)
    ghosts = buffer(base + 1:base + size(ghosts))
  end subroutine

  pure subroutine pack_cells(this, x, packed)
    class(coarray_map), intent(in) :: this
    integer(int32), intent(in) :: x(:)
    integer(int32), intent(inout) :: packed(:)
    integer :: k, at
    at = 0
    do k = 1, size(this%sent)
      packed(at + 1:at + this%words) = x(this%words * (this%sent(k) - 1) + 1:this%words * this%sent(k))
      at = at + this%words
    end do
  end subroutine

  !> What this image gives to others in one gather; words times 4 times cells: bytes.
  pure integer function cells_sent(this)
    class(coarray_map), intent(in) :: this
    cells_sent = size(this%sent)
  end function

  pure integer function messages_sent(this)
    class(coarray_map), intent(in) :: this
    messages_sent = size(this%targets)
  end function
end module phl_coarray_map
