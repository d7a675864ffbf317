// Work for other exchanges while one is waited for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace parhelion {

/// An exchange that may be under way. Neighbors may need it to get on while this rank waits in
/// another one: without that, ranks that end their exchanges in different orders could wait for
/// each other for ever.
class BackgroundWork {
public:
    virtual ~BackgroundWork() = default;
    /// Does what can be done without waiting; never throws. Returns whether something moved. Called
    /// by any thread, with no lock held: it may run code of the program's.
    virtual bool advance() = 0;

    /// Whether it is to be advanced.
    bool under_way() const { return under_way_.load(std::memory_order_relaxed); }

protected:
    std::atomic<bool> under_way_{false};
};

/// From now on, until it leaves, any thread that waits may advance the work while it is under way.
/// Local.
void join_background(BackgroundWork* work);
/// Of work that is not under way: a thread that has just looked at it needs no lock to see that, so
/// this waits for none.
void leave_background(BackgroundWork* work);

/// Advances all work of this process, unless another thread is doing so. Returns whether something
/// moved.
bool advance_background();

/// One per process, from when it is first asked for. Between begin and end of an exchange that has
/// it, it looks, thousands of times a second, for what can be received, unpacked and sent, of all
/// exchanges that are under way. It sleeps otherwise. It never ends: whoever waited for its end
/// might hold a lock that a program's reduction needs.
class ProgressThread {
public:
    static ProgressThread& of_process();

    void begun();
    void ended();

private:
    ProgressThread();
    void work();

    std::mutex mutex_;
    std::condition_variable changed_;
    int under_way_ = 0;
};

}  // namespace parhelion
