#include "apps/contenders.hpp"

#include "apps/reference.hpp"
#include "apps/running.hpp"
#include "exchange_lines.hpp"
#include "own.hpp"
#include "planted_fault.hpp"

namespace parhelion::bench {

namespace {

// The reference lives as long as the way that fills its ghosts.
std::shared_ptr<Application> reference_of(const ApplicationSetup& setup) {
    return setup.reference->get([&] {
        std::shared_ptr<GhostUpdate> way = reference_update();
        std::shared_ptr<Application> made = setup.make(*way);
        Application* application = made.get();
        return std::shared_ptr<Application>(application, [way, made](Application*) mutable { made.reset(); });
    });
}

std::unique_ptr<Running> make_running(const ApplicationSetup& setup, GhostUpdatePointer way, int lines, SetupTimes& times) {
    return std::make_unique<Running>(setup.make, std::move(way), reference_of(setup), lines, times);
}

struct ByHand {
    const char* name;
    GhostUpdatePointer (*make)();
    int lines;
};

constexpr ByHand by_hand[] = {
    {"hand_isend", by_hand_with_isend, lines_of_hand_lists + lines_of_hand_isend},
    {"hand_persistent", by_hand_with_persistent_requests, lines_of_hand_lists + lines_of_hand_persistent},
    {"hand_neighbor_alltoallv", by_hand_with_neighbor_alltoallv, lines_of_hand_lists + lines_of_hand_neighbor_alltoallv},
};

std::unique_ptr<Contender> make_planted_fault(const ApplicationSetup& setup, SetupTimes& times) {
    auto right = make_running(setup, by_hand_with_isend(), 0, times);
    const std::span<const double> ghosted = right->application().state().front();
    auto* victim = reinterpret_cast<std::byte*>(const_cast<double*>(&ghosted.back()));
    return std::make_unique<PlantedFault>(std::move(right), is_last_rank(setup.comm) ? victim : nullptr);
}

}  // namespace

std::vector<Entry> application_contenders(const ApplicationSetup& setup) {
    std::vector<Entry> entries;
    for (const OwnWay& way : own_ways()) {
        const auto make = [=](SetupTimes& times) {
            require_usable(way, setup.comm);
            return make_running(setup, with_parhelion(way.transport), lines_of_parhelion, times);
        };
        entries.push_back({way.transport, "own", make, way.transport != "auto", way.unavailable});
    }
    for (const ByHand& way : by_hand)
        entries.push_back({way.name, "baseline", [=](SetupTimes& times) { return make_running(setup, way.make(), way.lines, times); }});
    entries.push_back({"planted_fault", "baseline", [=](SetupTimes& times) { return make_planted_fault(setup, times); }, true});
    return entries;
}

}  // namespace parhelion::bench
