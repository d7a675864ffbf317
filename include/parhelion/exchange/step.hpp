// Operations that are begun and ended, and handles to them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace parhelion {

/// An operation that is begun and ended repeatedly: an exchange, point sums.
class Operation {
 public:
  virtual ~Operation() = default;
  bool under_way() const { return under_way_; }
  /// Number of operations begun so far.
  std::uint64_t number() const { return number_; }
  /// See Step. `test` requires an operation under way.
  virtual bool test() = 0;
  virtual void end() = 0;

 protected:
  void begun() { under_way_ = true, ++number_; }
  void ended() { under_way_ = false; }

 private:
  bool under_way_ = false;
  std::uint64_t number_ = 0;
};

/// Waits for a thread that advances exchanges in the background, and lets no thread but the
/// caller's do so afterwards. MPI_Finalize calls it; to be called earlier by a language whose
/// runtime ends before, or whose lock reductions need. Local.
void stop_progress();

/// An operation under way. The destructor ends it, ignoring errors, unless `end` was called. It may
/// outlive the object that began it, but not the arrays.
class Step {
 public:
  /// `operation` has just begun.
  explicit Step(std::shared_ptr<Operation> operation)
      : operation_(std::move(operation)), number_(operation_->number()) {}
  Step(Step&&) noexcept = default;
  Step& operator=(Step&&) = delete;
  ~Step();

  /// Progresses the operation without waiting. Returns whether `end` will return, or throw, at
  /// once; true after `end`. Call it between pieces of work; `end` is still required and reports
  /// errors.
  bool test() { return has_ended() || operation_->test(); }
  /// Waits for the neighbors. At most once per step.
  void end();
  /// Whether it has ended, through this step or its object.
  bool has_ended() const {
    return operation_ == nullptr || !operation_->under_way() || operation_->number() != number_;
  }

 private:
  std::shared_ptr<Operation> operation_;
  std::uint64_t number_;  // of the operation that this step may end, not a later one
};

}  // namespace parhelion
