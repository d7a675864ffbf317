#include <algorithm>
#include <map>
#include <numeric>

#include "core/collective_step.hpp"
#include "core/cores.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/placement/placed_comm.hpp"
#include "placement/node_topology.hpp"

namespace parhelion::placement {
namespace {

// Hardware threads in this process's affinity mask; empty if unknown, which counts as unbound.
CpuSet own_binding() try {
    const CpuMask mask = usable_threads();
    CpuSet cpus;
    for (std::size_t cpu = 0; cpu < 64 * mask.size(); ++cpu)
        if (mask[cpu / 64] >> cpu % 64 & 1) cpus.push_back(static_cast<int>(cpu));
    return cpus;
} catch (const Error&) {
    return {};
}

// A group of ranks whose first is the root of collect and hand_out.
struct Ranks {
    const Communicator& comm;
    Tag tag;
    std::vector<int> all;

    // Gathers at the root; returns nothing elsewhere.
    std::vector<std::vector<int>> collect(const std::vector<int>& own) const {
        if (comm.rank() != all.front()) {
            send(all.front(), own);
            return {};
        }
        std::vector<std::vector<int>> lists{own};
        for (std::size_t i = 1; i < all.size(); ++i)
            lists.push_back(receive_message(comm, all[i], tag).values<int>());
        return lists;
    }
    // Scatters one value per rank from the root.
    int hand_out(const std::vector<int>& values) const {
        if (comm.rank() != all.front())
            return receive_message(comm, all.front(), tag).values<int>().front();
        for (std::size_t i = 1; i < all.size(); ++i) send(all[i], {values[i]});
        return values.front();
    }

private:
    void send(int rank, const std::vector<int>& values) const {
        Message message{rank, {}};
        message.append(values.data(), values.size());
        send_message(comm, std::move(message), tag);
    }
};

template <class List>
List from_first(const Communicator& comm, const List& list) {
    Message message;
    message.append(list.data(), list.size());
    const auto values = broadcast(comm, std::move(message)).values<typename List::value_type>();
    return {values.begin(), values.end()};
}

std::string joined(const NodeTopology& node, std::size_t first, std::size_t last) {
    std::string text;
    for (std::size_t l = first; l < last; ++l)
        text += (text.empty() ? "" : " ") + node.levels[l].name;
    return text;
}

// Number of leading levels common to all nodes. `nodes`: level names, each followed by a blank.
int common_levels(const std::vector<std::vector<int>>& nodes) {
    std::vector<int> common = nodes.front();
    for (const auto& names : nodes)
        common.erase(std::ranges::mismatch(common, names).in1, common.end());
    return static_cast<int>(std::ranges::count(common, int{' '}));
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

// Message to all ranks: distinct shapes, then one index per node.
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

// Position of each local rank in the hierarchical order of its node.
std::vector<int> places_in(const std::vector<int>& order) {
    std::vector<int> places(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) places[order[i]] = static_cast<int>(i);
    return places;
}

std::string left_out(const NodeTopology& node, int levels) {
    if (static_cast<std::size_t>(levels) == node.levels.size()) return "";
    return "levels not used because ranks are not bound within their units: " +
           joined(node, static_cast<std::size_t>(levels), node.levels.size()) +
           " (bind ranks to cores when starting them)";
}

// Nodes in the order of their lowest ranks, the leaders.
struct Nodes {
    std::vector<int> leaders, own;  // ranks; `own`: those of this rank's node
    int index = 0;                  // of this rank's node
};

std::int64_t lowest_on_node(const Communicator& comm) {
    comm.node();
    return std::ranges::min(comm.node_ranks());
}

Nodes find_nodes(const Communicator& comm, int color) {
    const std::int64_t mine = color >= 0 ? color : lowest_on_node(comm);
    const auto ids = of_all(comm, {mine});
    Nodes nodes;
    std::map<std::int64_t, int> known;
    for (int rank = 0; rank < comm.size(); ++rank) {
        const std::int64_t id = ids[rank];
        if (known.emplace(id, static_cast<int>(known.size())).second) nodes.leaders.push_back(rank);
        if (id == mine) nodes.own.push_back(rank);
    }
    nodes.index = known.at(mine);
    return nodes;
}

Discovered find(const Communicator& comm, int node_color) {
    Nodes nodes = find_nodes(comm, node_color);
    const Tag tag = comm.next_tag();
    const Ranks node{comm, tag, nodes.own}, leaders{comm, tag, nodes.leaders};
    const auto bindings = node.collect(own_binding());
    std::vector<int> places, words;
    std::string names, source, note;
    if (!bindings.empty()) {
        const NodeTopology here = read_sysfs();
        const auto usable = static_cast<std::size_t>(usable_levels(here, bindings));
        const std::string told = joined(here, 0, usable) + " ";
        const auto all = leaders.collect({told.begin() + (usable == 0), told.end()});
        const int common = all.empty() ? 0 : common_levels(all);
        const int levels = leaders.hand_out(std::vector<int>(nodes.leaders.size(), common));
        const SortedRanks sorted = sort_ranks(here, bindings, levels);
        places = places_in(sorted.order);
        if (const auto shapes = leaders.collect(pack(sorted.shape)); !shapes.empty())
            words = pack_machine(shapes);
        names = joined(here, 0, static_cast<std::size_t>(levels));
        source = here.source, note = left_out(here, levels);
    }
    const int place = node.hand_out(places);
    Machine machine = unpack_machine(from_first(comm, words), from_first(comm, names));
    const int position = machine.first_position(nodes.index) + place;
    source = from_first(comm, source);
    return {std::move(machine), position, std::move(source), from_first(comm, note)};
}

}  // namespace

Discovered discover(const Communicator& comm, int node_color) {
    return collectively(comm, "discover", [&] { return find(comm, node_color); });
}

}  // namespace parhelion::placement
