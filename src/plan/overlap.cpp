#include "plan/overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "parhelion/core/error.hpp"
#include "plan/layout.hpp"

namespace parhelion {
namespace {

// Bounded linear equation: Σ coefficient · x = target with 0 ≤ x ≤ most for each term.
class Equation {
public:
    void add(byte_count coefficient, byte_count most) {
        if (most <= 0 || coefficient == 0) return;
        const auto end = terms_.begin() + size_;
        const auto same = std::find_if(
            terms_.begin(), end, [&](const Term& term) { return term.coefficient == coefficient; });
        if (same != end) same->most += most;
        else terms_[size_++] = {coefficient, most};
    }
    bool solvable(byte_count target) {
        std::sort(terms_.begin(), terms_.begin() + size_,
                  [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
        for (int k = size_ - 1; k >= 0; --k) {
            const Term& term = terms_[k];
            const Rest& behind = rest_[static_cast<std::size_t>(k) + 1];
            rest_[k] = {behind.reach + term.coefficient * term.most,
                        std::gcd(behind.divisor, term.coefficient)};
        }
        steps_ = 0;
        return search(0, target);
    }

private:
    struct Term {
        byte_count coefficient, most;
    };
    struct Rest {
        byte_count reach = 0, divisor = 0;  // from this term on: largest sum, gcd
    };
    static constexpr int most_terms = 2 * (Footprint::most_dims + 1);
    static constexpr int most_steps = 1'000'000;

    bool possible(std::size_t k, byte_count target) const {
        if (target < 0 || target > rest_[k].reach) return false;
        return rest_[k].divisor == 0 || target % rest_[k].divisor == 0;
    }

    // Starts at the smallest x whose rest the later terms can reach; `stride` keeps the rest
    // divisible.
    bool search(int number, byte_count target) {
        const auto k = static_cast<std::size_t>(number);
        if (!possible(k, target)) return false;
        if (target == 0) return true;
        const Term& term = terms_[k];
        const Rest& behind = rest_[k + 1];
        byte_count x = target <= behind.reach
                           ? 0
                           : (target - behind.reach + term.coefficient - 1) / term.coefficient;
        const byte_count highest = std::min(term.most, target / term.coefficient);
        byte_count stride = 1;
        for (; x <= highest && ++steps_ < most_steps; x += stride) {
            if (!possible(k + 1, target - x * term.coefficient)) continue;
            if (search(number + 1, target - x * term.coefficient)) return true;
            stride = behind.divisor / std::gcd(behind.divisor, term.coefficient);
        }
        return false;
    }

    int size_ = 0, steps_ = 0;
    std::array<Term, most_terms> terms_{};
    std::array<Rest, most_terms + 1> rest_{};
};

bool is_empty(const Footprint& cells) {
    return cells.width <= 0 || std::any_of(cells.count.begin(), cells.count.begin() + cells.dims,
                                           [](byte_count n) { return n <= 0; });
}

// The same bytes with positive strides from the lowest address.
Footprint upwards(Footprint cells) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(cells.dims); ++d)
        if (cells.stride[d] < 0) {
            cells.first += (cells.count[d] - 1) * cells.stride[d];
            cells.stride[d] = -cells.stride[d];
        }
    return cells;
}

// Address after the last byte; strides must be positive.
byte_count end_of(const Footprint& cells) {
    byte_count end = cells.first + cells.width;
    for (std::size_t d = 0; d < static_cast<std::size_t>(cells.dims); ++d)
        end += (cells.count[d] - 1) * cells.stride[d];
    return end;
}

struct Dimension {
    byte_count stride, count;
};

std::vector<Dimension> by_falling_stride(const Footprint& cells) {
    std::vector<Dimension> dims;
    for (std::size_t d = 0; d < static_cast<std::size_t>(cells.dims); ++d)
        if (cells.count[d] > 1) dims.push_back({cells.stride[d], cells.count[d]});
    std::sort(dims.begin(), dims.end(),
              [](const Dimension& a, const Dimension& b) { return a.stride > b.stride; });
    return dims;
}

// Whether each stride exceeds the reach of all smaller ones: the usual case, without overlap.
bool is_nested(const std::vector<Dimension>& dims, byte_count width) {
    byte_count reach = width;
    for (auto d = dims.rbegin(); d != dims.rend(); ++d) {
        if (d->stride < reach) return false;
        reach += d->stride * (d->count - 1);
    }
    return true;
}

}  // namespace

bool overlap(const Footprint& one, const Footprint& other) {
    if (is_empty(one) || is_empty(other)) return false;
    const Footprint a = upwards(one), b = upwards(other);
    const byte_count target =
        end_of(b) - 1 - a.first;  // a's steps go up and b's go down from its end until they meet
    if (target < 0 || end_of(a) <= b.first) return false;
    Equation equation;
    for (const Footprint* each : {&a, &b}) {
        for (std::size_t d = 0; d < static_cast<std::size_t>(each->dims); ++d)
            equation.add(each->stride[d], each->count[d] - 1);
        equation.add(1, each->width - 1);
    }
    return equation.solvable(target);
}

bool overlaps_itself(const Footprint& cells) {
    if (is_empty(cells)) return false;
    const auto dims = by_falling_stride(upwards(cells));
    if (is_nested(dims, cells.width)) return false;
    // Two points differ by 1 or more in their first different dimension p, by anything in later
    // ones; a shared byte needs a distance below the width.
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

bool overlap(const std::vector<Footprint>& written, const std::vector<Footprint>& read) {
    if (std::any_of(written.begin(), written.end(), overlaps_itself)) return true;
    std::vector<std::pair<Footprint, bool>> all;
    for (const auto& each : written) all.emplace_back(upwards(each), true);
    for (const auto& each : read) all.emplace_back(upwards(each), false);
    std::erase_if(all, [](const auto& each) { return is_empty(each.first); });
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first.first < b.first.first; });
    for (auto a = all.begin(); a != all.end(); ++a)
        for (auto b = a + 1; b != all.end() && b->first.first < end_of(a->first); ++b)
            if ((a->second || b->second) && overlap(a->first, b->first)) return true;
    return false;
}

namespace {

// The creator of an interleaved pattern has checked its arrays.
bool is_interleaved(const Plan& plan, std::size_t f) {
    return plan.pattern_of(static_cast<int>(f)).interleaved;
}

// Cells of one block of a field; of an indexed field: its owned cells, or its ghosts.
class Cells {
public:
    Cells(const Plan& plan, std::size_t f, std::size_t b, const std::byte* first_cell)
        : plan_(plan), f_(f), b_(b), first_cell_(first_cell) {
        if (first_cell == nullptr) return;
        all_ =
            upwards(pattern().indexed() ? indexed()
                                        : box(grow(owned(), field().halo, pattern().dimensions)));
        if (pattern().indexed() || !owned().empty()) extend(all_);
    }

    bool empty() const { return first_ >= end_; }
    byte_count first() const { return first_; }
    byte_count end() const { return end_; }

    bool meet(const Cells& other) const {
        if (!overlap(all_, other.all_)) return false;
        const auto mine = touched(), others = other.touched();
        return any_pair(mine, others);
    }
    bool fold() const {
        if (!overlaps_itself(all_)) return false;
        auto pieces = touched();
        if (std::any_of(pieces.begin(), pieces.end(), overlaps_itself)) return true;
        while (pieces.size() > 1) {
            const Footprint piece = pieces.back();
            pieces.pop_back();
            if (any_pair({piece}, pieces)) return true;
        }
        return false;
    }

    std::string name() const {
        const std::string of = field_name(plan_, static_cast<int>(f_));
        if (pattern().indexed()) return (b_ == 0 ? "the owned cells of " : "the ghosts of ") + of;
        return pattern().blocks.size() == 1 ? of : "block " + std::to_string(b_) + " of " + of;
    }

private:
    const Field& field() const { return plan_.fields[f_]; }
    const BlockView& view() const { return field().blocks[b_]; }
    const Pattern& pattern() const { return plan_.pattern_of(static_cast<int>(f_)); }
    const Box& owned() const { return pattern().blocks[b_]; }

    void extend(const Footprint& cells) {
        if (is_empty(cells)) return;
        const bool none = empty();
        first_ = none ? cells.first : std::min(first_, cells.first);
        end_ = none ? end_of(cells) : std::max(end_, end_of(cells));
    }
    byte_count address() const {
        return static_cast<byte_count>(reinterpret_cast<std::intptr_t>(first_cell_));
    }

    Footprint footprint(const BoxLayout& layout) const {
        return {address() + layout.offset, field().element.size, layout.dims, layout.count,
                layout.stride};
    }
    Footprint box(const Box& cells) const {
        return footprint(box_in_field(plan_, static_cast<int>(f_),
                                      {static_cast<std::int32_t>(b_), cells, owned()}, cells));
    }
    Footprint indexed() const {
        const byte_count cells = b_ == 0 ? pattern().owned : pattern().ghosts;
        return {address(),
                field().element.size,
                2,
                {cells, field().components},
                {view().strides[0], field().stride_of_components(b_)}};
    }

    // Pieces that the exchange can read or write, by rising first byte.
    std::vector<Footprint> touched() const {
        std::vector<Footprint> pieces;
        if (pattern().indexed()) {
            pieces.push_back(all_);
        } else {
            pieces.push_back(upwards(box(owned())));
            for (const Stage& stage : pattern().stages)
                for (const Link& link : stage) add_ghosts(link, pieces);
        }
        std::erase_if(pieces, is_empty);
        std::sort(pieces.begin(), pieces.end(),
                  [](const Footprint& a, const Footprint& b) { return a.first < b.first; });
        return pieces;
    }
    void add_ghosts(const Link& link, std::vector<Footprint>& pieces) const {
        for (const BoxPiece& piece : link.receive.boxes) {
            if (piece.block != static_cast<std::int32_t>(b_)) continue;
            const Box cells = clipped(piece, field(), pattern().dimensions);
            if (piece.turn.seam && intersect(cells, owned()) == cells)
                continue;  // on the seam line
            if (!cells.empty()) pieces.push_back(upwards(box(cells)));
        }
    }

    // Sweeps both lists, which must be sorted by first byte.
    static bool any_pair(const std::vector<Footprint>& some, const std::vector<Footprint>& others) {
        auto next = others.begin();
        for (const Footprint& a : some) {
            while (next != others.end() && end_of(*next) <= a.first) ++next;
            for (auto b = next; b != others.end() && b->first < end_of(a); ++b)
                if (overlap(a, *b)) return true;
        }
        return false;
    }

    const Plan& plan_;
    std::size_t f_, b_;
    const std::byte* first_cell_;
    Footprint all_;  // with the full halo
    byte_count first_ = 0, end_ = 0;
};

constexpr auto pass_once =
    ": pass every array once, and arrays that do not overlap (a reverse exchange would count such "
    "cells twice)";

}  // namespace

void check_disjoint(const Plan& plan, Bases bases) {
    std::vector<Cells> all;
    for (std::size_t f = 0; f < plan.fields.size(); ++f)
        for (std::size_t b = 0; b < (is_interleaved(plan, f) ? 0 : plan.fields[f].blocks.size());
             ++b)
            if (Cells cells(plan, f, b, bases[static_cast<std::size_t>(plan.first_base[f]) + b]);
                !cells.empty())
                all.push_back(cells);
    for (const Cells& cells : all)
        if (cells.fold())
            throw Error("cells of " + cells.name() + " share memory with each other" + pass_once);
    std::vector<const Cells*> sorted;
    for (const Cells& cells : all) sorted.push_back(&cells);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Cells* a, const Cells* b) { return a->first() < b->first(); });
    for (std::size_t i = 0; i < sorted.size(); ++i)
        for (std::size_t j = i + 1; j < sorted.size() && sorted[j]->first() < sorted[i]->end(); ++j)
            if (sorted[i]->meet(*sorted[j])) {
                const auto [a, b] = std::minmax(sorted[i], sorted[j]);  // argument order
                throw Error(a->name() + " and " + b->name() + " share memory" + pass_once);
            }
}

}  // namespace parhelion
