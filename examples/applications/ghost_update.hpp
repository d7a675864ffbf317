#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cells.hpp"

namespace applications {

/// Messages and bytes that one rank sends.
struct Traffic {
  std::int64_t bytes = 0, messages = 0;
  bool known = true;
};

/// An array with ghosts: `components` values per cell, owned cells first.
struct Ghosted {
  std::span<double> values;
  std::size_t number = 0;  // index of the array, for update()
};

/// Interface through which applications fill ghosts. Each implementation is a file in exchanges/;
/// applications depend on none.
class GhostUpdate {
 public:
  virtual ~GhostUpdate() = default;
  /// Adds `count` zeroed arrays of the same cells; this object owns them. Collective.
  virtual std::vector<Ghosted> add(const Cells& cells, int components, int count = 1) = 0;
  /// Copies owned values to ghosts. Waits for the neighbors of this rank.
  virtual void update(std::size_t number) = 0;
  /// Traffic of one update of an array.
  virtual Traffic traffic(std::size_t number) const = 0;
  /// Explains the choice of transport; empty if the method has no choice.
  virtual std::string explain() const { return {}; }
};

}  // namespace applications
