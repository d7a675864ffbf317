#include "apps/contenders.hpp"

#include <algorithm>

#include "exchange_lines.hpp"
#include "exchanges/nodes.hpp"
#include "node_shared.hpp"
#include "own.hpp"
#include "planted_fault.hpp"
#include "values.hpp"

namespace parhelion::bench {

using namespace applications;

namespace {

/// An application that is measured step by step over a way to exchange, and its state compared bit
/// for bit with the reference. In round r it is looked at from step r on, so that steps upon steps
/// are compared, too.
class Running final : public Contender, private Values {
public:
    /// Collective. Of the set-up that of the exchange alone counts: the application's own is the
    /// same in all ways.
    Running(const MakeProgram& make, std::shared_ptr<Application> reference, int lines,
            SetupTimes& times)
        : program_(make(clock_)), reference_(std::move(reference)), lines_(lines) {
        times.plan += clock_.setup_s;
    }

    void exchange() override {
        program_->step();
        ++steps_;
        ++all_steps_;
    }
    Values& values() override { return *this; }
    /// Of an average step.
    Traffic traffic() const override {
        const applications::Traffic all = program_->traffic();
        const std::int64_t steps = std::max<std::int64_t>(all_steps_, 1);
        return {all.bytes / steps, all.messages / steps};
    }
    nlohmann::json explain() const override {
        const std::string told = program_->explain();
        return told.empty() ? nlohmann::json(nullptr) : nlohmann::json(told);
    }
    std::optional<double> step_held(const std::function<void()>& hold) override {
        clock_.held_s = 0;
        clock_.hold = &hold;
        exchange();
        clock_.hold = nullptr;
        return clock_.held_s;
    }
    int exchange_lines() const override { return lines_; }

    Program& program() const { return *program_; }

private:
    void refresh(unsigned round) override {
        program_->start(round);
        for (steps_ = 0; steps_ < round;) exchange();
    }
    /// Collective, unlike others: the reference takes the same steps.
    std::int64_t count_wrong(unsigned round) const override {
        reference_->start(round);
        for (std::int64_t step = 0; step < steps_; ++step) reference_->step();
        const auto mine = program_->state(), right = reference_->state();
        std::int64_t wrong = 0;
        for (std::size_t part = 0; part < mine.size(); ++part)
            for (std::size_t i = 0; i < mine[part].size(); ++i)
                wrong += !same_bits(mine[part][i], right[part][i]);
        return wrong;
    }

    ExchangeClock clock_;
    std::unique_ptr<Program> program_;
    std::shared_ptr<Application> reference_;
    int lines_;
    std::int64_t steps_ = 0, all_steps_ = 0;  // of this round, and of all
};

/// What all ways of an application are compared with, made when the first of them is.
class Reference {
public:
    explicit Reference(MakeProgram make) : make_(std::move(make)) {}
    std::shared_ptr<Application> get() const {
        return made_->get([&] {
            auto clock = std::make_shared<ExchangeClock>();
            std::shared_ptr<Program> program = make_(*clock);
            Program* application = program.get();
            return std::shared_ptr<Application>(
                application, [clock, program](Application*) mutable { program.reset(); });
        });
    }

private:
    MakeProgram make_;
    std::shared_ptr<MadeOnce<Application>> made_ = std::make_shared<MadeOnce<Application>>();
};

struct ByHand {
    const char* name;
    MakeProgram make;
    int lines;
};

std::unique_ptr<Contender> make_planted_fault(const MakeProgram& make, const Reference& reference,
                                              MPI_Comm comm, SetupTimes& times) {
    auto right = std::make_unique<Running>(make, reference.get(), 0, times);
    auto* victim = reinterpret_cast<std::byte*>(right->program().some_value());
    return std::make_unique<PlantedFault>(std::move(right), is_last_rank(comm) ? victim : nullptr);
}

std::vector<Entry> entries(MPI_Comm comm, const Reference& reference,
                           const std::function<MakeProgram(const std::string&)>& with_library,
                           int lines, const std::vector<ByHand>& by_hand) {
    std::vector<Entry> all;
    for (const OwnWay& way : own_ways()) {
        const auto make = [=](SetupTimes& times) {
            require_usable(way, comm);
            return std::make_unique<Running>(with_library(way.transport), reference.get(), lines,
                                             times);
        };
        all.push_back({way.transport, "own", make, way.transport != "auto", way.unavailable});
    }
    for (const ByHand& way : by_hand)
        all.push_back({way.name, "baseline", [=](SetupTimes& times) {
                           return std::make_unique<Running>(way.make, reference.get(), way.lines,
                                                            times);
                       }});
    const MakeProgram right = by_hand.front().make;
    all.push_back(
        {"planted_fault", "baseline",
         [=](SetupTimes& times) { return make_planted_fault(right, reference, comm, times); },
         true});
    return all;
}

}  // namespace

std::vector<Entry> ways_to_fill_ghosts(const MakeApplication& make, MPI_Comm comm) {
    const auto own = [=](const std::string& transport) {
        return over_ghosts(make, [=] { return with_parhelion(transport); });
    };
    return entries(comm, Reference(over_ghosts(make, reference_update)), own, lines_of_parhelion,
                   {{"hand_isend", over_ghosts(make, by_hand_with_isend),
                     lines_of_hand_lists + lines_of_hand_isend},
                    {"hand_persistent", over_ghosts(make, by_hand_with_persistent_requests),
                     lines_of_hand_lists + lines_of_hand_persistent},
                    {"hand_neighbor_alltoallv", over_ghosts(make, by_hand_with_neighbor_alltoallv),
                     lines_of_hand_lists + lines_of_hand_neighbor_alltoallv}});
}

std::vector<Entry> ways_of_poisson(const MakeApplication& make, MPI_Comm comm) {
    std::vector<Entry> all = ways_to_fill_ghosts(make, comm);
    const Reference reference(over_ghosts(make, reference_update));
    const auto add = [&](const std::string& library, int lines) {
        const MakeProgram program = over_ghosts(make, [=] { return with_vectors_of(library); });
        all.push_back({library, "peer", [=](SetupTimes& times) {
                           return std::make_unique<Running>(program, reference.get(), lines, times);
                       }});
    };
    add("petsc", lines_of_petsc_vector);
    add("dolfinx", lines_of_dolfinx_vector);
    return all;
}

std::vector<Entry> ways_of_hydrodynamics(const HydrodynamicsProblem& problem, MPI_Comm comm) {
    const auto over = [=](std::function<NodeSumsPointer()> way) {
        return hydrodynamics(problem, comm, std::move(way));
    };
    const auto own = [=](const std::string& transport) {
        return over([=] { return nodes_with_parhelion(transport); });
    };
    return entries(
        comm, Reference(over(sums_over_all_ranks)), own, lines_of_nodes_parhelion,
        {{"hand_isend", over(nodes_by_hand_with_isend), lines_of_hand_nodes + lines_of_nodes_isend},
         {"hand_sendrecv", over(nodes_by_hand_with_sendrecv),
          lines_of_hand_nodes + lines_of_nodes_sendrecv}});
}

std::vector<Entry> ways_of_shallow_water(const ShallowWaterProblem& problem, MPI_Comm comm) {
    using enum ShallowWaterWay;
    const auto own = [=](const std::string& transport) {
        return shallow_water(problem, comm, ShallowWaterWay::parhelion, transport);
    };
    return entries(comm, Reference(shallow_water(problem, comm, alone)), own,
                   lines_of_c_grid_parhelion,
                   {{"hand_isend", shallow_water(problem, comm, isend),
                     lines_of_c_grid_boxes + lines_of_c_grid_isend},
                    {"hand_sendrecv", shallow_water(problem, comm, sendrecv),
                     lines_of_c_grid_boxes + lines_of_c_grid_sendrecv}});
}

std::vector<Entry> application_contenders() {
    std::vector<Entry> all = ways_of_poisson({}, MPI_COMM_NULL);
    for (Entry& entry : ways_of_hydrodynamics({}, MPI_COMM_NULL))
        if (std::ranges::find(all, entry.name, &Entry::name) == all.end())
            all.push_back(std::move(entry));
    return all;
}

}  // namespace parhelion::bench
