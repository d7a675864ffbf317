#include "transport/node_aware/routes.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/node_messages.hpp"
#include "parhelion/core/sparse_exchange.hpp"
#include "plan/layout.hpp"

namespace parhelion {
namespace {

// Whole parts, as equal as they allow.
void cut(Route& route, byte_count alignment) {
    const byte_count total = std::accumulate(route.parts.begin(), route.parts.end(), byte_count{0},
                                             [&](byte_count sum, const Route::Part& part) {
                                                 return sum + aligned(part.bytes, alignment);
                                             });
    if (total == 0) return;
    const auto count = static_cast<std::size_t>(
        node_messages(total, static_cast<std::int64_t>(route.parts.size())));
    byte_count before = 0;
    for (std::size_t i = 0; i < route.parts.size(); ++i) {
        Route::Part& part = route.parts[i];
        const bool enough = before * static_cast<byte_count>(count) >=
                            total * static_cast<byte_count>(route.slices.size());
        const bool needed = route.parts.size() - i <= count - route.slices.size();
        if (route.slices.size() < count && (enough || needed)) route.slices.push_back(0);
        part.slice = static_cast<int>(route.slices.size()) - 1;
        part.offset = aligned(route.slices.back(), alignment);
        route.slices.back() = part.offset + part.bytes;
        before += aligned(part.bytes, alignment);
    }
}

}  // namespace

std::vector<Words> tell_node(const Communicator& comm, const Words& mine) {
    const std::vector<int> ranks = comm.node_ranks();
    const bool first = comm.rank() == ranks.front();
    std::vector<Message> header(1, {ranks.front(), {}});
    header[0].append(mine.data(), mine.size());
    const auto gathered = neighbor_exchange(comm, header, first ? ranks : std::vector<int>{});
    Words all;
    for (const Message& message : gathered) put_list(all, message.values<global_index>());
    std::vector<Message> copies;
    for (std::size_t i = 0; first && i < ranks.size(); ++i) {
        copies.push_back({ranks[i], {}});
        copies.back().append(all.data(), all.size());
    }
    const Words told =
        neighbor_exchange(comm, copies, {ranks.front()}).front().values<global_index>();
    WordReader reader(told, "what the node's ranks told");
    std::vector<Words> by_rank(ranks.size());
    for (Words& words : by_rank) {
        words.resize(reader.count(1));
        for (global_index& word : words) word = reader.next();
    }
    return by_rank;
}

void Owed::put(Words& words) const {
    words.insert(words.end(), {node, bytes, pairs, bytes_in_pairs});
}

Owed Owed::get(WordReader& words) {
    Owed owed;
    owed.node = words.next_in<int>(0, 2147483647);
    owed.bytes = words.next();
    owed.pairs = words.next();
    owed.bytes_in_pairs = words.next();
    return owed;
}

const Route::Part* Route::part_of(int node_rank) const {
    const auto found = std::find_if(parts.begin(), parts.end(),
                                    [&](const Part& part) { return part.node_rank == node_rank; });
    return found == parts.end() ? nullptr : &*found;
}

int Route::candidate(int rank) const {
    return static_cast<int>(std::ranges::find(candidates, rank) - candidates.begin());
}

std::vector<Route> make_routes(const std::vector<int>& ranks,
                               const std::vector<std::vector<Owed>>& owed, byte_count alignment) {
    std::map<int, Route> routes;
    for (std::size_t r = 0; r < owed.size(); ++r)
        for (const Owed& each : owed[r]) {
            Route& route = routes[each.node];
            route.candidates.push_back(ranks[r]);
            route.pairs += each.pairs;
            route.bytes_in_pairs += each.bytes_in_pairs;
            if (each.bytes > 0) route.parts.push_back({static_cast<int>(r), 0, 0, each.bytes});
        }
    std::vector<Route> all;
    for (auto& [node, route] : routes) {
        // Another rank begins with each node, so that work for several nodes is spread.
        std::rotate(route.candidates.begin(),
                    route.candidates.begin() +
                        static_cast<std::ptrdiff_t>(all.size() % route.candidates.size()),
                    route.candidates.end());
        route.node = node;
        cut(route, alignment);
        all.push_back(std::move(route));
    }
    return all;
}

}  // namespace parhelion
