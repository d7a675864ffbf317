#include "parhelion/index_map/derive.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "index_map/root.hpp"
#include "parhelion/core/doing.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

std::string number(global_index value) { return std::to_string(value); }

void check_lists(const RootLists& lists, int ranks) {
    const auto expect = [&](std::size_t given, const char* what) {
        if (given != static_cast<std::size_t>(ranks))
            throw Error("the root lists " + std::string(what) + " of " +
                        number(static_cast<global_index>(given)) +
                        " ranks and the communicator has " + number(ranks) +
                        ": give one entry per rank");
    };
    expect(lists.owned.size(), "owned cells");
    expect(lists.ghost_counts.size(), "ghosts");
    global_index sum = 0;
    for (global_index count : lists.ghost_counts) {
        if (count < 0 || count > std::numeric_limits<local_index>::max())
            throw Error("a rank cannot have " + number(count) +
                        " ghosts: pass 0 or more, and fewer than 2^31");
        sum += count;
    }
    if (sum != static_cast<global_index>(lists.ghost_ids.size()))
        throw Error("the ghost counts add up to " + number(sum) + " and " +
                    number(static_cast<global_index>(lists.ghost_ids.size())) +
                    " ghost ids are given: make them equal");
}

// Root → rank r: its number of owned cells, its ghosts.
void send_parts(const RootLists& lists, int ranks, int root, const Communicator& comm) {
    const global_index* next = lists.ghost_ids.data();
    for (int r = 0; r < ranks; next += lists.ghost_counts[r], ++r) {
        if (r == root) continue;
        const global_index header[2] = {lists.owned[r], lists.ghost_counts[r]};
        check_mpi(MPI_Send(header, 2, MPI_INT64_T, r, 0, comm.handle()), "MPI_Send");
        check_mpi(MPI_Send(next, static_cast<int>(header[1]), MPI_INT64_T, r, 0, comm.handle()),
                  "MPI_Send");
    }
}

struct Part {
    global_index owned;
    std::vector<global_index> ghosts;
};

Part own_part(const RootLists& lists, int root) {
    const auto before = std::accumulate(lists.ghost_counts.begin(),
                                        lists.ghost_counts.begin() + root, global_index{0});
    const auto first = lists.ghost_ids.begin() + before;
    return {lists.owned[root], {first, first + lists.ghost_counts[root]}};
}

Part receive_part(int root, const Communicator& comm) {
    global_index header[2];
    check_mpi(MPI_Recv(header, 2, MPI_INT64_T, root, 0, comm.handle(), MPI_STATUS_IGNORE),
              "MPI_Recv");
    Part part{header[0], std::vector<global_index>(static_cast<std::size_t>(header[1]))};
    check_mpi(MPI_Recv(part.ghosts.data(), static_cast<int>(header[1]), MPI_INT64_T, root, 0,
                       comm.handle(), MPI_STATUS_IGNORE),
              "MPI_Recv");
    return part;
}

// A ghost row's entries are known by their number and the first one's id.
struct Row {
    global_index count, first;
};

std::vector<Row> rows_with_ghosts(const IndexMap& rows, std::span<const global_index> counts) {
    const global_index entries = std::accumulate(counts.begin(), counts.end(), global_index{0});
    global_index next = 0;
    const Communicator& comm = rows.communicator();
    check_mpi(MPI_Exscan(&entries, &next, 1, MPI_INT64_T, MPI_SUM, comm.handle()), "MPI_Exscan");
    if (comm.rank() == 0) next = 0;
    std::vector<Row> all(static_cast<std::size_t>(rows.domain().size()));
    for (std::size_t i = 0; i < counts.size(); next += counts[i++]) all[i] = {counts[i], next};
    rows.forward({all});
    return all;
}

bool reads_itself(const IndexedDomain& domain) {
    const auto owners = domain.ghost_owners();
    return std::find(owners.begin(), owners.end(), domain.communicator().rank()) != owners.end();
}

SelfGhosts self_rule(const IndexedDomain& domain) {
    return reads_itself(domain) ? SelfGhosts::allowed : SelfGhosts::refused;
}

}  // namespace

IndexedDomain domain_from_root(const RootLists& lists, int root, Communicator comm) {
    const Doing doing(comm, "from_root");
    require_root(root, comm);
    const bool is_root = comm.rank() == root;
    validate_together(comm, [&] {
        if (is_root) check_lists(lists, comm.size());
    });
    if (is_root) send_parts(lists, comm.size(), root, comm);
    Part part = is_root ? own_part(lists, root) : receive_part(root, comm);
    return {part.owned, std::move(part.ghosts), comm};
}

IndexedDomain ragged_domain(const IndexMap& rows, std::span<const global_index> counts) {
    const Doing doing(rows.communicator(), "ragged");
    validate_together(rows.communicator(), [&] {
        if (counts.size() != static_cast<std::size_t>(rows.domain().owned()))
            throw Error(number(static_cast<global_index>(counts.size())) +
                        " row counts are given for " + number(rows.domain().owned()) +
                        " owned rows: give one count per owned row");
        for (global_index count : counts)
            if (count < 0)
                throw Error("a row cannot have " + number(count) + " entries: pass 0 or more");
    });
    const std::vector<Row> all = rows_with_ghosts(rows, counts);
    const auto first_ghost = all.begin() + rows.domain().owned();
    const auto add = [](global_index sum, const Row& row) { return sum + row.count; };
    const global_index owned = std::accumulate(all.begin(), first_ghost, global_index{0}, add);
    const global_index entries = std::accumulate(first_ghost, all.end(), global_index{0}, add);
    std::vector<global_index> ghosts;
    validate_together(rows.communicator(), [&] {
        if (owned + entries > std::numeric_limits<local_index>::max())
            throw Error(number(owned + entries) +
                        " entries exceed 2147483647 on one rank: use more ranks");
        ghosts.reserve(static_cast<std::size_t>(entries));
        for (auto row = first_ghost; row != all.end(); ++row)
            for (global_index k = 0; k < row->count; ++k) ghosts.push_back(row->first + k);
    });
    return {owned, std::move(ghosts), rows.communicator(), self_rule(rows.domain())};
}

IndexedDomain with_added_ghosts(const IndexedDomain& domain, std::span<const global_index> ids) {
    std::vector<global_index> added;
    for (global_index id : ids)
        if (domain.local_of(id) < 0) added.push_back(id);
    std::sort(added.begin(), added.end());
    added.erase(std::unique(added.begin(), added.end()), added.end());
    std::vector<global_index> ghosts(domain.ghost_ids().begin(), domain.ghost_ids().end());
    ghosts.insert(ghosts.end(), added.begin(), added.end());
    if (domain.first() >= 0)
        return {domain.owned(), std::move(ghosts), domain.communicator(), self_rule(domain)};
    std::vector<global_index> owned;
    for (local_index cell = 0; cell < domain.owned(); ++cell)
        owned.push_back(domain.global_of(cell));
    return IndexedDomain::with_owned_ids(std::move(owned), std::move(ghosts), domain.communicator(),
                                         self_rule(domain));
}

}  // namespace parhelion
