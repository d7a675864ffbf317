// Which arrays an exchange moves.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// Views of the arrays of a call, one for each field of an exchange. It refers to them; none means
/// those of the construction.
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
    /// First cells alone, as in `Plan::bases`, of arrays whose layouts the caller has compared.
    explicit ArrayList(const std::vector<std::byte*>& places)
        : places_(places.data()), size_(places.size()) {}

    std::size_t size() const { return size_; }
    Bases places() const { return places_; }
    /// View of field `f`, where the list is of views.
    const Field& operator[](std::size_t f) const { return many_ != nullptr ? many_[f] : *few_[f]; }

private:
    static constexpr std::size_t most = 32;
    const Field* many_ = nullptr;
    Bases places_ = nullptr;
    std::array<const Field*, most> few_;  // the first size_
    std::size_t size_ = 0;
};

/// Where the arrays of the exchange that is under way lie. Transports keep a reference and look at
/// the addresses whenever they copy. Binding allocates nothing and is local.
class BoundArrays {
public:
    /// Bound to the plan's arrays, the default. The plan must outlive it.
    explicit BoundArrays(const Plan& plan);

    /// Field by field, block by block.
    Bases bases() const { return bases_.data(); }
    std::size_t size() const { return bases_.size(); }
    /// Changes whenever an address does.
    std::uint64_t version() const { return version_; }

    /// Takes other arrays of the layouts that were compiled. Throws Error that says what differs
    /// where they have another layout, and where arrays share cells; then nothing has changed.
    /// None: the plan's own again.
    void bind(const ArrayList& arrays);

private:
    // What of a block must be as it was when the plan was made (masks: all bits, or none), and the
    // bytes that it takes, from its first owned cell.
    struct Shape {
        byte_count low = 0, high = 0;
        std::array<byte_count, max_dimensions> stride_masks{};
        byte_count components_mask = 0;
        bool has_cells() const { return low != high; }
    };
    static constexpr std::size_t most_known = 4;  // time levels
    std::size_t index(std::size_t f, std::size_t b) const {
        return static_cast<std::size_t>(plan_.first_base[f]) + b;
    }
    void add_shape(std::size_t f, std::size_t b);
    void want(const ArrayList& fields);
    bool is_like(std::size_t f, const Field& given) const;
    bool is_known() const;
    void require_disjoint();
    void require_device() const;
    void want_places(const ArrayList& places);
    void require_layout(std::size_t f, const Field& given) const;
    void require_block(std::size_t f, std::size_t b, const Field& given) const;
    bool moved_together() const;
    bool may_overlap() const;
    void accept(const std::vector<std::byte*>& bases);

    const Plan& plan_;
    std::vector<std::byte*> bases_, wanted_;
    std::array<std::vector<std::byte*>, most_known> known_;  // share no cells
    std::size_t next_known_ = 0;
    std::vector<Shape> shapes_;
    std::uint64_t version_ = 1;
};

}  // namespace parhelion
