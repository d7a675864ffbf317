// Which parts of a rank's cells have their values, told by several threads at once.
#pragma once

#include <atomic>
#include <memory>

namespace parhelion {

class PartsGiven {
public:
    explicit PartsGiven(int count) : count_(count), given_(std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(count))) {}

    int count() const { return count_; }
    void open() {
        for (int p = 0; p < count_; ++p) given_[static_cast<std::size_t>(p)].store(false, std::memory_order_relaxed);
        missing_.store(count_, std::memory_order_relaxed);
        open_.store(true, std::memory_order_release);
    }
    /// Whether parts may be given: from open to close.
    bool is_open() const { return open_.load(std::memory_order_acquire); }
    /// Whoever gets true gives the part, then calls finished.
    bool take(int part) { return !given_[static_cast<std::size_t>(part)].exchange(true, std::memory_order_acq_rel); }
    /// True for the last one.
    bool finished() { return missing_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
    bool all() const { return missing_.load(std::memory_order_acquire) == 0; }
    /// True for the one who closes.
    bool close() { return open_.exchange(false, std::memory_order_acq_rel); }

private:
    int count_;
    std::unique_ptr<std::atomic<bool>[]> given_;
    std::atomic<int> missing_{0};
    std::atomic<bool> open_{false};
};

}  // namespace parhelion
