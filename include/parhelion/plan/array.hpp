// Arrays for the values of a domain, in memory that neighbors on the node can reach.
#pragma once

#include <memory>
#include <vector>

#include "parhelion/core/checked.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/plan/field.hpp"

namespace parhelion {

/// One zeroed array per block with a halo around the owned cells; owns its memory, copies share it.
///
///     auto u = make_array<float>(domain);
///     u(i, j, k) = 1;                      // global coordinates; ghosts lie outside of the owned box
template <class T>
class Array {
public:
    Array(const CartesianDomain& domain, HaloWidth halo, ArrayLayout layout) : dimensions_(domain.dimensions()) {
        std::vector<std::byte*> starts;
        for (int b = 0; b < static_cast<int>(domain.blocks().size()); ++b) {
            byte_count bytes = static_cast<byte_count>(sizeof(T)) * layout.components;
            for (global_index extent : array_extents(domain, halo, b)) bytes = checked_product({bytes, extent}, "the size of an array");
            memory_.push_back(allocate_node_shared(bytes));
            boxes_.push_back(domain.owned(b));
            starts.push_back(memory_.back().get());
        }
        field_ = view_blocks(domain, starts, element_of<T>(), halo, layout);
    }

    T* data(int block = 0) { return reinterpret_cast<T*>(memory_[static_cast<std::size_t>(block)].get()); }
    const Field& field() const { return field_; }

    /// Component of a cell by its global coordinates. No bounds are checked.
    T& at(const Coordinates& cell, int component = 0, int block = 0) {
        const auto b = static_cast<std::size_t>(block);
        std::byte* place = field_.blocks[b].first + component * field_.stride_of_components(b);
        for (int d = 0; d < dimensions_; ++d) place += (cell[d] - boxes_[b].lo[d]) * field_.blocks[b].strides[d];
        return *reinterpret_cast<T*>(place);
    }
    template <class... Index>
    T& operator()(Index... index) { return at({static_cast<global_index>(index)...}); }

private:
    int dimensions_;
    std::vector<std::shared_ptr<std::byte>> memory_;
    std::vector<Box> boxes_;
    Field field_;
};

/// Zeroed array in node-shared memory with the domain's halo. Local. Throws Error when there is not enough memory.
template <class T>
Array<T> make_array(const CartesianDomain& domain, ArrayLayout layout = {}) { return {domain, domain.halo(), layout}; }
template <class T>
Array<T> make_array(const CartesianDomain& domain, const HaloWidth& halo, ArrayLayout layout = {}) {
    return {domain, halo, layout};
}

template <class T>
const Field& view(const Array<T>& array) { return array.field(); }

}  // namespace parhelion
