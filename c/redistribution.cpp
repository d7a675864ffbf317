// Owned values from one domain to another.
#include "fields.hpp"
#include "parhelion/core/collective.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

template <class Handle>
int create(Handle from, Handle to, const phl_exchange_options* options, phl_redistribution* redistribution) {
    return guarded([&] {
        const Source before(from);
        std::optional<Source> after;
        collectively(before.communicator(), "phl_redistribution_create", options != nullptr ? options->timeout_s : 0, [&] {
            validate_together(before.communicator(), [&] {
                require_output(redistribution, "redistribution");
                after = later_source("the second domain", to);
            });
            keep(RedistributionObject{{domain_of(*get(from)), domain_of(*get(to)), options_from(options)}, before, *after},
                 *redistribution);
        });
    });
}

int move(phl_redistribution redistribution, const phl_field* from, const phl_field* to, int count,
         void (Redistribution::*run)(std::span<const Move>)) {
    return with(redistribution, [&](const auto& object) {
        std::vector<Move> moves;
        read_arrays(*object, [&] {
            require_array(from, count, "from");
            require_array(to, count, "to");
            for (int i = 0; i < count; ++i) moves.push_back({object->from.view(from[i]), object->to.view(to[i])});
        });
        (object->redistribution.*run)(moves);
        object->called = true;
    });
}

}  // namespace

extern "C" {

int phl_redistribution_create_cartesian(phl_cartesian from, phl_cartesian to, const phl_exchange_options* options,
                                        phl_redistribution* redistribution) {
    return create(from, to, options, redistribution);
}
int phl_redistribution_create_index_map(phl_index_map from, phl_index_map to, const phl_exchange_options* options,
                                        phl_redistribution* redistribution) {
    return create(from, to, options, redistribution);
}

int phl_redistribution_forward(phl_redistribution redistribution, const phl_field* from, const phl_field* to, int count) {
    return move(redistribution, from, to, count, &Redistribution::forward);
}
int phl_redistribution_back(phl_redistribution redistribution, const phl_field* from, const phl_field* to, int count) {
    return move(redistribution, from, to, count, &Redistribution::back);
}

int phl_redistribution_free(phl_redistribution* redistribution) { return free_handle(redistribution, "redistribution"); }

}  // extern "C"
