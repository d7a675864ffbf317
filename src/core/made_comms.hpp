// Communicators that the library's objects make, and who frees them.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion {

/// One per communicator (Communicator::shared_state): what objects have made from it.
///
/// MPI_Comm_free is collective, and destructors run in whatever order the program, or Python's
/// collector, has on each rank. So a destructor only drops what its object has made. The next
/// object that makes one frees those that every rank has dropped, in the order in which they were
/// made; the user's MPI_Comm_free frees what is left.
class MadeComms {
public:
    /// Says, when it goes, that this rank needs the communicator no longer. Local.
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
        /// It stays until the user's communicator is freed.
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

    /// Collective: frees what all ranks have dropped, and makes room for one more, on every rank or
    /// on none. Call it right before another is made, when nothing else can fail.
    void free_dropped(const Communicator& comm);
    /// Takes over what has just been made, on all ranks. Local; needs no memory.
    Use add(MPI_Comm made);

private:
    struct Made {
        MPI_Comm comm;
        std::shared_ptr<std::atomic<bool>> dropped;
    };
    std::vector<Made> all_;  // equally many on all ranks, for making and freeing are collective
    std::shared_ptr<std::atomic<bool>> next_;
};

}  // namespace parhelion
