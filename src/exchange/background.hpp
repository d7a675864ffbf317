// Work for other exchanges while one is waited for.
#pragma once

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

}  // namespace parhelion
