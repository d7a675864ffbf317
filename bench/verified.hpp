#pragma once

#include <functional>
#include <memory>

#include "memory.hpp"
#include "parhelion/core/element.hpp"
#include "variant.hpp"

namespace parhelion::bench {

/// Expected state of cells after an exchange. Before it, all but owned cells are poison; untouched
/// ones, beyond the grid, stay so.
enum class Expect { owned, ghost, untouched };

/// Cells that are contiguous in memory and in global index.
struct Run {
  std::byte* start;
  std::int64_t cells;
  std::uint64_t first_id;
  Expect expect;
  int field = 0;
};

/// Arrays that write and check the values of each cell.
class VerifiedArrays : public Values {
 public:
  VerifiedArrays(Element element, int components, std::shared_ptr<const Memory> memory)
      : element_(element), components_(components), memory_(std::move(memory)) {}

  void refresh(unsigned round) final;
  std::int64_t count_wrong(unsigned round) const final;
  const std::shared_ptr<const Memory>& memory() const { return memory_; }

 protected:
  using Visit = std::function<void(const Run&)>;
  /// Visits every cell once, field by field.
  virtual void for_each_run(const Visit& visit) const = 0;
  std::byte* block(int index) const { return memory_->block(index); }

 private:
  /// visit(values of the lane type, cells, run, keys of its field)
  template <class Body>
  void for_each_values(unsigned round, Body&& body) const;

  Element element_;
  int components_;
  std::shared_ptr<const Memory> memory_;
};

}  // namespace parhelion::bench
