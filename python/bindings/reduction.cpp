#include "reduction.hpp"

#include <nanobind/stl/string.h>

#include <utility>

#include "bindings.hpp"
#include "parhelion/core/error.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

std::string names(const std::string& before_last) {
    std::string all;
    for (int kind = 0; kind < Reduction::user; ++kind)
        all += (kind == 0 ? "" : kind + 1 == Reduction::user ? before_last : ", ") + to_string(static_cast<Reduction::Kind>(kind));
    return all;
}

Reduction parse(const std::string& name) {
    for (int kind = 0; kind < Reduction::user; ++kind)
        if (const Reduction one = static_cast<Reduction::Kind>(kind); to_string(one) == name) return one;
    throw Error("unknown reduction '" + name + "': use " + names(" or "));
}

}  // namespace

void PassedReduction::Own::combine(std::byte* into, const std::byte* from, byte_count bytes) const {
    nb::gil_scoped_acquire locked;
    if (raised_) return;
    try {
        const auto memory = [&](const std::byte* at, int flags) {
            return nb::steal(PyMemoryView_FromMemory(reinterpret_cast<char*>(const_cast<std::byte*>(at)), bytes, flags));
        };
        combine_(memory(into, PyBUF_WRITE), memory(from, PyBUF_READ));
    } catch (...) {
        raised_ = std::current_exception();
    }
}

PassedReduction::PassedReduction(nb::handle given) {
    if (nb::isinstance<nb::str>(given)) named_ = parse(nb::cast<std::string>(given));
    else if (nb::isinstance<PythonReduction>(given)) own_ = std::make_unique<Own>(*nb::inst_ptr<PythonReduction>(given));
    else throw Error("a reduction is a name (" + names(", ") + ") or a function of two arrays", ErrorKind::type);
}

void PassedReduction::rethrow() const {
    if (own_ && own_->raised_) std::rethrow_exception(std::exchange(own_->raised_, nullptr));
}

void bind_reduction(nb::module_& module) {
    nb::class_<PythonReduction>(module, "Reduction")
        .def(
            "__init__",
            [](PythonReduction* self, const std::string& element, nb::object combine) {
                new (self) PythonReduction{parse_element(element), std::move(combine)};
            },
            "element"_a, "combine"_a);
}

}  // namespace parhelion::python
