#include "binding.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>

#include "core/usable_cores.hpp"

namespace parhelion::bench {

namespace {

constexpr std::size_t most_cpus = 1 << 14;  // cpu_set_t ends at 1,024
using CpuSet = std::bitset<most_cpus>;
using Words = std::array<std::uint64_t, most_cpus / 64>;

CpuSet my_cpus() {
    const CpuMask words = usable_threads();
    CpuSet cpus;
    for (std::size_t cpu = 0; cpu < std::min(most_cpus, words.size() * 64); ++cpu)
        cpus[cpu] = words[cpu / 64] >> cpu % 64 & 1;
    return cpus;
}

void run_only_on(std::size_t cpu) {
    if (cpu >= most_cpus) return;
    Words words{};
    words[cpu / 64] = std::uint64_t{1} << cpu % 64;
    // Where it is refused, the list read back afterwards shows it.
    sched_setaffinity(0, sizeof words, reinterpret_cast<const cpu_set_t*>(words.data()));
}

std::vector<int> listed(const CpuSet& cpus) {
    std::vector<int> list;
    for (std::size_t cpu = 0; cpu < most_cpus; ++cpu)
        if (cpus[cpu]) list.push_back(static_cast<int>(cpu));
    return list;
}

template <class T>
std::vector<T> from_all_ranks(MPI_Comm comm, const T& mine) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    std::vector<T> all(static_cast<std::size_t>(size));
    MPI_Allgather(&mine, sizeof(T), MPI_BYTE, all.data(), sizeof(T), MPI_BYTE, comm);
    return all;
}

std::string my_host() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

std::vector<std::string> all_hosts(const Communicator& comm) {
    std::array<char, 256> mine{};
    my_host().copy(mine.data(), mine.size() - 1);
    std::vector<std::string> hosts;
    for (const auto& name : from_all_ranks(comm.handle(), mine)) hosts.emplace_back(name.data());
    return hosts;
}

// A launcher that binds gives the ranks of a node different cpus, or a single rank fewer than the
// node has.
bool left_free(const Communicator& node) {
    const CpuSet mine = my_cpus();
    if (mine.count() < 2) return false;
    for (const CpuSet& other : from_all_ranks(node.handle(), mine))
        if (other != mine) return false;
    return true;
}

CpuMask threads_of_all(const Communicator& node) {
    CpuMask threads = usable_threads();
    MPI_Allreduce(MPI_IN_PLACE, threads.data(), static_cast<int>(threads.size()), MPI_UINT64_T,
                  MPI_BOR, node.handle());
    return threads;
}

}  // namespace

bool Binding::on_own_cores(int rank, int other) const {
    const auto a = static_cast<std::size_t>(rank), b = static_cast<std::size_t>(other);
    return hosts[a] == hosts[b] && cpus[a].size() == 1 && cpus[b].size() == 1 && cpus[a] != cpus[b];
}

Binding bind_ranks(const Communicator& comm, bool bind) {
    const Communicator& node = comm.node();
    int free = left_free(node);
    if (bind && free) {
        const std::vector<int> allowed = core_by_core(usable_threads());
        run_only_on(static_cast<std::size_t>(
            allowed[static_cast<std::size_t>(node.rank()) % allowed.size()]));
    }
    MPI_Allreduce(MPI_IN_PLACE, &free, 1, MPI_INT, MPI_MAX, comm.handle());
    Binding binding{all_hosts(comm), {}, !free ? "launcher" : bind ? "self" : "none", {}};
    binding.cores = from_all_ranks(comm.handle(), cores_at_once(threads_of_all(node)));
    for (const CpuSet& cpus : from_all_ranks(comm.handle(), my_cpus()))
        binding.cpus.push_back(listed(cpus));
    return binding;
}

bool more_ranks_than_cpus(const Communicator& node) {
    int crowded =
        node.size() >
        processes_at_once(threads_of_all(node));  // ranks may be in control groups of their own
    MPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT, MPI_MAX, node.handle());
    return crowded != 0;
}

}  // namespace parhelion::bench
