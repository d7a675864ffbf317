#include "exchange/background.hpp"

#include <chrono>
#include <vector>

#include "parhelion/core/mpi_lifetime.hpp"

namespace parhelion {
namespace {

// Of the process, not of a communicator: exchanges on different communicators may wait for each other too.
struct Works {
    std::mutex mutex;
    std::vector<BackgroundWork*> all;
};

Works& works();

// A thread that is at work may be inside MPI.
void wait_for_whoever_works() { const std::lock_guard lock(works().mutex); }

Works& works() {
    static auto* instance = [] {
        when_mpi_ends(wait_for_whoever_works);
        return new Works;  // outlives exchanges that die during exit
    }();
    return *instance;
}

}  // namespace

void join_background(BackgroundWork* work) {
    const std::lock_guard lock(works().mutex);
    works().all.push_back(work);
}

void leave_background(BackgroundWork* work) {
    const std::lock_guard lock(works().mutex);
    std::erase(works().all, work);
}

bool advance_background() {
    const std::unique_lock lock(works().mutex, std::try_to_lock);
    if (!lock || mpi_has_ended()) return false;
    bool any = false;
    for (BackgroundWork* work : works().all) any = work->advance() || any;
    return any;
}

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

void ProgressThread::begun() {
    const std::lock_guard lock(mutex_);
    if (under_way_++ == 0) changed_.notify_all();
}

void ProgressThread::ended() {
    const std::lock_guard lock(mutex_);
    --under_way_;
}

void ProgressThread::work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return under_way_ > 0; }) && !stop.stop_requested()) {
        lock.unlock();
        advance_background();
        std::this_thread::sleep_for(rest);
        lock.lock();
    }
}

}  // namespace parhelion
