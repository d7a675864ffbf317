// C++ errors become the exceptions of parhelion.errors.
#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "parhelion/core/error.hpp"

namespace nb = nanobind;

namespace parhelion::python {
namespace {

// A new reference, or null when the module is used outside of its package.
PyObject* find_class(ErrorKind kind) {
    PyObject* errors = PyImport_ImportModule("parhelion.errors");
    if (errors == nullptr) return nullptr;
    PyObject* found = PyObject_CallMethod(errors, "class_of", "i", static_cast<int>(kind));
    Py_DECREF(errors);
    return found;
}

void translate(const std::exception_ptr& raised, void*) {
    try {
        std::rethrow_exception(raised);
    } catch (const Error& error) {
        PyObject* type = find_class(error.kind());
        if (type == nullptr) PyErr_Clear();
        PyErr_SetString(type != nullptr ? type : PyExc_RuntimeError, error.what());
        Py_XDECREF(type);
    }
}

}  // namespace

void bind_errors(nb::module_& module) {
    nb::enum_<ErrorKind>(module, "ErrorKind", "What kind of mistake an error reports.", nb::is_arithmetic())
        .value("VALUE", ErrorKind::value)
        .value("TYPE", ErrorKind::type)
        .value("COMMUNICATION", ErrorKind::communication)
        .value("TIMEOUT", ErrorKind::timeout)
        .value("LOST_PEER", ErrorKind::lost_peer)
        .value("SYSTEM", ErrorKind::system);
    nb::register_exception_translator(translate);
}

}  // namespace parhelion::python
