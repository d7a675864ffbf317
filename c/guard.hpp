// No exception crosses into C: each becomes a status and a message.
#pragma once

#include <functional>
#include <list>
#include <utility>

#include "parhelion/core/error.hpp"
#include "parhelion/core/mpi_lifetime.hpp"

namespace parhelion::c {

/// A handle that is null, freed, or of another kind.
class HandleError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Keeps the message for phl_last_error and returns the status of the exception that is being
/// handled.
int report_exception() noexcept;
/// Throws again what a C function of this thread has just reported.
void require_status(int status);

/// What calls of this thread have put under handles goes again where the outermost of them fails:
/// all ranks have it then, or none.
class Unfinished {
public:
    Unfinished();
    ~Unfinished();
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    void finish() noexcept { finished_ = true; }
    /// `undo` throws nothing.
    static void add(std::function<void()> undo);

private:
    Unfinished* outer_;
    bool finished_ = false;
    std::list<std::function<void()>> undo_;
};

template <class Work>
int guarded(Work&& work) noexcept {
    try {
        Unfinished call;
        std::forward<Work>(work)();
        call.finish();
        return 0;
    } catch (...) {
        return report_exception();
    }
}

/// What `work` gives; `otherwise` after a mistake, told as by `guarded`.
template <class Value, class Work>
Value guarded_or(Value otherwise, Work&& work) noexcept {
    Value value = otherwise;
    return guarded([&] { value = work(); }) == 0 ? value : otherwise;
}

/// Throws Error when a pointer to `count` values is null although there are some.
void require_array(const void* pointer, std::int64_t count, const char* name);
void require_output(const void* pointer, const char* name);

}  // namespace parhelion::c
