#include "gather/gather_peer.hpp"

#include "clock.hpp"
#include "errors.hpp"
#include "peers/gather_peer.h"
#include "plug_in.hpp"

namespace parhelion::bench {

namespace {

// Where each ghost lies in its owner's block.
std::vector<std::int32_t> places_at_owners(MPI_Comm comm, const IndexedDomain& domain) {
    std::vector<std::int64_t> first(static_cast<std::size_t>(domain.communicator().size()));
    const std::int64_t mine = domain.first();
    MPI_Allgather(&mine, 1, MPI_INT64_T, first.data(), 1, MPI_INT64_T, comm);
    std::vector<std::int32_t> places;
    for (std::size_t i = 0; i < domain.ghost_ids().size(); ++i)
        places.push_back(
            static_cast<std::int32_t>(domain.ghost_ids()[i] - first[static_cast<std::size_t>(domain.ghost_owners()[i])]));
    return places;
}

class GatherPeer final : public Contender {
public:
    GatherPeer(const std::string& library, const std::string& variant, const GatherSetup& setup)
        : functions_(*static_cast<const phl_gather_peer_functions*>(
              plug_in_symbol("peer_" + library, "phl_gather_peer", "`make peers` builds one"))),
          array_(setup.array),
          traffic_(traffic_of(build_index_lists(setup.comm, *setup.domain, array_->cell_bytes()), array_->cell_bytes())) {
        const IndexedDomain& domain = *setup.domain;
        const std::vector<std::int32_t> places = places_at_owners(setup.comm, domain);
        const std::vector<std::int32_t> owners(domain.ghost_owners().begin(), domain.ghost_owners().end());
        const std::string element = to_string(setup.params.element);
        const phl_peer_gather gather{setup.comm, domain.first(), domain.owned(), domain.ghosts(), domain.ghost_ids().data(),
                                     owners.data(), places.data(), element.c_str(), setup.params.components,
                                     array_->cells(), array_->ghosts()};
        char error[500] = "";
        peer_ = functions_.make(&gather, variant.c_str(), error, sizeof error);
        if (peer_ == nullptr) throw CannotRun(error);
    }
    ~GatherPeer() override { functions_.free(peer_); }
    GatherPeer(const GatherPeer&) = delete;
    GatherPeer& operator=(const GatherPeer&) = delete;

    void exchange() override {
        if (functions_.exchange(peer_) != 0) throw Error("the peer's gather failed", ErrorKind::communication);
    }
    Values& values() override { return *array_; }
    Traffic traffic() const override { return traffic_; }
    nlohmann::json explain() const override { return functions_.version; }

private:
    const phl_gather_peer_functions& functions_;
    std::shared_ptr<GatherArray> array_;
    Traffic traffic_;
    void* peer_ = nullptr;
};

}  // namespace

ContenderPointer make_gather_peer(const std::string& library, const std::string& variant, const GatherSetup& setup,
                                  SetupTimes& times) {
    return timed(times.plan, [&] { return std::make_unique<GatherPeer>(library, variant, setup); });
}

}  // namespace parhelion::bench
