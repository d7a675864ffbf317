#include "reduction.hpp"

#include <nanobind/stl/string.h>

#include <utility>

#include "bindings.hpp"
#include "python_exchange.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {

void PythonReduction::combine(std::byte* into, const std::byte* from, byte_count bytes) const {
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

void PythonReduction::rethrow() const {
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
}

Reduction to_reduction(nb::handle given) {
    if (nb::isinstance<nb::str>(given)) return parse_reduction(nb::cast<std::string>(given));
    if (nb::isinstance<PythonReduction>(given)) return *nb::inst_ptr<PythonReduction>(given);
    throw Error("a reduction is a name (" + reduction_names(", ") + ") or a function of two arrays", ErrorKind::type);
}

void rethrow(const Reduction& reduction) {
    if (reduction.by() != nullptr) static_cast<const PythonReduction*>(reduction.by())->rethrow();
}

void bind_reduction(nb::module_& module) {
    nb::class_<PythonReduction>(module, "Reduction").def(nb::init<const std::string&, nb::object>(), "element"_a, "combine"_a);
}

}  // namespace parhelion::python
