// Reductions as Python names or defines them.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <string>

#include "parhelion/core/reduction.hpp"

namespace parhelion::python {

/// Calls `combine(into, other)` with the memory of elements, as often as there are neighbors and arrays. What it raises is kept until
/// `rethrow`: in the midst of an exchange it would leave other ranks waiting.
class PythonReduction final : public UserReduction {
public:
    PythonReduction(const std::string& element, nanobind::object combine)
        : UserReduction(parse_element(element)), combine_(std::move(combine)) {}
    void combine(std::byte* into, const std::byte* from, byte_count bytes) const override;
    bool wants_many() const override { return true; }
    /// With the interpreter's lock.
    void rethrow() const;

private:
    nanobind::object combine_;
    mutable std::exception_ptr raised_;
};

/// A name, or a Reduction. Throws Error naming the choices.
Reduction to_reduction(nanobind::handle given);
/// Raises what a reduction of Python's has raised.
void rethrow(const Reduction& reduction);

}  // namespace parhelion::python
