// DOLFINx's vector, as programs use it.
#pragma once

#include <dolfinx/common/IndexMap.h>
#include <dolfinx/la/Vector.h>

#include <memory>
#include <span>

#include "adapter.h"

class DolfinxVector {
 public:
  explicit DolfinxVector(const phl_adapter_cells& cells)
      : vector_(std::make_shared<dolfinx::common::IndexMap>(cells.comm, cells.owned,
                    std::span(cells.ghost_ids, static_cast<std::size_t>(cells.ghosts)),
                    std::span(cells.ghost_owners, static_cast<std::size_t>(cells.ghosts))),
            cells.components) {}

  double* values() { return vector_.mutable_array().data(); }
  void exchange() { vector_.scatter_fwd(); }

 private:
  dolfinx::la::Vector<double> vector_;
};
