// Communicators cross as Fortran handles, the only form common to every MPI and mpi4py.
#include "parhelion/core/communicator.hpp"

#include "bindings.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/mpi_lifetime.hpp"

namespace parhelion::python {
namespace {

// One agreement, as a collective call made in Python.
template <class Work>
auto doing(const Communicator& comm, const std::string& call, double timeout_s, Work&& work) {
  const CollectiveCall current(comm, call, timeout_s);
  try {
    return work();
  } catch (...) {
    current.fail();
  }
}

// Binds `of(comm, values)`; all ranks pass equally many numbers.
template <class Of>
void bind_numbers(nb::class_<Communicator>& to, const char* name, Of of, const std::string& what) {
  using Values = std::vector<std::int64_t>;
  to.def(
      name,
      [of](const Communicator& comm, const Values& values, const std::string& call,
          double timeout_s) {
        return doing(comm, call, timeout_s, [&] { return of(comm, values); });
      },
      "values"_a, "call"_a, "timeout_s"_a = 0, Unlocked(), (what + "; all pass as many.").c_str());
}

}  // namespace

void bind_communicator(nb::module_& module) {
  nb::class_<Communicator> bound(
      module, "Communicator", "The library's own duplicate of a communicator.");
  bind_numbers(bound, "largest", &largest,
      "Collective, one reduction. Of each value the largest that a rank has");
  bind_numbers(bound, "total", &total, "Collective. The sum of each value over all ranks");
  bind_numbers(bound, "total_before", &total_before,
      "Collective. The sum of each value over the ranks before this one");
  bind_numbers(bound, "of_all", &of_all, "Collective. The values of all ranks, rank after rank");
  bound
      .def(
          "__init__",
          [](Communicator* self, int handle) {
            new (self) Communicator(comm_from_fortran(handle));
          },
          "fortran_handle"_a, Unlocked(),
          "Collective the first time for a communicator (it duplicates), local afterwards.")
      .def_prop_ro("rank", &Communicator::rank)
      .def_prop_ro("size", &Communicator::size)
      .def(
          "agree",
          [](const Communicator& comm, const std::string& complaint, ErrorKind kind,
              const std::string& call, double timeout_s) {
            doing(
                comm, call, timeout_s, [&] { agree(comm, {!complaint.empty(), complaint, kind}); });
          },
          "complaint"_a, "kind"_a, "call"_a, "timeout_s"_a, Unlocked(),
          "Collective. Raises the complaint of the lowest rank that has one, on every rank.\n\n"
          "`call`: what the ranks do, equal on all; `timeout_s`: 0: PARHELION_TIMEOUT.")
      .def(
          "require_equal",
          [](const Communicator& comm, const std::string& what, const std::string& name,
              std::int64_t value, const std::string& remedy, const std::string& call,
              double timeout_s) {
            doing(comm, call, timeout_s, [&] {
              require_equal(comm, what, [&](Properties& told) { told.add(name, value); }, remedy);
            });
          },
          "what"_a, "name"_a, "value"_a, "remedy"_a, "call"_a, "timeout_s"_a, Unlocked(),
          "Collective. Raises ValueError on every rank, with a rank that differs, unless all "
          "have the same value.");
}

}  // namespace parhelion::python
