// Exchanges as Python objects, which keep their arrays alive and may be dropped at any time.
#pragma once

#include <optional>
#include <thread>
#include <utility>

#include "bindings.hpp"
#include "parhelion/core/reduction.hpp"
#include "parhelion/exchange/step.hpp"

namespace parhelion::python {

/// combine(into, other) on the memory of elements.
struct PythonReduction {
  Element element;
  nb::object combine;
};
using AnyReduction = nb::typed<nb::handle, std::variant<nb::str, PythonReduction>>;

/// A call's reduction: a name, or a Reduction, which it keeps alive. Keeps the function's first
/// exception until `rethrow`, since raising during an exchange would block other ranks; after it,
/// combines nothing. Requires the interpreter's lock.
class PassedReduction {
 public:
  PassedReduction() = default;
  /// Throws Error that lists the choices.
  explicit PassedReduction(nb::handle given);
  Reduction reduction() const { return own_ ? Reduction(*own_) : named_; }
  void rethrow() const {
    if (own_ && own_->raised_) std::rethrow_exception(std::exchange(own_->raised_, nullptr));
  }

 private:
  // Called without the interpreter's lock, repeatedly per neighbor and array.
  struct Own final : UserReduction {
    explicit Own(const PythonReduction& by) : UserReduction(by.element), combine_(by.combine) {}
    void combine(std::byte* into, const std::byte* from, byte_count bytes) const override;
    bool wants_many() const override { return true; }
    bool has_failed() const override { return raised_ != nullptr; }

    nb::object combine_;
    mutable std::exception_ptr raised_;
  };

  Reduction named_ = Reduction::replace;
  std::unique_ptr<Own> own_;
};

/// Rejects a second thread, which may enter while arrays are read (Python code runs) or the
/// interpreter's lock is released. That lock protects its state.
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
  class Inside {
   public:
    explicit Inside(Guard& guard) : user_(guard.user_) {
      guard.require_free();
      user_ = std::this_thread::get_id();
    }
    ~Inside() { user_ = {}; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    std::thread::id& user_;
  };

 private:
  std::thread::id user_;
};

/// An operation on Python arrays, also in halves.
class AnyExchange {
 public:
  AnyExchange(const AnyExchange&) = delete;
  AnyExchange& operator=(const AnyExchange&) = delete;

  /// Pending messages access the arrays, and a destructor must not wait while it holds the
  /// interpreter's lock: leaks them until exit.
  virtual ~AnyExchange() {
    if (failed_ || under_way())
      new Held(
          std::move(held_));  // NOLINT(bugprone-unhandled-exception-at-new): out of memory is fatal
  }

  bool under_way() const { return held_.step && !held_.step->has_ended(); }
  /// Number of begins, which identifies a step.
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
  /// Throws Error while a thread is inside, or after a failure.
  void require_usable() const {
    guard_->require_free();
    if (failed_)
      throw Error("this exchange has failed before: make a new one", ErrorKind::communication);
  }

 protected:
  /// `guard`: of the object that this belongs to, if any.
  explicit AnyExchange(nb::object arrays, std::shared_ptr<Guard> guard = std::make_shared<Guard>())
      : guard_(std::move(guard)) {
    held_.arrays = std::move(arrays);
  }

  /// Keeps other threads out.
  Guard::Inside enter() {
    require_usable();
    return Guard::Inside(*guard_);
  }
  template <class Function>
  void guarded(Function&& function) {
    const auto inside = enter();
    released(function);
  }
  /// After `enter`: releases the interpreter's lock. Errors other than of value or type that not
  /// all ranks have: messages may still arrive; the exchange has failed.
  template <class Function>
  void released(Function&& function) {
    try {
      unlocked(function);
    } catch (const Error& error) {
      failed_ = error.kind() != ErrorKind::value && error.kind() != ErrorKind::type &&
                error.known_to() == KnownTo::this_rank;
      throw;
    }
  }
  /// After `enter`.
  template <class Work>
  void combine(nb::handle reduction, Work&& work) {
    const PassedReduction how(reduction);
    released([&] { work(how.reduction()); });
    how.rethrow();
  }
  /// After `enter`. `begin(reduction)` returns a step, which keeps `how`, `used` and the previous
  /// `used` alive.
  template <class Begin>
  void start(PassedReduction how, nb::object used, Begin&& begin) {
    released([&] { held_.step.emplace(begin(how.reduction())); });
    held_.how = std::move(how);
    if (used.is_valid()) held_.used = std::move(used);
    ++begun_;
  }
  virtual void finish() { held_.step->end(); }

  struct Held {
    nb::object arrays, used;  // of the constructor, and of the last begin
    PassedReduction how;
    std::shared_ptr<const void> more;
    std::optional<Step> step;
  };
  Held held_;
  std::shared_ptr<Guard> guard_;

 private:
  long begun_ = 0;
  bool failed_ = false;
};

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

/// A step from begin to end, which keeps its exchange alive.
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

/// A begin method that returns the step.
template <class Exchange, class... Arguments>
auto giving_step(void (Exchange::*begin)(Arguments...)) {
  return [begin](nb::handle_t<Exchange> self, Arguments... arguments) {
    auto* const exchange = nb::inst_ptr<Exchange>(self);
    (exchange->*begin)(arguments...);
    return PythonStep{nb::borrow(self), {std::shared_ptr<void>(), exchange}};
  };
}

/// Shows the garbage collector what an exchange holds, but never clears it: messages may be under
/// way. Py_VISIT requires the names `visit` and `arg`.
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

/// A class with garbage collection.
template <class Held>
nb::class_<Held> traversed(nb::module_& module, const char* name, const char* doc = nullptr) {
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(traverse<Held>)}, {0, nullptr}};
  nb::class_<Held> made(module, name, nb::type_slots(slots));
  if (doc != nullptr) made.attr("__doc__") = doc;
  return made;
}

/// What all objects with begin and end have.
template <class Exchange>
nb::class_<Exchange> bind_begun(nb::module_& module, const char* name) {
  return traversed<Exchange>(module, name)
      .def("end", &Exchange::end,
          "Ends what `begin` or `begin_reverse` started; waits for the neighbors.")
      .def_prop_ro("under_way", &Exchange::under_way, "Whether it has begun and not ended.");
}

}  // namespace parhelion::python
