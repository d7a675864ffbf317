#include <algorithm>

#include "apps/contenders.hpp"
#include "errors.hpp"
#include "parhelion/core/error.hpp"
#include "peers/vector_peer.h"
#include "plug_in.hpp"

namespace parhelion::bench {

using namespace applications;

namespace {

class PeerVectors final : public GhostUpdate {
public:
    explicit PeerVectors(const std::string& library)
        : functions_(*static_cast<const phl_vector_peer_functions*>(
              plug_in_symbol("peer_" + library, "phl_vector_peer",
                             "`make peers` builds it where the library is installed"))) {}
    ~PeerVectors() override {
        for (void* peer : peers_) functions_.free(peer);
    }
    PeerVectors(const PeerVectors&) = delete;
    PeerVectors& operator=(const PeerVectors&) = delete;

    std::vector<Ghosted> add(const Cells& cells, int components, int count) override {
        const phl_peer_cells given{cells.comm,
                                   cells.owned,
                                   static_cast<std::int32_t>(cells.ghosts.size()),
                                   cells.ghosts.data(),
                                   cells.owners.data(),
                                   components};
        std::vector<Ghosted> added;
        for (int i = 0; i < count; ++i) {
            char error[500] = "";
            void* peer = functions_.make(&given, error, sizeof error);
            if (peer == nullptr) throw CannotRun(error);
            peers_.push_back(peer);
            const std::span<double> values(functions_.values(peer),
                                           cells.size() * static_cast<std::size_t>(components));
            std::ranges::fill(values, 0.0);
            added.push_back({values, peers_.size() - 1});
        }
        return added;
    }
    void update(std::size_t number) override {
        if (functions_.exchange(peers_[number]) != 0)
            throw Error("the peer's update failed", ErrorKind::communication);
    }
    applications::Traffic traffic(std::size_t) const override { return {}; }  // it does not tell
    std::string explain() const override { return functions_.version; }

private:
    const phl_vector_peer_functions& functions_;
    std::vector<void*> peers_;
};

}  // namespace

GhostUpdatePointer with_vectors_of(const std::string& library) {
    return std::make_unique<PeerVectors>(library);
}

}  // namespace parhelion::bench
