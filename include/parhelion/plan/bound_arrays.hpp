// The arrays that an exchange currently moves.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// Views of the arrays of one call, one per field. Empty: the arrays of the construction.
class ArrayList {
 public:
  ArrayList() = default;
  template <std::same_as<Field>... Fields>
  explicit ArrayList(const Field& first, const Fields&... rest)
      : few_{&first, &rest...}, size_(1 + sizeof...(rest)) {
    static_assert(sizeof...(rest) < most, "pass more than 32 arrays as a vector of fields");
  }
  explicit ArrayList(const std::vector<Field>& fields)
      : many_(fields.data()), size_(fields.size()) {}
  /// Addresses of first cells, as in `Plan::bases`. The caller has compared the layouts.
  explicit ArrayList(const std::vector<std::byte*>& places)
      : places_(places.data()), size_(places.size()) {}

  std::size_t size() const { return size_; }
  Bases places() const { return places_; }
  /// View of field `f`. Requires a list of views.
  const Field& operator[](std::size_t f) const { return many_ != nullptr ? many_[f] : *few_[f]; }

 private:
  static constexpr std::size_t most = 32;
  const Field* many_ = nullptr;
  Bases places_ = nullptr;
  std::array<const Field*, most> few_;  // only the first size_ are set
  std::size_t size_ = 0;
};

/// Addresses of an exchange's current arrays, which transports read at every copy. Binding is local
/// and allocates nothing.
class BoundArrays {
 public:
  /// Binds the plan's arrays; the plan must outlive this object. `whole`: of what the plan is a
  /// subset of.
  explicit BoundArrays(const Plan& plan, const BoundArrays* whole = nullptr);

  /// Field by field, block by block.
  Bases bases() const { return bases_.data(); }
  std::size_t size() const { return bases_.size(); }
  /// Changes whenever an address changes.
  std::uint64_t version() const { return version_; }

  /// Binds other arrays of the compiled layouts; an empty list: the plan's own. Throws Error, and
  /// binds nothing, if a layout differs or if arrays share cells.
  void bind(const ArrayList& arrays);

 private:
  // A block's layout at plan time, and its bytes relative to the first owned cell. Masks: all
  // bits if the stride must match, else none.
  struct Shape {
    byte_count low = 0, high = 0;
    std::array<byte_count, max_dimensions> stride_masks{};
    byte_count components_mask = 0;
    bool has_cells() const { return low != high; }
  };
  static constexpr std::size_t most_known = 4;  // time levels
  void add_shape(int f, int b);
  void want(const ArrayList& fields);
  bool is_like(int f, const Field& given) const;
  void require_disjoint();
  void require_device() const;
  void want_places(const ArrayList& places);
  void require_layout(int f, const Field& given) const;
  void require_block(int f, int b, const Field& given) const;
  bool moved_together() const;
  bool may_overlap() const;
  void accept(const std::vector<std::byte*>& bases);

  const Plan& plan_;
  std::vector<std::byte*> bases_, wanted_;
  std::array<std::vector<std::byte*>, most_known> known_;  // verified not to share cells
  std::size_t next_known_ = 0;
  std::vector<Shape> shapes_;
  int device_;  // of the plan's arrays, which may be freed later; -1: the host's
  std::uint64_t version_ = 1;
};

}  // namespace parhelion
