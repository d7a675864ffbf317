#include "gather/baselines.hpp"

namespace parhelion::bench {

namespace {

class GatherIsend : public Contender {
public:
    GatherIsend(const GatherSetup& setup, IndexLists lists)
        : comm_(setup.comm), array_(setup.array), lists_(std::move(lists)), buffer_(1, lists_.cells.size() * array_->cell_bytes()),
          requests_(lists_.sources.size() + lists_.targets.size()) {}

    void exchange() override {
        const std::size_t bytes = array_->cell_bytes();
        MPI_Request* request = requests_.data();
        for (std::size_t s = 0; s < lists_.sources.size(); ++s)
            MPI_Irecv(array_->ghosts() + lists_.ghost_offset[s] * bytes, static_cast<int>(lists_.read_from(s) * bytes), MPI_BYTE,
                      lists_.sources[s], 0, comm_, request++);
        for (std::size_t t = 0; t < lists_.targets.size(); ++t) {
            std::byte* packed = buffer_.block(0) + lists_.send_offset[t] * bytes;
            pack_cells(array_->cells(), lists_.cells.data() + lists_.send_offset[t], lists_.sent_to(t), bytes, packed);
            MPI_Isend(packed, static_cast<int>(lists_.sent_to(t) * bytes), MPI_BYTE, lists_.targets[t], 0, comm_, request++);
        }
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }

    Values& values() override { return *array_; }
    Traffic traffic() const override { return traffic_of(lists_, array_->cell_bytes()); }

private:
    MPI_Comm comm_;
    std::shared_ptr<GatherArray> array_;
    IndexLists lists_;
    PrivateMemory buffer_;
    std::vector<MPI_Request> requests_;
};

}  // namespace

ContenderPointer make_gather_isend(const GatherSetup& setup, SetupTimes& times) { return make_of_lists<GatherIsend>(setup, times); }

}  // namespace parhelion::bench
