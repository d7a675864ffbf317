#include "exchange/array_check.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "plan/value_place.hpp"

namespace parhelion {

ArrayCheck::ArrayCheck(const Plan& plan)
    : plan_(plan), owned_(packed_cells(plan, End::owned)),
      ghosts_(packed_cells(plan, End::ghosts)) {
    byte_count most = 0;
    for (const auto* all : {&owned_, &ghosts_})
        for (const PackedCells& cells : *all) most = std::max(most, cells.layout.bytes());
    now_ = plan.executor->allocate(most);
}

// In a reverse exchange of several stages, the last one of the plan goes first; the others combine
// into ghosts.
bool ArrayCheck::kept(const PackedCells& cells) const {
    return direction_ == Direction::forward || cells.stage + 1 == plan_.stages.size();
}

void ArrayCheck::begin(const BoundArrays& arrays, Direction direction) {
    direction_ = direction;
    if (direction == Direction::forward)
        for (const PackedCells& cells : ghosts_) {
            for (const MessageField& at : cells.layout.fields)
                fill_poison(cells.values.get() + at.begin, at.bytes, plan_.fields[at.f].element);
            cells.put(plan_, arrays.bases());
        }
    for (PackedCells& cells : given())
        if (kept(cells)) cells.take(plan_, arrays.bases());
}

std::string ArrayCheck::written(const BoundArrays& arrays) {
    std::string first;
    for (const PackedCells& cells : given())
        if (kept(cells) && first.empty()) first = compare(arrays, cells);
    return first;
}

std::string ArrayCheck::compare(const BoundArrays& arrays, const PackedCells& cells) {
    cells.take(plan_, arrays.bases(), now_.get());
    for (byte_count at = 0;
         (at = first_difference(cells.layout, cells.values.get(), now_.get(), at)) >= 0;) {
        const ValuePlace place = value_at(plan_, cells.layout, at);
        if (place.owned == (direction_ == Direction::forward)) return complaint(cells, at);
        at = place.first + place.size;  // a ghost that an earlier stage has filled
    }
    return {};
}

std::string ArrayCheck::complaint(const PackedCells& cells, byte_count at) const {
    const ValuePlace place = value_at(plan_, cells.layout, at);
    const Element& element = plan_.fields[place.f].element;
    const bool forward = direction_ == Direction::forward;
    const std::string self = std::to_string(plan_.communicator().rank()),
                      other = std::to_string(cells.rank);
    return field_name(plan_, place.f) + ": " + (forward ? "owned " : "the ghost of ") +
           to_string(plan_, place) + " of rank " +
           (forward ? self + ", which rank " + other + " reads," : other + " on rank " + self) +
           " was written between begin and end of a " + (forward ? "forward" : "reverse") +
           " exchange (" + value_text(element, cells.values.get() + place.first) + " at begin, " +
           value_text(element, now_.get() + place.first) +
           " at end): finish writing before begin, or write after end";
}

namespace {

template <class Word>
void repeat(std::byte* first, byte_count bytes, Word word) {
    for (byte_count at = 0; at + byte_count{sizeof word} <= bytes; at += byte_count{sizeof word})
        std::memcpy(first + at, &word, sizeof word);
}

}  // namespace

void fill_poison(std::byte* first, byte_count bytes, const Element& element) {
    const bool single = element.scalar == Scalar::float32 || element.scalar == Scalar::complex64;
    const bool twice = element.scalar == Scalar::float64 || element.scalar == Scalar::complex128;
    if (single) repeat(first, bytes, std::uint32_t{0x7fa0dbdb});
    else if (twice) repeat(first, bytes, std::uint64_t{0x7ff4dbdbdbdbdbdb});
    else repeat(first, bytes, std::uint8_t{0xdb});
}

}  // namespace parhelion
