// Checked mode of an exchange.
#pragma once

#include "core/concat.hpp"
#include "core/orphans.hpp"
#include "exchange/stages.hpp"
#include "exchange/waiter.hpp"
#include "parhelion/core/aligned.hpp"
#include "parhelion/core/hash.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/exchange/stale.hpp"
#include "plan/array_block.hpp"
#include "plan/packed_cells.hpp"
#include "plan/value_place.hpp"
#include "transport/node/node_context.hpp"

namespace parhelion {

/// Compares calls of an exchange and its subsets between neighbors: each call sends them a record
/// without waiting; they compare it with their own call of that number. Null in unchecked mode.
class CallCheck {
 public:
  /// Collective. `neighbors`: other ranks, each once. `timeout_s`: as in ExchangeOptions.
  CallCheck(const Communicator& comm, std::vector<int> neighbors, double timeout_s)
      : comm_(comm), neighbors_(std::move(neighbors)), timeout_s_(timeout_s), tag_(comm.next_tag()),
        watched_(comm.shared_state<Watch>().node()), sent_(std::make_shared<AllSent>()) {
    for (const int rank : neighbors_) heard_[rank] = 0;
  }

  // MPI may still read an unreceived record of this rank; one unreceived here would match the tag's
  // next user.
  ~CallCheck() {
    if (mpi_has_ended() || !std::all_of(sent_->begin(), sent_->end(), is_over)) orphan(sent_);
    if (mpi_has_ended() || !has_taken_all()) tag_.keep();
  }

  CallCheck(const CallCheck&) = delete;
  CallCheck& operator=(const CallCheck&) = delete;

  /// Sends the next call's record; returns its number. It does not wait, so equal calls always end.
  std::uint64_t tell(const std::string& call) {
    while (!sent_->empty() && is_over(sent_->front())) sent_->pop_front();
    send(mine_.emplace_back(record_of(++told_, Hash().add_range(call).value(), call)));
    return told_;
  }

  /// Waits for these neighbors' records of that number; calls `get_on` meanwhile. Throws Error for
  /// a differing record, after the time limit, for a lost neighbor, and as `look` does.
  void await(
      std::uint64_t number, const std::vector<int>& ranks, const std::function<void()>& get_on) {
    Waiter waiter(watched_, false, true, timeout_s_);
    const auto is_late = [&](int rank) { return heard_.at(rank) < number; };
    for (std::ptrdiff_t awaited = std::ssize(ranks);;) {
      take();
      const auto late = std::ranges::find_if(ranks, is_late);
      if (late == ranks.end()) return;
      refuse_difference();
      const std::ptrdiff_t still = std::ranges::count_if(ranks, is_late);
      if (std::exchange(awaited, still) != still) waiter.reset();
      get_on();
      waiter.pause([&] {
        return concat("checking calls, waiting for rank ", *late, " to make call ", number,
            " of this exchange (it has made ", heard_.at(*late), ")");
      });
    }
  }

  /// Collective over the neighbors: both of the above.
  void confirm(const std::string& call) {
    await(tell(call), neighbors_, [] {});
  }

  /// Throws Error for differing calls that another rank reported; neighbors pass reports on.
  void look() {
    take();
    refuse_difference();
  }

 private:
  struct Record {
    // number 0: the calls of number `print` differ, as the text says.
    std::uint64_t number = 0, print = 0;
    std::array<char, 400> call{};  // truncated
  };
  struct Sent {
    Record record;
    std::vector<MPI_Request> requests;
  };
  using AllSent = std::deque<Sent>;

  static Record record_of(std::uint64_t number, std::uint64_t print, const std::string& text) {
    Record record{number, print, {}};
    text.copy(record.call.data(), record.call.size() - 1);
    return record;
  }

  static bool is_over(Sent& sent) {
    int over = 0;
    MPI_Testall(sent.requests.size(), sent.requests.data(), &over, MPI_STATUSES_IGNORE);
    return over != 0;
  }

  // Matched probes (MPI_Improbe): another thread may receive records at the same time.
  void take() {
    for (const int rank : neighbors_) {
      auto& early = early_[rank];
      for (;;) {
        int there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        check_mpi(MPI_Improbe(rank, tag_, comm_.handle(), &there, &message, MPI_STATUS_IGNORE),
            "MPI_Improbe");
        if (there == 0) break;
        Record record;
        check_mpi(
            MPI_Mrecv(&record, sizeof(Record), MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
        if (record.number == 0) {
          pass_on(record);
          continue;
        }
        early.push_back(record);
        heard_[rank] = record.number;
      }
      while (!early.empty() && early.front().number <= told_) {
        const Record theirs = early.front();
        early.pop_front();  // report a difference once
        compare(rank, theirs);
      }
    }
    forget_old();
  }

  /// Whether no more record can arrive. Local.
  bool has_taken_all() noexcept {
    try {
      take();
    } catch (...) {
      return false;
    }
    return difference_.print == 0 &&
           std::ranges::all_of(heard_, [&](const auto& of) { return of.second == told_; });
  }

  void send(const Record& record) {
    Sent& sent = sent_->emplace_back(
        Sent{record, std::vector<MPI_Request>(neighbors_.size(), MPI_REQUEST_NULL)});
    for (std::size_t i = 0; i < neighbors_.size(); ++i)
      check_mpi(MPI_Isend(&sent.record, sizeof(Record), MPI_BYTE, neighbors_[i], tag_,
                    comm_.handle(), &sent.requests[i]),
          "MPI_Isend");
  }

  void compare(int rank, const Record& theirs) {
    const Record& ours = mine_.at(theirs.number - mine_.front().number);
    if (theirs.print == ours.print) return;
    const std::string text = concat("rank ", rank, " has made call ", theirs.number,
        " of this exchange for ", theirs.call.data(), ", and rank ", comm_.rank(), " for ",
        ours.call.data(),
        ": make the same calls in the same order on every rank, with the same fields, depth and "
        "reduction");
    pass_on(record_of(0, theirs.number, text));
    throw Error(text, ErrorKind::communication);
  }

  void pass_on(const Record& difference) {
    if (difference_.print > 0) return;
    difference_ = difference;
    send(difference_);
  }

  // Calls before the differing one can still end.
  void refuse_difference() const {
    if (difference_.print > 0 && difference_.print <= told_)
      throw Error(difference_.call.data(), ErrorKind::communication);
  }

  void forget_old() {
    std::uint64_t everywhere = told_;
    for (const auto& [rank, number] : heard_) everywhere = std::min(everywhere, number);
    while (!mine_.empty() && mine_.front().number <= everywhere) mine_.pop_front();
  }

  Communicator comm_;
  std::vector<int> neighbors_;
  double timeout_s_;
  Tag tag_;
  NodeContext* watched_;
  std::uint64_t told_ = 0;
  std::shared_ptr<AllSent> sent_;
  std::deque<Record> mine_;                  // not yet reported by all neighbors
  std::map<int, std::deque<Record>> early_;  // by rank: records of this rank's future calls
  std::map<int, std::uint64_t> heard_;       // by rank: last record's number
  Record difference_;
};

/// Fills with signaling NaNs for floating-point and complex elements, else with 0xdb.
inline void fill_poison(std::byte* first, byte_count bytes, const Element& element) {
  const bool single = element.scalar == Scalar::float32 || element.scalar == Scalar::complex64;
  const bool twice = element.scalar == Scalar::float64 || element.scalar == Scalar::complex128;
  const std::uint64_t poison = single  ? 0x7fa0dbdb7fa0dbdb
                               : twice ? 0x7ff4dbdbdbdbdbdb
                                       : 0xdbdbdbdbdbdbdbdb;
  for (byte_count at = 0; at < bytes; at += byte_count{sizeof poison})
    std::memcpy(first + at, &poison, std::min(bytes - at, byte_count{sizeof poison}));
}

/// Checks the arrays of one exchange or subset. A forward exchange poisons ghosts at begin, to
/// expose early reads. At end, what this rank sends must equal its copy from begin; with several
/// stages, which send ghosts too, so must the poison.
class ArrayCheck {
 public:
  /// Local. The plan must outlive it.
  explicit ArrayCheck(const Plan& plan)
      : plan_(plan), owned_(packed_cells(plan, End::owned)),
        ghosts_(packed_cells(plan, End::ghosts)) {
    byte_count most = 0;
    for (const auto* all : {&owned_, &ghosts_})
      for (const PackedCells& cells : *all) most = std::max(most, cells.layout.bytes());
    now_ = plan.executor->allocate(most);
  }

  /// Call before the exchange begins: then neighbors may write ghosts.
  void begin(const BoundArrays& arrays, Direction direction) {
    direction_ = direction;
    if (direction == Direction::forward)
      for (const PackedCells& cells : ghosts_) {
        for (const MessageField& at : cells.layout.fields)
          fill_poison(cells.values.get() + at.begin, at.bytes, plan_.fields[at.f].element);
        cells.put(plan_, arrays.bases());
      }
    for (PackedCells& cells : given())
      if (kept(cells)) cells.take(plan_, arrays.bases());
  }

  /// Call at the end, before values move. Describes the first value that the program wrote since
  /// begin.
  std::string written(const BoundArrays& arrays) {
    std::string first;
    for (const PackedCells& cells : given())
      if (kept(cells) && first.empty()) first = compare(arrays, cells);
    return first;
  }

 private:
  // In reverse, the plan's last stage runs first; the others combine into ghosts.
  bool kept(const PackedCells& cells) const {
    return direction_ == Direction::forward || cells.stage + 1 == plan_.stages.size();
  }

  std::vector<PackedCells>& given() { return direction_ == Direction::forward ? owned_ : ghosts_; }
  std::string compare(const BoundArrays& arrays, const PackedCells& cells) {
    cells.take(plan_, arrays.bases(), now_.get());
    for (byte_count at = 0;
        (at = first_difference(cells.layout, cells.values.get(), now_.get(), at)) >= 0;) {
      const ValuePlace place = value_at(plan_, cells.layout, at);
      if (place.owned == (direction_ == Direction::forward)) return complaint(cells, at);
      at = place.first + place.size;  // an earlier stage filled this ghost
    }
    return {};
  }

  std::string complaint(const PackedCells& cells, byte_count at) const {
    const ValuePlace place = value_at(plan_, cells.layout, at);
    const Element& element = plan_.fields[place.f].element;
    const bool forward = direction_ == Direction::forward;
    const int self = plan_.communicator().rank(), other = cells.rank;
    return concat(field_name(plan_, place.f), ": ", forward ? "owned " : "the ghost of ",
        to_string(plan_, place), " of rank ",
        forward ? concat(self, ", which rank ", other, " reads,")
                : concat(other, " on rank ", self),
        " was written between begin and end of a ", forward ? "forward" : "reverse", " exchange (",
        value_text(element, cells.values.get() + place.first), " at begin, ",
        value_text(element, now_.get() + place.first),
        " at end): finish writing before begin, or write after end");
  }

  const Plan& plan_;
  std::vector<PackedCells> owned_, ghosts_;
  std::shared_ptr<std::byte> now_;
  Direction direction_ = Direction::forward;
};

/// Compares ghosts with their owners' values, exchanged over MPI into equal memory.
class StaleCheck {
 public:
  /// Collective. Throws Error for arrays outside host memory.
  explicit StaleCheck(const Plan& plan) : plan_(plan) {
    allocate();
    arrays_ = std::make_unique<BoundArrays>(plan_);
    stages_ = select_by_name(plan_, *arrays_, parse_choice("mpi")).stages;
  }

  /// Collective.
  StaleGhosts find(const BoundArrays& arrays, double timeout_s) {
    for (PackedCells& cells : owned_) {
      cells.take(plan_, arrays.bases());
      cells.put(plan_, plan_.bases.data());
    }
    stages_->begin(Direction::forward);
    stages_->end(timeout_s);
    StaleGhosts found;
    found.count.resize(plan_.fields.size());
    for (PackedCells& cells : ghosts_) compare(cells, arrays.bases(), found);
    std::stable_sort(found.first.begin(), found.first.end(),
        [](const StaleGhost& a, const StaleGhost& b) { return a.field < b.field; });
    return found;
  }

 private:
  // Pages without exchanged cells stay untouched.
  void allocate() {
    std::vector<std::byte*> places = plan_.bases;
    for (std::size_t f = 0; f < plan_.fields.size(); ++f) {
      if (plan_.fields[f].space != MemorySpace::host)
        refuse(
            "ghosts in device memory cannot be compared with their owners: copy them to the "
            "host");
      for (std::size_t b = 0; b < plan_.fields[f].blocks.size(); ++b) {
        const ArrayBlock block = array_block(plan_, f, b);
        if (block.empty()) continue;
        memory_.push_back(allocate_aligned(block.end - block.begin));
        places[plan_.first_base[f] + b] = memory_.back().get() + (block.first - block.begin);
      }
    }
    plan_.move_to(places.data());
    owned_ = packed_cells(plan_, End::owned);
    for (PackedCells& cells : owned_) {  // a neighbor may read a cell twice
      cells.unpack.dependence = Dependence::destination;
      plan_.executor->compile(cells.unpack);
    }
    ghosts_ = packed_cells(plan_, End::ghosts);
    byte_count most = 0;
    for (const PackedCells& cells : ghosts_) most = std::max(most, cells.layout.bytes());
    here_ = allocate_aligned(most);
  }

  void compare(const PackedCells& cells, Bases arrays, StaleGhosts& found) {
    std::byte* const there = cells.values.get();
    cells.take(plan_, arrays, here_.get());
    cells.take(plan_, plan_.bases.data(), there);
    for (byte_count at = 0; (at = first_difference(cells.layout, here_.get(), there, at)) >= 0;) {
      const ValuePlace place = value_at(plan_, cells.layout, at);
      at = place.first + place.size;
      if (++found.count[place.f] > static_cast<global_index>(StaleGhosts::most_told)) continue;
      const Element& element = plan_.fields[place.f].element;
      const std::string own = value_text(element, here_.get() + place.first),
                        owners = value_text(element, there + place.first, place.negated);
      StaleGhost& ghost = found.first.emplace_back(
          StaleGhost{place.f, cells.rank, place.cell, place.component, own, owners});
      ghost.text = concat(field_name(plan_, place.f), ": the ghost of ", to_string(plan_, place),
          " of rank ", cells.rank, " is ", ghost.here, " on rank ", plan_.communicator().rank(),
          " and ", ghost.there, " on its owner");
    }
  }

  Plan plan_;  // bound to memory_
  std::vector<AlignedBytes> memory_;
  std::unique_ptr<BoundArrays> arrays_;
  std::unique_ptr<Stages> stages_;
  std::vector<PackedCells> owned_, ghosts_;
  AlignedBytes here_;
};

}  // namespace parhelion
