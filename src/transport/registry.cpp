#include "parhelion/core/error.hpp"
#include "transport/factories.hpp"
#include "transport/node/xpmem.hpp"

namespace parhelion {
namespace {

std::string works() { return {}; }

// Other names of a transport, for people who do not care which of MPI's ways it is.
const TransportInfo* alias(const std::string& name) {
    static const TransportInfo mpi{"mpi", "persistent MPI requests", Scope::anywhere, works, make_mpi_persistent};
    return name == mpi.name ? &mpi : nullptr;
}

}  // namespace

#ifndef PARHELION_WITH_UCX
std::string ucx_missing() { return "this build was made without UCX's headers (pip install libucx-cu12, then build again)"; }
std::unique_ptr<Transport> make_ucx(const TransportContext&) { throw Error(ucx_missing()); }
#endif

const std::vector<TransportInfo>& transports() {
    static const std::vector<TransportInfo> all{
        {"loopback", "copies to the rank's own periodic images", Scope::own_rank, works, make_loopback},
        {"mpi_p2p", "MPI_Isend and MPI_Irecv", Scope::anywhere, works, make_mpi_p2p},
        {"mpi_persistent", "persistent MPI requests", Scope::anywhere, works, make_mpi_persistent},
        {"mpi_neighbor", "MPI neighborhood collective", Scope::anywhere, works, make_mpi_neighbor},
        {"mpi_partitioned", "MPI messages in partitions, for threads", Scope::anywhere, partitioned_missing, make_mpi_partitioned},
        {"shared", "one copy between arrays in node-shared memory", Scope::same_node, works, make_shared_transport},
        {"staged_shared", "two copies through rings in node-shared memory", Scope::same_node, works, make_staged_shared},
        {"xpmem", "one copy between arrays that XPMEM maps", Scope::same_node, xpmem_unavailable, make_xpmem},
        {"cma", "one copy by the kernel (process_vm_readv)", Scope::same_node, works, make_cma},
        {"ucx", "messages by UCX, without MPI", Scope::anywhere, ucx_missing, make_ucx},
    };
    return all;
}

const TransportInfo& find_transport(const std::string& name) {
    if (const TransportInfo* other = alias(name)) return *other;
    std::string names;
    for (const TransportInfo& info : transports()) {
        if (info.name == name) {
            const std::string why_not = info.unavailable();
            if (!why_not.empty()) throw Error("transport " + name + " cannot be used here: " + why_not);
            return info;
        }
        names += (names.empty() ? "" : ", ") + info.name;
    }
    throw Error("there is no transport '" + name + "': use auto, or one of " + names);
}

}  // namespace parhelion
