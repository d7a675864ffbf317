#include "parhelion/exchange/exchange.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/mpi_threads.hpp"
#include "exchange/auto_choice.hpp"
#include "exchange/progress_thread.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "plan/copy_team.hpp"
#include "transport/node/watch.hpp"

namespace parhelion {
namespace {

double time_limit(double from_options) {
    if (from_options > 0) return from_options;
    const char* text = std::getenv("PARHELION_TIMEOUT");
    return text == nullptr ? 0 : std::atof(text);
}

bool wants_progress(bool from_options) {
    const char* text = std::getenv("PARHELION_PROGRESS");
    return from_options || (text != nullptr && std::string(text) == "1");
}

int thread_count(int from_options) {
    if (from_options != 0) return from_options;
    const char* text = std::getenv("PARHELION_THREADS");
    if (text == nullptr || *text == '\0') return 1;
    int count = 0;
    const auto [end, wrong] = std::from_chars(text, text + std::strlen(text), count);
    if (wrong != std::errc() || *end != '\0') throw Error(std::string("PARHELION_THREADS is '") + text + "': use a number of threads");
    return count;
}

int part_count(int from_options) {
    constexpr int most = 4096;
    if (from_options < 1 || from_options > most)
        throw Error("an exchange cannot have " + std::to_string(from_options) + " parts: use 1 to " + std::to_string(most));
    return from_options;
}

void require_reducible(const Plan& plan, Reduction reduction) {
    for (const Field& field : plan.fields) parhelion::require_reducible(field.element, reduction);
}

// What the program has promised stands, whatever the environment says.
bool overlaps(const ExchangeOptions& options) {
    const char* text = std::getenv("PARHELION_OVERLAP");
    return options.overlap || (!options.at_once && text != nullptr && std::string(text) == "1");
}

Use use_of(const ExchangeOptions& options) {
    if (!(options.work_s >= 0 && options.work_s <= 1))
        throw Error("an exchange cannot be tried with " + std::to_string(options.work_s) + " s of work: use 0 to 1");
    if (options.at_once && options.overlap)
        throw Error("an exchange cannot be both called at once and begun around work: use one of at_once and overlap");
    return {overlaps(options), options.at_once, options.work_s};
}

TellProperties equal_options(const std::string& transport, const ExchangeOptions& options) {
    return [transport, options](Properties& told) {
        told.add("the transport", transport);
        told.add("the number of parts", options.parts);
        told.add("whether the exchange is only called at once", options.at_once ? "yes" : "no");
        if (transport != "auto") return;
        told.add("whether the exchange overlaps with work", overlaps(options) ? "yes" : "no");
        told.add("the work in seconds", std::to_string(options.work_s));
        told.add("the environment variable PARHELION_AUTO", auto_list_text());
    };
}

// Neighbors on the node tell each other in the plan's letters how they can be watched.
Plan plan_watched(std::vector<Group> groups, const TellProperties& options) {
    if (groups.empty()) throw Error("an exchange needs at least one group: pass a pattern with its fields");
    Watch& watch = Communicator(groups.front().pattern.communicator).shared_state<Watch>();
    Plan plan = make_plan(std::move(groups), options, watch.card());
    watch.meet(plan);
    return plan;
}

}  // namespace

struct Exchange::Impl {
    Plan plan;
    BoundArrays arrays;
    AutoChoice chosen;
    bool at_once = false;
    double timeout_s;
    bool under_way = false, takes_parts = false;
    std::uint64_t number = 0;  // of exchanges begun
    std::shared_ptr<ProgressThread> progress;

    Impl(std::vector<Group> groups, const ExchangeOptions& options, const std::string& requested)
        : plan(plan_watched(std::move(groups), equal_options(requested, options))), arrays(plan),
          timeout_s(time_limit(options.timeout_s)) {
        Use use;
        validate_together(plan.communicator(), [&] {
            plan.parts = part_count(options.parts);
            use = use_of(options);
            plan.team = copy_team(thread_count(options.threads));
        });
        if (wants_progress(options.progress_thread)) progress = ProgressThread::of_process();
        chosen = requested == "auto" ? choose_automatically(plan, arrays, use) : choose_by_name(plan, arrays, requested);
        at_once = use.at_once;
        chosen.stages->make_reverse();
    }

    ~Impl() {
        if (under_way && progress) progress->ended();
    }

    void begin(const ArrayList& given, Direction way, Reduction how) {
        start(given, way, [&] { chosen.stages->begin(way, how); });
        takes_parts = false;
    }
    // Neighbors could not end it without this rank: what it passes on comes after its begin.
    void require_begin() const {
        if (at_once) throw Error("this exchange was made to be called at once only: leave out the option at_once");
    }
    void begin_and_leave(const ArrayList& given, Direction way, Reduction how) {
        require_begin();
        begin(given, way, how);
        chosen.stages->leave();
    }
    void begin_parts(const ArrayList& given) {
        require_begin();
        start(given, Direction::forward, [&] { chosen.stages->begin_parts(); });
        takes_parts = true;
    }

    template <class Start>
    void start(const ArrayList& given, Direction way, Start&& at_transports) {
        require_mpi_not_ended();
        if (under_way)
            throw Error("this exchange is under way: end it before it begins again, or make a second Exchange");
        bind(given, way);
        at_transports();
        under_way = true;
        ++number;
        if (progress) progress->begun();
    }

    void bind(const ArrayList& given, Direction way) {
        const std::uint64_t before = arrays.version();
        arrays.bind(given);
        if (arrays.version() != before) chosen.stages->require_arrays(way);
    }

    void require_part(int part) const {
        if (part < 0 || part >= plan.parts)
            throw Error("there is no part " + std::to_string(part) + ": this exchange has parts 0 to " + std::to_string(plan.parts - 1) +
                        " (option parts)");
    }
    void ready(int part) {
        require_part(part);
        require_mpi_not_ended();
        if (!under_way || !takes_parts) throw Error("no exchange in parts is under way: call begin_parts first");
        if (!chosen.stages->put_part(part))
            throw Error("part " + std::to_string(part) + " was ready before: tell it once between begin_parts and end");
    }

    void end() {
        if (!under_way) throw Error("no exchange is under way: call begin first");
        require_mpi_not_ended();
        under_way = false;
        if (progress) progress->ended();
        chosen.stages->end(timeout_s);
    }

    std::string about_progress() const {
        if (!chosen.stages->calls_mpi() || mpi_serves_all_threads()) return "a thread gets it on between begin and end";
        return "no thread gets it on, for MPI serves one at a time: start MPI with MPI_THREAD_MULTIPLE";
    }

    std::string about_parts() const {
        const std::string text = std::to_string(plan.parts) + " parts: ";
        if (chosen.stages->takes_parts()) return text + "each is packed by the thread that tells of it, and given to MPI as early as it takes it";
        return text + "packed and sent when all are ready (mpi_partitioned packs each when it is)";
    }
};

Exchange::Exchange(std::vector<Group> groups, ExchangeOptions options)
    : impl_(std::make_shared<Impl>(std::move(groups), options, requested_transport(options.transport))) {}
Exchange::Exchange(Pattern pattern, std::vector<Field> fields, ExchangeOptions options)
    : Exchange({Group{std::move(pattern), std::move(fields)}}, std::move(options)) {}
Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;

Exchange::Step::Step(std::shared_ptr<Impl> impl) : impl_(std::move(impl)), number_(impl_->number) {}

Exchange::Step::~Step() {
    if (impl_ == nullptr || !impl_->under_way || impl_->number != number_) return;
    try {
        impl_->end();
    } catch (...) {  // a destructor cannot report; whoever wants the error calls end
    }
}

void Exchange::Step::ready(int part) {
    if (impl_ == nullptr || impl_->number != number_) throw Error("this step has ended or was moved from: no part of it is awaited");
    impl_->ready(part);
}

bool Exchange::Step::test() {
    if (impl_ == nullptr || !impl_->under_way || impl_->number != number_) return true;
    require_mpi_not_ended();
    return impl_->chosen.stages->test();
}

void Exchange::Step::end() {
    if (impl_ == nullptr) throw Error("this step has ended or was moved from: end a step once");
    const auto impl = std::move(impl_);
    if (impl->number != number_) throw Error("this step has ended, and its exchange has begun again: end a step once");
    impl->end();
}

Exchange::Step Exchange::begin_with(const ArrayList& arrays) {
    impl_->begin_and_leave(arrays, Direction::forward, Reduction::replace);
    return Step(impl_);
}

void Exchange::run_with(const ArrayList& arrays) {
    impl_->begin(arrays, Direction::forward, Reduction::replace);
    impl_->end();
}

Exchange::Step Exchange::begin_parts_with(const ArrayList& arrays) {
    impl_->begin_parts(arrays);
    return Step(impl_);
}

void Exchange::ready(int part) { impl_->ready(part); }
int Exchange::parts() const { return impl_->plan.parts; }

PartOfBlock Exchange::part(int part, int block, int group) const {
    impl_->require_part(part);
    const auto& patterns = impl_->plan.patterns;
    if (group < 0 || group >= static_cast<int>(patterns.size()))
        throw Error("there is no group " + std::to_string(group) + " in this exchange, which has " + std::to_string(patterns.size()));
    const Pattern& pattern = *patterns[static_cast<std::size_t>(group)];
    const int blocks = pattern.indexed() ? 1 : static_cast<int>(pattern.blocks.size());
    if (block < 0 || block >= blocks)
        throw Error("there is no block " + std::to_string(block) + " on rank " + std::to_string(pattern.communicator.rank()) +
                    ", which has " + std::to_string(blocks));
    return part_of_block(impl_->plan, part, block, group);
}

Exchange::Step Exchange::begin_reverse_with(Reduction reduction, const ArrayList& arrays) {
    require_reducible(impl_->plan, reduction);
    impl_->begin_and_leave(arrays, Direction::reverse, reduction);
    return Step(impl_);
}

void Exchange::reverse_with(Reduction reduction, const ArrayList& arrays) {
    require_reducible(impl_->plan, reduction);
    impl_->begin(arrays, Direction::reverse, reduction);
    impl_->end();
}

void Exchange::end() { impl_->end(); }
bool Exchange::under_way() const { return impl_->under_way; }
const Plan& Exchange::plan() const { return impl_->plan; }
std::string Exchange::transport() const { return impl_->chosen.choice.name(); }

std::string Exchange::explain() const {
    const Plan& plan = impl_->chosen.stages->forward_plan();
    std::ostringstream out;
    out << "transport " << transport() << ", " << impl_->chosen.reason << "; "
        << plan.messages_sent() << " messages, " << plan.bytes_sent() << " bytes sent per exchange, copies by " << copy_kernels_name();
    if (impl_->plan.team) out << ", large ones by " << impl_->plan.team->size() << " threads";
    out << "\n";
    if (impl_->plan.parts > 1) out << "  " << impl_->about_parts() << "\n";
    if (impl_->progress) out << "  " << impl_->about_progress() << "\n";
    const std::string gaps = impl_->plan.communicator().shared_state<Watch>().gaps(impl_->plan);
    if (!gaps.empty()) out << "  " << gaps << "\n";
    for (const StagePlan& stage : plan.stages) {
        for (const LinkPlan& link : stage.links)
            out << "  rank " << link.rank << ": sends " << link.forward.send_bytes << " bytes, receives "
                << link.forward.receive_bytes << "\n";
        if (stage.self) out << "  own periodic images: " << stage.self->forward.bytes() + stage.wrap.bytes() << " bytes copied locally\n";
    }
    return out.str();
}

}  // namespace parhelion
