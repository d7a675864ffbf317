// Work for other exchanges while one is waited for.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace parhelion {

/// An exchange that may be under way. Neighbors may need it to get on while this rank waits in another one: without that,
/// ranks that end their exchanges in different orders could wait for each other for ever.
class BackgroundWork {
public:
    virtual ~BackgroundWork() = default;
    /// Does what can be done without waiting; never throws. Returns whether something moved. Called by any thread.
    virtual bool advance() = 0;
};

/// From now on, until it leaves, any thread that waits may advance the work. Local.
void join_background(BackgroundWork* work);
/// Waits until no thread is at it.
void leave_background(BackgroundWork* work);

/// Advances all work of this process, unless another thread is doing so. Returns whether something moved.
bool advance_background();

/// One per process, as long as an exchange has it. Between begin and end of such an exchange it looks, thousands of times a second,
/// for what can be received, unpacked and sent, of all exchanges that are under way. It sleeps otherwise.
class ProgressThread {
public:
    static std::shared_ptr<ProgressThread> of_process();
    ProgressThread() : thread_([this](const std::stop_token& stop) { work(stop); }) {}

    void begun();
    void ended();

private:
    void work(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    int under_way_ = 0;
    std::jthread thread_;  // last, for it uses all that is above
};

}  // namespace parhelion
