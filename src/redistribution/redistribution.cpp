#include "parhelion/redistribution/redistribution.hpp"

#include "core/concat.hpp"
#include "plan/array_block.hpp"
#include "redistribution/mover.hpp"

namespace parhelion {

void require_one_communicator(const Communicator& from, const Communicator& to) {
  if (!from.is(to))
    refuse(
        "the two domains have different communicators: construct both on one; ranks may own "
        "nothing in either");
}

void require_alike(std::span<const Move> arrays) {
  if (arrays.empty()) refuse("no arrays were passed: name a pair of arrays, one of each domain");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto& [from, to] = arrays[i];
    if (from.element != to.element || from.components != to.components)
      throw Error(concat("pair ", i, " has ", to_string(from.element), " × ", from.components,
                      " and ", to_string(to.element), " × ", to.components,
                      ": pass arrays of equal elements and components"),
          ErrorKind::type);
    require_on_host(from);
    require_on_host(to);
  }
}

Redistribution::Redistribution(const CartesianDomain& from, const CartesianDomain& to,
    ExchangeOptions options, std::vector<int> axes)
    : mover_(move_boxes(from, to, std::move(options), std::move(axes))) {}
Redistribution::Redistribution(
    const IndexedDomain& from, const IndexedDomain& to, ExchangeOptions options)
    : mover_(move_cells(from, to, std::move(options))) {}
Redistribution::~Redistribution() = default;
Redistribution::Redistribution(Redistribution&&) noexcept = default;
Redistribution& Redistribution::operator=(Redistribution&&) noexcept = default;

void Redistribution::forward(std::span<const Move> arrays) {
  mover_->move(arrays, Direction::forward);
}
void Redistribution::back(std::span<const Move> arrays) {
  mover_->move(arrays, Direction::reverse);
}
void Redistribution::prepare(std::span<const Move> arrays) { mover_->prepare(arrays); }
std::string Redistribution::explain() const { return mover_->explain(); }

}  // namespace parhelion
