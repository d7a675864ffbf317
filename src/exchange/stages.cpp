#include "exchange/stages.hpp"

#include <iterator>

#include "core/concat.hpp"
#include "core/orphans.hpp"
#include "exchange/waiter.hpp"
#include "transport/node/node_context.hpp"
#include "transport/request_set.hpp"

namespace parhelion {

namespace {

// Whether all ranks are reachable; local, independent of the neighbors.
bool reaches_all(const Choice& choice, const Communicator& comm) {
  if (std::ranges::any_of(
          choice.used(), [](const TransportInfo* info) { return info->scope == Scope::own_rank; }))
    return false;
  return choice.far->scope == Scope::anywhere || comm.node().size() == comm.size();
}

void require_space(const TransportInfo& info, const Plan& plan) {
  if (!serves_memory_of(info, plan)) refuse("transport ", info.name, ": ", refusal_of(info, plan));
}

}  // namespace

enum class Poll { nothing, moved, complete };

/// One stage in one direction: its transports, which share its links, and this rank's periodic
/// copies.
class StageExchange {
 public:
  StageExchange(const Plan& plan, const BoundArrays& arrays, Queue& queue, Direction direction,
      const StagePlan& stage, const Choice& choice)
      : plan_(plan), arrays_(arrays), queue_(queue), direction_(direction), stage_(stage),
        arrived_(stage.links.size()) {
    const Communicator& comm = plan.communicator();
    if (choice.splits()) comm.node();
    const auto on_node = [&](const LinkPlan& link) {
      return choice.splits() && comm.node_rank(link.rank) >= 0;
    };
    for (const LinkPlan& link : stage.links)
      homes_.push_back({&choice.for_link(link, on_node(link)), nullptr, 0});
    for (const TransportInfo* each : choice.used())
      require_space(*each, plan);  // same spaces on all ranks
    if (!reaches_all(choice, comm))
      validate_together(comm, [&] {
        for (std::size_t i = 0; i < homes_.size(); ++i)
          require_reach(*homes_[i].info, stage.links[i].rank, on_node(stage.links[i]));
      });
    for (const TransportInfo* each : choice.used()) make(*each);
    for (const Part& part : parts_) {
      if (part.slots.empty()) continue;
      if (NodeContext* const node = part.transport->node()) node_ = node;
      must_poll_ = must_poll_ || part.transport->must_poll() || !plan.executor->is_immediate();
      calls_mpi_ = calls_mpi_ || part.transport->calls_mpi();
    }
  }

  std::string refusal() {
    std::string why;
    for (const Part& part : parts_)
      if (why.empty()) why = part.transport->refusal();
    return why;
  }

  void begin() {
    missing_ = 0;
    for (const Part& part : parts_) missing_ += part.transport->expected();
    wrapped_ = stage_.wrap.empty();
    combined_ = 0;
    own_combined_ = !stage_.self;
    for (const Part& part : parts_) part.transport->begin();
    if (forward()) copy_own_images();
  }

  /// Neighbors must be able to end this exchange without the caller.
  void leave() {
    for (const Part& part : parts_) part.transport->leave();
  }

  void give_up() {
    for (const Part& part : parts_) part.transport->give_up();
  }

  /// Polls the neighbors once. In reverse, combines in ascending rank order or, unless
  /// `may_combine`, only notes arrivals.
  Poll poll(Reduction reduction, bool may_combine) {
    bool moved = take_arrived(reduction);
    if (!forward()) {
      if (!may_combine) return moved ? Poll::moved : Poll::nothing;
      moved = combine_in_order(reduction) || moved;
    } else if (missing_ == 0 && !wrapped_) {
      copy(stage_.wrap);
      wrapped_ = moved = true;
    }
    if (missing_ == 0 && finished()) return Poll::complete;
    return moved ? Poll::moved : Poll::nothing;
  }

  /// Of a reverse exchange.
  bool arrived() const { return !forward() && missing_ == 0; }

  std::string missing_text() const {
    std::string text = forward() ? "in a forward exchange" : "in a reverse exchange";
    text += concat(" of rank ", plan_.communicator().rank());
    std::string waits;
    for (const Home& home : homes_)
      if (const std::string state = home.transport->state(home.slot); !state.empty())
        waits += ", " + home.info->name + " " + state;
    return text + (waits.empty() ? ", waiting for its neighbors to take its values" : waits);
  }

  /// To sleep on; null without neighbors on this node.
  NodeContext* node() const { return node_; }
  bool must_poll() const { return must_poll_; }
  bool calls_mpi() const { return calls_mpi_; }

  bool passes_on() const {
    return std::ranges::any_of(parts_,
        [](const Part& part) { return !part.slots.empty() && part.transport->passes_on(); });
  }

  std::vector<NodeTraffic> traffic() const {
    std::vector<NodeTraffic> all;
    for (const Part& part : parts_)
      std::ranges::copy(part.transport->traffic(), std::back_inserter(all));
    return all;
  }

 private:
  struct Part {
    std::unique_ptr<Transport> transport;
    std::vector<int> slots;  // of the stage, indexed by the transport's own
  };
  struct Home {
    const TransportInfo* info;
    Transport* transport;
    int slot;
  };
  bool forward() const { return direction_ == Direction::forward; }

  // Collective: every rank creates each transport, even without links.
  void make(const TransportInfo& info) {
    std::vector<const LinkPlan*> links;
    std::vector<int> slots;
    for (std::size_t slot = 0; slot < homes_.size(); ++slot)
      if (homes_[slot].info == &info) {
        links.push_back(&stage_.links[slot]);
        slots.push_back(slot);
      }
    const bool has_reach = reach_of(info, plan_) == Reach::arrays;
    auto transport = info.make({plan_, arrays_, direction_, queue_, has_reach, std::move(links),
        plan_.communicator().next_tag()});
    for (std::size_t i = 0; i < slots.size(); ++i) {
      homes_[slots[i]].transport = transport.get();
      homes_[slots[i]].slot = i;
    }
    parts_.push_back({std::move(transport), std::move(slots)});
  }

  int ready() {
    for (const Part& part : parts_)
      if (const int slot = part.transport->ready(); slot >= 0) return part.slots[slot];
    return -1;
  }

  void deliver(int slot, Reduction reduction) {
    const Home& home = homes_[slot];
    home.transport->deliver(home.slot, reduction);
  }

  bool finished() {
    bool all = true;
    for (const Part& part : parts_) all = part.transport->finished() && all;
    return all;
  }

  void copy(const Program& program, Reduction reduction = Reduction::replace) {
    if (!program.empty()) queue_.enqueue(program, arrays_.bases(), arrays_.bases(), reduction);
  }

  void copy_own_images() {
    copy(stage_.wrap_owned);
    if (!stage_.self) return;
    copy(stage_.self->forward);
    copy(stage_.self->repeat);
  }

  bool take_arrived(Reduction reduction) {
    bool any = false;
    for (int slot; missing_ > 0 && (slot = ready()) >= 0; any = true) {
      --missing_;
      if (forward()) deliver(slot, reduction);
      else arrived_[slot] = true;
    }
    return any;
  }

  // Combines while all lower ranks have arrived; this rank's own ghosts take their turn.
  bool combine_in_order(Reduction reduction) {
    const std::size_t before = combined_ + own_combined_;
    const auto receives = [this](std::size_t slot) {
      return stage_.links[slot].reverse.receive_bytes > 0;
    };
    for (; combined_ < arrived_.size(); ++combined_) {
      if (!own_combined_ && plan_.communicator().rank() < stage_.links[combined_].rank)
        combine_own(reduction);
      if (!receives(combined_)) continue;
      if (!arrived_[combined_]) break;
      arrived_[combined_] = false;
      deliver(combined_, reduction);
    }
    if (!own_combined_ && combined_ == arrived_.size()) combine_own(reduction);
    return combined_ + own_combined_ != before;
  }

  void combine_own(Reduction reduction) {
    copy(stage_.self->reverse, reduction);
    own_combined_ = true;
  }

  const Plan& plan_;
  const BoundArrays& arrays_;
  Queue& queue_;
  const Direction direction_;
  const StagePlan& stage_;
  std::vector<Home> homes_;  // by slot
  std::vector<Part> parts_;
  int missing_ = 0;
  bool wrapped_ = false;       // forward: periodic copies of received values are done
  std::vector<bool> arrived_;  // reverse: not combined yet
  std::size_t combined_ = 0;   // reverse: slots combined, in ascending rank order
  bool own_combined_ = false;  // reverse: own ghosts are combined
  NodeContext* node_ = nullptr;
  bool must_poll_ = false, calls_mpi_ = false;
};

// Sends the rank whose reduction failed along with values that one stage combines for the next.
// Only user-defined reductions can fail.
class FailureNotes {
 public:
  // Collective.
  explicit FailureNotes(const Plan& plan) : comm_(plan.communicator()), tag_(comm_.next_tag()) {
    for (const StagePlan& stage : plan.stages)
      stages_.push_back(std::make_shared<StageNotes>(stage));
  }
  ~FailureNotes() {
    for (const auto& notes : stages_) {
      const bool settled = notes->receives.settle() & notes->sends.settle();
      if (!settled) orphan(notes);
      if (!settled || notes->receives.cancelled()) tag_.keep();
    }
  }
  FailureNotes(const FailureNotes&) = delete;
  FailureNotes& operator=(const FailureNotes&) = delete;

  void reset() { failed_ = -1; }
  // Call before the stage (of the plan) sends values. `failed`: on this rank.
  void begin(std::size_t stage, bool failed) {
    StageNotes& notes = *stages_[stage];
    if (failed && failed_ < 0) failed_ = comm_.rank();
    notes.sent = failed_;
    notes.taken = false;
    for (int i = 0; i < notes.receives.size(); ++i)
      check_reached(MPI_Irecv(&notes.received[i], 1, MPI_INT, notes.receives.rank(i), tag_,
                        comm_.handle(), &notes.receives[i]),
          notes.receives.rank(i), "MPI_Irecv");
    for (int i = 0; i < notes.sends.size(); ++i)
      check_reached(MPI_Isend(&notes.sent, 1, MPI_INT, notes.sends.rank(i), tag_, comm_.handle(),
                        &notes.sends[i]),
          notes.sends.rank(i), "MPI_Isend");
  }
  // Whether the stage's notes are all received and sent. Does not wait.
  bool have_arrived(std::size_t stage) {
    StageNotes& notes = *stages_[stage];
    if (notes.taken) return true;
    if (!notes.receives.test_all() || !notes.sends.test_all()) return false;
    notes.taken = true;
    for (const int rank : notes.received) failed_ = std::max(failed_, rank);
    return true;
  }
  // −1: none.
  int failed_rank() const { return failed_; }

 private:
  // MPI reads and writes the numbers, even after an error.
  struct StageNotes {
    int sent = -1;
    std::vector<int> received;
    RequestSet sends{RequestSet::Kind::sends}, receives{RequestSet::Kind::receives};
    bool taken = true;

    explicit StageNotes(const StagePlan& stage) {
      for (const LinkPlan& link : stage.links) {
        if (link.reverse.send_bytes > 0) sends.add(link.rank);
        if (link.reverse.receive_bytes > 0) receives.add(link.rank);
      }
      received.resize(receives.size(), -1);
    }
  };

  const Communicator comm_;
  Tag tag_;
  std::vector<std::shared_ptr<StageNotes>> stages_;
  int failed_ = -1;
};

// Spin lock: another thread holds it only while it copies arrived values.
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
    return holder.compare_exchange_strong(
        nobody, std::this_thread::get_id(), std::memory_order_acquire, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::thread::id>& holder_;
};

void Stages::refuse_inside() {
  refuse("a reduction uses the exchange that calls it: combine only the two rows of values");
}

Stages::Stages(const Plan& plan, const BoundArrays& arrays, const Choice& choice,
    std::shared_ptr<const Plan> forward)
    : plan_(plan), forward_plan_(std::move(forward)), arrays_(arrays), choice_(choice),
      queue_(plan.executor->make_queue()),
      watched_(plan.communicator().size() == 1 ? nullptr
                                               : plan.communicator().shared_state<Watch>().node()) {
  forward_.reserve(forward_plan().stages.size());
  for (const StagePlan& stage : forward_plan().stages) {
    forward_.emplace_back(forward_plan(), arrays, *queue_, Direction::forward, stage, choice);
    calls_mpi_ = calls_mpi_ || forward_.back().calls_mpi();
  }
  join_background(this);
}

void Stages::make_reverse(bool combine_in_end) {
  if (!reverse_.empty()) return;
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

bool Stages::passes_on(Direction direction) {
  return std::ranges::any_of(
      stages(direction), [](const StageExchange& stage) { return stage.passes_on(); });
}

bool Stages::all_moved() { return stage_ == stages().size() && queue_->is_done(copied_); }

std::string Stages::refusal(Direction direction) {
  const Hold hold(*this);
  std::string why;
  for (StageExchange& stage : stages(direction))
    if (why.empty()) why = stage.refusal();
  return why;
}

std::string Stages::refusal(Queue* queue) {
  std::string why = queue != nullptr ? queue->refusal() : std::string();
  if (!why.empty() || plan_.space() == MemorySpace::host) return why;
  const Hold hold(*this);
  return queue_->refusal();
}

void Stages::wait(Queue* queue) { queue != nullptr ? queue->wait() : queue_->follow_program(); }

Stages::~Stages() {
  leave_background(this);
  if (under_way()) stop();
}

std::vector<NodeTraffic> Stages::traffic() const {
  std::vector<NodeTraffic> all;
  for (const StageExchange& stage : forward_)
    std::ranges::copy(stage.traffic(), std::back_inserter(all));
  return all;
}

void Stages::begin(Direction direction, Reduction reduction, Queue* queue) {
  const Hold hold(*this);
  if (failure_)
    throw Error(
        "this exchange failed before, and its neighbors may be in another one: construct a new "
        "Exchange",
        ErrorKind::communication);
  direction_ = direction;
  reduction_ = reduction;
  stage_ = 0;
  begun_by_ = std::this_thread::get_id();
  if (notes_) notes_->reset();
  queue != nullptr ? queue_->follow(*queue) : queue_->follow_program();
  try {
    while (!queue_->is_done(copied_))
      std::this_thread::yield();  // the next messages overwrite what these copies read
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
  if (failure_) return;  // `end` throws it
  try {
    if (may_wait) queue_->wait();
    if (!stages().empty()) stages().front().leave();
  } catch (...) {
    failure_ = std::current_exception();
    give_up();
  }
}

bool Stages::test() {
  constexpr int between_looks = 4096;  // for lost ranks: one system call per neighbor
  const Hold hold(*this);
  try {
    while (!failure_ && stage_ < stages().size() && poll() != Poll::nothing) idle_tests_ = 0;
  } catch (...) {
    failure_ = std::current_exception();  // `end` throws it
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
    failure_ = std::current_exception();  // the neighbors' call numbers have moved on
    give_up();
  }
  refuse_failure();
}

// The exchange ended everywhere and stays usable. The failing rank throws its reduction's error.
void Stages::refuse_failure() const {
  if (!notes_failures() || reduction_.by()->has_failed() || notes_->failed_rank() < 0) return;
  refuse("the reduction failed on rank ", notes_->failed_rank(),
      ", which combined values for this rank: see the error there");
}

void Stages::abandon(std::exception_ptr reason) {
  const Hold hold(*this);
  try {  // for neighbors with the same calls
    if (stage_ < stages().size()) stages()[stage_].leave();
  } catch (...) {  // `reason` takes precedence
  }
  under_way_.store(false, std::memory_order_relaxed);
  if (!failure_) failure_ = std::move(reason);
  stop();
}

// Late messages must not be written into arrays that may be freed.
void Stages::stop() {
  for (auto* const stages : {&forward_, &reverse_}) {
    for (StageExchange& stage : *stages) stage.give_up();
    stages->clear();
  }
}

// Throws the failure; tells waiting neighbors the lost rank, which MPI and system errors do not
// name.
void Stages::give_up() {
  stop();
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

// Polls for 500 ms: MPI may notice a lost rank before the system does.
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
    queue_->wait();  // for combined values
    notes_->begin(stage_of_plan(), reduction_.by()->has_failed());
  }
  stages()[stage_].begin();
}

// If MPI serves one thread at a time, only the one that began the exchange may call it.
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
    failure_ = std::current_exception();  // `end` throws it
  }
  holder_.store({}, std::memory_order_release);
  return any;
}

}  // namespace parhelion
