// Collective calls: an error on one rank is thrown on every rank.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <type_traits>

#include "parhelion/core/communicator.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {

/// A collective call on this thread: name, communicator, time limit of each wait. Nested in another
/// on the same communicator, it does nothing. Use `collectively`.
class CollectiveCall {
 public:
  CollectiveCall(const Communicator& comm, std::string_view call, double timeout_s);
  ~CollectiveCall();
  CollectiveCall(const CollectiveCall&) = delete;
  CollectiveCall& operator=(const CollectiveCall&) = delete;

  /// Collective: the final agreement, unless nested.
  void close() const;
  /// In a catch handler: leaves the call with the handled exception. Collective over the ranks in
  /// the call: all throw the complaint of the lowest rank that has one.
  [[noreturn]] void fail() const;

  /// The innermost call of this thread, or null.
  static const CollectiveCall* now() noexcept;
  const Communicator& communicator() const { return comm_; }
  std::string_view call() const { return call_; }
  /// Number of this rank's calls on the communicator, with this one.
  std::uint64_t number() const { return number_; }
  double timeout_s() const { return timeout_s_; }

 private:
  Communicator comm_;
  std::string_view call_;
  double timeout_s_;
  std::uint64_t number_ = 0, first_tag_ = 0;
  const CollectiveCall* outer_;
  bool announced_;
};

/// Collective. Runs `body` as the call named `call` (equal on all ranks) and returns its result. If
/// it throws on any rank, every rank throws Error with the text of the lowest such rank. An
/// agreement follows `body`, which itself agrees only before steps that need all ranks valid, and
/// communicates only by messages and the reduction of `agree`. The caller stores results after the
/// return. The communicator stays usable, except after a lost rank, a timeout or an MPI failure.
/// `timeout_s`: limit of each wait, at least 5 s; 0: PARHELION_TIMEOUT, else 30 s if
/// PARHELION_CHECK is 1, else none.
template <class Body>
decltype(auto) collectively(
    const Communicator& comm, std::string_view call, double timeout_s, Body&& body) {
  const CollectiveCall current(comm, call, timeout_s);
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      std::forward<Body>(body)();
      current.close();
    } else {
      decltype(auto) result = std::forward<Body>(body)();
      current.close();
      return result;
    }
  } catch (...) {
    current.fail();
  }
}
template <class Body>
decltype(auto) collectively(const Communicator& comm, std::string_view call, Body&& body) {
  return collectively(comm, call, 0, std::forward<Body>(body));
}

/// An error that a rank reports to the others.
struct Complaint {
  bool any = false;
  std::string text = {};
  ErrorKind kind = ErrorKind::value;
};

/// In a catch handler: the handled exception, of any type. Local; does not throw.
Complaint complaint_of_exception() noexcept;

/// The exception of `local`. Local.
template <class Function>
Complaint complaint_of(Function&& local) {
  try {
    std::forward<Function>(local)();
  } catch (...) {
    return complaint_of_exception();
  }
  return {};
}

/// Collective, one reduction. Every rank throws the complaint of the lowest rank that has one, or
/// an error that says so if ranks are in different collective calls.
void agree(const Communicator& comm, const Complaint& complaint = {});

/// Collective, one reduction. Agrees on the exception of `local`, which must not communicate.
template <class Function>
void validate_together(const Communicator& comm, Function&& local) {
  agree(comm, complaint_of(std::forward<Function>(local)));
}

/// Collective, one reduction per 30 values or so, equally many on all ranks. Elementwise sum, or
/// maximum, over the ranks.
std::vector<std::int64_t> total(const Communicator& comm, std::vector<std::int64_t> values);
std::vector<std::int64_t> largest(const Communicator& comm, std::vector<std::int64_t> values);
/// Collective, O(log P) messages per value. Elementwise exclusive prefix sum over the ranks.
std::vector<std::int64_t> total_before(const Communicator& comm, std::vector<std::int64_t> values);
/// Collective, along a tree of messages. All ranks' values, in rank order.
std::vector<std::int64_t> of_all(const Communicator& comm, const std::vector<std::int64_t>& values);

/// Receives properties that must be equal on all ranks, counts before what they count. Each % in a
/// name stands for one of `numbers`.
class Properties {
 public:
  virtual ~Properties() = default;
  /// Adds the next property.
  virtual void add(
      std::string_view name, std::int64_t value, std::initializer_list<int> numbers = {}) = 0;
  virtual void add(
      std::string_view name, std::string_view value, std::initializer_list<int> numbers = {}) = 0;
  template <std::integral T>
  void add(std::string_view name, T value, std::initializer_list<int> numbers = {}) {
    add(name, static_cast<std::int64_t>(value), numbers);
  }
  void add(std::string_view name, const char* value, std::initializer_list<int> numbers = {}) {
    add(name, std::string_view(value), numbers);
  }
};

/// Adds this rank's properties, in the same order on every rank.
using TellProperties = std::function<void(Properties&)>;

/// Collective, one reduction without an error. Throws Error on every rank unless all have equal
/// properties: "WHAT differ between ranks", the first difference of the lowest rank that differs
/// from rank 0, both values, and REMEDY. `check` runs first, locally; the same reduction agrees on
/// its exception.
void require_equal(const Communicator& comm, const std::string& what, const TellProperties& tell,
    const std::string& remedy, const std::function<void()>& check = {});

}  // namespace parhelion
