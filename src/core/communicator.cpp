#include "parhelion/core/communicator.hpp"

#include <climits>
#include <mutex>
#include <new>
#include <numeric>
#include <span>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "core/environment.hpp"
#include "core/launched.hpp"
#include "core/lost_rank.hpp"
#include "core/orphans.hpp"
#include "parhelion/core/mpi_lifetime.hpp"

namespace parhelion {

namespace {

// Waits at most 1 s: the others may be gone at the program's end.
bool ends_soon(MPI_Request& request, double start) {
  constexpr double patience_s = 1;
  for (int over = 0;;) {
    if (MPI_Test(&request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (over) return true;
    if (MPI_Wtime() - start > patience_s) return false;
    std::this_thread::yield();
  }
}

// Receives messages of failed exchanges: some MPIs free no communicator with unread ones.
void receive_what_is_left(MPI_Comm comm) {
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  for (int found = 0;;) {
    if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &message, &status) != MPI_SUCCESS ||
        !found)
      return;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::shared_ptr<std::byte[]> unread(new std::byte[std::max(bytes, 0)]);
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Imrecv(unread.get(), bytes, MPI_BYTE, &message, &request) != MPI_SUCCESS ||
        !ends_soon(request, MPI_Wtime()))
      orphan(std::move(unread));  // its sender is gone; MPI may still write it
  }
}

// Collective. Long messages progress only while the sender calls MPI. A communicator whose barrier
// a rank did not join stays: Open MPI would use it after the free.
void free_together(std::vector<MPI_Comm> comms) {
  std::vector<MPI_Request> barriers(comms.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < comms.size(); ++i) {
    receive_what_is_left(comms[i]);
    if (MPI_Ibarrier(comms[i], &barriers[i]) != MPI_SUCCESS) comms[i] = MPI_COMM_NULL;
  }
  const double start = MPI_Wtime();
  for (std::size_t i = 0; i < comms.size(); ++i)
    if (comms[i] != MPI_COMM_NULL && ends_soon(barriers[i], start)) MPI_Comm_free(&comms[i]);
}

// Duplicates released by destructors or Python's collector, which must not wait; freed when MPI
// ends.
class Orphans {
 public:
  static Orphans& all() {
    static auto* const instance = [] {
      when_mpi_ends([] { free_together(std::exchange(all().comms_, {})); });
      return new Orphans;
    }();
    return *instance;
  }
  void add(MPI_Comm comm) {
    const std::lock_guard lock(mutex_);
    comms_.push_back(comm);
  }

 private:
  std::mutex mutex_;
  std::vector<MPI_Comm> comms_;
};

}  // namespace

struct Communicator::Tags {
  static constexpr int first = Communicator::waiting_tag + 1;
  static constexpr int end = 32767;  // minimum of MPI_TAG_UB (MPI-4.1 §9.1.2)
  using Bits = std::array<std::uint64_t, (end + 63) / 64>;

  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<Bits>> in_use{};
  Bits taken{};            // by some rank, at the last agreement
  Bits spoilt{};           // for good: messages may stay unreceived
  std::uint64_t used = 0;  // tags taken or skipped, over all rounds

  static std::uint64_t bit(int tag) { return std::uint64_t{1} << (tag % 64); }
  static int at(std::uint64_t number) { return first + number % (end - first); }
  bool is_round_over() const { return used > 0 && used % (end - first) == 0; }
  /// −1 if taken.
  int next() {
    const int tag = at(used++);
    return (taken[tag / 64] & bit(tag)) != 0 ? -1 : tag;
  }
  void take(int tag) { in_use[tag / 64].fetch_or(bit(tag), std::memory_order_relaxed); }
  void give_back(int tag) { in_use[tag / 64].fetch_and(~bit(tag), std::memory_order_relaxed); }
};

// On the user's communicator: 1 from each rank, 2 if it is out of memory; from many ranks, the
// largest.
struct Communicator::FirstStep {
  static constexpr int few = 32;  // at most, ranks tell each other, so that errors name the missing
  int mine = 1;
  std::array<int, few> all{}, counts{}, places{};

  void start(MPI_Comm user, MPI_Request* request) {
    int size = 0;
    check_mpi(MPI_Comm_size(user, &size), "MPI_Comm_size");
    counts.fill(1);
    std::iota(places.begin(), places.end(), 0);
    static constexpr std::array<int, few> start{};
    check_mpi(size > few ? MPI_Iallreduce(&mine, all.data(), 1, MPI_INT, MPI_MAX, user, request)
                         : MPI_Ialltoallv(&mine, counts.data(), start.data(), MPI_INT, all.data(),
                               counts.data(), places.data(), MPI_INT, user, request),
        "MPI_Ialltoallv");
  }
  // While it is under way, for an error: which ranks it misses.
  std::string missing(int rank, int size) const {
    std::vector<int> ranks;
    for (int other = 0; other < std::min(size, few); ++other)
      if (other != rank && all[other] == 0) ranks.push_back(other);
    if (size > few || ranks.empty())
      return "some of the other ranks have not called, or stand still in the call";
    return named_ranks(ranks) + (ranks.size() > 1 ? " have not called" : " has not called");
  }
};

struct Communicator::State {
  MPI_Comm handle = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  std::shared_ptr<Tags> tags = std::make_shared<Tags>();
  CollectiveState collective;
  MPI_Comm node_handle = MPI_COMM_NULL;  // set by a collective split
  std::optional<Communicator> node;
  std::unordered_map<int, int> node_rank_of;  // this node's ranks only: never O(P)
  std::unordered_map<std::type_index, std::shared_ptr<void>> shared;
  FirstStep first;
  MPI_Comm duplicate = MPI_COMM_NULL;  // during MPI_Comm_idup

  State() { Orphans::all(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized || mpi_has_ended()) return;
    for (const MPI_Comm left : {node ? MPI_COMM_NULL : node_handle, handle})
      if (left != MPI_COMM_NULL) Orphans::all().add(left);
  }
  void adopt(MPI_Comm own) {
    handle = own;
    check_mpi(MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(handle, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(handle, &size), "MPI_Comm_size");
  }
  // Collective, from MPI_Comm_free of the user's communicator without other handles.
  void free() {
    shared.clear();
    if (!node && node_handle != MPI_COMM_NULL)  // node() was never called
      free_together({std::exchange(node_handle, MPI_COMM_NULL)});
    if (node && node->state_.use_count() == 1) node->state_->free();
    if (handle != MPI_COMM_NULL) free_together({std::exchange(handle, MPI_COMM_NULL)});
  }
};

void Tag::keep() {
  if (number_) orphan(number_);
}

int Communicator::release(MPI_Comm, int, void* attribute, void*) {
  const std::unique_ptr<std::shared_ptr<State>> held(
      static_cast<std::shared_ptr<State>*>(attribute));
  int finalized = 0;
  MPI_Finalized(&finalized);
  // In many MPIs, MPI_Finalize deletes the attributes of MPI_COMM_WORLD while MPI still works.
  if (!finalized && held->use_count() == 1) (*held)->free();
  return MPI_SUCCESS;
}

int Communicator::attribute_key() {
  static const int key = [] {
    int created = MPI_KEYVAL_INVALID;
    check_mpi(
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Communicator::release, &created, nullptr),
        "MPI_Comm_create_keyval");
    return created;
  }();
  return key;
}

namespace {

// Variables that determine messages: equal on all ranks.
constexpr const char* equal_variables[] = {"PARHELION_XPMEM", "PARHELION_NODE_RANKS",
    "PARHELION_BEGIN_BYTES", "PARHELION_PIECE_BYTES", "PARHELION_NODE_MESSAGES",
    "PARHELION_LARGEST_COUNT"};

std::string value_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? "not set" : text;
}

void require_numbers() {
  if (!told_time_limit())
    refuse("PARHELION_TIMEOUT is '", value_of("PARHELION_TIMEOUT"),
        "': use a number of seconds, such as 60, or unset it");
  for (const char* variable : std::span(equal_variables).subspan(1)) number_told(variable);
}

// On the user's communicator: ranks cannot yet send notes.
void await_all(MPI_Comm user, const std::function<std::string(int rank, int size)>& missing,
    const std::function<bool()>& have_come) {
  const double limit_s = setup_time_limit(0), start = MPI_Wtime();
  int rank = 0, size = 0;
  MPI_Comm_rank(user, &rank);
  MPI_Comm_size(user, &size);
  const auto not_within = [&](double seconds) {
    return concat("not all ranks arrived within ", seconds_text(seconds), ": rank ", rank,
        " is in the first call of this library on a communicator of ", size,
        " ranks, which is collective, and ", missing(rank, size), ". ", same_calls_everywhere);
  };
  bool warned = !tells_of_waits(rank, size);
  Patience patience;
  for (; !have_come(); patience.wait()) {
    const double waited_s = MPI_Wtime() - start;
    if (limit_s > 0 && waited_s >= limit_s) throw Error(not_within(limit_s), ErrorKind::timeout);
    if (!warned && waited_s >= warned_after_s)
      std::fprintf(stderr, "parhelion: %s\n", not_within(warned_after_s).c_str());
    warned = warned || waited_s >= warned_after_s;
  }
}

// One thread at a time is in the first use of a communicator; others wait for it. Allocates
// nothing.
class FirstUse {
 public:
  explicit FirstUse(MPI_Comm user) : user_(user) {
    Patience patience;
    std::unique_lock lock(mutex_);
    for (; is_used(user); lock.lock()) {
      lock.unlock();
      patience.wait();
    }
    next_ = std::exchange(first_, this);
  }
  ~FirstUse() {
    const std::lock_guard lock(mutex_);
    FirstUse** at = &first_;
    while (*at != this) at = &(*at)->next_;
    *at = next_;
  }
  FirstUse(const FirstUse&) = delete;
  FirstUse& operator=(const FirstUse&) = delete;

 private:
  static bool is_used([[maybe_unused]] MPI_Comm user) {
#ifndef PARHELION_SIMULATED  // simulated ranks share a thread
    for (const FirstUse* each = first_; each != nullptr; each = each->next_)
      if (each->user_ == user) return true;
#endif
    return false;
  }
  static inline std::mutex mutex_;
  static inline FirstUse* first_ = nullptr;
  const MPI_Comm user_;
  FirstUse* next_ = nullptr;
};

// Consecutive ranks of a node that count as one; 0: all.
int ranks_of_node() {
  return std::min<std::int64_t>(number_told("PARHELION_NODE_RANKS").value_or(0), INT_MAX);
}

MPI_Comm split_node(MPI_Comm comm, int rank) {
  MPI_Comm shared = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared),
      "MPI_Comm_split_type");
  const int limit = ranks_of_node();
  if (limit == 0) return shared;
  int within = 0;
  MPI_Comm_rank(shared, &within);
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(shared, within / limit, within, &part), "MPI_Comm_split");
  MPI_Comm_free(&shared);
  return part;
}

}  // namespace

Communicator::Communicator(std::shared_ptr<State> state) : state_(std::move(state)) {}

Communicator::Communicator(MPI_Comm user) {
  require_mpi();
  if (user == MPI_COMM_NULL)
    refuse("the communicator is MPI_COMM_NULL: pass one that this rank belongs to");
  int between_groups = 0;
  check_mpi(MPI_Comm_test_inter(user, &between_groups), "MPI_Comm_test_inter");
  if (between_groups)
    refuse(
        "the communicator is an intercommunicator: merge it (MPI_Intercomm_merge) or pass one "
        "of its sides");
  const auto is_known = [&] {
    void* cached = nullptr;
    int found = 0;
    check_mpi(MPI_Comm_get_attr(user, attribute_key(), &cached, &found), "MPI_Comm_get_attr");
    if (found) state_ = *static_cast<std::shared_ptr<State>*>(cached);
    return found != 0;
  };
  if (is_known()) return;
  const FirstUse first(user);
  if (is_known()) return;
  require_all_ranks(user);
  make_from(user);
}

// Ranks out of memory tell the others by the first step, which allocates nothing.
void Communicator::make_from(MPI_Comm user) {
  std::unique_ptr<std::shared_ptr<State>> made;
  try {
    made = std::make_unique<std::shared_ptr<State>>(std::make_shared<State>());
    (*made)->collective.node_threads = usable_threads();
  } catch (const std::bad_alloc&) {
    made.reset();
  }
#ifdef PARHELION_SIMULATED  // polling takes simulated time
  MPI_Comm own = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(user, &own), "MPI_Comm_dup");
  state_ = *made;
  state_->adopt(own);
#else
  static FirstStep without_memory{2};
  FirstStep& first = made ? (*made)->first : without_memory;
  MPI_Request request = MPI_REQUEST_NULL;
  const auto is_complete = [&] {
    int complete = 0;
    check_mpi(MPI_Test(&request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
    return complete != 0;
  };
  const auto step = [&] {
    try {
      await_all(user, [&](int rank, int size) { return first.missing(rank, size); }, is_complete);
    } catch (...) {
      if (made) orphan(*made);  // MPI may still write it
      throw;
    }
  };
  first.start(user, &request);
  step();
  if (std::ranges::max(first.all) > 1)
    throw Error(
        "out of memory on some rank, in the first call of this library on a communicator: use "
        "more ranks or a smaller problem",
        ErrorKind::system, KnownTo::all_ranks);
  state_ = *made;
  check_mpi(MPI_Comm_idup(user, &state_->duplicate, &request), "MPI_Comm_idup");
  step();
  state_->adopt(state_->duplicate);
  collectively(*this, "the first call on a communicator", [&] {
    require_equal(
        *this, "environment variables",
        [](Properties& told) {
          for (const char* variable : equal_variables) told.add(variable, value_of(variable));
        },
        "set the same ones on every rank", require_numbers);
    state_->node_handle =
        create_comm(*this, [of = handle(), rank = rank()] { return split_node(of, rank); });
    CpuMask& threads = state_->collective.node_threads;
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, threads.data(), threads.size(), MPI_UINT64_T, MPI_BOR,
                  state_->node_handle, &request),
        "MPI_Iallreduce");
    await(*this, is_complete);
  });
#endif
  check_mpi(MPI_Comm_set_attr(user, attribute_key(), made.release()), "MPI_Comm_set_attr");
}

MPI_Comm Communicator::handle() const {
  require_mpi_not_ended();
  return state_->handle;
}
int Communicator::rank() const noexcept { return state_->rank; }
int Communicator::size() const noexcept { return state_->size; }

Tag Communicator::next_tag() const {
  const std::shared_ptr<Tags>& tags = state_->tags;
  int tag = -1;
  for (int tried = 0; tag < 0 && tried < Tags::end; ++tried) {
    if (tags->is_round_over()) {  // on all ranks at once
      Tags::Bits taken = tags->spoilt;
      for (std::size_t i = 0; i < taken.size(); ++i)
        taken[i] |= tags->in_use[i].load(std::memory_order_relaxed);
      reduce(*this, Combine::either, taken);
      tags->taken = taken;
    }
    tag = tags->next();
  }
  if (tag < 0)
    refuse(
        "all message tags of the communicator are in use: drop exchanges that are no longer "
        "needed");
  tags->take(tag);
  const auto give_back = [tags](const int* number) {
    tags->give_back(*number);
    delete number;
  };
  return Tag(std::shared_ptr<const int>(new int(tag), give_back));
}

std::uint64_t Communicator::tags_used() const noexcept { return state_->tags->used; }
void Communicator::skip_tags(std::uint64_t used) const noexcept {
  state_->tags->used = std::max(state_->tags->used, used);
}
void Communicator::spoil_tags(std::uint64_t since) const noexcept {
  Tags& tags = *state_->tags;
  for (; since < tags.used; ++since) {
    const int tag = Tags::at(since);
    tags.spoilt[tag / 64] |= Tags::bit(tag);
  }
}
CollectiveState& Communicator::collective_state() const noexcept { return state_->collective; }
void Communicator::abandon() const noexcept {
  try {
    orphan(state_);
  } catch (const std::bad_alloc&) {  // no remedy: MPI may write freed memory
  }
}

// Only the split is collective; after a failure the next call repeats the rest.
const Communicator& Communicator::node() const {
  State& state = *state_;
  if (state.node) return *state.node;
  if (state.node_handle == MPI_COMM_NULL) state.node_handle = split_node(handle(), rank());
  auto near = std::make_shared<State>();
  int size = 0;
  MPI_Comm_size(state.node_handle, &size);
  std::vector<int> numbers(size), here(numbers.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  MPI_Group all = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm_group(handle(), &all);
  MPI_Comm_group(state.node_handle, &group);
  MPI_Group_translate_ranks(group, size, numbers.data(), all, here.data());
  MPI_Group_free(&all);
  MPI_Group_free(&group);
  for (const int i : numbers) state.node_rank_of.emplace(here[i], i);
  near->adopt(state.node_handle);
  state.node = Communicator(std::move(near));
  return *state.node;
}

std::shared_ptr<void>& Communicator::shared_place(std::type_index type) const {
  return state_->shared[type];
}

int Communicator::node_rank(int rank) const {
  const auto found = state_->node_rank_of.find(rank);
  return found == state_->node_rank_of.end() ? -1 : found->second;
}

std::vector<int> Communicator::node_ranks() const {
  std::vector<int> ranks(state_->node_rank_of.size());
  for (const auto& [rank, here] : state_->node_rank_of) ranks[here] = rank;
  return ranks;
}

}  // namespace parhelion
