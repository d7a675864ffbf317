#include "core/collective_step.hpp"

#include <pthread.h>

#include <cstdio>
#include <new>
#include <thread>

#include "core/concat.hpp"
#include "core/lost_rank.hpp"
#include "core/orphans.hpp"
#include "parhelion/core/hash.hpp"
#include "parhelion/core/mpi_lifetime.hpp"

namespace parhelion {
namespace {

using Clock = std::chrono::steady_clock;

thread_local const CollectiveCall* current = nullptr;

void combine(void* in, void* into, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const Contribution*>(in);
  auto* to = static_cast<Contribution*>(into);
  const auto raise = [](auto& value, auto other) { value = std::max(value, other); };
  for (int i = 0; i < *count; ++i, ++from, ++to) {
    raise(to->complaint, from->complaint);
    raise(to->left, from->left);
    for (int k = 0; k < 2; ++k)
      raise(to->print[k], from->print[k]), raise(to->call[k], from->call[k]);
    raise(to->next_tag, from->next_tag);
    raise(to->combine, from->combine);  // a failed rank contributes none
    for (std::size_t k = 0; k < Contribution::most_values; ++k) {
      if (to->combine == Combine::sum) to->values[k] += from->values[k];
      else if (to->combine == Combine::either) to->values[k] |= from->values[k];
      else raise(to->values[k], from->values[k]);
    }
  }
}

MPI_Op agreement_operation() {
  static const MPI_Op operation = [] {
    MPI_Op made = MPI_OP_NULL;
    check_mpi(MPI_Op_create(combine, 1, &made), "MPI_Op_create");
    return made;
  }();
  return operation;
}

MPI_Datatype agreement_type() {
  static const MPI_Datatype type = [] {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    check_mpi(
        MPI_Type_contiguous(sizeof(Contribution) / sizeof(std::uint64_t), MPI_UINT64_T, &made),
        "MPI_Type_contiguous");
    check_mpi(MPI_Type_commit(&made), "MPI_Type_commit");
    return made;
  }();
  return type;
}

std::string_view own_call(const Communicator& comm) {
  return current != nullptr && current->communicator().is(comm) ? current->call()
                                                                : "another collective call";
}

struct Brought {
  bool complains = false, left = false;
  std::uint64_t print = 0;
  Combine combine = Combine::none;
  std::span<const std::uint64_t> values = {};
};

void fill(const Communicator& comm, const Brought& mine) {
  const std::uint64_t call = Hash().add_range(own_call(comm)).value();
  const std::uint64_t size = comm.size(), place = size - comm.rank(),
                      complaint = mine.complains ? place + (mine.left ? size : 0) : 0;
  Contribution& meeting = comm.collective_state().mine;
  meeting = {complaint, mine.left, {mine.print, ~mine.print}, {call, ~call}, comm.tags_used(),
      mine.combine, {}};
  std::ranges::copy(mine.values, meeting.values.begin());
}

void begin(const Communicator& comm, const Brought& mine) {
  fill(comm, mine);
  CollectiveState& state = comm.collective_state();
  check_mpi(MPI_Iallreduce(&state.mine, &state.all, 1, agreement_type(), agreement_operation(),
                comm.handle(), &state.under_way),
      "MPI_Iallreduce");
  ++state.entered;
}

Agreement found(const Communicator& comm) {
  CollectiveState& state = comm.collective_state();
  const Contribution& all = state.all;
  comm.skip_tags(all.next_tag);  // a failed rank took fewer
  // Ignore notices of failures before this one.
  if (all.complaint != 0) state.entered += 2, state.completed += 2;
  const int size = comm.size(), place = (static_cast<int>(all.complaint) - 1) % size;
  return {all.complaint == 0 ? -1 : size - 1 - place, all.print[0] == ~all.print[1], all.left != 0};
}

Agreement finish(const Communicator& comm) {
  await(comm, [&] { return agreement_is_over(comm); });
  return found(comm);
}

Agreement agree_unchecked(const Communicator& comm, const Brought& mine) {
#ifdef PARHELION_SIMULATED  // its nonblocking reduction sends messages between all ranks
  fill(comm, mine);
  CollectiveState& state = comm.collective_state();
  check_mpi(MPI_Allreduce(
                &state.mine, &state.all, 1, agreement_type(), agreement_operation(), comm.handle()),
      "MPI_Allreduce");
  state.completed = ++state.entered;
  return found(comm);
#else
  begin(comm, mine);
  return finish(comm);
#endif
}

std::string broadcast(const Communicator& comm, const std::string& text, int source) {
  Message message;
  message.append(text.data(), text.size());
  const std::vector<char> told = broadcast(comm, std::move(message), source).values<char>();
  return {told.begin(), told.end()};
}

// Collective, right after the reduction with the complaint.
[[noreturn]] void throw_complaint(
    const Communicator& comm, const Complaint& mine, const Agreement& met) {
  CollectiveState& state = comm.collective_state();
  ToldComplaint& told = state.told;
  if (comm.rank() == met.complainer) {
    told.kind = static_cast<std::int32_t>(mine.kind);
    told.length = static_cast<std::int32_t>(std::min(mine.text.size(), told.text.size()));
    mine.text.copy(told.text.data(), told.text.size());
  }
#ifdef PARHELION_SIMULATED
  check_mpi(MPI_Bcast(&told, sizeof told, MPI_BYTE, met.complainer, comm.handle()), "MPI_Bcast");
#else
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(&told, sizeof told, MPI_BYTE, met.complainer, comm.handle(), &request),
      "MPI_Ibcast");
  await(comm, [&] {
    int over = 0;
    check_mpi(MPI_Test(&request, &over, MPI_STATUS_IGNORE), "MPI_Test");
    return over != 0;
  });
#endif
  const std::string where = comm.size() > 1 ? concat("rank ", met.complainer, ": ") : "";
  throw Error(where + std::string(told.text.data(), told.length), static_cast<ErrorKind>(told.kind),
      met.left ? KnownTo::all_have_left : KnownTo::all_ranks);
}

// The lowest differing rank's text, and how many differ. Collective.
std::string lowest_of(const Communicator& comm, const std::string& differs) {
  const std::uint64_t one = !differs.empty();
  const Agreement met = agree_unchecked(comm, {one != 0, false, 0, Combine::sum, {&one, 1}});
  if (met.left) throw_complaint(comm, {true, differs}, met);
  const std::uint64_t count = comm.collective_state().all.values[0];
  const std::string text = broadcast(comm, differs, std::max(met.complainer, 0));
  // A rank that fails in its next call would end the broadcast of others.
  const Agreement after = agree_unchecked(comm, {});
  if (after.left) throw_complaint(comm, {}, after);
  if (count <= 1) return text;
  return concat(text, " (", count, " of the ", comm.size() - 1, " other ranks differ from rank 0)");
}

// Collective. Names the ranks' different calls.
[[noreturn]] void tell_calls(const Communicator& comm) {
  const std::string mine(own_call(comm)), first = broadcast(comm, comm.rank() == 0 ? mine : "", 0);
  const std::string differs =
      mine == first ? "" : concat("rank 0 is in ", first, " and rank ", comm.rank(), " in ", mine);
  throw Error("ranks are in different calls: " + lowest_of(comm, differs) +
                  "; make the same set-up calls in the same order on every rank of "
                  "the communicator",
      ErrorKind::communication, KnownTo::all_have_left);
}

void throw_what_was_found(const Communicator& comm, const Complaint& mine, const Agreement& met) {
  const Contribution& all = comm.collective_state().all;
  const bool in_one_call = all.call[0] == ~all.call[1];
  if (!in_one_call && (met.complainer < 0 || !met.left)) tell_calls(comm);
  if (met.complainer >= 0) throw_complaint(comm, mine, met);
}

Agreement agree(const Communicator& comm, const Complaint& complaint, Brought mine) {
  mine.complains = complaint.any;
  const Agreement met = agree_unchecked(comm, mine);
  throw_what_was_found(comm, complaint, met);
  return met;
}

Note own_note() {
  Note note;
  const std::string_view call = current != nullptr ? current->call() : "a collective call";
  call.copy(note.call.data(), note.call.size() - 1);
  if (current != nullptr) note.number = current->number();
  return note;
}

// Ignores errors: after a lost rank, the awaited operation fails too.
bool some_note_came(const Communicator& comm) {
  int there = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, Communicator::roll_call_tag, comm.handle(), &there, MPI_STATUS_IGNORE);
  return there != 0;
}

// Sends to all ranks, with waiting_tag only to those of tells_of_waits. Orphans the buffer: MPI may
// still send it after this rank fails.
void tell(const Communicator& comm, const Note& mine, int tag) {
  const auto sent = std::make_shared<Note>(mine);
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank == comm.rank()) continue;
    if (tag == Communicator::waiting_tag && !tells_of_waits(rank, comm.size())) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(sent.get(), sizeof(Note), MPI_BYTE, rank, tag, comm.handle(), &request),
        "MPI_Isend");
    MPI_Request_free(&request);
  }
  orphan(sent);
}

bool take_note(const Communicator& comm, int tag, std::map<int, Note>& notes) {
  int there = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check_mpi(
      MPI_Improbe(MPI_ANY_SOURCE, tag, comm.handle(), &there, &message, &status), "MPI_Improbe");
  if (there != 0)
    check_mpi(
        MPI_Mrecv(&notes[status.MPI_SOURCE], sizeof(Note), MPI_BYTE, &message, MPI_STATUS_IGNORE),
        "MPI_Mrecv");
  return there != 0;
}

std::map<int, Note> hear_others(const Communicator& comm) {
  constexpr std::chrono::milliseconds patience{1500},
      pause{1};  // waiting ranks poll ten times a second
  std::map<int, Note> notes;
  const auto limit = Clock::now() + patience;
  while (std::ssize(notes) + 1 < comm.size() && Clock::now() < limit)
    if (!take_note(comm, Communicator::roll_call_tag, notes)) std::this_thread::sleep_for(pause);
  return notes;
}

std::string who_is_where(
    const Communicator& comm, const std::map<int, Note>& notes, const char* of_silent) {
  std::map<std::string, std::vector<int>> at;
  std::vector<int> silent;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto note = notes.find(rank);
    if (note == notes.end()) silent.push_back(rank);
    else
      at[concat(note->second.call.data(), " (its call ", note->second.number, ")")].push_back(rank);
  }
  std::string text;
  for (const auto& [call, ranks] : at)
    text += (text.empty() ? "" : "; ") + named_ranks(ranks) +
            (ranks.size() > 1 ? " are in " : " is in ") + call;
  if (!silent.empty())
    text += "; " + named_ranks(silent) +
            (silent.size() > 1 ? " have not called" : " has not called") + of_silent;
  return text;
}

[[noreturn]] void give_up(const Communicator& comm, const std::string& why) {
  const Note mine = own_note();
  tell(comm, mine, Communicator::roll_call_tag);
  std::map<int, Note> notes = hear_others(comm);
  notes[comm.rank()] = mine;
  throw Error(why + ": " +
                  who_is_where(comm, notes, " (no answer: not in a set-up call of this library)") +
                  ". " + same_calls_everywhere,
      ErrorKind::timeout);
}

// Once per call: the lowest rank that receives notes warns unless all ranks are here.
void warn(const Communicator& comm) {
  CollectiveState& state = comm.collective_state();
  while (take_note(comm, Communicator::waiting_tag, state.waiting)) {
  }
  state.waiting[comm.rank()] = own_note();
  const std::uint64_t number = current->number();
  std::erase_if(state.waiting, [=](const auto& each) { return each.second.number < number; });
  const auto hears = std::ranges::find_if(
      state.waiting, [&](const auto& each) { return tells_of_waits(each.first, comm.size()); });
  const bool all_here = std::ssize(state.waiting) == comm.size() &&
                        std::ranges::all_of(state.waiting,
                            [](const auto& each) { return each.second.call == own_note().call; });
  if (hears == state.waiting.end() || hears->first != comm.rank() || all_here) return;
  const std::string text = who_is_where(
      comm, state.waiting, " (no answer: in work of its own, or in other communication)");
  std::fprintf(stderr, "parhelion: not all ranks arrived within %s: %s. %s\n",
      seconds_text(warned_after_s).c_str(), text.c_str(), same_calls_everywhere);
}

// Call regularly in a wait on `all`. Waiting ranks tell each other their calls. Throws Error after
// the time limit, and when another rank has given up: the communicator is then unusable, as the
// pending operation cannot be cancelled.
void look_at_the_clock(const Communicator& all, double waited_s) {
  const double limit_s = setup_time_limit(current != nullptr ? current->timeout_s() : 0);
  if (some_note_came(all)) give_up(all, "a rank has given up waiting for others");
  if (limit_s > 0 && waited_s >= limit_s)
    give_up(all, "not all ranks arrived within " + seconds_text(limit_s));
  if (current == nullptr) return;
  CollectiveState& state = all.collective_state();
  if (waited_s >= told_after_s &&
      std::exchange(state.told_waiting, current->number()) != current->number())
    tell(all, own_note(), Communicator::waiting_tag);
  if (waited_s >= warned_after_s &&
      std::exchange(state.warned, current->number()) != current->number())
    warn(all);
}

// Allocates nothing: memory may have run out.
void tell_failure(const Communicator& comm) {
  CollectiveState& state = comm.collective_state();
  std::uint64_t& told = state.failures[state.failures_told++ % state.failures.size()];
  told = state.entered + 1;
  for (int rank = 0; rank < comm.size(); ++rank) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == comm.rank()) continue;
    check_mpi(
        MPI_Isend(&told, 1, MPI_UINT64_T, rank, Communicator::failure_tag, comm.handle(), &request),
        "MPI_Isend");
    MPI_Request_free(&request);
  }
}

// Whether a rank failed after the last reduction, which reports earlier failures.
bool some_rank_failed(const Communicator& comm) {
  CollectiveState& state = comm.collective_state();
  for (int there = 1; there != 0;) {
    MPI_Message message = MPI_MESSAGE_NULL;
    std::uint64_t after = 0;
    if (MPI_Improbe(MPI_ANY_SOURCE, Communicator::failure_tag, comm.handle(), &there, &message,
            MPI_STATUS_IGNORE) != MPI_SUCCESS)
      break;
    if (there != 0 &&
        MPI_Mrecv(&after, 1, MPI_UINT64_T, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS)
      state.failed_after = std::max(state.failed_after, after);
  }
  return state.failed_after > state.completed;
}

void leave(CollectiveState& state, const CollectiveCall* outer) {
  current = outer;
  state.thread.unlock();
}

}  // namespace

// One thread at a time: a second waits for the first, and is refused on every rank.
CollectiveCall::CollectiveCall(const Communicator& comm, std::string_view call, double timeout_s)
    : comm_(comm), call_(call), timeout_s_(timeout_s), outer_(current),
      announced_(current == nullptr || !current->communicator().is(comm)) {
  if (!announced_) return;
  CollectiveState& state = comm_.collective_state();
  const bool intrudes = !state.thread.try_lock();
  if (intrudes) state.thread.lock();
  number_ = ++state.calls;
  first_tag_ = comm_.tags_used();
#ifndef PARHELION_SIMULATED  // simulated ranks share a thread
  current = this;
#endif
  if (!intrudes) return;
  try {
    try {
      refuse("another thread is in a collective call on this communicator: give each its own");
    } catch (...) {
      fail();
    }
  } catch (...) {
    leave(state, outer_);
    throw;
  }
}

CollectiveCall::~CollectiveCall() {
  if (announced_) leave(comm_.collective_state(), outer_);
}

void CollectiveCall::close() const {
  if (!announced_) return;
  agree(comm_);
#ifndef PARHELION_SIMULATED
  auto& waiting = comm_.collective_state().waiting;  // from ranks that came earlier
  while (take_note(comm_, Communicator::waiting_tag, waiting)) {
  }
  waiting.clear();
#endif
}

const CollectiveCall* CollectiveCall::now() noexcept { return current; }

void CollectiveCall::fail() const {
  if (!announced_) throw;
  Complaint mine;
  try {
    throw;
  } catch (const OtherRankFailed&) {
  } catch (const Error& error) {
    const auto kind = error.kind();
    const bool given_up = kind == ErrorKind::timeout || kind == ErrorKind::lost_peer ||
                          kind == ErrorKind::communication;
    if (error.known_to() != KnownTo::this_rank || given_up) throw;
    mine = complaint_of_exception();
  } catch (...) {
    mine = complaint_of_exception();
  }
  CollectiveState& state = comm_.collective_state();
  if (mine.any) tell_failure(comm_);
  Agreement met;
  if (state.under_way != MPI_REQUEST_NULL)
    met = finish(comm_);  // other ranks wait for this one in it
  while (met.complainer < 0 && !mine.any && state.entered + 1 < state.failed_after)
    met = agree_unchecked(comm_, {false, true});
  if (met.complainer < 0) met = agree_unchecked(comm_, {mine.any, true});
  comm_.spoil_tags(first_tag_);  // messages to the failed rank may be unreceived
  throw_complaint(comm_, mine, met);
}

Complaint complaint_of_exception() noexcept {
  try {
    try {
      throw;
    } catch (const Error& error) {
      return {true, error.what(), error.kind()};
    } catch (const std::bad_alloc&) {
      return {true, "out of memory: use more ranks or a smaller problem", ErrorKind::system};
    } catch (const std::exception& error) {
      return {true, error.what(), ErrorKind::system};
    } catch (...) {
      return {true, "an exception other than std::exception", ErrorKind::system};
    }
  } catch (...) {
    return {true, "out of memory", ErrorKind::system};
  }
}

void look_for_failed() {
  if (current != nullptr && some_rank_failed(current->communicator())) throw OtherRankFailed{};
}

PatientWait::PatientWait(const Communicator& comm, bool for_all)
    : comm_(current != nullptr ? current->communicator() : comm), for_all_(for_all) {}

void PatientWait::look() {
  constexpr std::chrono::milliseconds every{100};
  if (some_rank_failed(comm_) && !for_all_ && current != nullptr) throw OtherRankFailed{};
  const auto now = Clock::now();
  if (now - waited_.looked() < every) return;
  waited_.look(now);
  look_for_lost();
  look_at_the_clock(comm_, waited_.seconds());
}

void PatientWait::look_for_lost() {
  const CollectiveState& state = comm_.collective_state();
  if (!state.lost) return;
  const int before = std::exchange(suspect_, state.lost());
  if (suspect_ < 0 || suspect_ != before) return;  // its last message may have just arrived
  state.tell_lost(suspect_);
  throw LostRank(suspect_, std::string(" while an exchange was constructed") + lost_rank_remedy);
}

void begin_agreement(const Communicator& comm, std::uint64_t print) {
  const Brought mine{false, false, print};
#ifdef PARHELION_SIMULATED
  CollectiveState& state = comm.collective_state();
  fill(comm, mine);
  state.all = state.mine;
  check_mpi(MPI_Ibarrier(comm.handle(), &state.under_way), "MPI_Ibarrier");
  ++state.entered;
#else
  begin(comm, mine);
#endif
}

bool agreement_is_over(const Communicator& comm) {
  CollectiveState& state = comm.collective_state();
  int over = 0;
  check_mpi(MPI_Test(&state.under_way, &over, MPI_STATUS_IGNORE), "MPI_Test");
  if (over != 0) ++state.completed;
  return over != 0;
}

bool end_agreement(const Communicator& comm) {
  const Agreement met = found(comm);
  throw_what_was_found(comm, {}, met);
  return met.equal;
}

void reduce(const Communicator& comm, Combine how, std::span<std::uint64_t> values) {
  while (!values.empty()) {
    const auto some = values.first(std::min(values.size(), Contribution::most_values));
    agree(comm, {}, {false, false, 0, how, some});
    std::copy_n(comm.collective_state().all.values.begin(), some.size(), some.begin());
    values = values.subspan(some.size());
  }
}

// Binomial tree; waiting ranks learn of failed ones.
Message broadcast(const Communicator& comm, Message message, int source) {
  const int size = comm.size(), place = (comm.rank() - source + size) % size;
  const auto rank_at = [&](int other) { return (other + source) % size; };
  const Tag tag = comm.next_tag();
  int step = 1;
  while (step <= place) step *= 2;
  if (place > 0) message = receive_message(comm, rank_at(place - step / 2), tag);
  for (; place + step < size; step *= 2)
    send_message(comm, {rank_at(place + step), message.bytes}, tag);
  return message;
}

// Binomial tree: joins messages of consecutive ranks.
std::vector<Message> gather(const Communicator& comm, Message own) {
  const Tag tag = comm.next_tag();
  own.rank = comm.rank();
  std::vector<Message> all;
  all.push_back(std::move(own));
  for (int step = 1; step < comm.size(); step *= 2) {
    if ((comm.rank() & step) != 0) {
      Message joined{comm.rank() - step, {}};
      for (const Message& each : all) {
        const std::uint64_t length = each.bytes.size();
        joined.append(&length, 1);
        joined.append(each.bytes.data(), each.bytes.size());
      }
      send_message(comm, std::move(joined), tag);
      return {};
    }
    if (comm.rank() + step >= comm.size()) continue;
    const Message joined = receive_message(comm, comm.rank() + step, tag);
    for (std::size_t at = 0; at < joined.bytes.size();) {
      std::uint64_t length = 0;
      std::memcpy(&length, joined.bytes.data() + at, sizeof length);
      at += sizeof length;
      Message& each = all.emplace_back();
      each.rank = comm.rank() + all.size() - 1;
      each.append(joined.bytes.data() + at, length);
      at += length;
    }
  }
  return all;
}

std::int64_t before_this_rank(const Communicator& comm, std::int64_t mine, std::int64_t first,
    const std::function<std::int64_t(std::int64_t, std::int64_t)>& combine) {
  std::int64_t before = first;
  for (int step = 1; step < comm.size(); step *= 2) {
    std::vector<Message> sent;
    const std::int64_t sum = combine(before, mine);
    if (comm.rank() + step < comm.size())
      sent.push_back({comm.rank() + step, {}}), sent.back().append(&sum, 1);
    const bool hears = comm.rank() >= step;
    const auto told = neighbor_exchange(
        comm, sent, hears ? std::vector<int>{comm.rank() - step} : std::vector<int>{});
    if (hears) before = combine(told.front().values<std::int64_t>().front(), before);
  }
  return before;
}

std::vector<std::int64_t> total_before(const Communicator& comm, std::vector<std::int64_t> values) {
  for (std::int64_t& value : values) value = before_this_rank(comm, value, 0, std::plus<>());
  return values;
}

std::vector<std::int64_t> of_all(
    const Communicator& comm, const std::vector<std::int64_t>& values) {
  Message own, all;
  own.append(values.data(), values.size());
  const auto joined = joined_values<std::int64_t>(gather(comm, std::move(own)));
  all.append(joined.data(), joined.size());
  return broadcast(comm, std::move(all)).values<std::int64_t>();
}

struct BlockingCall::State {
  std::function<MPI_Comm()> make;
  MPI_Comm made = MPI_COMM_NULL;
  std::exception_ptr failure = nullptr;
  std::atomic<bool> over{false};
  bool apart = false;  // until joined
  pthread_t thread{};

  explicit State(std::function<MPI_Comm()> by) : make(std::move(by)) {}
  static void* run(void* state) {
    auto& self = *static_cast<State*>(state);
    try {
      self.made = self.make();
    } catch (...) {
      self.failure = std::current_exception();
    }
    self.over.store(true, std::memory_order_release);
    return nullptr;
  }
};

BlockingCall::BlockingCall(std::function<MPI_Comm()> make)
    : state_(std::make_shared<State>(std::move(make))) {}

BlockingCall::~BlockingCall() {
  if (!state_->apart) return;
  pthread_detach(state_->thread);
  orphan(state_);
}

void BlockingCall::start([[maybe_unused]] double limit_s) {
#ifndef PARHELION_SIMULATED
  state_->apart = limit_s > 0 && mpi_serves_all_threads() &&
                  pthread_create(&state_->thread, nullptr, &State::run, state_.get()) == 0;
#endif
  if (!state_->apart) State::run(state_.get());
}

bool BlockingCall::is_over() const { return state_->over.load(std::memory_order_acquire); }

MPI_Comm BlockingCall::result() {
  if (std::exchange(state_->apart, false)) pthread_join(state_->thread, nullptr);
  if (state_->failure) std::rethrow_exception(state_->failure);
  return state_->made;
}

MPI_Comm create_comm(const Communicator& comm, std::function<MPI_Comm()> make) {
  BlockingCall call(std::move(make));
  agree(comm);
  // Without a thread, a late rank would hang in the call after others gave up. Polls often: MPI may
  // progress one message per poll.
  constexpr int polls = 64;
  for (int poll = 0; poll < polls; ++poll)
    if (some_note_came(comm)) give_up(comm, "a rank has given up waiting for others");
  call.start(setup_time_limit(current != nullptr ? current->timeout_s() : 0));
  await(comm, [&] { return call.is_over(); });
  return call.result();
}

MPI_Comm split(const Communicator& comm, MPI_Comm of, int color, int key) {
  return create_comm(comm, [=] {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(of, color, key, &part), "MPI_Comm_split");
    return part;
  });
}

void agree(const Communicator& comm, const Complaint& complaint) { agree(comm, complaint, {}); }

std::vector<std::int64_t> total(const Communicator& comm, std::vector<std::int64_t> values) {
  reduce(comm, Combine::sum, {reinterpret_cast<std::uint64_t*>(values.data()), values.size()});
  return values;
}

std::vector<std::int64_t> largest(const Communicator& comm, std::vector<std::int64_t> values) {
  constexpr std::int64_t sign = INT64_MIN;  // maps signed to unsigned order
  for (std::int64_t& value : values) value ^= sign;
  reduce(comm, Combine::largest, {reinterpret_cast<std::uint64_t*>(values.data()), values.size()});
  for (std::int64_t& value : values) value ^= sign;
  return values;
}

namespace {

class Fingerprint final : public Properties {
 public:
  void add(std::string_view, std::int64_t value, std::initializer_list<int>) override {
    hash_.add(value);
  }
  void add(std::string_view, std::string_view value, std::initializer_list<int>) override {
    hash_.add_range(value);
  }
  std::uint64_t value() const { return hash_.value(); }

 private:
  Hash hash_;
};

std::string with_numbers(std::string_view name, std::initializer_list<int> numbers) {
  std::string text;
  auto next = numbers.begin();
  for (char letter : name) {
    if (letter == '%' && next != numbers.end()) text += std::to_string(*next++);
    else text += letter;
  }
  return text;
}

class InWords final : public Properties {
 public:
  void add(std::string_view name, std::int64_t value, std::initializer_list<int> numbers) override {
    add(name, std::to_string(value), numbers);
  }
  void add(
      std::string_view name, std::string_view value, std::initializer_list<int> numbers) override {
    all += with_numbers(name, numbers) + '\0' + std::string(value) + '\0';
  }
  // Each property's name and value, each ended by a zero.
  std::string all;
};

std::string next_word(std::string_view& text) {
  const auto end = text.find('\0');
  const std::string word(text.substr(0, end));
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return word;
}

// The first property unlike rank 0's, else empty.
std::string difference(std::string_view first, std::string_view mine, int rank) {
  while (!first.empty() || !mine.empty()) {
    const auto next = [](std::string_view& all) {
      if (all.empty()) return std::pair<std::string, std::string>("nothing", "nothing more");
      std::string name = next_word(all);
      return std::pair(std::move(name), next_word(all));
    };
    const auto there = next(first), here = next(mine);
    if (there != here)
      return concat(there.first, " is ", there.second, " on rank 0 and ",
          here.first == there.first ? "" : here.first + " is ", here.second, " on rank ", rank);
  }
  return {};
}

[[noreturn]] void tell_difference(const Communicator& comm, const std::string& what,
    const TellProperties& tell, const std::string& remedy) {
  InWords mine;
  tell(mine);
  const std::string first = broadcast(comm, comm.rank() == 0 ? mine.all : "", 0);
  const std::string differs = comm.rank() == 0 ? "" : difference(first, mine.all, comm.rank());
  throw Error(what + " differ between ranks: " + lowest_of(comm, differs) + "; " + remedy,
      ErrorKind::value, KnownTo::all_ranks);
}

}  // namespace

void require_equal(const Communicator& comm, const std::string& what, const TellProperties& tell,
    const std::string& remedy, const std::function<void()>& check) {
  Fingerprint print;
  const Complaint complaint = complaint_of([&] {
    if (check) check();
    tell(print);
  });
  if (!agree(comm, complaint, {false, false, print.value()}).equal)
    tell_difference(comm, what, tell, remedy);
}

void require_root(int root, const Communicator& comm) {
  require_equal(
      comm, "the arguments", [root](Properties& told) { told.add("the root", root); },
      "name the same root everywhere",
      [&] {
        if (root < 0 || root >= comm.size())
          refuse("root ", root, " does not exist: use 0 … ", comm.size() - 1);
      });
}

}  // namespace parhelion
