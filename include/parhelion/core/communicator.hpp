// A private duplicate of the user's communicator, made once and cached on it.
#pragma once

#include <mpi.h>

#include <memory>
#include <typeindex>

namespace parhelion {

/// A cheap handle to the library's own duplicate of a communicator.
///
/// The first construction for a given `MPI_Comm` is collective over it (it duplicates); later ones,
/// copies and destructors are local and communicate nothing (the duplicate hangs on the user's
/// communicator as an attribute, MPI-4.1 §7.7.2, and goes with it). Messages of the library
/// therefore never meet the user's. There is no default, for that could only mean MPI_COMM_WORLD,
/// which nothing may use without naming it. Errors: MPI not initialised or already ended, or a null
/// communicator.
class Communicator {
public:
    Communicator(MPI_Comm user);  // NOLINT: implicit on purpose, a domain takes an MPI_Comm

    /// For calls of MPI. Throws Error once MPI has ended: then there is nothing left to call.
    MPI_Comm handle() const;
    int rank() const noexcept;
    int size() const noexcept;

    /// Whether both are handles of one duplicate: were made from one communicator of the user.
    /// Local.
    bool is(const Communicator& other) const noexcept { return state_ == other.state_; }

    /// Of messages in which ranks that have waited for too long tell where they are: no object has
    /// it.
    static constexpr int roll_call_tag = 1;
    /// A message tag that no other object on this communicator uses; equal on all ranks because
    /// objects are made collectively. Local.
    int next_tag() const;

    /// Ranks that share memory with this one. Collective the first time, local afterwards.
    const Communicator& node() const;

    /// The one object of type T that belongs to this communicator, made as `T(Communicator)` on
    /// first use and kept as long as the communicator. Collective exactly if T's construction is.
    template <class T>
    T& shared_state() const {
        std::shared_ptr<void>& place = shared_place(typeid(T));
        if (!place) place = std::make_shared<T>(*this);
        return *static_cast<T*>(place.get());
    }

    /// Translation: rank on the node of `rank`, or -1 when it is on another node. Needs node().
    /// Local, O(1).
    int node_rank(int rank) const;

private:
    struct State;
    struct Owned {};
    Communicator(MPI_Comm own, Owned);
    static int release(MPI_Comm, int, void* attribute, void*);
    static int attribute_key();
    std::shared_ptr<void>& shared_place(std::type_index type) const;
    std::shared_ptr<State> state_;
};

}  // namespace parhelion
