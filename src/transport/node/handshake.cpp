#include "transport/node/handshake.hpp"

#include "parhelion/core/collective.hpp"
#include "parhelion/core/sparse_exchange.hpp"

namespace parhelion {

// Whoever could not write sends empty letters: nobody waits for it in vain, and it complains
// afterwards.
void exchange_letters(const TransportContext& context,
                      const std::function<std::vector<Words>()>& write,
                      const std::function<void(std::size_t link, WordReader& letter)>& open) {
    std::vector<Words> letters;
    Complaint complaint = complaint_of([&] { letters = write(); });
    letters.resize(context.links.size());
    std::vector<Parcel> parcels;
    std::vector<int> expected;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        parcels.push_back({context.links[i]->rank, {}});
        parcels.back().append(letters[i].data(), letters[i].size());
        expected.push_back(context.links[i]->rank);
    }
    const auto received = neighbor_exchange(context.plan.communicator(), parcels, expected);
    const auto open_all = [&] {
        for (std::size_t i = 0; i < received.size(); ++i) {
            const Words words = received[i].values<global_index>();
            if (words.empty()) continue;
            WordReader letter(words, "neighbor's letter");
            open(i, letter);
        }
    };
    if (!complaint.any) complaint = complaint_of(open_all);
    agree(context.plan.communicator(), complaint);
}

}  // namespace parhelion
