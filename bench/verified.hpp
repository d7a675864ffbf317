#pragma once

#include <functional>
#include <memory>

#include "memory.hpp"
#include "parhelion/core/element.hpp"
#include "variant.hpp"

namespace parhelion::bench {

/// What cells hold after an exchange. Before it, all that are not owned are poison; those beyond
/// the grid stay so.
enum class Expect { owned, ghost, untouched };

/// Cells that follow each other in memory, and whose global indices do.
struct Run {
    std::byte* start;
    std::int64_t cells;
    std::uint64_t first_id;
    Expect expect;
    int field = 0;
};

/// Arrays that know what each of their cells must hold.
class VerifiedArrays : public Values {
public:
    VerifiedArrays(Element element, int components, std::shared_ptr<const Memory> memory)
        : element_(element), components_(components), memory_(std::move(memory)) {}

    void refresh(unsigned round) final;
    std::int64_t count_wrong(unsigned round) const final;

protected:
    using Visit = std::function<void(const Run&)>;
    /// Every cell once, field by field.
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
