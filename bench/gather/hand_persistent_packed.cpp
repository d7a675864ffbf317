#include "gather/baselines.hpp"
#include "requests.hpp"

namespace parhelion::bench {

namespace {

class GatherPersistentPacked : public Contender {
public:
    GatherPersistentPacked(const GatherSetup& setup, IndexLists lists)
        : array_(setup.array), lists_(std::move(lists)), buffer_(1, lists_.cells.size() * array_->cell_bytes()) {
        const std::size_t bytes = array_->cell_bytes();
        for (std::size_t s = 0; s < lists_.sources.size(); ++s)
            MPI_Recv_init(array_->ghosts() + lists_.ghost_offset[s] * bytes, static_cast<int>(lists_.read_from(s) * bytes), MPI_BYTE,
                          lists_.sources[s], 0, setup.comm, receives_.add());
        for (std::size_t t = 0; t < lists_.targets.size(); ++t)
            MPI_Send_init(buffer_of(t), static_cast<int>(lists_.sent_to(t) * bytes), MPI_BYTE, lists_.targets[t], 0, setup.comm,
                          sends_.add());
    }

    void exchange() override {
        receives_.start_all();
        for (std::size_t t = 0; t < lists_.targets.size(); ++t) {
            pack_cells(array_->cells(), lists_.cells.data() + lists_.send_offset[t], lists_.sent_to(t), array_->cell_bytes(), buffer_of(t));
            sends_.start(t);
        }
        receives_.wait_all();
        sends_.wait_all();
    }

    Values& values() override { return *array_; }
    Traffic traffic() const override { return traffic_of(lists_, array_->cell_bytes()); }

private:
    std::byte* buffer_of(std::size_t t) const { return buffer_.block(0) + lists_.send_offset[t] * array_->cell_bytes(); }

    std::shared_ptr<GatherArray> array_;
    IndexLists lists_;
    PrivateMemory buffer_;
    PersistentRequests receives_, sends_;
};

}  // namespace

ContenderPointer make_gather_persistent_packed(const GatherSetup& setup, SetupTimes& times) {
    return make_of_lists<GatherPersistentPacked>(setup, times);
}

}  // namespace parhelion::bench
