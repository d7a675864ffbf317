#pragma once

#include <deque>
#include <memory>

#include "ghost_update.hpp"

namespace applications {

/// Send and receive lists. Neighbor n has the entries from offset[n] to offset[n + 1].
struct HandLists {
  std::vector<int> sources, ghost_offset;  // ranks; offsets into the ghosts
  std::vector<int> targets, send_offset;   // ranks; offsets into `cells`
  std::vector<int> cells;                  // owned cells to send, sorted by target

  /// Collective: each rank sends the owners the ids of its ghosts.
  explicit HandLists(const Cells& mine);
  void pack(const double* values, std::size_t target, int components, double* packed) const;
};

/// Base of the hand-written exchanges. Arrays from one call of add() share their lists; each array
/// has its own buffers.
template <class Array, class Lists = HandLists>
class HandUpdate : public GhostUpdate {
 public:
  std::vector<Ghosted> add(const Cells& cells, int components, int count) override {
    const auto lists = std::make_shared<const Lists>(cells);
    std::vector<Ghosted> added;
    for (int i = 0; i < count; ++i) {
      Array& array = arrays_.emplace_back(lists, cells, components);
      added.push_back({array.values, arrays_.size() - 1});
    }
    return added;
  }
  Traffic traffic(std::size_t number) const override {
    const Array& array = arrays_[number];
    return {static_cast<std::int64_t>(array.packed.size() * sizeof(double)),
        static_cast<std::int64_t>(array.lists->targets.size())};
  }

 protected:
  std::deque<Array> arrays_;
};

}  // namespace applications
