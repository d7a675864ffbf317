// The library's duplicate of a user's communicator.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <typeindex>
#include <utility>
#include <vector>

namespace parhelion {

struct CollectiveState;

/// A message tag of one living object on the communicator. Copies share it; the last releases it.
class Tag {
 public:
  Tag() = default;
  operator int() const& noexcept { return number_ ? *number_ : 0; }
  operator int() const&& = delete;  // the temporary would release the tag
  /// Never releases the tag: messages that no rank receives may be in flight.
  void keep();

 private:
  friend class Communicator;
  explicit Tag(std::shared_ptr<const int> number) : number_(std::move(number)) {}
  std::shared_ptr<const int> number_;
};

/// A cheap handle to the library's duplicate of a communicator, which separates its messages from
/// the user's.
///
/// The first construction for an `MPI_Comm` is collective (MPI_Comm_dup); later ones, copies,
/// destructors and members are local unless they say otherwise. The duplicate is an attribute of
/// the user's communicator (MPI-4.1 §7.7.2), freed with it, or by MPI_Finalize if handles remain.
/// No default constructor: it would imply MPI_COMM_WORLD. Errors: MPI not initialized, or
/// finalized; a null communicator.
class Communicator {
 public:
  Communicator(MPI_Comm user);  // NOLINT: implicit, a domain takes an MPI_Comm

  /// For MPI calls. Throws Error after MPI_Finalize.
  MPI_Comm handle() const;
  int rank() const noexcept;
  int size() const noexcept;

  /// Whether both refer to the same user communicator.
  bool is(const Communicator& other) const noexcept { return state_ == other.state_; }

  /// Reserved tags.
  static constexpr int roll_call_tag = 1;  ///< ranks that time out: their positions
  static constexpr int failure_tag = 2;    ///< failure in a collective call
  static constexpr int lost_rank_tag = 3;  ///< a rank that has ended
  static constexpr int waiting_tag = 4;    ///< ranks that have waited long
  /// A tag that no other object uses, equal on all ranks because they create objects collectively.
  /// About one call in 30,000 is collective, to agree on released tags. Throws Error if all are in
  /// use.
  Tag next_tag() const;
  /// Number of tags taken; after a failure, `skip_tags` raises it to the other ranks'.
  std::uint64_t tags_used() const noexcept;
  void skip_tags(std::uint64_t used) const noexcept;
  /// Retires the tags taken since the count was `since`.
  void spoil_tags(std::uint64_t since) const noexcept;

  /// The ranks that share memory with this one.
  const Communicator& node() const;

  /// The communicator's T, constructed as `T(Communicator)` at first use, destroyed with it.
  /// Collective if T's constructor is.
  template <class T>
  T& shared_state() const {
    std::shared_ptr<void>& place = shared_place(typeid(T));
    if (!place) place = std::make_shared<T>(*this);
    return *static_cast<T*>(place.get());
  }

  /// Node-local rank of `rank`, -1 on another node. Requires a prior node(). O(1).
  int node_rank(int rank) const;
  /// This node's ranks, by node-local rank. Requires a prior node().
  std::vector<int> node_ranks() const;

  /// See core/collective.hpp.
  CollectiveState& collective_state() const noexcept;
  /// Keeps its resources until the process ends: MPI may still use them.
  void abandon() const noexcept;

 private:
  struct State;
  struct Tags;
  struct FirstStep;
  explicit Communicator(std::shared_ptr<State> state);
  void make_from(MPI_Comm user);
  static int release(MPI_Comm, int, void* attribute, void*);
  static int attribute_key();
  std::shared_ptr<void>& shared_place(std::type_index type) const;
  std::shared_ptr<State> state_;
};

}  // namespace parhelion
