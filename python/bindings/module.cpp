// The native module: the C++ objects as they are. Argument forms and NumPy arrays are the Python package's part.
#include "bindings.hpp"

NB_MODULE(_core, module) {
    using namespace parhelion::python;
    module.attr("__doc__") = "Parhelion's C++ objects, built against one MPI. Use the package parhelion instead.";
    // Objects that live until the interpreter ends are no fault of the user's; the check would print about them.
    nanobind::set_leak_warnings(false);
    bind_errors(module);
    bind_communicator(module);
    bind_memory(module);
    bind_cartesian_domain(module);
    bind_indexed_domain(module);
    bind_pattern(module);
    bind_field(module);
    bind_transports(module);
    bind_reduction(module);
    bind_exchange(module);
    bind_index_map(module);
    bind_point_sums(module);
    bind_redistribution(module);
    bind_ghost_rows(module);
    bind_ghost_exchange(module);
}
