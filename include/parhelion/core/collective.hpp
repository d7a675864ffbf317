// One collective step: whatever ranks do together while something is made goes through here, so
// that every rank throws, or none.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {

/// A collective call of this thread: a name, a communicator, and the time limit of each wait in it.
/// Inside another one on the same communicator it says nothing. Use `collectively`.
class CollectiveCall {
public:
    CollectiveCall(const Communicator& comm, std::string_view call, double timeout_s);
    ~CollectiveCall();
    CollectiveCall(const CollectiveCall&) = delete;
    CollectiveCall& operator=(const CollectiveCall&) = delete;

    /// Collective: the agreement that ends the call. Nothing inside another call.
    void close() const;
    /// Within a handler: this rank leaves the call by the exception that is handled. Collective
    /// over those that are in the call: each of them throws the complaint of the lowest rank that
    /// has one.
    [[noreturn]] void fail() const;

    /// The innermost one of this thread, or null.
    static const CollectiveCall* now() noexcept;
    const Communicator& communicator() const { return comm_; }
    std::string_view call() const { return call_; }
    /// How many calls this rank has made on the communicator, this one among them.
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

/// Collective. Runs `body`, the work of the collective call `call` (as users know it, equal on all
/// ranks), and returns what it returns. An exception of any type that leaves `body` on some ranks
/// is thrown on every rank, as an Error with the text of the lowest of them: `body` needs no
/// agreement of its own, except before what all ranks must be right for, and an agreement follows
/// it. Whatever later calls count on is kept by the caller, after this has returned. In `body`
/// ranks meet in messages and in the reduction of `agree` alone. The communicator stays usable,
/// except after a lost rank, a time limit or a failure of MPI. `timeout_s`: of each wait, 5 at
/// least; 0: PARHELION_TIMEOUT, else 30 where PARHELION_CHECK is 1, else never.
template <class Body>
decltype(auto) collectively(const Communicator& comm, std::string_view call, double timeout_s,
                            Body&& body) {
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

/// What a rank has to say against going on.
struct Complaint {
    bool any = false;
    std::string text = {};
    ErrorKind kind = ErrorKind::value;
};

/// Within a handler: the exception that is handled, of whatever type. Local; throws nothing.
Complaint complaint_of_exception() noexcept;

/// Runs `local` and takes down whatever it throws. Local.
template <class Function>
Complaint complaint_of(Function&& local) {
    try {
        std::forward<Function>(local)();
    } catch (...) {
        return complaint_of_exception();
    }
    return {};
}

/// Collective, one reduction. If any rank complains, every rank throws the complaint of the lowest
/// one, so that no rank is left waiting for another. Ranks that are in different calls are told so.
void agree(const Communicator& comm, const Complaint& complaint = {});

/// Collective, one reduction. Runs `local` (which must not communicate) and agrees on what it may
/// throw.
template <class Function>
void validate_together(const Communicator& comm, Function&& local) {
    agree(comm, complaint_of(std::forward<Function>(local)));
}

/// Collective, one reduction for some 30 numbers; all ranks pass as many. Of each value the sum
/// over all ranks, or the largest.
std::vector<std::int64_t> total(const Communicator& comm, std::vector<std::int64_t> values);
std::vector<std::int64_t> largest(const Communicator& comm, std::vector<std::int64_t> values);
/// Collective, a logarithmic number of messages for each value. Of each the sum over the ranks
/// before this one.
std::vector<std::int64_t> total_before(const Communicator& comm, std::vector<std::int64_t> values);
/// Collective, along a tree of messages. The values of all ranks, rank after rank.
std::vector<std::int64_t> of_all(const Communicator& comm, const std::vector<std::int64_t>& values);

/// Is told, one by one, the properties that must be equal on all ranks: those that say how many
/// there are of others first. Each % in a name stands for one of `numbers`.
class Properties {
public:
    virtual ~Properties() = default;
    /// Takes the next property.
    virtual void add(std::string_view name, std::int64_t value,
                     std::initializer_list<int> numbers = {}) = 0;
    virtual void add(std::string_view name, std::string_view value,
                     std::initializer_list<int> numbers = {}) = 0;
    template <std::integral T>
    void add(std::string_view name, T value, std::initializer_list<int> numbers = {}) {
        add(name, static_cast<std::int64_t>(value), numbers);
    }
    void add(std::string_view name, const char* value, std::initializer_list<int> numbers = {}) {
        add(name, std::string_view(value), numbers);
    }
};

/// Tells all properties of this rank, in an order that is the same on every rank.
using TellProperties = std::function<void(Properties&)>;

/// Collective, one reduction where all is well. Throws Error on every rank unless all ranks tell
/// the same properties: "WHAT differ between ranks", the first property in which the lowest rank
/// that differs from rank 0 does so, both values, and REMEDY. No rank gets to know more than rank
/// 0's properties and one of another rank. `check` is run before, alone; what it may throw on some
/// rank is agreed on in the same reduction (validate_together).
void require_equal(const Communicator& comm, const std::string& what, const TellProperties& tell,
                   const std::string& remedy, const std::function<void()>& check = {});

}  // namespace parhelion
