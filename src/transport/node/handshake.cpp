#include "transport/node/handshake.hpp"

#include "parhelion/core/sparse_exchange.hpp"

namespace parhelion {

void exchange_letters(const TransportContext& context, const std::vector<Words>& letters,
                      const std::function<void(std::size_t link, WordReader& letter)>& open) {
    std::vector<Parcel> parcels;
    std::vector<int> expected;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        parcels.push_back({context.links[i]->rank, {}});
        parcels.back().append(letters[i].data(), letters[i].size());
        expected.push_back(context.links[i]->rank);
    }
    const auto received = neighbor_exchange(context.plan.communicator(), parcels, expected);
    validate_together(context.plan.communicator(), [&] {
        for (std::size_t i = 0; i < received.size(); ++i) {
            const Words words = received[i].values<global_index>();
            WordReader letter(words, "neighbor's letter");
            open(i, letter);
        }
    });
}

}  // namespace parhelion
