// An exchange as Python holds it: with the arrays that it uses, and safe to drop at any time.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "parhelion/core/error.hpp"
#include "parhelion/exchange/exchange.hpp"
#include "reduction.hpp"

namespace parhelion::python {

/// What a step of any exchange needs of it.
class AnyExchange {
public:
    virtual ~AnyExchange() = default;
    virtual bool under_way() const = 0;
    virtual void end() = 0;
    virtual bool test() = 0;
    /// Tells the exchanges of one object apart: how many have begun.
    long begun() const { return begun_; }

protected:
    long begun_ = 0;
};

/// The name of a reduction as Python spells it. Throws Error naming the choices.
Reduction parse_reduction(const std::string& name);

/// All names, for messages.
std::string reduction_names(const std::string& before_last);

/// Called with the interpreter's lock, which it gives away while it packs and waits. Only one thread may be inside: the
/// lock makes `busy_` safe, which turns a second one away.
template <class Native>
class PythonExchangeOf : public AnyExchange {
public:
    PythonExchangeOf(const PythonExchangeOf&) = delete;
    PythonExchangeOf& operator=(const PythonExchangeOf&) = delete;

    /// Messages under way still read and write the arrays: then exchange and arrays stay until the process ends.
    ~PythonExchangeOf() override {
        if (!failed_ && (!exchange_ || !exchange_->under_way())) return;
        new std::optional<typename Native::Step>(std::move(step_));  // NOLINT(bugprone-unhandled-exception-at-new): no memory ends it
        static_cast<void>(exchange_.release());
        static_cast<void>(arrays_.release());
        static_cast<void>(used_.release());
    }

    void end() override {
        guarded([&] { exchange_->end(); });
        step_.reset();
        if (how_) rethrow(*std::exchange(how_, {}));
    }

    bool test() override {
        bool done = false;
        guarded([&] { done = step_->test(); });
        return done;
    }

    bool under_way() const override { return exchange_->under_way(); }
    const Native& exchange() const { return *exchange_; }
    const nanobind::object& arrays() const { return arrays_; }
    const nanobind::object& used() const { return used_; }

protected:
    explicit PythonExchangeOf(nanobind::object arrays) : arrays_(std::move(arrays)) {}

    /// Marks the exchange as used by this thread and lets other Python threads run meanwhile. A mistake of the caller changes
    /// nothing; after any other error, messages may still arrive.
    template <class Function>
    void guarded(Function&& function) {
        require_usable();
        const Inside inside(busy_);
        try {
            function();
        } catch (const Error& error) {
            failed_ = error.kind() != ErrorKind::value && error.kind() != ErrorKind::type;
            throw;
        }
    }

    /// Of a reverse exchange that has begun.
    void keep(const Reduction& how, nanobind::handle reduction) {
        how_ = how;
        reduction_ = nanobind::borrow(reduction);
    }

    void require_usable() const {
        if (busy_) throw Error("another thread is using this exchange: give each thread an Exchange of its own");
        if (failed_) throw Error("this exchange has failed before: make a new one", ErrorKind::communication);
    }

    nanobind::object arrays_;
    nanobind::object used_;  // by the exchange that is under way, where they were named at its beginning
    std::unique_ptr<Native> exchange_;
    std::optional<typename Native::Step> step_;

private:
    class Inside {
    public:
        explicit Inside(bool& busy) : busy_(busy) {
            busy_ = true;
            state_ = PyEval_SaveThread();
        }
        ~Inside() {
            PyEval_RestoreThread(state_);
            busy_ = false;
        }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

    private:
        bool& busy_;
        PyThreadState* state_;
    };

    std::optional<Reduction> how_;  // of the reverse exchange that is under way
    nanobind::object reduction_;    // what it was passed as, which has to stay
    bool busy_ = false;
    bool failed_ = false;
};

/// An exchange under way, which it keeps alive.
struct Step {
    nanobind::object owner;
    AnyExchange* exchange;
    long number;

    bool ended() const { return !exchange->under_way() || exchange->begun() != number; }
    void end() const {
        if (ended()) throw Error("this step has ended: end a step once");
        exchange->end();
    }
    bool test() const { return ended() || exchange->test(); }
};

/// The methods that every exchange has.
template <class Exchange>
struct ExchangeMethods {
    using Self = nanobind::handle_t<Exchange>;
    static Exchange& of(Self self) { return *nanobind::inst_ptr<Exchange>(self); }
    static Step step(Self self) { return {nanobind::borrow(self), &of(self), of(self).begun()}; }
    static Step begin(Self self) {
        of(self).begin();
        return step(self);
    }
    static Step begin_reverse(Self self, nanobind::handle reduction) {
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
