// The library's private duplicate of a user's communicator, cached as an attribute.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <typeindex>
#include <utility>
#include <vector>

namespace parhelion {

struct CollectiveState;

/// A message tag that no other living object on the communicator uses. Copies share it; the last
/// one releases it.
class Tag {
 public:
  Tag() = default;
  operator int() const& noexcept { return number_ ? *number_ : 0; }
  operator int() const&& = delete;  // the temporary would release the tag
  /// Never releases the tag: messages may be in flight that no rank receives.
  void keep();

 private:
  friend class Communicator;
  explicit Tag(std::shared_ptr<const int> number) : number_(std::move(number)) {}
  std::shared_ptr<const int> number_;
};

/// A cheap handle to the library's own duplicate of a communicator, which separates its messages
/// from the user's.
///
/// The first construction for an `MPI_Comm` is collective over it (MPI_Comm_dup); later ones,
/// copies and destructors are local. The duplicate is an attribute of the user's communicator
/// (MPI-4.1 §7.7.2) and is freed with it, or by MPI_Finalize if handles remain. No default
/// constructor: it would imply MPI_COMM_WORLD. Errors: MPI not initialized or already finalized; a
/// null communicator.
class Communicator {
 public:
  Communicator(MPI_Comm user);  // NOLINT: implicit on purpose, a domain takes an MPI_Comm

  /// For MPI calls. Throws Error after MPI_Finalize.
  MPI_Comm handle() const;
  int rank() const noexcept;
  int size() const noexcept;

  /// Whether both refer to the same user communicator. Local.
  bool is(const Communicator& other) const noexcept { return state_ == other.state_; }

  /// Reserved tags.
  static constexpr int roll_call_tag = 1;  ///< positions of ranks that time out
  static constexpr int failure_tag = 2;    ///< failure in a collective call
  static constexpr int lost_rank_tag = 3;  ///< a rank that has ended
  static constexpr int waiting_tag = 4;    ///< ranks that have waited long
  /// A tag that no other object uses, equal on all ranks because objects are created
  /// collectively. Local, except that about one call in 30,000 is collective, to agree on
  /// released tags. Throws Error if all are in use.
  Tag next_tag() const;
  /// Number of tags taken; after a failure, `skip_tags` raises it to that of the other ranks.
  /// Local.
  std::uint64_t tags_used() const noexcept;
  void skip_tags(std::uint64_t used) const noexcept;
  /// Retires the tags taken since the count was `since`. Local.
  void spoil_tags(std::uint64_t since) const noexcept;

  /// The ranks that share memory with this one. Local.
  const Communicator& node() const;

  /// The object of type T of this communicator, constructed as `T(Communicator)` at first use,
  /// destroyed with it. Collective if T's constructor is.
  template <class T>
  T& shared_state() const {
    std::shared_ptr<void>& place = shared_place(typeid(T));
    if (!place) place = std::make_shared<T>(*this);
    return *static_cast<T*>(place.get());
  }

  /// Node-local rank of `rank`, or -1 if it is on another node. Requires a prior node(). Local,
  /// O(1).
  int node_rank(int rank) const;
  /// The ranks of this node, by node-local rank. Requires a prior node(). Local.
  std::vector<int> node_ranks() const;

  /// State of collective calls (core/collective.hpp).
  CollectiveState& collective_state() const noexcept;
  /// Keeps its resources until the process ends, because MPI may still use them. Local.
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
