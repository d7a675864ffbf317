// A field on a structured grid that knows what it should hold.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parhelion/parhelion.hpp"
#include "support/cells.hpp"
#include "support/memory.hpp"
#include "support/values.hpp"

namespace test {

/// scattered: dimensions in any order, some running backwards, gaps everywhere, components apart or
/// interleaved, nothing aligned.
enum class Layout { c, fortran, scattered };

struct GridSpec {
    Element element;
    int components = 1;
    HaloWidth halo;  ///< the depth
    Layout layout = Layout::c;
    Stagger stagger = {};
    HaloWidth more = 0;  ///< that the array's halo is wider than the depth
};

class GridField {
public:
    GridField(const CartesianDomain& domain, const GridSpec& spec, int number, Memory memory);
    const Field& view() const { return view_; }

    /// Owned cells get their values of this round, everything else is poison.
    void fill(Values values, int round = 0);
    /// Ghosts that an owner will hear of get values of their own; with `replace`, all ghosts of a
    /// cell the same.
    void fill_ghosts(Reduction reduction);

    /// What the next exchange should lead to, from what `fill` wrote.
    void expect_forward();
    void expect_reverse(Reduction reduction);
    /// Lets ghosts be what they are: a staged reverse exchange uses them on the way.
    void accept_ghosts();

    /// Empty when everything is as expected, else the first cell that is not.
    std::string difference() const;
    std::vector<std::byte> copy() const;
    void restore(std::span<const std::byte> copy);
    /// Nothing was written before or behind the arrays.
    bool canaries_intact() const;

    std::byte* at(int block, const Coordinates& cell, int component);
    /// Addresses of all owned values, and of those of all ghosts that somebody fills.
    std::vector<std::byte*> owned_places();
    std::vector<std::byte*> ghost_places();
    const GridSpec& spec() const { return spec_; }

private:
    struct Array {
        Box owned, all;
        std::array<int, max_dimensions> position{};
        std::array<byte_count, max_dimensions> strides{};
        byte_count origin = 0;  // of the first owned cell
        byte_count bytes = 0;
        std::optional<WatchedBytes> memory;
    };
    PointModel model() const { return {domain_, spec_.stagger, spec_.halo}; }
    HaloWidth array_halo() const;
    void lay_out(Array& array) const;
    void scatter(Array& array) const;
    void make_view();
    byte_count offset(const Array& array, const Coordinates& cell, int component) const;
    std::uint64_t key(const Coordinates& cell, int component) const;
    std::uint64_t ghost_key(const AnyBlock& reader, const Coordinates& ghost,
                            const Coordinates& source, int component, Reduction reduction) const;
    template <class Visit>
    void for_each_ghost(Visit&& visit);
    std::string describe(std::size_t block, const Coordinates& cell, int component) const;

    const CartesianDomain& domain_;
    GridSpec spec_;
    int number_;
    int round_ = 0;
    Values values_ = Values::bits;
    byte_count component_stride_ = 0;
    bool components_inside_;
    std::vector<Array> arrays_;
    Field view_;
};

}  // namespace test
