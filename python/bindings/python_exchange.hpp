// What moves data, as Python holds it: with the arrays that it uses, and safe to drop at any time.
#pragma once

#include <optional>
#include <thread>
#include <utility>

#include "bindings.hpp"
#include "parhelion/core/reduction.hpp"
#include "parhelion/exchange/step.hpp"

namespace parhelion::python {

/// A function of Python's: `combine(into, other)`, on the memory of elements.
struct PythonReduction {
    Element element;
    nb::object combine;
};
/// As passed to a call.
using AnyReduction = nb::typed<nb::handle, std::variant<nb::str, PythonReduction>>;

/// A reduction as one exchange uses it: by name, or a Reduction, which stays as long as this. What
/// the function raises is kept until `rethrow`, for in the midst of an exchange it would leave
/// other ranks waiting; it belongs to this exchange alone, and nothing is combined from then on.
/// Used with the interpreter's lock.
class PassedReduction {
public:
    PassedReduction() = default;
    /// Throws Error naming the choices.
    explicit PassedReduction(nb::handle given);
    Reduction reduction() const { return own_ ? Reduction(*own_) : named_; }
    void rethrow() const {
        if (own_ && own_->raised_) std::rethrow_exception(std::exchange(own_->raised_, nullptr));
    }

private:
    // Called without the interpreter's lock, as often as there are neighbors and arrays.
    struct Own final : UserReduction {
        explicit Own(const PythonReduction& by) : UserReduction(by.element), combine_(by.combine) {}
        void combine(std::byte* into, const std::byte* from, byte_count bytes) const override;
        bool wants_many() const override { return true; }
        bool has_failed() const override { return raised_ != nullptr; }

        nb::object combine_;
        mutable std::exception_ptr raised_;
    };

    Reduction named_ = Reduction::sum;
    std::unique_ptr<Own> own_;
};

/// Turns away a second thread. It is called with the interpreter's lock, which keeps it consistent,
/// and gives that away while a function packs and waits.
class Guard {
public:
    void require_free() const {
        if (user_ == std::this_thread::get_id())
            throw Error(
                "a reduction or a hook uses what calls it: let it work on the arrays that it is "
                "given, or on another exchange");
        if (user_ != std::thread::id())
            throw Error("another thread is using this exchange: give each thread one of its own");
    }
    /// Lives while the function runs.
    class Inside {
    public:
        explicit Inside(Guard& guard) : user_(guard.user_) {
            user_ = std::this_thread::get_id(), state_ = PyEval_SaveThread();
        }
        ~Inside() { PyEval_RestoreThread(state_), user_ = {}; }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

    private:
        std::thread::id& user_;
        PyThreadState* state_;
    };

private:
    std::thread::id user_;
};

/// Something of the library that is called, or begun and ended, on arrays of Python's.
class AnyExchange {
public:
    AnyExchange(const AnyExchange&) = delete;
    AnyExchange& operator=(const AnyExchange&) = delete;

    /// Messages under way still read and write the arrays, and no destructor may wait while it
    /// holds the interpreter's lock: then all stays until the process ends.
    virtual ~AnyExchange() {
        if (failed_ || under_way())
            new Held(std::move(
                held_));  // NOLINT(bugprone-unhandled-exception-at-new): no memory ends it
    }

    bool under_way() const { return held_.step && !held_.step->has_ended(); }
    /// Tells what was begun apart: how many times something was.
    long begun() const { return begun_; }
    void end() {
        require_usable();
        if (!under_way()) throw Error("no exchange is under way: call begin first");
        guarded([&] { finish(); });
        held_.how.rethrow();
    }
    bool test() {
        bool done = true;
        if (held_.step) guarded([&] { done = held_.step->test(); });
        return done;
    }
    const nb::object& arrays() const { return held_.arrays; }
    const nb::object& used() const { return held_.used; }
    /// Throws Error where a thread is inside, or after a failure.
    void require_usable() const {
        guard_->require_free();
        if (failed_)
            throw Error("this exchange has failed before: make a new one",
                        ErrorKind::communication);
    }

protected:
    /// `guard`: of what it is a part of, if any.
    explicit AnyExchange(nb::object arrays, Guard* guard = nullptr)
        : guard_(guard != nullptr ? guard : &own_guard_) {
        held_.arrays = std::move(arrays);
    }

    /// Lets other threads of Python run. A mistake of the caller changes nothing; after any other
    /// error, messages may still arrive.
    template <class Function>
    void guarded(Function&& function) {
        require_usable();
        try {
            const Guard::Inside inside(*guard_);
            function();
        } catch (const Error& error) {
            failed_ = error.kind() != ErrorKind::value && error.kind() != ErrorKind::type;
            throw;
        }
    }
    /// `work(reduction)`, and raises what the reduction has raised.
    template <class Work>
    void combine(nb::handle reduction, Work&& work) {
        const PassedReduction how(reduction);
        guarded([&] { work(how.reduction()); });
        how.rethrow();
    }
    /// `begin(reduction)` gives a step, until whose end `how`, `used`, and what was used before it,
    /// have to stay.
    template <class Begin>
    void start(PassedReduction how, nb::object used, Begin&& begin) {
        guarded([&] { held_.step.emplace(begin(how.reduction())); });
        held_.how = std::move(how);
        if (used.is_valid()) held_.used = std::move(used);
        ++begun_;
    }
    virtual void finish() { held_.step->end(); }

    struct Held {
        nb::object arrays, used;  // those of the construction, and those that a begin named
        PassedReduction how;
        std::shared_ptr<const void> more;
        std::optional<Step> step;
    };
    Held held_;

private:
    Guard own_guard_;
    Guard* guard_;
    long begun_ = 0;
    bool failed_ = false;
};

/// One that is of this type in C++.
template <class Native>
class PythonExchangeOf : public AnyExchange {
public:
    const Native& exchange() const { return *exchange_; }

protected:
    using AnyExchange::AnyExchange;
    template <class... Arguments>
    void make(Arguments&&... arguments) {
        const auto made = std::make_shared<Native>(std::forward<Arguments>(arguments)...);
        exchange_ = made.get();
        held_.more = made;
    }
    Native* exchange_ = nullptr;
};

/// What is under way from a begin to its end, and keeps alive what was begun.
struct PythonStep {
    nb::object owner;
    std::shared_ptr<AnyExchange> exchange;
    long number = exchange->begun();

    bool ended() const { return !exchange->under_way() || exchange->begun() != number; }
    void end() const {
        exchange->require_usable();
        if (ended()) throw Error("this step has ended: end a step once");
        exchange->end();
    }
    bool test() const {
        exchange->require_usable();
        return ended() || exchange->test();
    }
};

/// A method that begins, as Python calls it: it gives the step.
template <class Exchange, class... Arguments>
auto giving_step(void (Exchange::*begin)(Arguments...)) {
    return [begin](nb::handle_t<Exchange> self, Arguments... arguments) {
        auto* const exchange = nb::inst_ptr<Exchange>(self);
        (exchange->*begin)(arguments...);
        return PythonStep{nb::borrow(self), {std::shared_ptr<void>(), exchange}};
    };
}

/// Python's collector sees what an exchange holds. It must not take it away while messages may be
/// under way. Py_VISIT wants the names `visit` and `arg`.
template <class Exchange>
int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    const auto* const held = nb::inst_ptr<Exchange>(self);
    if constexpr (std::is_same_v<Exchange, PythonStep>) {
        Py_VISIT(held->owner.ptr());
    } else {
        Py_VISIT(held->arrays().ptr());
        Py_VISIT(held->used().ptr());
    }
    return 0;
}

/// A class of Python that the collector traverses.
template <class Held>
nb::class_<Held> traversed(nb::module_& module, const char* name, const char* doc = nullptr) {
    static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse<Held>)},
                                  {0, nullptr}};
    nb::class_<Held> made(module, name, nb::type_slots(slots));
    if (doc != nullptr) made.attr("__doc__") = doc;
    return made;
}

/// The methods that everything has that is begun and ended.
template <class Exchange>
nb::class_<Exchange> bind_begun(nb::module_& module, const char* name) {
    return traversed<Exchange>(module, name)
        .def("end", &Exchange::end,
             "Ends what `begin` or `begin_reverse` started; waits for the neighbors.")
        .def_prop_ro("under_way", &Exchange::under_way, "Whether it has begun and not ended.");
}

/// `exchange(self)`: what tells how the data of an exchange moves.
template <class Python, class Native>
void bind_ways(nb::class_<Python>& of, Native exchange) {
    const auto direction_of = [](const std::string& name) {
        if (name != "forward" && name != "reverse")
            throw Error("unknown direction '" + name + "': use forward or reverse");
        return name == "forward" ? Direction::forward : Direction::reverse;
    };
    of.def_prop_ro("kept_alive", &Python::arrays, nb::sig("def kept_alive(self, /) -> typing.Any"),
                   "What it keeps alive: the arrays as passed, and NumPy's views of them.")
        .def_prop_ro(
            "transport", [=](const Python& self) { return exchange(self).transport(); },
            "Name of what moves the data, such as 'mpi' or 'shared+mpi'.")
        .def(
            "explain", [=](const Python& self) { return exchange(self).explain(); },
            "What was chosen for which neighbor and why, in a few lines.")
        .def(
            "bytes_sent",
            [=](const Python& self, const std::string& direction) {
                return exchange(self).plan().bytes_sent(direction_of(direction));
            },
            "direction"_a = "forward",
            "Bytes that this rank sends to other ranks in one exchange. Local.")
        .def(
            "messages_sent",
            [=](const Python& self, const std::string& direction) {
                return exchange(self).plan().messages_sent(direction_of(direction));
            },
            "direction"_a = "forward",
            "Messages that this rank sends to other ranks in one exchange. Local.");
}

}  // namespace parhelion::python
