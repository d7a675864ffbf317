// The native module; the package converts arguments and arrays.
#include "bindings.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/exchange/exchange.hpp"
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

void bind_errors(nb::module_& module) {
  nb::enum_<ErrorKind>(
      module, "ErrorKind", "What kind of mistake an error reports.", nb::is_arithmetic())
      .value("VALUE", ErrorKind::value)
      .value("TYPE", ErrorKind::type)
      .value("COMMUNICATION", ErrorKind::communication)
      .value("TIMEOUT", ErrorKind::timeout)
      .value("LOST_PEER", ErrorKind::lost_peer)
      .value("SYSTEM", ErrorKind::system);
  nb::register_exception_translator(translate);
}

void bind_memory(nb::module_& module) {
  module.def(
      "allocate_node_shared",
      [](byte_count bytes) {
        auto memory = unlocked([&] { return allocate_node_shared(bytes); });
        auto* const first = reinterpret_cast<std::uint8_t*>(memory.get());
        return numpy_of(first, static_cast<std::size_t>(bytes), std::move(memory));
      },
      "bytes"_a,
      "Zeroed bytes in memory that the ranks of this node can map, aligned to 64. Local.");
  module.def(
      "is_node_shared",
      [](std::uintptr_t address) {
        return find_node_shared(reinterpret_cast<const void*>(address)).has_value();
      },
      "address"_a, "Whether allocate_node_shared gave the memory at this address. Local.");
}

const char* reach_of(Scope scope) {
  return scope == Scope::anywhere ? "anywhere" : scope == Scope::same_node ? "node" : "rank";
}

// (name, description, reach, reason why it is unavailable or "")
using Told = std::tuple<std::string, std::string, std::string, std::string>;
std::vector<Told> list_transports() {
  std::vector<Told> all;
  for (const TransportInfo& info : transports())
    all.emplace_back(info.name, info.description, reach_of(info.scope),
        info.unavailable ? info.unavailable() : std::string());
  return all;
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
  bind_errors(module);
  bind_communicator(module);
  bind_memory(module);
  module.def("transports", &list_transports);
  bind_domains(module);
  bind_exchange(module);
  bind_index_map(module);
  bind_sums_and_moves(module);
  stop_progress_at_end(module);
}
