#include "setup/case.hpp"

#include <map>

#include "halo/case.hpp"
#include "parhelion/core/collective.hpp"
#include "variant.hpp"

namespace parhelion::bench {

namespace {

using nlohmann::json;

LibraryVariant way_of(const std::string& transport) {
    std::string known;
    for (const LibraryVariant& way : library_variants()) {
        if (way.transport == transport) return way;
        known += (known.empty() ? "" : ", ") + way.transport;
    }
    throw Error("unknown transport '" + transport + "': this build has " + known);
}

Case described(const SetupCase& which, int ranks) {
    Case described;
    json& params = described.params = halo_case_params(which.params, ranks);
    params["transport"] = which.way.transport;
    described.name = "setup of " + halo_case_name(which.params) + " over " + which.way.transport;
    return described;
}

std::optional<std::string> reason_against(const SetupCase& which, const Communicator& comm) {
    try {
        require_usable(which.way, comm);
    } catch (const CannotRun& e) {
        return e.what();
    }
    return std::nullopt;
}

// Sets an exchange up from nothing, again and again, and keeps what each stage took on this rank.
// Collective.
class Rehearsal {
    // The ranks begin a stage together, so that none pays for the others' lateness in the stage
    // before.
    template <class Work>
    decltype(auto) stage(const char* name, Work&& work) {
        ground_.start_line.wait();
        return timed(seconds_[name].emplace_back(0.0), std::forward<Work>(work));
    }

public:
    Rehearsal(const SetupCase& which, Ground ground)
        : which_(which), ground_(ground), setup_(make_halo_setup(which.params, ground.comm)),
          arrays_(setup_.arrays) {
        if (which.way.node_shared)
            validate_together(ground.comm, [&] { arrays_ = node_shared_arrays(setup_); });
    }

    void once() {
        stage("mpi_comm_dup", [&] { MPI_Comm_dup(MPI_COMM_WORLD, &setup_.comm); });
        with(setup_.comm);
        MPI_Comm_free(&setup_.comm);
    }

    const std::vector<double>& seconds(const std::string& name) const { return seconds_.at(name); }

    // Elements that were wrong after an exchange, on this rank and over all times.
    std::int64_t wrong() const { return wrong_; }

private:
    void with(MPI_Comm fresh) {
        stage("communicator", [&] { Communicator(fresh).node(); });
        Pattern pattern = stage("pattern", [&] { return build_pattern(make_domain(setup_)); });
        Exchange exchange = stage("plan", [&] {
            return Exchange{std::move(pattern),
                            fields_on(setup_, *arrays_),
                            {.transport = which_.way.transport}};
        });
        arrays_->refresh(++round_);
        stage("first_exchange", [&] { exchange(); });
        wrong_ += arrays_->count_wrong(round_);
        constexpr int more = 10;
        for (int i = 0; i < more; ++i) exchange();
        stage("later_exchange", [&] { exchange(); });
        wrong_ += arrays_->count_wrong(round_);
    }

    SetupCase which_;
    Ground ground_;
    HaloSetup setup_;
    std::shared_ptr<HaloArrays> arrays_;
    std::map<std::string, std::vector<double>> seconds_;
    std::int64_t wrong_ = 0;
    unsigned round_ = 0;
};

}  // namespace

// MPI's own part is a peer; the library's stages follow each other.
std::vector<Entry> setup_stages() {
    std::vector<Entry> stages;
    for (const char* name : {"mpi_init", "mpi_comm_dup"}) stages.push_back({name, "peer", nullptr});
    for (const char* name : {"communicator", "pattern", "plan", "first_exchange", "later_exchange"})
        stages.push_back({name, "own", nullptr});
    return stages;
}

SetupCase read_setup_case(const json& object, int ranks) {
    return {read_halo_params(object, ranks), way_of(object.value("transport", "auto"))};
}

void run_setup_case(const SetupCase& which, const std::vector<Entry>& stages, const Job& job,
                    Ground ground, const ReportOutcome& report) {
    const Case named = described(which, ground.comm.size());
    const auto reason = reason_against(which, ground.comm);
    std::optional<Rehearsal> rehearsal;
    if (!reason) rehearsal.emplace(which, ground);
    for (int repetition = 0; rehearsal && repetition < job.repetitions; ++repetition)
        rehearsal->once();
    std::int64_t wrong = rehearsal ? rehearsal->wrong() : 0;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, ground.comm.handle());
    for (const Entry& stage : stages) {
        Outcome outcome;
        outcome.variant = stage.name;
        outcome.role = stage.role;
        outcome.skipped = reason;
        if (rehearsal) {
            outcome.iterations = 1;
            outcome.verified = wrong == 0;
            const bool once = stage.name == "mpi_init";
            outcome.samples_by_rank = samples_by_rank(
                once ? std::vector{ground.mpi_init_s} : rehearsal->seconds(stage.name),
                ground.comm);
        }
        if (wrong > 0)
            outcome.error = std::to_string(wrong) + " elements were wrong after an exchange";
        report(named, outcome);
    }
}

}  // namespace parhelion::bench
