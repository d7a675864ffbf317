// Checked mode of an exchange: validates calls, arrays and ghosts.
#pragma once

#include "exchange/stages.hpp"
#include "parhelion/core/aligned.hpp"
#include "parhelion/exchange/stale.hpp"
#include "plan/packed_cells.hpp"

namespace parhelion {

/// Compares calls of an exchange and its subsets between neighbors. Each call sends a record to all
/// neighbors without waiting; they compare it with their own call of that number. Null in unchecked
/// mode.
class CallCheck {
 public:
  /// Collective. `neighbors`: other ranks, each once. `timeout_s`: as in ExchangeOptions.
  CallCheck(const Communicator& comm, std::vector<int> neighbors, double timeout_s);
  ~CallCheck();
  CallCheck(const CallCheck&) = delete;
  CallCheck& operator=(const CallCheck&) = delete;

  /// Sends the next call's record and returns its number. Neither waits nor compares, so ranks
  /// with equal calls can always end them.
  std::uint64_t tell(const std::string& call);
  /// Waits for these neighbors' records of that number and calls `get_on` meanwhile. Throws Error
  /// for a differing record, after the time limit, for a lost neighbor, and as `look` does.
  void await(
      std::uint64_t number, const std::vector<int>& ranks, const std::function<void()>& get_on);
  /// Throws Error when another rank has reported differing calls; neighbors pass reports on.
  void look();
  const std::vector<int>& neighbors() const { return neighbors_; }

 private:
  struct Record {
    // number 0: the calls of number `print` differ; the text describes how.
    std::uint64_t number = 0, print = 0;
    std::array<char, 400> call{};  // truncated
  };
  struct Sent {
    Record record;
    std::vector<MPI_Request> requests;
  };
  using AllSent = std::deque<Sent>;

  static Record record_of(std::uint64_t number, std::uint64_t print, const std::string& text);
  static bool is_over(Sent& sent);
  void take();
  /// Whether no more record can arrive. Local.
  bool has_taken_all() noexcept;
  void send(const Record& record);
  void compare(int rank, const Record& theirs);
  void pass_on(const Record& difference);
  void refuse_difference() const;
  void forget_old();

  Communicator comm_;
  std::vector<int> neighbors_;
  double timeout_s_;
  Tag tag_;
  NodeContext* watched_;
  std::uint64_t told_ = 0;
  std::shared_ptr<AllSent> sent_;
  std::deque<Record> mine_;  // calls that some neighbor has not reported yet
  std::map<int, std::deque<Record>>
      early_;                           // by rank: records of calls that this rank has not made yet
  std::map<int, std::uint64_t> heard_;  // by rank: number of the last record
  Record difference_;                   // the one reported
};

/// Fills `bytes` bytes: signaling NaNs for floating-point and complex elements, 0xdb for all
/// others.
void fill_poison(std::byte* first, byte_count bytes, const Element& element);

/// Checks the arrays of one exchange or subset. A forward exchange poisons ghosts at begin, to
/// expose early reads. At end, values that this rank sends must equal their copies from begin; with
/// several stages, whose later ones send ghosts, the poison too.
class ArrayCheck {
 public:
  /// Local. The plan must outlive it.
  explicit ArrayCheck(const Plan& plan);

  /// Call before the exchange begins: neighbors may write ghosts from then on.
  void begin(const BoundArrays& arrays, Direction direction);
  /// Call at the end, before values move. Describes the first value that the program wrote since
  /// begin, if any.
  std::string written(const BoundArrays& arrays);

 private:
  bool kept(const PackedCells& cells) const;
  std::vector<PackedCells>& given() { return direction_ == Direction::forward ? owned_ : ghosts_; }
  std::string compare(const BoundArrays& arrays, const PackedCells& cells);
  std::string complaint(const PackedCells& cells, byte_count at) const;

  const Plan& plan_;
  std::vector<PackedCells> owned_, ghosts_;
  std::shared_ptr<std::byte> now_;
  Direction direction_ = Direction::forward;
};

/// Compares ghosts with their owners' values, exchanged over MPI into memory of the same layout.
class StaleCheck {
 public:
  /// Collective: allocates and sets up transports. Throws Error for arrays outside host memory.
  explicit StaleCheck(const Plan& plan);

  /// Collective. Returns the ghosts that differ from their owners.
  StaleGhosts find(const BoundArrays& arrays, double timeout_s);

 private:
  void allocate();
  void compare(const PackedCells& cells, Bases arrays, StaleGhosts& found);

  Plan plan_;  // bound to memory_
  std::vector<AlignedBytes> memory_;
  std::unique_ptr<BoundArrays> arrays_;
  std::unique_ptr<Stages> stages_;
  std::vector<PackedCells> owned_, ghosts_;
  AlignedBytes here_;
};

}  // namespace parhelion
