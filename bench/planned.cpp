#include "benchmarks.hpp"
#include "contenders.hpp"
#include "runner.hpp"

namespace parhelion::bench {

PlannedCase race(std::function<Case()> make, const std::vector<Entry>& all, const Job& job) {
    const auto run = [make = std::move(make)](const Job& asked, Ground ground,
                                              const ReportOutcome& report) {
        Case which = make();
        which.entries = chosen(which.entries, asked.contenders);
        run_case(which, asked, ground, report);
    };
    return {run, chosen(all, job.contenders).size()};
}

std::size_t lines_expected(const std::vector<PlannedCase>& cases) {
    std::size_t lines = 0;
    for (const PlannedCase& planned : cases) lines += planned.contenders;
    return lines;
}

}  // namespace parhelion::bench
