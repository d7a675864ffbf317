// Slots in memory that UCX maps: the sender packs straight into the receiver's.
#include "parhelion/core/error.hpp"
#include "transport/node/slots.hpp"
#include "transport/ucx/handles.hpp"

namespace parhelion {
namespace {

class UcxMemory final : public slots::Memory {
public:
    UcxMemory(std::shared_ptr<UcxWorker> worker, UcxNeighbors neighbors)
        : worker_(std::move(worker)), neighbors_(std::move(neighbors)) {}

    std::shared_ptr<std::byte> allocate(byte_count bytes) override {
        const auto memory = worker_->allocate(static_cast<std::size_t>(bytes + slots::line));
        keys_.emplace(memory.get(), worker_->key(memory.get()));
        return memory;
    }
    void describe(Words& header, std::byte* place) const override {
        header.push_back(reinterpret_cast<global_index>(place));
        put_text(header, std::prev(keys_.upper_bound(place))->second);
    }
    std::shared_ptr<std::byte> find(WordReader& header, int rank) override {
        const auto address = static_cast<std::uint64_t>(header.next());
        auto memory = worker_->map(neighbors_.at(rank), get_text(header), address);
        if (!memory)
            throw Error("UCX could map a first piece of rank " + std::to_string(rank) +
                            "'s memory, but not this one: "
                            "see the limits on shared memory (ipcs -l, df /dev/shm)",
                        ErrorKind::system);
        return memory;
    }

private:
    std::shared_ptr<UcxWorker> worker_;
    UcxNeighbors neighbors_;
    std::map<std::byte*, std::string> keys_;  // by start
};

}  // namespace

std::shared_ptr<slots::Memory> make_ucx_memory(std::shared_ptr<UcxWorker> worker,
                                               UcxNeighbors neighbors) {
    return std::make_shared<UcxMemory>(std::move(worker), std::move(neighbors));
}

}  // namespace parhelion
