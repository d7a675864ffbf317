// A private duplicate of the user's communicator, made once and cached on it.
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
/// one gives it back.
class Tag {
public:
    Tag() = default;
    operator int() const& noexcept { return number_ ? *number_ : 0; }
    operator int() const&& = delete;  // it would be given back at once
    /// It is never given back: messages may be under way that nobody receives.
    void keep();

private:
    friend class Communicator;
    explicit Tag(std::shared_ptr<const int> number) : number_(std::move(number)) {}
    std::shared_ptr<const int> number_;
};

/// A cheap handle to the library's own duplicate of a communicator.
///
/// The first construction for a given `MPI_Comm` is collective over it (it duplicates); later ones,
/// copies and destructors are local and communicate nothing (the duplicate hangs on the user's
/// communicator as an attribute, MPI-4.1 §7.7.2, and goes with it, or, where handles are left then,
/// when MPI ends). Messages of the library therefore never meet the user's. There is no default,
/// for that could only mean MPI_COMM_WORLD, which nothing may use without naming it. Errors: MPI
/// not initialised or already ended, or a null communicator.
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
    /// Of messages in which a rank tells that it has failed in a collective call.
    static constexpr int failure_tag = 2;
    /// Of messages that name a rank that has ended.
    static constexpr int lost_rank_tag = 3;
    /// Of messages in which ranks tell a few others that they have waited for long.
    static constexpr int waiting_tag = 4;
    /// A tag that no other object on this communicator uses; equal on all ranks because objects are
    /// made collectively. Local, but for one call in some 30,000, in which ranks agree on the tags
    /// that are free again. Throws Error when all are in use.
    Tag next_tag() const;
    /// How many have been taken. Where a rank has failed it skips those that others have taken.
    /// Local.
    std::uint64_t tags_used() const noexcept;
    void skip_tags(std::uint64_t used) const noexcept;
    /// No object gets those again that have been taken since so many had been. Local.
    void spoil_tags(std::uint64_t since) const noexcept;

    /// Ranks that share memory with this one. Local.
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
    /// The ranks on this node, by their rank on it. Needs node(). Local.
    std::vector<int> node_ranks() const;

    /// Of collective steps (core/collective.hpp).
    CollectiveState& collective_state() const noexcept;
    /// MPI may still use what belongs to it: it stays until the process ends. Local.
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
