// What moves data, as Python holds it: with the arrays that it uses, and safe to drop at any time.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "parhelion/core/error.hpp"
#include "parhelion/exchange/step.hpp"
#include "reduction.hpp"

namespace parhelion::python {

/// Turns away a second thread. It is called with the interpreter's lock, which keeps it consistent, and gives that away while a
/// function packs and waits.
class Guard {
public:
    template <class Function>
    void operator()(Function&& function) {
        require_free();
        const Inside inside(user_);
        function();
    }
    void require_free() const {
        if (user_ == std::this_thread::get_id())
            throw Error("a reduction or a hook uses what calls it: let it work on the arrays that it is given, or on another exchange");
        if (user_ != std::thread::id()) throw Error("another thread is using this exchange: give each thread one of its own");
    }

private:
    class Inside {
    public:
        explicit Inside(std::thread::id& user) : user_(user) {
            user_ = std::this_thread::get_id();
            state_ = PyEval_SaveThread();
        }
        ~Inside() {
            PyEval_RestoreThread(state_);
            user_ = {};
        }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

    private:
        std::thread::id& user_;
        PyThreadState* state_;
    };

    std::thread::id user_;
};

/// Something of the library that is called, or begun and ended, on arrays of Python's.
class AnyExchange {
public:
    AnyExchange(const AnyExchange&) = delete;
    AnyExchange& operator=(const AnyExchange&) = delete;

    /// Messages under way still read and write the arrays, and no destructor may wait while it holds the interpreter's lock: then all
    /// stays until the process ends.
    virtual ~AnyExchange() {
        if (failed_ || under_way()) new Held(std::move(held_));  // NOLINT(bugprone-unhandled-exception-at-new): no memory ends it
    }

    bool under_way() const { return held_.step && !held_.step->has_ended(); }
    /// Tells what was begun apart: how many times something was.
    long begun() const { return begun_; }
    void end() {
        require_usable();
        if (!under_way()) throw Error("no exchange is under way: call begin first");
        guarded([&] { held_.step->end(); });
        if (held_.how) held_.how->rethrow();
    }
    bool test() {
        bool done = true;
        if (held_.step) guarded([&] { done = held_.step->test(); });
        return done;
    }
    const nanobind::object& arrays() const { return held_.arrays; }
    const nanobind::object& used() const { return held_.used; }
    /// Throws Error where a thread is inside, or after a failure.
    void require_usable() const {
        guard_->require_free();
        if (failed_) throw Error("this exchange has failed before: make a new one", ErrorKind::communication);
    }

protected:
    /// `guard`: of what it is a part of, if any.
    explicit AnyExchange(nanobind::object arrays, Guard* guard = nullptr) : guard_(guard != nullptr ? guard : &own_guard_) {
        held_.arrays = std::move(arrays);
    }

    /// Lets other threads of Python run. A mistake of the caller changes nothing; after any other error, messages may still arrive.
    template <class Function>
    void guarded(Function&& function) {
        require_usable();
        try {
            (*guard_)(function);
        } catch (const Error& error) {
            failed_ = error.kind() != ErrorKind::value && error.kind() != ErrorKind::type;
            throw;
        }
    }
    /// `work(reduction)`, and raises what the reduction has raised.
    template <class Work>
    void combine(nanobind::handle reduction, Work&& work) {
        const PassedReduction how(reduction);
        guarded([&] { work(how.reduction()); });
        how.rethrow();
    }
    /// `begin()` returns a step, until whose end `used`, and what was used before it, has to stay.
    template <class Begin>
    void start(Begin&& begin, nanobind::object used = {}, std::optional<PassedReduction> how = {}) {
        guarded([&] { held_.step.emplace(begin()); });
        held_.how = std::move(how);
        if (used.is_valid()) held_.used = std::move(used);
        ++begun_;
    }
    template <class Begin>
    void start_combining(nanobind::handle reduction, Begin&& begin, nanobind::object used = {}) {
        PassedReduction how(reduction);
        const Reduction passed = how.reduction();
        start([&] { return begin(passed); }, std::move(used), std::move(how));
    }

    struct Held {
        nanobind::object arrays, used;  // those of the construction, and those that a begin named
        std::optional<PassedReduction> how;
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
    nanobind::object owner;
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

/// The methods that every exchange has.
template <class Exchange>
struct ExchangeMethods {
    using Self = nanobind::handle_t<Exchange>;
    static Exchange& of(Self self) { return *nanobind::inst_ptr<Exchange>(self); }
    static PythonStep step(Self self) { return {nanobind::borrow(self), {std::shared_ptr<void>(), &of(self)}}; }
    static PythonStep begin(Self self) {
        of(self).begin();
        return step(self);
    }
    static PythonStep begin_reverse(Self self, nanobind::handle reduction) {
        of(self).begin_reverse(reduction);
        return step(self);
    }
    // Python's collector sees what an exchange holds. It must not take it away while messages may be under way.
    // Py_VISIT wants the names `visit` and `arg`.
    static int traverse(PyObject* self, visitproc visit, void* arg) {
        Py_VISIT(Py_TYPE(self));
        if (!nanobind::inst_ready(self)) return 0;
        Py_VISIT(nanobind::inst_ptr<Exchange>(self)->arrays().ptr());
        Py_VISIT(nanobind::inst_ptr<Exchange>(self)->used().ptr());
        return 0;
    }
};

}  // namespace parhelion::python
