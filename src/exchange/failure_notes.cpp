#include "exchange/failure_notes.hpp"

#include <algorithm>

#include "core/orphans.hpp"
#include "transport/request_set.hpp"

namespace parhelion {

// MPI reads and writes the numbers.
struct FailureNotes::StageNotes {
    int sent = -1;
    std::vector<int> targets, sources, received = {};
    RequestSet sends{RequestSet::Kind::sends}, receives{RequestSet::Kind::receives};
    bool taken = true;

    explicit StageNotes(const StagePlan& stage) {
        for (const LinkPlan& link : stage.links) {
            if (link.reverse.send_bytes > 0) sends.add(sends.size(), link.rank);
            if (link.reverse.send_bytes > 0) targets.push_back(link.rank);
            if (link.reverse.receive_bytes > 0) receives.add(receives.size(), link.rank);
            if (link.reverse.receive_bytes > 0) sources.push_back(link.rank);
        }
        received.resize(sources.size(), -1);
    }
};

FailureNotes::FailureNotes(const Plan& plan) : comm_(plan.communicator()), tag_(comm_.next_tag()) {
    for (const StagePlan& stage : plan.stages)
        stages_.push_back(std::make_shared<StageNotes>(stage));
}

FailureNotes::~FailureNotes() {
    for (const auto& notes : stages_) {
        const bool settled = notes->receives.settle() & notes->sends.settle();
        if (!settled) orphan(notes);
        if (!settled || notes->receives.cancelled()) tag_.keep();
    }
}

void FailureNotes::begin(std::size_t stage, bool failed) {
    StageNotes& notes = *stages_[stage];
    if (failed && failed_ < 0) failed_ = comm_.rank();
    notes.sent = failed_;
    notes.taken = false;
    for (std::size_t i = 0; i < notes.sources.size(); ++i)
        check_reached(MPI_Irecv(&notes.received[i], 1, MPI_INT, notes.sources[i], tag_,
                                comm_.handle(), &notes.receives[static_cast<int>(i)]),
                      notes.sources[i], "MPI_Irecv");
    for (std::size_t i = 0; i < notes.targets.size(); ++i)
        check_reached(MPI_Isend(&notes.sent, 1, MPI_INT, notes.targets[i], tag_, comm_.handle(),
                                &notes.sends[static_cast<int>(i)]),
                      notes.targets[i], "MPI_Isend");
}

bool FailureNotes::have_arrived(std::size_t stage) {
    StageNotes& notes = *stages_[stage];
    if (notes.taken) return true;
    if (!notes.receives.test_all() || !notes.sends.test_all()) return false;
    notes.taken = true;
    for (const int rank : notes.received) failed_ = std::max(failed_, rank);
    return true;
}

}  // namespace parhelion
