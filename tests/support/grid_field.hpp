// A self-checking field on a structured grid.
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

/// scattered: permuted dimensions, negative strides, gaps, separate or interleaved components, no
/// alignment.
enum class Layout { c, fortran, scattered };

struct GridSpec {
  Element element;
  int components = 1;
  HaloWidth halo;  ///< the depth
  Layout layout = Layout::c;
  Stagger stagger = {};
  HaloWidth more = 0;  ///< excess of the array halo over the depth
};

class GridField {
 public:
  GridField(const CartesianDomain& domain, const GridSpec& spec, int number, Memory memory);
  const Field& view() const { return view_; }

  /// Writes the round's values to owned cells and poison elsewhere.
  void fill(Values values, int round = 0);
  /// Writes distinct values to ghosts with an owner; with `replace`, equal ones to all ghosts of
  /// a cell.
  void fill_ghosts(Reduction reduction);

  /// Sets the expected result of the next exchange after `fill`.
  void expect_forward();
  void expect_reverse(Reduction reduction);
  /// Accepts any ghosts: a staged reverse exchange overwrites them.
  void accept_ghosts();

  /// The first unexpected cell; empty if there is none.
  std::string difference() const;
  std::vector<std::byte> copy() const;
  void restore(std::span<const std::byte> copy);
  bool canaries_intact() const;

  std::byte* at(int block, const Coordinates& cell, int component);
  /// Addresses of all owned values, and of all ghosts with a source.
  std::vector<std::byte*> owned_places();
  std::vector<std::byte*> ghost_places();
  const GridSpec& spec() const { return spec_; }

 private:
  struct Array {
    Box owned, all;
    std::array<int, max_dimensions> position{};
    std::array<byte_count, max_dimensions> strides{};
    byte_count origin = 0;  // offset of the first owned cell
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
