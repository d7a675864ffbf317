// Exchanges as Python objects, which keep their arrays alive and may be dropped at any time.
#pragma once

#include <thread>

#include "bindings.hpp"

namespace parhelion::python {

/// combine(into, other) on the memory of elements.
struct PythonReduction {
  PythonReduction(const std::string& name, nb::object function)
      : element(parse_element(name)), combine(std::move(function)) {}
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
          "a reduction or a hook uses the exchange that calls it: use its arguments only, or "
          "another exchange");
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
  /// `guard`: of the object that this belongs to, if any.
  explicit AnyExchange(nb::object arrays, std::shared_ptr<Guard> guard = std::make_shared<Guard>())
      : guard_(std::move(guard)) {
    held_.arrays = std::move(arrays);
  }
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
  /// Throws Error while a thread is inside, or after a failure.
  void require_usable() const {
    guard_->require_free();
    if (failed_)
      throw Error("this exchange has failed before: make a new one", ErrorKind::communication);
  }
  const nb::object& arrays() const { return held_.arrays; }
  const nb::object& used() const { return held_.used; }

  /// Keeps other threads out.
  Guard::Inside enter() {
    require_usable();
    return Guard::Inside(*guard_);
  }
  /// After `enter`: releases the interpreter's lock. An error on some ranks only, not of
  /// value or type, fails the exchange: messages may still arrive.
  template <class Function>
  auto released(Function&& function) {
    try {
      return unlocked(function);
    } catch (const Error& error) {
      failed_ = error.kind() != ErrorKind::value && error.kind() != ErrorKind::type &&
                error.known_to() == KnownTo::this_rank;
      throw;
    }
  }
  template <class Function>
  auto guarded(Function&& function) {
    const auto inside = enter();
    return released(function);
  }
  void end() {
    require_usable();
    if (!under_way()) throw Error("no exchange is under way: call begin first");
    guarded([&] { finish(); });
    held_.how.rethrow();
  }
  bool test() {
    return !held_.step || guarded([&] { return held_.step->test(); });
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

 protected:
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
class ExchangeOf : public AnyExchange {
 public:
  ExchangeOf(nb::object arrays, Native native, auto... guard)
      : AnyExchange(std::move(arrays), guard...) {
    auto made = std::make_shared<Native>(std::move(native));
    native_ = made.get();
    held_.more = std::move(made);
  }
  Native& native() const { return *native_; }

 private:
  Native* native_;
};

/// What the native object tells.
template <class Exchange, class Native>
auto telling(std::string (Native::*of)() const) {
  return [of](const Exchange& self) { return (self.native().*of)(); };
}

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

/// A begin function that returns the step.
template <class Exchange, class... Arguments>
auto giving_step(void (*begin)(Exchange&, Arguments...)) {
  return [begin](nb::handle_t<Exchange> self, Arguments... arguments) {
    auto* const exchange = nb::inst_ptr<Exchange>(self);
    begin(*exchange, arguments...);
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
nb::class_<Held> traversed(nb::module_& module, const char* name, const char* doc = "") {
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(traverse<Held>)}, {0, nullptr}};
  return nb::class_<Held>(module, name, nb::type_slots(slots), doc);
}

/// Members of all objects with begin and end.
template <class Exchange>
nb::class_<Exchange> bind_begun(nb::module_& module, const char* name) {
  return traversed<Exchange>(module, name)
      .def("end", &Exchange::end,
          "Ends what `begin` or `begin_reverse` started; waits for the neighbors.")
      .def_prop_ro("under_way", &Exchange::under_way, "Whether it has begun and not ended.");
}

}  // namespace parhelion::python
