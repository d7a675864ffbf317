#include "exchange/stages.hpp"

#include <chrono>
#include <iterator>
#include <string>

#include "core/lost_rank.hpp"
#include "core/mpi_threads.hpp"
#include "exchange/waiter.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node/watch.hpp"

namespace parhelion {

// Another thread holds it for as long as copying what has arrived takes.
class Stages::Hold {
public:
    explicit Hold(Stages& stages) : holder_(stages.holder_) {
        stages.require_outside();
        while (!take(holder_)) std::this_thread::yield();
    }
    ~Hold() { holder_.store({}, std::memory_order_release); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    static bool take(std::atomic<std::thread::id>& holder) {
        std::thread::id nobody;
        return holder.compare_exchange_strong(nobody, std::this_thread::get_id(),
                                              std::memory_order_acquire, std::memory_order_relaxed);
    }

private:
    std::atomic<std::thread::id>& holder_;
};

void Stages::refuse_inside() {
    throw Error(
        "a reduction uses the exchange that calls it: let it combine its two rows of values, and "
        "nothing else");
}

Stages::Stages(const Plan& plan, const BoundArrays& arrays, const Choice& choice,
               std::shared_ptr<const Plan> forward)
    : plan_(plan), staged_(std::move(forward)), arrays_(arrays), choice_(choice),
      queue_(plan.executor->make_queue()),
      watched_(plan.communicator().shared_state<Watch>().node()) {
    forward_.reserve(forward_plan().stages.size());
    for (const StagePlan& stage : forward_plan().stages) {
        forward_.emplace_back(forward_plan(), arrays, *queue_, Direction::forward, stage, choice);
        calls_mpi_ = calls_mpi_ || forward_.back().calls_mpi();
    }
    join_background(this);
}

void Stages::make_reverse(bool combine_in_end) {
    combine_in_end_ = combine_in_end;
    std::vector<StageExchange> made;
    made.reserve(plan_.stages.size());
    for (auto stage = plan_.stages.rbegin(); stage != plan_.stages.rend(); ++stage) {
        made.emplace_back(plan_, arrays_, *queue_, Direction::reverse, *stage, choice_);
        calls_mpi_ = calls_mpi_ || made.back().calls_mpi();
    }
    reverse_ = std::move(made);
    if (reverse_.size() > 1) notes_ = std::make_unique<FailureNotes>(plan_);
}

std::string Stages::refusal(Direction direction) {
    const Hold hold(*this);
    std::string why;
    for (StageExchange& stage : stages(direction))
        if (why.empty()) why = stage.refusal();
    return why;
}

Stages::~Stages() { leave_background(this); }

std::vector<NodeTraffic> Stages::traffic() const {
    std::vector<NodeTraffic> all;
    for (const StageExchange& stage : forward_)
        std::ranges::copy(stage.traffic(), std::back_inserter(all));
    return all;
}

void Stages::prepare(Direction direction, Reduction reduction) {
    if (failure_)
        throw Error(
            "this exchange has failed before, its neighbors may be at another one: make a new "
            "Exchange",
            ErrorKind::communication);
    direction_ = direction;
    reduction_ = reduction;
    stage_ = 0;
    begun_by_ = std::this_thread::get_id();
    if (notes_) notes_->reset();
}

void Stages::begin(Direction direction, Reduction reduction, Queue* queue) {
    const Hold hold(*this);
    prepare(direction, reduction);
    try {
        while (!queue_->is_done(copied_))
            std::this_thread::yield();  // messages that it reads come anew
        if (queue != nullptr) queue_->follow(*queue);
        copied_ = {};
        if (!stages().empty()) stages().front().begin();
    } catch (...) {
        failure_ = std::current_exception();
        give_up();
    }
    under_way_.store(true, std::memory_order_relaxed);
}

void Stages::leave(bool may_wait) {
    const Hold hold(*this);
    if (may_wait) queue_->wait();
    if (!stages().empty()) stages().front().leave();
}

bool Stages::test() {
    constexpr int between_looks = 4096;  // at who is lost: it takes a system call for each neighbor
    const Hold hold(*this);
    try {
        while (!failure_ && stage_ < stages().size() && poll() != Poll::nothing) idle_tests_ = 0;
    } catch (...) {
        failure_ = std::current_exception();  // for `end`
    }
    if (failure_ || all_moved() ||
        (combine_in_end_ && stage_ < stages().size() && stages()[stage_].arrived()))
        return true;
    return ++idle_tests_ % between_looks == 0 && watched_ != nullptr && watched_->lost_rank() >= 0;
}

void Stages::end(double timeout_s, Queue* queue, const std::function<void()>& look) {
    const Hold hold(*this);
    under_way_.store(false, std::memory_order_relaxed);
    if (failure_) give_up();
    try {
        finish(timeout_s, look);
        if (queue != nullptr) queue->follow(*queue_);
        else
            while (!all_moved()) std::this_thread::yield();
    } catch (...) {
        failure_ = std::current_exception();  // neighbors are at other numbers now
        give_up();
    }
    refuse_failure();
}

// The exchange is at its end on all ranks, and can go on. Whose own reduction it was knows more.
void Stages::refuse_failure() const {
    if (!notes_failures() || reduction_.by()->has_failed() || notes_->failed_rank() < 0) return;
    throw Error("the reduction failed on rank " + std::to_string(notes_->failed_rank()) +
                ", where it combined values that went on to this rank: what it raised there tells "
                "why");
}

void Stages::abandon(std::exception_ptr reason) {
    try {  // for neighbors that make the same calls
        const Hold hold(*this);
        if (stage_ < stages().size()) stages()[stage_].leave();
    } catch (...) {  // the reason is what counts
    }
    const Hold hold(*this);
    under_way_.store(false, std::memory_order_relaxed);
    if (!failure_) failure_ = std::move(reason);
}

// Throws the failure. Neighbors that wait for this rank are told whose fault it is. MPI, when it
// fails, does not say, nor does the system, whose memory of a process goes with it.
void Stages::give_up() {
    try {
        std::rethrow_exception(failure_);
    } catch (const LostRank& lost) {
        if (watched_ != nullptr) watched_->tell_lost(lost.rank());
    } catch (const Error& error) {
        const bool unclear =
            error.kind() == ErrorKind::communication || error.kind() == ErrorKind::system;
        const int lost = unclear ? lost_rank() : -1;
        if (lost < 0) throw;
        watched_->tell_lost(lost);
        failure_ = std::make_exception_ptr(
            LostRank(lost, " (" + std::string(error.what()) + ")" + lost_rank_remedy));
    }
    std::rethrow_exception(failure_);
}

// MPI may have noticed before the system tells.
int Stages::lost_rank() const {
    if (watched_ == nullptr) return -1;
    int lost = -1;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while ((lost = watched_->lost_rank()) < 0 && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return lost;
}

void Stages::finish(double timeout_s, const std::function<void()>& look) {
    while (stage_ < stages().size()) {
        StageExchange& stage = stages()[stage_];
        Waiter waiter(stage.node() != nullptr ? stage.node() : watched_, stage.node() != nullptr,
                      stage.must_poll() || notes_failures(), timeout_s);
        for (Poll last; (last = poll(true)) != Poll::complete;) {
            if (last == Poll::moved) {
                waiter.reset();
                continue;
            }
            if (look) look();
            waiter.pause([&] { return stage.missing_text(); });
        }
    }
}

Poll Stages::poll(bool in_end) {
    const Poll result = stages()[stage_].poll(reduction_, in_end || !combine_in_end_);
    if (result != Poll::complete) return result;
    if (notes_failures() && !notes_->have_arrived(stage_of_plan())) return Poll::nothing;
    if (++stage_ < stages().size()) begin_next();
    else copied_ = queue_->record();
    return result;
}

void Stages::begin_next() {
    if (notes_failures()) {
        queue_->wait();  // for what is combined
        notes_->begin(stage_of_plan(), reduction_.by()->has_failed());
    }
    stages()[stage_].begin();
}

// MPI may allow only one thread to call it at a time: then only the one that began the exchange is
// known to be that thread.
bool Stages::may_work_here() const {
    return !(calls_mpi_ || notes_failures()) || begun_by_ == std::this_thread::get_id() ||
           mpi_serves_all_threads();
}

bool Stages::advance() {
    if (!under_way() || !Hold::take(holder_)) return false;
    bool any = false;
    try {
        if (under_way() && !failure_ && stage_ < stages().size() && may_work_here())
            any = poll() != Poll::nothing;
    } catch (...) {
        failure_ = std::current_exception();  // for whoever ends this exchange
    }
    holder_.store({}, std::memory_order_release);
    return any;
}

}  // namespace parhelion
