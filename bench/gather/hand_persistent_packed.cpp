#include "gather/baselines.hpp"
#include "requests.hpp"

namespace parhelion::bench {

namespace {

class GatherPersistentPacked : public HandGather {
public:
    GatherPersistentPacked(const GatherSetup& setup, IndexLists lists)
        : HandGather(setup, std::move(lists)), buffer_(1, buffer_bytes()) {
        for (std::size_t s = 0; s < lists_.sources.size(); ++s)
            MPI_Recv_init(ghosts_of(s), bytes_of(s), MPI_BYTE, lists_.sources[s], 0, setup.comm,
                          receives_.add());
        for (std::size_t t = 0; t < lists_.targets.size(); ++t)
            MPI_Send_init(buffer_of(t), bytes_for(t), MPI_BYTE, lists_.targets[t], 0, setup.comm,
                          sends_.add());
    }

    void exchange() override {
        receives_.start_all();
        for (std::size_t t = 0; t < lists_.targets.size(); ++t) {
            pack_for(t, buffer_of(t));
            sends_.start(t);
        }
        receives_.wait_all();
        sends_.wait_all();
    }

private:
    std::byte* buffer_of(std::size_t t) const { return buffer_.block(0) + place_for(t); }

    PrivateMemory buffer_;
    PersistentRequests receives_, sends_;
};

}  // namespace

ContenderPointer make_gather_persistent_packed(const GatherSetup& setup, SetupTimes& times) {
    return make_of_lists<GatherPersistentPacked>(setup, times);
}

}  // namespace parhelion::bench
