#pragma once

#include <atomic>

#include "parhelion/core/communicator.hpp"

namespace parhelion {

/// Communicators created from one communicator (Communicator::shared_state).
///
/// MPI_Comm_free is collective, but each rank destroys objects in its own order. So a destructor
/// only drops its communicator; before the next is created, those that every rank has dropped are
/// freed, in order of creation. The user's MPI_Comm_free frees the rest.
class MadeComms {
 public:
  /// Its destructor drops the communicator on this rank. Local.
  class Use {
   public:
    Use() = default;
    Use(Use&&) noexcept = default;
    Use& operator=(Use&& other) noexcept {
      drop();
      dropped_ = std::move(other.dropped_);
      return *this;
    }
    ~Use() { drop(); }
    /// Keeps the communicator until the user's is freed.
    void keep() { dropped_.reset(); }

   private:
    friend class MadeComms;
    explicit Use(std::shared_ptr<std::atomic<bool>> dropped) : dropped_(std::move(dropped)) {}
    void drop() {
      if (dropped_) dropped_->store(true, std::memory_order_relaxed);
    }
    std::shared_ptr<std::atomic<bool>> dropped_;
  };

  explicit MadeComms(const Communicator&) {}
  MadeComms(const MadeComms&) = delete;
  MadeComms& operator=(const MadeComms&) = delete;
  ~MadeComms();

  /// Collective: frees what all ranks have dropped and reserves memory for one more, on all ranks
  /// or none. Call right before creating one, after all that can fail.
  void free_dropped(const Communicator& comm);
  /// Owns a new communicator. Local; allocates nothing.
  Use add(MPI_Comm made);

 private:
  struct Made {
    MPI_Comm comm;
    std::shared_ptr<std::atomic<bool>> dropped;
  };
  std::vector<Made> all_;  // same length everywhere: changes are collective
  std::shared_ptr<std::atomic<bool>> next_;
};

}  // namespace parhelion
