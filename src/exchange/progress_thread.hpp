// A thread that gets exchanges on while the program computes.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace parhelion {

/// One per process, as long as an exchange has it. Between begin and end of such an exchange it looks, thousands of times a second,
/// for what can be received, unpacked and sent, of all exchanges that are under way. It sleeps otherwise.
class ProgressThread {
public:
    static std::shared_ptr<ProgressThread> of_process();
    ProgressThread();
    ~ProgressThread();
    ProgressThread(const ProgressThread&) = delete;

    void begun();
    void ended();

private:
    void work();

    std::mutex mutex_;
    std::condition_variable changed_;
    int under_way_ = 0;
    bool closing_ = false;
    std::thread thread_;  // last, for it uses all that is above
};

}  // namespace parhelion
