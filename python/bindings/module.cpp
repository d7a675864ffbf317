// The native module; the package converts arguments and arrays.
#include "bindings.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/transport/transport.hpp"

namespace parhelion::python {
namespace {

// Maps C++ errors to the exceptions of parhelion.errors.
void translate(const std::exception_ptr& raised, void*) {
  try {
    std::rethrow_exception(raised);
  } catch (const Error& error) {
    nb::object type = nb::borrow(PyExc_RuntimeError);
    try {
      type =
          nb::module_::import_("parhelion.errors").attr("class_of")(static_cast<int>(error.kind()));
    } catch (const nb::python_error&) {  // used without the package
    }
    PyErr_SetString(type.ptr(), error.what());
  }
}

// A function with one agreement, as a collective call made in Python.
template <class Result, class... Arguments>
auto called(Result (*work)(const Communicator&, Arguments...)) {
  return [work](const Communicator& comm, const std::string& call, double timeout_s,
             Arguments... arguments) {
    const CollectiveCall current(comm, call, timeout_s);
    try {
      return work(comm, std::move(arguments)...);
    } catch (...) {
      current.fail();
    }
  };
}

void agree_on(const Communicator& comm, const std::string& complaint, int kind) {
  agree(comm, {!complaint.empty(), complaint, ErrorKind{kind}});
}

void require_equal_values(const Communicator& comm, const std::string& what,
    const std::string& name, std::int64_t value, const std::string& remedy) {
  require_equal(comm, what, [&](Properties& told) { told.add(name, value); }, remedy);
}

// Communicators cross as Fortran handles, the only form common to every MPI and mpi4py.
void bind_communicator(nb::module_& module) {
  nb::class_<Communicator>(module, "Communicator")
      .def(nb::new_([](int handle) { return Communicator(comm_from_fortran(handle)); }), Unlocked())
      .def_prop_ro("rank", &Communicator::rank)
      .def_prop_ro("size", &Communicator::size)
      .def("agree", called(&agree_on), Unlocked())
      .def("require_equal", called(&require_equal_values), Unlocked())
      .def("largest", called(&largest), Unlocked())
      .def("total", called(&total), Unlocked())
      .def("total_before", called(&total_before), Unlocked())
      .def("of_all", called(&of_all), Unlocked());
}

void bind_memory(nb::module_& module) {
  module.def("allocate_node_shared", [](byte_count bytes) {
    auto memory = unlocked([&] { return allocate_node_shared(bytes); });
    auto* const first = reinterpret_cast<std::uint8_t*>(memory.get());
    return numpy_of(first, static_cast<std::size_t>(bytes), std::move(memory));
  });
  module.def("is_node_shared", [](std::uintptr_t address) {
    return find_node_shared(reinterpret_cast<const void*>(address)).has_value();
  });
}

// A thread in a reduction waits for the lock, which the caller of MPI_Finalize holds.
void stop_progress_unlocked() {
  if (Py_IsInitialized() && PyGILState_Check()) unlocked(stop_progress);
}

// Before the interpreter ends, and before MPI does.
void stop_progress_at_end(nb::module_& module) {
  module.def("stop_progress", &stop_progress, Unlocked());
  nb::module_::import_("atexit").attr("register")(module.attr("stop_progress"));
  when_mpi_ends(stop_progress_unlocked);
}

}  // namespace
}  // namespace parhelion::python

NB_MODULE(_core, module) {
  using namespace parhelion::python;
  module.attr("__doc__") =
      "Parhelion's C++ objects, built against one MPI. Use the package parhelion instead.";
  // Objects that live until exit are not the user's fault.
  nb::set_leak_warnings(false);
  nb::register_exception_translator(translate);
  bind_communicator(module);
  bind_memory(module);
  module.def("transports", [] {
    return list_of(parhelion::transports(), [](const parhelion::TransportInfo& info) {
      return nb::make_tuple(info.name, info.description, static_cast<int>(info.scope),
          info.unavailable ? info.unavailable() : "");
    });
  });
  bind_domains(module);
  bind_exchange(module);
  bind_index_map(module);
  bind_sums_and_moves(module);
  stop_progress_at_end(module);
}
