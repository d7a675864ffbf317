// What lies between a begin and its end, whatever was begun.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace parhelion {

/// Something that is begun and ended, again and again: an exchange, sums of points.
class Operation {
public:
    virtual ~Operation() = default;
    bool under_way() const { return under_way_; }
    /// How many have begun.
    std::uint64_t number() const { return number_; }
    /// While under way; see Step.
    virtual bool test() = 0;
    virtual void end() = 0;

protected:
    void begun() { under_way_ = true, ++number_; }
    void ended() { under_way_ = false; }

private:
    bool under_way_ = false;
    std::uint64_t number_ = 0;
};

/// An operation under way. Its destructor ends it if `end` was not called (and then swallows
/// errors). It may outlive the object that began it, not the arrays.
class Step {
public:
    /// Of what has just begun.
    explicit Step(std::shared_ptr<Operation> operation)
        : operation_(std::move(operation)), number_(operation_->number()) {}
    Step(Step&&) noexcept = default;
    Step& operator=(Step&&) = delete;
    ~Step();

    /// Gets the operation on, without waiting, and tells whether `end` will return, or throw, at
    /// once. To be called between pieces of work; `end` has to be called all the same. Errors are
    /// told by `end`. True for a step that has ended.
    bool test() { return has_ended() || operation_->test(); }
    /// Waits for the neighbors. Once per step.
    void end();
    /// Whether it has ended, here or by the `end` of what began it.
    bool has_ended() const {
        return operation_ == nullptr || !operation_->under_way() || operation_->number() != number_;
    }

private:
    std::shared_ptr<Operation> operation_;
    std::uint64_t number_;  // of what it may end: not a later one
};

}  // namespace parhelion
