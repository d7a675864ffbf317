#include "parhelion/core/communicator.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <thread>
#include <unordered_map>

#include "core/cores.hpp"
#include "core/environment.hpp"
#include "core/launched.hpp"
#include "core/left_behind.hpp"
#include "core/time_limit.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/mpi_lifetime.hpp"

namespace parhelion {

struct Communicator::State {
    MPI_Comm handle = MPI_COMM_NULL;
    int rank = 0;
    int size = 1;
    int next_tag = roll_call_tag + 1;
    int tag_limit = 32767;  // what every MPI offers at least (MPI-4.1 §9.1.2)
    std::optional<Communicator> node;
    std::unordered_map<int, int> node_rank_of;  // only the ranks of this node: never O(P)
    std::unordered_map<std::type_index, std::shared_ptr<void>> shared;

    explicit State(MPI_Comm own) : handle(own) {
        check_mpi(MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        check_mpi(MPI_Comm_rank(handle, &rank), "MPI_Comm_rank");
        check_mpi(MPI_Comm_size(handle, &size), "MPI_Comm_size");
        void* value = nullptr;
        int found = 0;
        MPI_Comm_get_attr(handle, MPI_TAG_UB, &value, &found);
        if (found) tag_limit = *static_cast<int*>(value);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    // MPI_Finalize deletes the attributes of MPI_COMM_WORLD too, in many MPIs: then MPI still
    // works.
    ~State() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized) return;
        receive_what_is_left();
        if (let_others_receive()) MPI_Comm_free(&handle);
    }

    // Messages of exchanges that were given up (a time limit, a lost rank): MPIs refuse to free a
    // communicator with unread ones.
    void receive_what_is_left() const {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        for (int found = 0;;) {
            if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, handle, &found, &message, &status) !=
                    MPI_SUCCESS ||
                !found)
                return;
            int bytes = 0;
            MPI_Get_count(&status, MPI_BYTE, &bytes);
            std::shared_ptr<std::byte[]> unread(
                new std::byte[static_cast<std::size_t>(std::max(bytes, 0))]);
            MPI_Request request = MPI_REQUEST_NULL;
            if (MPI_Imrecv(unread.get(), bytes, MPI_BYTE, &message, &request) != MPI_SUCCESS ||
                !ends_soon(request))
                leave_behind(std::move(unread));  // its sender is gone, or MPI may still write it
        }
    }

    // A long message gets on only while its sender calls MPI. False where another rank did not
    // come: the barrier is under way yet, and Open MPI uses the communicator for it after that was
    // freed.
    bool let_others_receive() const {
        MPI_Request request = MPI_REQUEST_NULL;
        return MPI_Ibarrier(handle, &request) == MPI_SUCCESS && ends_soon(request);
    }

    // Whoever should answer may be gone: no wait for ever while the program ends.
    static bool ends_soon(MPI_Request& request) {
        constexpr double patience_s = 1;
        const double start = MPI_Wtime();
        for (int over = 0;;) {
            if (MPI_Test(&request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
            if (over) return true;
            if (MPI_Wtime() - start > patience_s) return false;
            std::this_thread::yield();
        }
    }
};

int Communicator::release(MPI_Comm, int, void* attribute, void*) {
    delete static_cast<std::shared_ptr<State>*>(attribute);
    return MPI_SUCCESS;
}

int Communicator::attribute_key() {
    static const int key = [] {
        int created = MPI_KEYVAL_INVALID;
        check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Communicator::release, &created,
                                         nullptr),
                  "MPI_Comm_create_keyval");
        return created;
    }();
    return key;
}

namespace {

// MPI_Comm_dup waits for ever, and there is nothing yet over which ranks could tell who is missing.
void await_all(MPI_Comm user) {
#ifndef PARHELION_SIMULATED  // polling takes simulated time
    MPI_Request all = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(user, &all), "MPI_Ibarrier");
    const double limit_s = setup_time_limit(0), start = MPI_Wtime();
    Patience patience;
    for (int come = 0;; patience.wait()) {
        check_mpi(MPI_Test(&all, &come, MPI_STATUS_IGNORE), "MPI_Test");
        if (come) return;
        if (limit_s <= 0 || MPI_Wtime() - start < limit_s) continue;
        int rank = 0, size = 0;
        MPI_Comm_rank(user, &rank);
        MPI_Comm_size(user, &size);
        const std::string others = size == 2
                                       ? "rank " + std::to_string(1 - rank) + " has not called"
                                       : "some of the other ranks have not called";
        throw Error("not all ranks have come within " + seconds_text(limit_s) + ": rank " +
                        std::to_string(rank) +
                        " is in the first call of this "
                        "library on a communicator of " +
                        std::to_string(size) + " ranks, which is collective, and " + others +
                        ". Make the same "
                        "set-up calls in the same order on every rank of the communicator "
                        "(PARHELION_TIMEOUT sets the limit)",
                    ErrorKind::timeout);
    }
#else
    static_cast<void>(user);
#endif
}

// PARHELION_NODE_RANKS: so many ranks that follow each other count as a node, where they are on
// one. 0: all that are.
int ranks_of_node() {
    return static_cast<int>(
        std::max<std::int64_t>(number_told("PARHELION_NODE_RANKS").value_or(0), 0));
}

MPI_Comm split_node(MPI_Comm comm, int rank) {
    MPI_Comm shared = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared),
              "MPI_Comm_split_type");
    const int limit = ranks_of_node();
    if (limit == 0) return shared;
    int within = 0;
    MPI_Comm_rank(shared, &within);
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(shared, within / limit, within, &part), "MPI_Comm_split");
    MPI_Comm_free(&shared);
    return part;
}

}  // namespace

Communicator::Communicator(MPI_Comm own, Owned) : state_(std::make_shared<State>(own)) {}

Communicator::Communicator(MPI_Comm user) {
    require_mpi();
    if (user == MPI_COMM_NULL)
        throw Error("the communicator is MPI_COMM_NULL: pass one that this rank belongs to");
    int between_groups = 0;
    check_mpi(MPI_Comm_test_inter(user, &between_groups), "MPI_Comm_test_inter");
    if (between_groups)
        throw Error(
            "the communicator is an intercommunicator: merge it (MPI_Intercomm_merge) or pass one "
            "of its sides");
    void* cached = nullptr;
    int found = 0;
    check_mpi(MPI_Comm_get_attr(user, attribute_key(), &cached, &found), "MPI_Comm_get_attr");
    if (found) {
        state_ = *static_cast<std::shared_ptr<State>*>(cached);
        return;
    }
    require_all_ranks(user);
    await_all(user);
    MPI_Comm own = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(user, &own), "MPI_Comm_dup");
    state_ = std::make_shared<State>(own);
    check_mpi(MPI_Comm_set_attr(user, attribute_key(), new std::shared_ptr<State>(state_)),
              "MPI_Comm_set_attr");
}

MPI_Comm Communicator::handle() const {
    require_mpi_not_ended();
    return state_->handle;
}
int Communicator::rank() const noexcept { return state_->rank; }
int Communicator::size() const noexcept { return state_->size; }

int Communicator::next_tag() const {
    const int tag = state_->next_tag;
    state_->next_tag = tag >= state_->tag_limit ? roll_call_tag + 1 : tag + 1;
    return tag;
}

const Communicator& Communicator::node() const {
    if (state_->node) return *state_->node;
    const MPI_Comm shared = split_node(handle(), rank());
    state_->node = Communicator(shared, Owned{});
    MPI_Group all, near;
    MPI_Comm_group(handle(), &all);
    MPI_Comm_group(shared, &near);
    for (int i = 0; i < state_->node->size(); ++i) {
        int here = 0;
        MPI_Group_translate_ranks(near, 1, &i, all, &here);
        state_->node_rank_of.emplace(here, i);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&near);
    return *state_->node;
}

std::shared_ptr<void>& Communicator::shared_place(std::type_index type) const {
    return state_->shared[type];
}

int Communicator::node_rank(int rank) const {
    const auto found = state_->node_rank_of.find(rank);
    return found == state_->node_rank_of.end() ? -1 : found->second;
}

}  // namespace parhelion
