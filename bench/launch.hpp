#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// Which cpus each rank may run on. The same on every rank.
struct Binding {
    std::vector<std::string> hosts;      // by rank
    std::vector<std::vector<int>> cpus;  // by rank, ascending
    std::string by;                      // launcher, self or none
    std::vector<int> cores;  // by rank: how many cores the ranks of its host have between them

    /// Whether two ranks are on one host, each on a single cpu that is not the other's.
    bool on_own_cores(int rank, int other) const;
};

/// Collective. With `bind`, ranks that the launcher left free on their node take one cpu each, the
/// i-th rank of the node the i-th in the order of `core_by_core`, beginning again where ranks
/// outnumber cpus. Ranks that the launcher did bind stay as they are.
Binding bind_ranks(const Communicator& comm, bool bind);

/// Collective. Whether the ranks of a node cannot all run at the same time.
bool more_ranks_than_cpus(const Communicator& node);

// The environment variables that a record may hold.

/// Those of this process that are known to steer MPI, its networks, threads or memory
/// (variables.txt), without any whose name or value smells of a secret (secrets.txt).
nlohmann::json known_variables();

bool smells_of_a_secret(const std::string& name, const std::string& value);

/// MPI's own control variables about alltoall, eager and rendezvous messages and collectives inside
/// a node, as MPI's tool interface (MPI-4.1 section 15.3) tells them: name to value. Empty where it
/// tells none. Local; needs MPI initialized.
nlohmann::json mpi_control_variables();

struct Beginning {
    double mpi_init_s = 0;         // 0: somebody else called it
    nlohmann::json cold_alltoall;  // see call_while_cold; null: not asked for
    nlohmann::json imports;        // of a program in Python; null: of none
};

/// What this start of the ranks ran on, for the record's `launch` line: MPI, shared objects loaded,
/// binding, hosts, the environment variables that steer MPI and its networks. Local; of this
/// process where ranks may differ.
nlohmann::json launch_facts(const Binding& binding, const Beginning& beginning);

}  // namespace parhelion::bench
