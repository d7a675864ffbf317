// What each file of the binding adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace parhelion::python {

void bind_errors(nanobind::module_& module);
void bind_communicator(nanobind::module_& module);
void bind_memory(nanobind::module_& module);
void bind_cartesian_domain(nanobind::module_& module);
void bind_indexed_domain(nanobind::module_& module);
void bind_pattern(nanobind::module_& module);
void bind_field(nanobind::module_& module);
void bind_transports(nanobind::module_& module);
void bind_reduction(nanobind::module_& module);
void bind_exchange(nanobind::module_& module);
void bind_index_map(nanobind::module_& module);
void bind_point_sums(nanobind::module_& module);
void bind_redistribution(nanobind::module_& module);
void bind_ghost_rows(nanobind::module_& module);
void bind_ghost_exchange(nanobind::module_& module);

}  // namespace parhelion::python
