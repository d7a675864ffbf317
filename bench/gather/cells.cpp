#include "gather/cells.hpp"

#include <climits>
#include <cstring>

#include "values.hpp"
#include "variant.hpp"

namespace parhelion::bench {

GatherArray::GatherArray(const GatherParams& params, std::shared_ptr<const IndexedDomain> domain,
                         std::shared_ptr<const Memory> memory)
    : params_(params), domain_(std::move(domain)), memory_(std::move(memory)) {}

void GatherArray::refresh(unsigned round) {
    const auto keys = lane_keys(0, lanes(), round);
    with_lane_type(params_.element, [&]<class T>(T) {
        write_values(reinterpret_cast<T*>(cells()), domain_->owned(),
                     static_cast<std::uint64_t>(domain_->first()), keys);
        write_poison(reinterpret_cast<T*>(ghosts()), std::int64_t{domain_->ghosts()} * lanes());
    });
}

std::int64_t GatherArray::count_wrong(unsigned round) const {
    const auto keys = lane_keys(0, lanes(), round);
    std::int64_t wrong = memory_->count_damaged_guards();
    with_lane_type(params_.element, [&]<class T>(T) {
        wrong += count_wrong_values(reinterpret_cast<const T*>(cells()), domain_->owned(),
                                    static_cast<std::uint64_t>(domain_->first()), keys);
        const T* ghost = reinterpret_cast<const T*>(ghosts());
        for (global_index id : domain_->ghost_ids()) {
            wrong += count_wrong_values(ghost, 1, static_cast<std::uint64_t>(id), keys);
            ghost += lanes();
        }
    });
    return wrong;
}

namespace {

// How many ghosts this rank reads from each rank, found in the ascending ghost list.
std::vector<int> ghosts_by_rank(const IndexedDomain& domain) {
    std::vector<int> counts(static_cast<std::size_t>(domain.communicator().size()), 0);
    for (int owner : domain.ghost_owners()) ++counts[static_cast<std::size_t>(owner)];
    return counts;
}

void keep_neighbors(const std::vector<int>& counts, std::vector<int>& ranks,
                    std::vector<std::size_t>& offsets) {
    offsets.assign(1, 0);
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        if (counts[rank] == 0) continue;
        ranks.push_back(static_cast<int>(rank));
        offsets.push_back(offsets.back() + static_cast<std::size_t>(counts[rank]));
    }
}

void check_message_sizes(MPI_Comm comm, const IndexedDomain& domain, std::size_t cells_sent,
                         std::size_t cell_bytes) {
    int too_long =
        std::max(cells_sent, static_cast<std::size_t>(domain.ghosts())) * cell_bytes > INT_MAX;
    MPI_Allreduce(MPI_IN_PLACE, &too_long, 1, MPI_INT, MPI_MAX, comm);
    if (too_long)
        throw CannotRun(
            "a rank's messages take more than 2 GiB, which MPI's int counts cannot express");
}

// Every reader tells the owners which cells it wants, as positions in the owner's block.
void ask_owners(MPI_Comm comm, const IndexedDomain& domain, IndexLists& lists) {
    std::vector<global_index> asked(lists.send_offset.back());
    std::vector<MPI_Request> requests;
    for (std::size_t t = 0; t < lists.targets.size(); ++t)
        MPI_Irecv(asked.data() + lists.send_offset[t], static_cast<int>(lists.sent_to(t)),
                  MPI_INT64_T, lists.targets[t], 0, comm, &requests.emplace_back());
    for (std::size_t s = 0; s < lists.sources.size(); ++s)
        MPI_Isend(domain.ghost_ids().data() + lists.ghost_offset[s],
                  static_cast<int>(lists.read_from(s)), MPI_INT64_T, lists.sources[s], 0, comm,
                  &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (global_index id : asked) lists.cells.push_back(static_cast<int>(id - domain.first()));
}

template <std::size_t Bytes>
void pack_cells_of(const std::byte* array, const int* index, std::size_t count, std::byte* to) {
    for (std::size_t i = 0; i < count; ++i)
        std::memcpy(to + i * Bytes, array + static_cast<std::size_t>(index[i]) * Bytes, Bytes);
}

}  // namespace

IndexLists build_index_lists(MPI_Comm comm, const IndexedDomain& domain, std::size_t cell_bytes) {
    const std::vector<int> read = ghosts_by_rank(domain);
    std::vector<int> sent(read.size());
    MPI_Alltoall(read.data(), 1, MPI_INT, sent.data(), 1, MPI_INT, comm);
    IndexLists lists;
    keep_neighbors(read, lists.sources, lists.ghost_offset);
    keep_neighbors(sent, lists.targets, lists.send_offset);
    check_message_sizes(comm, domain, lists.send_offset.back(), cell_bytes);
    ask_owners(comm, domain, lists);
    return lists;
}

std::vector<std::int64_t> places_at_targets(MPI_Comm comm, const IndexedDomain& domain,
                                            const IndexLists& lists) {
    std::vector<std::int64_t> mine, theirs(lists.targets.size());
    for (std::size_t s = 0; s < lists.sources.size(); ++s)
        mine.push_back(domain.owned() + static_cast<std::int64_t>(lists.ghost_offset[s]));
    std::vector<MPI_Request> requests;
    for (std::size_t t = 0; t < theirs.size(); ++t)
        MPI_Irecv(&theirs[t], 1, MPI_INT64_T, lists.targets[t], 0, comm, &requests.emplace_back());
    for (std::size_t s = 0; s < mine.size(); ++s)
        MPI_Isend(&mine[s], 1, MPI_INT64_T, lists.sources[s], 0, comm, &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return theirs;
}

std::vector<int> cells_at_owners(MPI_Comm comm, const IndexedDomain& domain) {
    std::vector<global_index> first(static_cast<std::size_t>(domain.communicator().size()));
    const global_index mine = domain.first();
    MPI_Allgather(&mine, 1, MPI_INT64_T, first.data(), 1, MPI_INT64_T, comm);
    std::vector<int> cells;
    for (std::size_t g = 0; g < domain.ghost_ids().size(); ++g)
        cells.push_back(static_cast<int>(
            domain.ghost_ids()[g] - first[static_cast<std::size_t>(domain.ghost_owners()[g])]));
    return cells;
}

Traffic traffic_of(const IndexLists& lists, std::size_t cell_bytes) {
    Traffic traffic{static_cast<std::int64_t>(lists.cells.size() * cell_bytes),
                    static_cast<std::int64_t>(lists.targets.size())};
    for (std::size_t t = 0; t < lists.targets.size(); ++t) {
        const std::size_t cells = lists.send_offset[t + 1] - lists.send_offset[t];
        traffic.sent.push_back({lists.targets[t], static_cast<std::int64_t>(cells * cell_bytes)});
    }
    return traffic;
}

void pack_cells(const std::byte* array, const int* index, std::size_t count, std::size_t cell_bytes,
                std::byte* to) {
    switch (cell_bytes) {
        case 1: return pack_cells_of<1>(array, index, count, to);
        case 2: return pack_cells_of<2>(array, index, count, to);
        case 4: return pack_cells_of<4>(array, index, count, to);
        case 8: return pack_cells_of<8>(array, index, count, to);
        case 16: return pack_cells_of<16>(array, index, count, to);
        case 24: return pack_cells_of<24>(array, index, count, to);
        case 32: return pack_cells_of<32>(array, index, count, to);
        case 64: return pack_cells_of<64>(array, index, count, to);
        case 128: return pack_cells_of<128>(array, index, count, to);
        default: break;
    }
    for (std::size_t i = 0; i < count; ++i)
        std::memcpy(to + i * cell_bytes, array + static_cast<std::size_t>(index[i]) * cell_bytes,
                    cell_bytes);
}

}  // namespace parhelion::bench
