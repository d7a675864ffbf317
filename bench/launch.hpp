#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// The cpus of each rank; the same on every rank.
struct Binding {
  std::vector<std::string> hosts;      // by rank
  std::vector<std::vector<int>> cpus;  // by rank, ascending
  std::string by;                      // launcher, self or none
  std::vector<int> cores;              // by rank: cores that the ranks of its host share

  /// Whether two ranks are on one host, bound to one cpu each, not to the same.
  bool on_own_cores(int rank, int other) const;
};

/// Collective. With `bind`, binds the i-th rank of a node to the i-th cpu in the order of
/// `core_by_core`, round robin, if the launcher bound none of the node's ranks.
Binding bind_ranks(const Communicator& comm, bool bind);

/// Collective over the node. Whether its ranks outnumber its cpus.
bool more_ranks_than_cpus(const Communicator& node);

/// Environment variables of this process that control MPI, its networks, threads or memory
/// (variables.txt), except possible secrets (secrets.txt).
nlohmann::json known_variables();

bool smells_of_a_secret(const std::string& name, const std::string& value);

/// Local; needs MPI initialized. Values by name of MPI's control variables (MPI-4.1 section 15.3)
/// on alltoall, eager and rendezvous messages and device collectives; may be empty.
nlohmann::json mpi_control_variables();

struct Beginning {
  double mpi_init_s = 0;         // 0: the caller initialized MPI
  nlohmann::json cold_alltoall;  // of call_while_cold; null: not requested
  nlohmann::json imports;        // of a Python program; else null
};

/// Local. The record's `launch` line: MPI, loaded shared objects, binding, hosts and control
/// variables; of this process where ranks may differ.
nlohmann::json launch_facts(const Binding& binding, const Beginning& beginning);

}  // namespace parhelion::bench
