#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cells.hpp"

namespace applications {

/// What one rank sends to others.
struct Traffic {
    std::int64_t bytes = 0, messages = 0;
};

/// An array whose ghosts an exchange fills: `components` values per cell, owned cells first.
struct Ghosted {
    std::span<double> values;
    std::size_t number = 0;  // of the array among all that were added
};

/// How an application's arrays get their ghosts from other ranks. There is a file in exchanges/ for
/// each; applications know none.
class GhostUpdate {
public:
    virtual ~GhostUpdate() = default;
    /// Collective. `count` zeroed arrays of the same cells. They live as long as this.
    virtual std::vector<Ghosted> add(const Cells& cells, int components, int count = 1) = 0;
    /// Owner to ghost. Waits for the neighbors of this rank.
    virtual void update(std::size_t number) = 0;
    /// What one update of an array sends.
    virtual Traffic traffic(std::size_t number) const = 0;
    /// Why it does what it does; empty for those that do not choose.
    virtual std::string explain() const { return {}; }
};

}  // namespace applications
