#include "parhelion/domain/mask.hpp"

#include <bit>

#include "core/concat.hpp"
#include "domain/blocks.hpp"

namespace parhelion {
namespace {

// Summed-area table of wet cells: counts a box by 2^d lookups.
class WetSums {
 public:
  WetSums(const std::vector<global_index>& extents, const std::vector<global_index>& own,
      const std::function<bool(const Coordinates&)>& is_wet) {
    bool fits = own.size() == extents.size();
    for (std::size_t d = 0; fits && d < own.size(); ++d) {
      fits = own[d] == extents[d] || own[d] == 1;
      cells_.hi[d] = own[d];
    }
    if (!fits)
      refuse("the mask has ", extents_text(own), " cells, but the grid has ", extents_text(extents),
          ": give it the grid's extents, or 1 where all cells along a dimension are equal");
    sums_.resize(cells_.cells());
    for_each_index(cells_.lo, cells_.hi, [&](const Coordinates& at) { sum(at) = is_wet(at); });
    for (int d = 0; d < max_dimensions; ++d)
      for_each_index(cells_.lo, cells_.hi, [&](Coordinates at) {
        if (at[d] == 0) return;
        global_index& here = sum(at);
        --at[d];
        here += sum(at);
      });
  }

  global_index wet(const Box& box) {
    if (box.empty()) return 0;
    global_index total = 0;
    for (unsigned corner = 0; corner < 1u << max_dimensions; ++corner) {
      Coordinates last;
      bool before_all = false;
      for (int d = 0; d < max_dimensions; ++d) {
        const bool whole = cells_.hi[d] == 1;
        const global_index lo = whole ? 0 : box.lo[d], hi = whole ? 1 : box.hi[d];
        last[d] = ((corner >> d & 1) != 0 ? lo : hi) - 1;
        before_all = before_all || last[d] < 0;
      }
      if (!before_all) total += std::popcount(corner) % 2 == 0 ? sum(last) : -sum(last);
    }
    return total;
  }

 private:
  global_index& sum(const Coordinates& at) {
    global_index place = 0;
    for (int d = 0; d < max_dimensions; ++d) place = place * cells_.hi[d] + at[d];
    return sums_[place];
  }

  Box cells_;
  std::vector<global_index> sums_;
};

}  // namespace

Mask mask_of(std::vector<global_index> extents, std::vector<global_index> own,
    std::function<bool(const Coordinates&)> is_wet) {
  std::shared_ptr<WetSums> sums;
  return [extents = std::move(extents), own = std::move(own), is_wet = std::move(is_wet), sums](
             const Box& box) mutable {
    if (sums == nullptr) sums = std::make_shared<WetSums>(extents, own, is_wet);
    return sums->wet(box) > 0;
  };
}

Mask mask_of(
    std::vector<global_index> extents, std::vector<global_index> own, const std::uint8_t* cells) {
  return mask_of(std::move(extents), own, [own, cells](const Coordinates& at) {
    global_index cell = 0;
    for (std::size_t d = 0; d < own.size(); ++d) cell = cell * own[d] + at[d];
    return cells[cell] != 0;
  });
}

void append_even_parts(std::vector<global_index>& starts, global_index cells, int parts) {
  const global_index begin = starts.back(), size = cells / parts, rest = cells % parts;
  for (global_index i = 1; i <= parts; ++i) starts.push_back(begin + i * size + std::min(i, rest));
}

WetPlaces::WetPlaces(const Cuts& cuts, RankFill fill, const Mask& mask) {
  const int dimensions = cuts.size();
  const auto parts = [&](int d) { return static_cast<int>(cuts[d].size()) - 1; };
  int places = 1;
  for (int d = 0; d < dimensions; ++d) places *= parts(d);
  std::vector<std::uint64_t> words((places + 63) / 64);
  for (int place = 0; place < places; ++place) {
    Box box;
    for (int i = 0, rest = place; i < dimensions; ++i) {
      const int d = fill == RankFill::first_fastest ? i : dimensions - 1 - i;
      box.lo[d] = cuts[d][rest % parts(d)];
      box.hi[d] = cuts[d][rest % parts(d) + 1];
      rest /= parts(d);
    }
    if (!box.empty() && mask(box)) words[place / 64] |= std::uint64_t{1} << place % 64;
  }
  *this = WetPlaces(std::move(words));
}

WetPlaces::WetPlaces(std::vector<std::uint64_t> words) : words_(std::move(words)), before_{0} {
  for (const std::uint64_t word : words_) before_.push_back(before_.back() + std::popcount(word));
}

int WetPlaces::rank_of(int place) const {
  const std::uint64_t word = words_[place / 64] >> place % 64;
  if ((word & 1) == 0) return -1;
  return before_[place / 64 + 1] - std::popcount(word);
}

int WetPlaces::place_of(int rank) const {
  const auto next = std::upper_bound(before_.begin(), before_.end(), rank) - 1;
  const int at = next - before_.begin();
  std::uint64_t word = words_.at(at);
  for (int rest = rank - *next; rest > 0; --rest) word &= word - 1;
  return 64 * at + std::countr_zero(word);
}

}  // namespace parhelion
