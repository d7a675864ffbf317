#include "parhelion/exchange/exchange.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/mpi_threads.hpp"
#include "exchange/auto_choice.hpp"
#include "exchange/progress_thread.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/hash.hpp"
#include "plan/copy_team.hpp"

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

std::uint64_t fingerprint(const std::string& text) { return Hash{}.add_range(text).value(); }

}  // namespace

struct Exchange::Impl {
    Plan plan;
    AutoChoice chosen;
    bool by_name = false;
    double timeout_s;
    bool under_way = false;
    std::uint64_t number = 0;  // of exchanges begun
    std::shared_ptr<ProgressThread> progress;

    Impl(Pattern pattern, std::vector<Field> fields, const ExchangeOptions& options, const std::string& requested)
        : plan(make_plan(std::move(pattern), std::move(fields), fingerprint(requested))), by_name(requested != "auto"),
          timeout_s(time_limit(options.timeout_s)) {
        validate_together(plan.communicator(), [&] { plan.team = copy_team(thread_count(options.threads)); });
        if (wants_progress(options.progress_thread)) progress = ProgressThread::of_process();
        if (!by_name) {
            chosen = choose_automatically(plan);
            return;
        }
        validate_together(plan.communicator(), [&] { chosen.choice = parse_choice(requested); });
        chosen.stages = std::make_unique<Stages>(plan, chosen.choice);
    }

    ~Impl() {
        if (under_way && progress) progress->ended();
    }

    void begin(Direction way, Reduction how) {
        if (under_way)
            throw Error("this exchange is under way: end it before it begins again, or make a second Exchange");
        chosen.stages->begin(way, how);
        under_way = true;
        ++number;
        if (progress) progress->begun();
    }

    void end() {
        if (!under_way) throw Error("no exchange is under way: call begin first");
        under_way = false;
        if (progress) progress->ended();
        chosen.stages->end(timeout_s);
    }

    std::string about_progress() const {
        if (!chosen.stages->calls_mpi() || mpi_serves_all_threads()) return "a thread gets it on between begin and end";
        return "no thread gets it on, for MPI serves one at a time: start MPI with MPI_THREAD_MULTIPLE";
    }

    std::string reason() const {
        if (by_name) return "asked for by name";
        if (chosen.remembered) return "as measured for an equal plan before";
        if (chosen.measured.empty()) return "the only way that can serve it";
        std::ostringstream text;
        text << "the fastest when the exchange was made (µs per exchange:";
        for (const Measured& each : chosen.measured)
            if (each.refusal.empty()) text << " " << each.name << " " << each.seconds * 1e6;
        text << ")";
        for (const Measured& each : chosen.measured)
            if (!each.refusal.empty()) text << ", " << each.name << " left out: " << each.refusal;
        return text.str();
    }
};

Exchange::Exchange(Pattern pattern, std::vector<Field> fields, ExchangeOptions options)
    : impl_(std::make_shared<Impl>(std::move(pattern), std::move(fields), options,
                                   requested_transport(options.transport))) {}
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

void Exchange::Step::end() {
    if (impl_ == nullptr) throw Error("this step has ended or was moved from: end a step once");
    const auto impl = std::move(impl_);
    if (impl->number != number_) throw Error("this step has ended, and its exchange has begun again: end a step once");
    impl->end();
}

Exchange::Step Exchange::begin() {
    impl_->begin(Direction::forward, Reduction::replace);
    return Step(impl_);
}

Exchange::Step Exchange::begin_reverse(Reduction reduction) {
    for (const Field& field : impl_->plan.fields)
        if (!supports(reduction, field.element.scalar))
            throw Error("elements of type " + to_string(field.element) + " cannot be combined so: use replace, or a type "
                        "that can be added and compared", ErrorKind::type);
    impl_->begin(Direction::reverse, reduction);
    return Step(impl_);
}

void Exchange::end() { impl_->end(); }
bool Exchange::under_way() const { return impl_->under_way; }
const Plan& Exchange::plan() const { return impl_->plan; }
std::string Exchange::transport() const { return impl_->chosen.choice.name(); }

std::string Exchange::explain() const {
    std::ostringstream out;
    out << "transport " << transport() << ", " << impl_->reason() << "; " << impl_->plan.messages_sent() << " messages, "
        << impl_->plan.bytes_sent() << " bytes sent per exchange, copies by " << copy_kernels_name();
    if (impl_->plan.team) out << ", large ones by " << impl_->plan.team->size() << " threads";
    out << "\n";
    if (impl_->progress) out << "  " << impl_->about_progress() << "\n";
    for (const StagePlan& stage : impl_->plan.stages) {
        for (const LinkPlan& link : stage.links)
            out << "  rank " << link.rank << ": sends " << link.forward.send_bytes << " bytes, receives "
                << link.forward.receive_bytes << "\n";
        if (stage.self) out << "  own periodic images: " << stage.self->forward.bytes() + stage.wrap.bytes() << " bytes copied locally\n";
    }
    return out.str();
}

}  // namespace parhelion
