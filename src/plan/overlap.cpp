#include "plan/overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

#include "core/concat.hpp"
#include "plan/array_block.hpp"
#include "plan/layout.hpp"

namespace parhelion {
namespace {

// Σ coefficient · x = target with 0 ≤ x ≤ most for each term.
class Equation {
 public:
  void add(byte_count coefficient, byte_count most) {
    if (most <= 0 || coefficient == 0) return;
    const auto end = terms_.begin() + size_,
               same = std::find_if(terms_.begin(), end,
                   [&](const Term& term) { return term.coefficient == coefficient; });
    if (same != end) same->most += most;
    else terms_[size_++] = {coefficient, most};
  }
  bool solvable(byte_count target) {
    std::sort(terms_.begin(), terms_.begin() + size_,
        [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
    for (int k = size_ - 1; k >= 0; --k) {
      terms_[k].reach = terms_[k + 1].reach + terms_[k].coefficient * terms_[k].most;
      terms_[k].divisor = std::gcd(terms_[k + 1].divisor, terms_[k].coefficient);
    }
    return search(0, target);
  }

 private:
  struct Term {
    byte_count coefficient = 0, most = 0;
    byte_count reach = 0, divisor = 0;  // of this term and later ones: largest sum, gcd
  };
  static constexpr int most_steps = 1'000'000;

  // Starts at the smallest x whose rest the later terms can reach.
  bool search(int k, byte_count target) {
    const Term& term = terms_[k];
    if (target == 0) return true;
    if (target < 0 || target > term.reach || target % term.divisor != 0) return false;
    const byte_count missing = std::max<byte_count>(target - terms_[k + 1].reach, 0),
                     highest = std::min(term.most, target / term.coefficient);
    for (byte_count x = (missing + term.coefficient - 1) / term.coefficient;
        x <= highest && ++steps_ < most_steps; ++x)
      if (search(k + 1, target - x * term.coefficient)) return true;
    return false;
  }

  int size_ = 0, steps_ = 0;
  std::array<Term, 2 * (Footprint::most_dims + 1) + 1> terms_{};  // the last one stays empty
};

bool is_empty(const Footprint& cells) {
  return cells.width <= 0 || std::any_of(cells.count.begin(), cells.count.begin() + cells.dims,
                                 [](byte_count n) { return n <= 0; });
}

byte_count low_of(const Footprint& cells) {
  byte_count low = cells.first;
  for (int d = 0; d < cells.dims; ++d)
    if (cells.stride[d] < 0) low += (cells.count[d] - 1) * cells.stride[d];
  return low;
}
byte_count end_of(const Footprint& cells) {
  byte_count end = cells.first + cells.width;
  for (int d = 0; d < cells.dims; ++d)
    if (cells.stride[d] > 0) end += (cells.count[d] - 1) * cells.stride[d];
  return end;
}

// The same bytes with positive strides.
Footprint upwards(Footprint cells) {
  cells.first = low_of(cells);
  for (int d = 0; d < cells.dims; ++d) cells.stride[d] = std::abs(cells.stride[d]);
  return cells;
}

}  // namespace

bool overlap(const Footprint& one, const Footprint& other) {
  if (is_empty(one) || is_empty(other) || end_of(one) <= low_of(other) ||
      end_of(other) <= low_of(one))
    return false;
  const Footprint a = upwards(one), b = upwards(other);
  const byte_count target =
      end_of(b) - 1 - a.first;  // a counts up, b down from its end; they meet at a shared byte
  Equation equation;
  for (const Footprint* each : {&a, &b}) {
    for (int d = 0; d < each->dims; ++d) equation.add(each->stride[d], each->count[d] - 1);
    equation.add(1, each->width - 1);
  }
  return equation.solvable(target);
}

bool overlaps_itself(const Footprint& cells) {
  if (is_empty(cells)) return false;
  struct Dimension {
    byte_count stride, count;
  };
  std::vector<Dimension> dims;
  for (int d = 0; d < cells.dims; ++d)
    if (cells.count[d] > 1) dims.push_back({std::abs(cells.stride[d]), cells.count[d]});
  std::ranges::sort(dims, std::ranges::greater(), &Dimension::stride);
  // Two points differ by 1 or more in their first different dimension p, by anything in later
  // ones; a shared byte needs a distance below the width. Nested strides are settled at once.
  for (std::size_t p = 0; p < dims.size(); ++p) {
    if (dims[p].stride == 0) return true;
    Equation equation;
    equation.add(dims[p].stride, dims[p].count - 2);
    byte_count target = cells.width - 1 - dims[p].stride;
    for (std::size_t d = p + 1; d < dims.size(); ++d) {
      equation.add(dims[d].stride, 2 * (dims[d].count - 1));
      target += dims[d].stride * (dims[d].count - 1);
    }
    equation.add(1, 2 * (cells.width - 1));
    if (equation.solvable(target)) return true;
  }
  return false;
}

namespace {

std::vector<Footprint> by_first_byte(std::vector<Footprint> pieces) {
  std::erase_if(pieces, is_empty);
  std::ranges::transform(pieces, pieces.begin(), upwards);
  std::ranges::sort(pieces, {}, &Footprint::first);
  return pieces;
}

// For lists by first byte.
bool any_within(const std::vector<Footprint>& pieces) {
  if (std::ranges::any_of(pieces, overlaps_itself)) return true;
  for (auto a = pieces.begin(); a != pieces.end(); ++a)
    for (auto b = a + 1; b != pieces.end() && b->first < end_of(*a); ++b)
      if (overlap(*a, *b)) return true;
  return false;
}

bool any_pair(const std::vector<Footprint>& some, const std::vector<Footprint>& others) {
  auto next = others.begin();
  for (const Footprint& a : some) {
    while (next != others.end() && end_of(*next) <= a.first) ++next;
    for (auto b = next; b != others.end() && b->first < end_of(a); ++b)
      if (overlap(a, *b)) return true;
  }
  return false;
}

}  // namespace

bool overlap(const std::vector<Footprint>& written, const std::vector<Footprint>& read) {
  const auto writes = by_first_byte(written);
  return any_within(writes) || any_pair(writes, by_first_byte(read));
}

namespace {

// Cells of a block; of an indexed field: owned cells, or ghosts.
class Cells {
 public:
  Cells(const Plan& plan, int f, int b, const std::byte* first_cell)
      : plan_(plan), f_(f), b_(b), address_(reinterpret_cast<std::intptr_t>(first_cell)),
        all_(upwards(pattern().indexed()
                         ? indexed()
                         : box(grow(owned(), field().halo, pattern().dimensions)))) {}

  bool empty() const { return address_ == 0 || cells_of(pattern(), b_) == 0 || is_empty(all_); }
  byte_count first() const { return all_.first; }
  byte_count end() const { return end_of(all_); }

  bool meet(const Cells& other) const {
    return overlap(all_, other.all_) && any_pair(touched(), other.touched());
  }
  bool fold() const { return overlaps_itself(all_) && any_within(touched()); }

  std::string name() const {
    const std::string of = field_name(plan_, f_);
    if (pattern().indexed()) return (b_ == 0 ? "the owned cells of " : "the ghosts of ") + of;
    return pattern().blocks.size() == 1 ? of : "block " + std::to_string(b_) + " of " + of;
  }

 private:
  const Field& field() const { return plan_.fields[f_]; }
  const Pattern& pattern() const { return plan_.pattern_of(f_); }
  const Box& owned() const { return pattern().blocks[b_]; }

  Footprint box(const Box& cells) const {
    const BoxLayout layout = box_in_field(plan_, f_, {b_, cells, owned()}, cells);
    return {
        address_ + layout.offset, field().element.size, layout.dims, layout.count, layout.stride};
  }
  Footprint indexed() const {
    return {address_, field().element.size, 2, {cells_of(pattern(), b_), field().components},
        {field().blocks[b_].strides[0], field().stride_of_components(b_)}};
  }

  // What the exchange can read or write.
  std::vector<Footprint> touched() const {
    if (pattern().indexed()) return {all_};
    std::vector<Footprint> pieces{box(owned())};
    for (const Stage& stage : pattern().stages)
      for (const Link& link : stage)
        for (const BoxPiece& piece : link.receive.boxes) {
          const Box cells = clipped(plan_, f_, piece);
          const bool on_seam_line = piece.turn.seam && intersect(cells, owned()) == cells;
          if (piece.block == b_ && !cells.empty() && !on_seam_line) pieces.push_back(box(cells));
        }
    return by_first_byte(std::move(pieces));
  }

  const Plan& plan_;
  int f_, b_;
  byte_count address_;
  Footprint all_;  // with the full halo
};

constexpr auto pass_once =
    ": pass every array once, and arrays that do not overlap (a reverse exchange would count such "
    "cells twice)";

}  // namespace

void check_disjoint(const Plan& plan, Bases bases) {
  std::vector<Cells> all;
  for_blocks(plan, [&](int f, int b) {
    const Cells cells(plan, f, b, bases[plan.base_of(f, b)]);
    // The creator of an interleaved pattern has checked its arrays.
    if (!plan.pattern_of(f).interleaved && !cells.empty()) all.push_back(cells);
  });
  for (const Cells& cells : all)
    if (cells.fold()) refuse("cells of ", cells.name(), " share memory with each other", pass_once);
  std::vector<const Cells*> sorted;
  for (const Cells& cells : all) sorted.push_back(&cells);
  std::ranges::stable_sort(sorted, {}, &Cells::first);
  for (std::size_t i = 0; i < sorted.size(); ++i)
    for (std::size_t j = i + 1; j < sorted.size() && sorted[j]->first() < sorted[i]->end(); ++j)
      if (sorted[i]->meet(*sorted[j])) {
        const auto [a, b] = std::minmax(sorted[i], sorted[j]);  // argument order
        throw Error(a->name() + " and " + b->name() + " share memory" + pass_once);
      }
}

}  // namespace parhelion
