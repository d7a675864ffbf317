#include "gather/baselines.hpp"

namespace parhelion::bench {

namespace {

class GatherIsend : public HandGather {
public:
    GatherIsend(const GatherSetup& setup, IndexLists lists)
        : HandGather(setup, std::move(lists)), comm_(setup.comm), buffer_(1, buffer_bytes()),
          requests_(lists_.sources.size() + lists_.targets.size()) {}

    void exchange() override {
        MPI_Request* request = requests_.data();
        for (std::size_t s = 0; s < lists_.sources.size(); ++s)
            MPI_Irecv(ghosts_of(s), bytes_of(s), MPI_BYTE, lists_.sources[s], 0, comm_, request++);
        for (std::size_t t = 0; t < lists_.targets.size(); ++t) {
            std::byte* packed = buffer_.block(0) + place_for(t);
            pack_for(t, packed);
            MPI_Isend(packed, bytes_for(t), MPI_BYTE, lists_.targets[t], 0, comm_, request++);
        }
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }

private:
    MPI_Comm comm_;
    PrivateMemory buffer_;
    std::vector<MPI_Request> requests_;
};

}  // namespace

ContenderPointer make_gather_isend(const GatherSetup& setup, SetupTimes& times) {
    return make_of_lists<GatherIsend>(setup, times);
}

}  // namespace parhelion::bench
