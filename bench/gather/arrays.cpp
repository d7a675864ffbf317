#include "gather/arrays.hpp"

#include "values.hpp"

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

}  // namespace parhelion::bench
