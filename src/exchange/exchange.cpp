#include "parhelion/exchange/exchange.hpp"

#include <climits>
#include <numeric>
#include <set>
#include <sstream>

#include "core/concat.hpp"
#include "core/environment.hpp"
#include "core/time_limit.hpp"
#include "exchange/checks.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "plan/copy_team.hpp"
#include "transport/factories.hpp"
#include "transport/node/node_context.hpp"

namespace parhelion {
namespace {

int thread_count(int from_options) {
  if (from_options != 0) return from_options;
  return std::min<std::int64_t>(number_told("PARHELION_THREADS").value_or(1), INT_MAX);
}

// Forward: replace.
Reduction usable(const Plan& plan, Direction direction, Reduction reduction) {
  if (direction == Direction::forward || reduction.kind() == Reduction::replace)
    return Reduction::replace;
  for (const Field& field : plan.fields) parhelion::require_reducible(field.element, reduction);
  if (const std::string why = plan.executor->refusal(reduction); !why.empty()) refuse(why);
  return reduction;
}

bool checks(const ExchangeOptions& options) { return options.check || checks_by_environment(); }

// With what the environment adds; at_once overrides it.
ExchangeOptions complete(ExchangeOptions options) {
  options.transport = requested_transport(options.transport);
  options.overlap = options.overlap || (!options.at_once && is_on("PARHELION_OVERLAP"));
  return options;
}

void require_use(const ExchangeOptions& options) {
  if (!(options.work_s >= 0 && options.work_s <= 1))
    refuse("an exchange cannot be benchmarked with ", options.work_s, " s of work: use 0 to 1");
  if (options.at_once && options.overlap)
    refuse(
        "an exchange cannot be both called at once and begun around work: use one of at_once "
        "and overlap");
}

void tell(const ExchangeOptions& options, Properties& told) {
  told.add("the transport", options.transport);
  for (const TransportInfo& info : transports()) told.add("a registered transport", info.name);
  told.add("whether the exchange is only called at once", options.at_once ? "yes" : "no");
  told.add("whether calls are checked", checks(options) ? "yes" : "no");
  told.add("whether reverse exchanges combine only in end", options.combine_in_end ? "yes" : "no");
  if (options.transport != "auto") return;
  told.add("whether the exchange overlaps with work", options.overlap ? "yes" : "no");
  told.add("the work in seconds", std::to_string(options.work_s));
  told.add("the environment variable PARHELION_AUTO", text_told("PARHELION_AUTO"));
}

// The plan's headers carry how to watch each neighbor on the node.
Plan plan_watched(std::vector<Group> groups, const ExchangeOptions& options) {
  const Communicator comm = groups.front().patterns.front().communicator;
  auto& watch = comm.shared_state<Watch>();
  std::shared_ptr<CopyTeam> team;  // until the plan owns it
  const auto check = [&] {
    require_use(options);
    team = copy_team(thread_count(options.threads));
    if (options.transport == "auto")
      parse_auto_list(text_told("PARHELION_AUTO"), known_transports());
    require_transport(options);
  };
  Plan plan = make_plan(std::move(groups),
      {[&](Properties& told) { tell(options, told); }, check, [&] { return watch.record(); },
          [&] { return team ? team->size() : 1; }});
  watch.meet(plan);
  return plan;
}

template <class Keep>
std::vector<int> ranks_of(const Plan& plan, Keep&& keep) {
  std::set<int> ranks;
  for (const StagePlan& stage : plan.stages)
    for (const LinkPlan& link : stage.links)
      if (keep(link)) ranks.insert(link.rank);
  return {ranks.begin(), ranks.end()};
}

std::vector<int> senders_of(const Plan& plan, Direction way) {
  return ranks_of(plan, [way](const LinkPlan& link) { return link.way(way).receive_bytes > 0; });
}

struct OwnArrays {
  Plan& plan;
  std::vector<std::byte*> arrays = plan.bases;
  ~OwnArrays() { plan.move_to(arrays.data()); }
};

}  // namespace

struct Exchange::Impl final : Operation {
  const ExchangeOptions options;
  Plan plan;
  BoundArrays arrays;
  Selected chosen;            // a subset creates its stages at first use
  double timeout_s, setup_s;  // of exchanges, of collective set-up
  struct Refusal {
    std::uint64_t version = 0;  // arrays for which the transports were tested
    std::string why;
  };
  Refusal of_forward, of_reverse;
  ProgressThread* progress = nullptr;
  std::vector<int> numbers;  // of a subset's fields in the whole
  std::string subset;        // compared between ranks; empty: the whole
  std::vector<std::pair<Only, std::shared_ptr<Impl>>> subsets;
  std::shared_ptr<CallCheck> calls;
  std::unique_ptr<ArrayCheck> array_check;  // null: unchecked
  std::uint64_t call = 0;                   // current checked call
  std::shared_ptr<StaleCheck> stale_check;  // created on demand
  Direction way = Direction::forward;

  Impl(std::vector<Group> groups, const ExchangeOptions& asked)
      : options(complete(asked)), plan(plan_watched(std::move(groups), options)), arrays(plan),
        timeout_s(time_limit(options.timeout_s, options.check)), setup_s(setup_limit(options)) {
    if (options.combine_in_end && plan.stages.size() > 1)
      refuse(
          "a reverse exchange dimension by dimension forwards combined values: leave "
          "out combine_in_end");
    if (options.progress_thread || is_on("PARHELION_PROGRESS"))
      progress = &ProgressThread::of_process();
    if (checks(options)) {
      calls = std::make_shared<CallCheck>(
          plan.communicator(), ranks_of(plan, [](const LinkPlan&) { return true; }), timeout_s);
      array_check = std::make_unique<ArrayCheck>(plan);
    }
    chosen = by_auto() ? select(plan, arrays, options)
                       : select_by_name(plan, arrays, parse_choice(options.transport));
    chosen.stages->make_reverse(options.combine_in_end);
    of_forward = of_reverse = {arrays.version(), {}};
  }

  Impl(const Impl& whole, const Only& only)
      : options(whole.options), plan(plan_of(whole.plan, only)), arrays(plan, &whole.arrays),
        timeout_s(whole.timeout_s), setup_s(whole.setup_s), progress(whole.progress),
        numbers(whole.numbers_of(only)), subset(to_string(whole.plan, only, numbers)),
        calls(whole.calls) {
    chosen.choice = whole.chosen.choice;
    chosen.reason = whole.chosen.reason;
    if (calls) array_check = std::make_unique<ArrayCheck>(plan);
  }

  // Collective.
  static std::shared_ptr<Impl> make(std::vector<Group> groups, const ExchangeOptions& options) {
    if (groups.empty())
      refuse("an exchange needs at least one group: pass a pattern with its fields");
    const Communicator comm = groups.front().patterns.front().communicator;
    return collectively(comm, "Exchange", setup_limit(options),
        [&] { return std::make_shared<Impl>(std::move(groups), options); });
  }
  bool by_auto() const { return options.transport == "auto"; }

  ~Impl() override {
    if (under_way() && progress && !is_forked_child()) progress->ended();
  }

  // Collective.
  void require_same_subset(const char* use, const std::function<void()>& check = {}) const {
    require_equal(
        plan.communicator(), "the subsets of the exchange",
        [&](Properties& told) { told.add(use, subset); },
        "name the same fields and depth on every rank", check);
  }

  // Collective. Creates a subset's transports for the constructor's arrays, or, if refused, the
  // call's.
  void prepare(const ArrayList& given) {
    auto made = collectively(plan.communicator(), "the first use of a subset", setup_s, [&] {
      if (calls) calls->confirm("the first use of " + subset);
      require_same_subset("what is used first");
      const OwnArrays own{plan};
      arrays.bind(given);
      if (is_refused()) plan.move_to(arrays.bases());
      else arrays.bind({});
      auto stages = select_by_name(plan, arrays, chosen.choice).stages;
      stages->make_reverse(options.combine_in_end);
      return stages;
    });
    chosen.stages = std::move(made);
    of_forward = of_reverse = {arrays.version(), {}};
  }

  // Collective. Subsets take the new choice at their next use.
  void retune(const ArrayList& given) {
    const Communicator& comm = plan.communicator();
    Selected next = collectively(comm, "retune", setup_s, [&] {
      if (calls) calls->confirm("retune");
      const OwnArrays own{plan};
      validate_together(comm, [&] {
        if (!subset.empty())
          refuse("a subset uses the transports of the whole exchange: retune that one");
        if (is_any_under_way())
          refuse(
              "this exchange, or a subset of it, is under way: end it before it is "
              "retuned");
        arrays.bind(given);
        plan.move_to(arrays.bases());
      });
      if (!by_auto()) return Selected{};
      Selected made = select(plan, arrays, options, true);
      made.stages->make_reverse(options.combine_in_end);
      return made;
    });
    if (!by_auto()) return;
    chosen = std::move(next);
    of_forward = of_reverse = {arrays.version(), {}};
    let_subsets_follow(chosen);
  }
  bool is_any_under_way() const {
    return under_way() || std::ranges::any_of(subsets,
                              [](const auto& each) { return each.second->is_any_under_way(); });
  }
  void let_subsets_follow(const Selected& whole) {
    for (const auto& [only, each] : subsets) {
      each->chosen = {whole.choice, nullptr, whole.reason};
      each->let_subsets_follow(whole);
    }
  }

  std::vector<int> numbers_of(const Only& only) const {
    std::vector<int> all(only.fields.begin(), only.fields.end());
    if (!subset.empty())
      for (int& f : all) f = numbers[f];
    return all;
  }

  const Plan& forward_plan() const { return chosen.stages ? chosen.stages->forward_plan() : plan; }

  bool is_refused() const {
    const auto used = chosen.choice.used();
    return std::ranges::any_of(
        used, [this](const TransportInfo* each) { return !refusal_of(*each, plan).empty(); });
  }

  // Why direct transports to device memory are not used.
  std::string about_devices() const {
    std::string text;
    if (plan.space() == MemorySpace::host) return text;
    for (const TransportInfo* each : known_transports())
      if (each->traits.direct && serves_memory_of(*each, plan))
        if (const std::string why = refusal_of(*each, plan); !why.empty())
          text += "  not by " + each->name + ": " + why + "\n";
    return text;
  }

  static std::shared_ptr<Impl> only(const std::shared_ptr<Impl>& whole, const Only& wanted) {
    const Only full = resolve(whole->plan, wanted);
    if (is_all(whole->plan, full)) return whole;
    for (const auto& [known, subset] : whole->subsets)
      if (known == full) return subset;
    return whole->subsets.emplace_back(full, std::make_shared<Impl>(*whole, full)).second;
  }

  // With at_once, transports may forward messages after begin: neighbors would wait for this
  // rank.
  void require_begin() const {
    if (options.at_once)
      refuse(
          "this exchange was constructed with at_once: construct it without, to begin and end it");
  }
  void begin_and_leave(const ArrayList& given, Direction direction, Reduction how, Queue* queue) {
    require_begin();
    begin(given, direction, how, queue, true);
    chosen.stages->leave(queue == nullptr);
  }
  // If this rank forwards messages, others need a thread that does so until end; MPI must serve it.
  // Throws if it cannot start.
  void stand_in(Direction direction) {
    if (!progress && chosen.stages->passes_on(direction) && mpi_serves_all_threads())
      progress = &ProgressThread::of_process();
  }
  void begin(const ArrayList& given, Direction direction, Reduction how, Queue* queue,
      bool leaves = false) {
    require_mpi_not_ended();
    require_outside();
    if (under_way())
      refuse(
          "this exchange is under way: end it before it begins again, or make a second "
          "Exchange");
    if (!chosen.stages) prepare(given);
    require_streams(queue);
    if (const std::string& why = bind(given, direction); !why.empty()) refuse(why);
    if (calls) chosen.stages->wait(queue);  // the checks read the arrays now
    if (leaves) stand_in(direction);
    if (calls) begin_checked(direction, how);
    chosen.stages->begin(direction, how, queue);
    begun();
    if (progress) progress->begun();
  }

  // Why the transports cannot move the arrays, or "".
  const std::string& bind(const ArrayList& given, Direction direction) {
    arrays.bind(given);
    Refusal& refusal = direction == Direction::forward ? of_forward : of_reverse;
    if (refusal.version != arrays.version())
      refusal = {arrays.version(), chosen.stages->refusal(direction)};
    return refusal.why;
  }

  void begin_checked(Direction direction, Reduction how) {
    way = direction;
    const std::string what = direction == Direction::forward
                                 ? "a forward exchange of "
                                 : std::string("a reverse exchange (") + to_string(how) + ") of ";
    call = calls->tell(what + (subset.empty() ? "all fields" : subset));
    array_check->begin(arrays, direction);
  }

  // Ends the exchange before it throws: neighbors need the values.
  void end_checked(Queue* queue) {
    const std::string written = array_check->written(arrays);
    await_calls();
    chosen.stages->end(timeout_s, queue, [&] { calls->look(); });
    if (!written.empty()) refuse(written);
  }

  void await_calls() {
    try {
      calls->await(call, senders_of(plan, way), [&] { chosen.stages->test(); });
    } catch (...) {
      chosen.stages->abandon(std::current_exception());
      throw;
    }
  }

  void require_streams(Queue* queue) const {
    if (const std::string why = chosen.stages->refusal(queue); !why.empty()) refuse(why);
  }
  void require_outside() const {
    if (chosen.stages) chosen.stages->require_outside();
  }

  void end() override { end(nullptr); }
  void end(Queue* queue) {
    require_outside();
    if (!under_way()) refuse("no exchange is under way: call begin first");
    require_mpi_not_ended();
    require_streams(queue);
    ended();
    if (progress) progress->ended();
    if (calls) return end_checked(queue);
    chosen.stages->end(timeout_s, queue);
  }

  bool test() override {
    require_mpi_not_ended();
    return chosen.stages->test();
  }

  // Collective.
  StaleGhosts stale(const ArrayList& given) {
    auto looked = collectively(plan.communicator(), "stale", setup_s, [&] {
      require_same_subset("what is looked at", [&] {
        if (under_way())
          refuse(
              "this exchange is under way: end it before its ghosts are compared "
              "with their owners");
        arrays.bind(given);
      });
      auto check = stale_check ? stale_check : std::make_shared<StaleCheck>(plan);
      auto found = check->find(arrays, timeout_s);
      return std::pair(std::move(check), std::move(found));
    });
    stale_check = std::move(looked.first);
    return std::move(looked.second);
  }
  void check(const ArrayList& given) {
    collectively(plan.communicator(), "check", setup_s, [&] {
      const StaleGhosts found = stale(given);
      if (found.empty()) return;
      const global_index all =
          std::accumulate(found.count.begin(), found.count.end(), global_index{0});
      refuse(found.first.front().text, " (", all,
          " values of ghosts differ on this rank): exchange after owned cells "
          "are written and before ghosts are read");
    });
  }

  std::string about_progress() const {
    if ((chosen.stages && !chosen.stages->calls_mpi()) || mpi_serves_all_threads())
      return "a thread advances it between begin and end";
    return "no thread advances it, because MPI serves one thread at a time: start MPI with "
           "MPI_THREAD_MULTIPLE";
  }
};

double setup_limit(const ExchangeOptions& options) {
  const bool is_told = options.timeout_s > 0 || time_limit(0) > 0;
  return is_told ? options.timeout_s : time_limit(0, options.check);
}

Exchange::Exchange(std::vector<Group> groups, ExchangeOptions options)
    : impl_(Impl::make(std::move(groups), options)) {}
Exchange::Exchange(Pattern pattern, std::vector<Field> fields, ExchangeOptions options)
    : Exchange({Group{std::move(pattern), std::move(fields)}}, std::move(options)) {}
Exchange::Exchange(
    const CartesianDomain& domain, std::vector<Field> fields, ExchangeOptions options)
    : Exchange({Group{domain, std::move(fields)}}, std::move(options)) {}
Exchange::Exchange(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;

Step Exchange::begin_with(
    Direction direction, Reduction reduction, const ArrayList& arrays, Queue* queue) {
  impl_->begin_and_leave(arrays, direction, usable(impl_->plan, direction, reduction), queue);
  return Step(impl_);
}

void Exchange::run_with(
    Direction direction, Reduction reduction, const ArrayList& arrays, Queue* queue) {
  impl_->begin(arrays, direction, usable(impl_->plan, direction, reduction), queue);
  impl_->end(queue);
}

Exchange Exchange::only(const Only& subset) const { return Exchange(Impl::only(impl_, subset)); }

void Exchange::prepare_with(const ArrayList& arrays) {
  if (!impl_->chosen.stages) impl_->prepare(arrays);
}

void Exchange::end() { impl_->end(); }
void Exchange::end(Queue& queue) { impl_->end(&queue); }
void Exchange::retune_with(const ArrayList& arrays) { impl_->retune(arrays); }
StaleGhosts Exchange::stale_with(const ArrayList& arrays) { return impl_->stale(arrays); }
void Exchange::check_with(const ArrayList& arrays) { impl_->check(arrays); }
bool Exchange::under_way() const { return impl_->under_way(); }
std::string Exchange::refusal(Direction direction, const ArrayList& arrays) {
  if (impl_->under_way()) refuse("this exchange is under way: call this before it begins");
  if (!impl_->chosen.stages)
    refuse("this subset of an exchange was not used yet: call prepare first");
  return impl_->bind(arrays, direction);
}

const Plan& Exchange::plan() const { return impl_->plan; }
std::string Exchange::transport() const { return impl_->chosen.choice.name(); }
std::vector<NodeTraffic> Exchange::node_traffic() const {
  return impl_->chosen.stages ? impl_->chosen.stages->traffic() : std::vector<NodeTraffic>();
}

std::string Exchange::explain() const {
  const Plan& plan = impl_->forward_plan();
  std::ostringstream out;
  if (!impl_->subset.empty()) out << impl_->subset << " of an exchange; ";
  out << "transport " << transport() << ", " << impl_->chosen.reason << "\n  sends "
      << plan.messages_sent() << (plan.messages_sent() == 1 ? " message, " : " messages, ")
      << plan.bytes_sent() << " bytes per exchange; copies by " << plan.executor->description();
  if (const int threads = impl_->plan.executor->threads(); threads > 1)
    out << ", large ones by " << threads << " threads";
  out << "\n" << impl_->about_devices();
  if (impl_->progress) out << "  " << impl_->about_progress() << "\n";
  for (const NodeTraffic& to : node_traffic())
    out << "  this node sends " << to.messages << " messages, " << to.bytes
        << " bytes, to the node of rank " << to.node << ", instead of " << to.pairs << ", "
        << to.bytes_in_pairs << " bytes, from rank to rank\n";
  for (const StagePlan& stage : plan.stages) {
    for (const LinkPlan& link : stage.links)
      out << "  rank " << link.rank << ": sends " << link.forward.send_bytes << " bytes, receives "
          << link.forward.receive_bytes << "\n";
    if (stage.self)
      out << "  own periodic copies: "
          << stage.self->forward.bytes() + stage.wrap_owned.bytes() + stage.wrap.bytes()
          << " bytes\n";
  }
  return out.str();
}

}  // namespace parhelion
