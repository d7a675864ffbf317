#include <cstring>

#include "gather/baselines.hpp"
#include "node_areas.hpp"

namespace parhelion::bench {

namespace {

// One end of the lists: of each neighbor its part, where it lies in this rank's cells, and whether
// it is on another node.
struct Ends {
    std::vector<NodeAreas::Part> near, away;
    std::vector<std::size_t> near_from, away_from;  // entries of the list

    Ends(const NodeAreas& areas, const std::vector<int>& ranks,
         const std::vector<std::size_t>& offsets, std::size_t cell_bytes) {
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            const bool is_away = areas.is_away(ranks[i]);
            (is_away ? away : near)
                .push_back({ranks[i], 0, (offsets[i + 1] - offsets[i]) * cell_bytes});
            (is_away ? away_from : near_from).push_back(offsets[i]);
        }
    }
};

class GatherNodes : public HandGather {
public:
    GatherNodes(const GatherSetup& setup, IndexLists lists)
        : HandGather(setup, std::move(lists)), comm_(setup.comm), areas_(setup.comm),
          sends_(areas_, lists_.targets, lists_.send_offset, array_->cell_bytes()),
          receives_(areas_, lists_.sources, lists_.ghost_offset, array_->cell_bytes()),
          buffer_(1, buffer_bytes()), requests_(sends_.near.size() + receives_.near.size()) {
        areas_.lay_out(sends_.away, receives_.away);
    }

    void exchange() override {
        areas_.post_receives();
        MPI_Request* request = requests_.data();
        for (std::size_t i = 0; i < receives_.near.size(); ++i)
            MPI_Irecv(ghosts(receives_.near_from[i]), static_cast<int>(receives_.near[i].bytes),
                      MPI_BYTE, receives_.near[i].rank, 0, comm_, request++);
        for (std::size_t i = 0; i < sends_.away.size(); ++i)
            pack(sends_.away[i], sends_.away_from[i], areas_.to_send(i));
        areas_.send();
        for (std::size_t i = 0; i < sends_.near.size(); ++i) {
            std::byte* const packed = buffer_.block(0) + sends_.near_from[i] * array_->cell_bytes();
            pack(sends_.near[i], sends_.near_from[i], packed);
            MPI_Isend(packed, static_cast<int>(sends_.near[i].bytes), MPI_BYTE, sends_.near[i].rank,
                      0, comm_, request++);
        }
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        areas_.await_receives();
        for (std::size_t i = 0; i < receives_.away.size(); ++i)
            std::memcpy(ghosts(receives_.away_from[i]), areas_.received(i),
                        receives_.away[i].bytes);
        areas_.await_sends();
    }

    Traffic traffic() const override {
        Traffic near;
        for (const NodeAreas::Part& part : sends_.near) {
            near.bytes += static_cast<std::int64_t>(part.bytes);
            near.sent.push_back({part.rank, static_cast<std::int64_t>(part.bytes)});
            ++near.messages;
        }
        return areas_.traffic(std::move(near));
    }

private:
    std::byte* ghosts(std::size_t from) const {
        return array_->ghosts() + from * array_->cell_bytes();
    }
    void pack(const NodeAreas::Part& part, std::size_t from, std::byte* to) const {
        const std::size_t bytes = array_->cell_bytes();
        pack_cells(array_->cells(), lists_.cells.data() + from, part.bytes / bytes, bytes, to);
    }

    MPI_Comm comm_;
    NodeAreas areas_;
    Ends sends_, receives_;
    PrivateMemory buffer_;
    std::vector<MPI_Request> requests_;
};

}  // namespace

ContenderPointer make_gather_nodes(const GatherSetup& setup, SetupTimes& times) {
    return make_of_lists<GatherNodes>(setup, times);
}

}  // namespace parhelion::bench
