#include "apps/ways/hand_lists.hpp"
#include "apps/ways/ways.hpp"
#include "requests.hpp"

namespace parhelion::bench {

namespace {

struct Array {
    std::shared_ptr<const HandLists> lists;
    int components;
    std::vector<double> values, packed;
    PersistentRequests receives, sends;

    Array(std::shared_ptr<const HandLists> made, const Cells& cells, int each)
        : lists(std::move(made)), components(each), values(cells.size() * static_cast<std::size_t>(each)),
          packed(lists->cells.size() * static_cast<std::size_t>(each)) {
        const std::vector<int>& from = lists->ghost_offset;
        for (std::size_t s = 0; s < lists->sources.size(); ++s)
            MPI_Recv_init(values.data() + (cells.owned + from[s]) * each, (from[s + 1] - from[s]) * each, MPI_DOUBLE, lists->sources[s], 1,
                          cells.comm, receives.add());
        const std::vector<int>& to = lists->send_offset;
        for (std::size_t t = 0; t < lists->targets.size(); ++t)
            MPI_Send_init(packed_for(t), (to[t + 1] - to[t]) * each, MPI_DOUBLE, lists->targets[t], 1, cells.comm, sends.add());
    }
    double* packed_for(std::size_t t) { return packed.data() + lists->send_offset[t] * components; }
};

class HandPersistent final : public HandUpdate<Array> {
public:
    void update(std::size_t number) override {
        Array& array = arrays_[number];
        array.receives.start_all();
        for (std::size_t t = 0; t < array.lists->targets.size(); ++t) {
            array.lists->pack(array.values.data(), t, array.components, array.packed_for(t));
            array.sends.start(t);
        }
        array.receives.wait_all();
        array.sends.wait_all();
    }
};

}  // namespace

GhostUpdatePointer by_hand_with_persistent_requests() { return std::make_unique<HandPersistent>(); }

}  // namespace parhelion::bench
