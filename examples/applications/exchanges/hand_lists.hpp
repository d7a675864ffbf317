#pragma once

#include <deque>
#include <memory>

#include "ghost_update.hpp"

namespace applications {

/// Who gets which cells of this rank, and where the ghosts from whom lie. Entry n + 1 of an offset
/// is the end of entry n.
struct HandLists {
    std::vector<int> sources, ghost_offset;  // ranks, and cells of the ghosts
    std::vector<int> targets, send_offset;   // ranks, and places in `cells`
    std::vector<int> cells;                  // owned ones, target after target

    /// Collective: readers tell owners what they want.
    explicit HandLists(const Cells& mine);
    void pack(const double* values, std::size_t target, int components, double* packed) const;
};

/// Arrays of a way by hand, each with its buffers; those that are added together share their lists.
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
