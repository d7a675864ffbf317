// Interface for moving values between two domains of one kind.
#pragma once

#include "parhelion/redistribution/redistribution.hpp"

namespace parhelion {

class Redistribution::Mover {
 public:
  virtual ~Mover() = default;
  virtual void prepare(std::span<const Move> arrays) = 0;
  virtual void move(std::span<const Move> arrays, Direction direction) = 0;
  virtual std::string explain() const = 0;
};

/// Collective.
std::unique_ptr<Redistribution::Mover> move_boxes(const CartesianDomain& from,
    const CartesianDomain& to, ExchangeOptions options, std::vector<int> axes);
std::unique_ptr<Redistribution::Mover> move_cells(
    const IndexedDomain& from, const IndexedDomain& to, ExchangeOptions options);

/// Throw Error unless communicators, or elements and components, match.
void require_one_communicator(const Communicator& from, const Communicator& to);
void require_alike(std::span<const Move> arrays);

}  // namespace parhelion
