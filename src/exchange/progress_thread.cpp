#include "exchange/progress_thread.hpp"

#include <chrono>

#include "exchange/background.hpp"

namespace parhelion {
namespace {

constexpr std::chrono::microseconds rest{200};  // a look costs up to 20, which the program lacks

}  // namespace

std::shared_ptr<ProgressThread> ProgressThread::of_process() {
    static std::mutex mutex;
    static std::weak_ptr<ProgressThread> known;
    const std::lock_guard lock(mutex);
    std::shared_ptr<ProgressThread> thread = known.lock();
    if (!thread) known = thread = std::make_shared<ProgressThread>();
    return thread;
}

ProgressThread::ProgressThread() : thread_([this] { work(); }) {}

ProgressThread::~ProgressThread() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void ProgressThread::begun() {
    const std::lock_guard lock(mutex_);
    if (under_way_++ == 0) changed_.notify_all();
}

void ProgressThread::ended() {
    const std::lock_guard lock(mutex_);
    --under_way_;
}

void ProgressThread::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return closing_ || under_way_ > 0; });
        if (closing_) return;
        lock.unlock();
        advance_background();
        std::this_thread::sleep_for(rest);
        lock.lock();
    }
}

}  // namespace parhelion
