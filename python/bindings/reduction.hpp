// Reductions as Python names or defines them.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <memory>
#include <string>

#include "parhelion/core/reduction.hpp"

namespace parhelion::python {

/// A function of Python's: `combine(into, other)`, on the memory of elements.
struct PythonReduction {
    Element element;
    nanobind::object combine;
};

/// A reduction as it is passed to one exchange: by name, or a Reduction, which stays as long as this. What the function raises is
/// kept until `rethrow`, for in the midst of an exchange it would leave other ranks waiting; it belongs to this exchange alone, and
/// nothing is combined from then on. Used with the interpreter's lock.
class PassedReduction {
public:
    /// Throws Error naming the choices.
    explicit PassedReduction(nanobind::handle given);
    Reduction reduction() const { return own_ ? Reduction(*own_) : named_; }
    void rethrow() const;

private:
    // Called without the interpreter's lock, as often as there are neighbors and arrays.
    class Own final : public UserReduction {
    public:
        explicit Own(const PythonReduction& by) : UserReduction(by.element), combine_(by.combine) {}
        void combine(std::byte* into, const std::byte* from, byte_count bytes) const override;
        bool wants_many() const override { return true; }
        bool has_failed() const override { return raised_ != nullptr; }

        mutable std::exception_ptr raised_;

    private:
        nanobind::object combine_;
    };

    Reduction named_ = Reduction::sum;
    std::unique_ptr<Own> own_;
};

}  // namespace parhelion::python
