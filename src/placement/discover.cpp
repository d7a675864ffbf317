#include <algorithm>
#include <map>
#include <numeric>

#include "core/usable_cores.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/placement/placed_comm.hpp"
#include "placement/node_topology.hpp"

namespace parhelion::placement {
namespace {

class OwnedComm {
public:
    OwnedComm() = default;
    OwnedComm(const OwnedComm&) = delete;
    OwnedComm& operator=(const OwnedComm&) = delete;
    ~OwnedComm() {
        if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    }
    MPI_Comm* out() { return &comm_; }
    operator MPI_Comm() const { return comm_; }
    int rank() const {
        int rank = 0;
        MPI_Comm_rank(comm_, &rank);
        return rank;
    }
    int size() const {
        int size = 0;
        MPI_Comm_size(comm_, &size);
        return size;
    }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

// Hardware threads on which this process may run; none where the system does not tell: bound to no
// unit.
CpuSet own_binding() try {
    const CpuMask mask = usable_threads();
    CpuSet cpus;
    for (std::size_t cpu = 0; cpu < 64 * mask.size(); ++cpu)
        if (mask[cpu / 64] >> cpu % 64 & 1) cpus.push_back(static_cast<int>(cpu));
    return cpus;
} catch (const Error&) {
    return {};
}

// Lists of different lengths, in rank order, at rank 0.
std::vector<std::vector<int>> gather_lists(MPI_Comm comm, const std::vector<int>& own) {
    int rank = 0, size = 0, length = static_cast<int>(own.size());
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    std::vector<int> lengths(static_cast<std::size_t>(size)),
        starts(static_cast<std::size_t>(size) + 1, 0);
    check_mpi(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm), "MPI_Gather");
    std::partial_sum(lengths.begin(), lengths.end(), starts.begin() + 1);
    std::vector<int> all(rank == 0 ? static_cast<std::size_t>(starts.back()) : 0);
    check_mpi(MPI_Gatherv(own.data(), length, MPI_INT, all.data(), lengths.data(), starts.data(),
                          MPI_INT, 0, comm),
              "MPI_Gatherv");
    std::vector<std::vector<int>> lists;
    for (int r = 0; rank == 0 && r < size; ++r)
        lists.emplace_back(all.begin() + starts[static_cast<std::size_t>(r)],
                           all.begin() + starts[static_cast<std::size_t>(r) + 1]);
    return lists;
}

void broadcast(MPI_Comm comm, std::vector<int>& words) {
    int length = static_cast<int>(words.size());
    check_mpi(MPI_Bcast(&length, 1, MPI_INT, 0, comm), "MPI_Bcast");
    words.resize(static_cast<std::size_t>(length));
    check_mpi(MPI_Bcast(words.data(), length, MPI_INT, 0, comm), "MPI_Bcast");
}

std::string broadcast(MPI_Comm comm, const std::string& text) {
    std::vector<int> words(text.begin(), text.end());
    broadcast(comm, words);
    return {words.begin(), words.end()};
}

std::string joined(const NodeTopology& node, std::size_t first, std::size_t last) {
    std::string text;
    for (std::size_t l = first; l < last; ++l)
        text += (text.empty() ? "" : " ") + node.levels[l].name;
    return text;
}

// What a node's leader found out about it.
struct Node {
    NodeTopology topology;
    std::vector<CpuSet> bindings;
    int levels = 0;
};

// As many levels as every node has under the same names with all its ranks bound within them.
// Collective over leaders.
int common_levels(MPI_Comm leaders, const Node& node) {
    const auto names = broadcast(leaders, joined(node.topology, 0, node.topology.levels.size()));
    int mine = 0;
    while (mine < node.levels &&
           (names + " ")
               .starts_with(joined(node.topology, 0, static_cast<std::size_t>(mine) + 1) + " "))
        ++mine;
    int all = 0;
    check_mpi(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, leaders), "MPI_Allreduce");
    return all;
}

std::vector<int> pack(const NodeShape& shape) {
    std::vector<int> words{shape.ranks};
    for (const auto& starts : shape.starts) {
        words.push_back(static_cast<int>(starts.size()));
        words.insert(words.end(), starts.begin(), starts.end());
    }
    return words;
}

NodeShape unpack(const std::vector<int>& words) {
    NodeShape shape{words.front(), {}};
    for (std::size_t at = 1; at < words.size(); at += static_cast<std::size_t>(words[at]) + 1)
        shape.starts.emplace_back(words.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                  words.begin() + static_cast<std::ptrdiff_t>(at) + 1 + words[at]);
    return shape;
}

// Different shapes once, then one number per node: what is sent to all.
std::vector<int> pack_machine(const std::vector<std::vector<int>>& shapes) {
    std::map<std::vector<int>, int> known;
    std::vector<int> of_node, words;
    for (const auto& shape : shapes) {
        const auto [found, is_new] = known.emplace(shape, static_cast<int>(known.size()));
        if (is_new)
            words.push_back(static_cast<int>(shape.size())),
                words.insert(words.end(), shape.begin(), shape.end());
        of_node.push_back(found->second);
    }
    words.insert(words.begin(), static_cast<int>(known.size()));
    words.insert(words.end(), of_node.begin(), of_node.end());
    return words;
}

Machine unpack_machine(const std::vector<int>& words, const std::string& names) {
    std::vector<NodeShape> shapes;
    auto at = words.begin() + 1;
    for (int n = words.front(); n > 0; --n) {
        const int length = *at++;
        shapes.push_back(unpack({at, at + length}));
        at += length;
    }
    std::vector<std::string> levels{"node"};
    for (std::size_t start = 0; start < names.size();) {
        const auto end = std::min(names.find(' ', start), names.size());
        levels.push_back(names.substr(start, end - start));
        start = end + 1;
    }
    return Machine(std::move(levels), std::move(shapes), {at, words.end()});
}

// From a local rank's place in the hierarchical order of its node.
int scatter_places(MPI_Comm node, const std::vector<int>& order) {
    std::vector<int> places(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        places[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    int place = 0;
    check_mpi(MPI_Scatter(places.data(), 1, MPI_INT, &place, 1, MPI_INT, 0, node), "MPI_Scatter");
    return place;
}

void split_into_nodes(MPI_Comm comm, int node_color, int rank, OwnedComm& node) {
    // A barrier first: some implementations race when ranks arrive at the split far apart.
    check_mpi(MPI_Barrier(comm), "MPI_Barrier");
    check_mpi(node_color >= 0 ? MPI_Comm_split(comm, node_color, rank, node.out())
                              : MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                                                    node.out()),
              "MPI_Comm_split_type");
}

std::string left_out(const NodeTopology& node, int levels) {
    std::string note = node.note;
    if (static_cast<std::size_t>(levels) < node.levels.size())
        note += (note.empty() ? "" : "; ") +
                std::string("levels not used because ranks are not bound within their units: ") +
                joined(node, static_cast<std::size_t>(levels), node.levels.size()) +
                " (bind ranks to cores when starting them)";
    return note;
}

}  // namespace

Discovered discover(MPI_Comm comm, int node_color) {
    require_mpi();
    int rank = 0;
    check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    OwnedComm node, leaders;
    split_into_nodes(comm, node_color, rank, node);
    const bool leads = node.rank() == 0;
    check_mpi(MPI_Comm_split(comm, leads ? 0 : 1, rank, leaders.out()), "MPI_Comm_split");

    Node here;
    here.bindings = gather_lists(node, own_binding());
    std::vector<int> order, words;
    std::string names, source, note;
    int index = leads ? leaders.rank() : 0;
    if (leads) {
        here.topology = detect_node_topology();
        here.levels = usable_levels(here.topology, here.bindings);
        const int levels = common_levels(leaders, here);
        const SortedRanks sorted = sort_ranks(here.topology, here.bindings, levels);
        order = sorted.order;
        words = pack_machine(gather_lists(leaders, pack(sorted.shape)));
        names = joined(here.topology, 0, static_cast<std::size_t>(levels));
        source = here.topology.source, note = left_out(here.topology, levels);
    }
    const int place = scatter_places(node, order);
    check_mpi(MPI_Bcast(&index, 1, MPI_INT, 0, node), "MPI_Bcast");
    // Rank 0 of the communicator leads its node, and is the leaders' rank 0.
    broadcast(comm, words);
    Machine machine = unpack_machine(words, broadcast(comm, names));
    const int position = machine.first_position(index) + place;
    source = broadcast(comm, source);
    return {std::move(machine), position, std::move(source), broadcast(comm, note)};
}

}  // namespace parhelion::placement
