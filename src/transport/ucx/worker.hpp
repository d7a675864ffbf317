// The process's own end of UCX, and its connections.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "parhelion/core/communicator.hpp"
#include "transport/ucx/library.hpp"

namespace parhelion {

/// A connection to another process. Made once per process, whatever the number of exchanges.
struct UcxEndpoint {
    ucp_ep_h handle = nullptr;
    std::atomic<int> failure{UCS_OK};  ///< why it broke
    bool closed = false;               ///< given up: the handle is no longer there
};

/// Something under way: sent, received or flushed. Stays where it is until done.
struct UcxOperation {
    std::atomic<bool> done{true};
    std::atomic<int> status{UCS_OK};
    void* request = nullptr;  ///< UCX's, while it is not done

    UcxOperation() = default;
    UcxOperation(const UcxOperation&) = delete;
};

/// One per process, used by any thread: each call locks. Lives as long as something uses it
/// (keep_until_finalize: until MPI_Finalize).
class UcxWorker {
public:
    UcxWorker();
    ~UcxWorker();
    UcxWorker(const UcxWorker&) = delete;

    /// What another process needs to connect.
    const std::string& address() const { return address_; }
    /// Which of its connections to the process of this address, counted from 1, this side would
    /// use: the one that it has, else the next. Local.
    std::int64_t connection_to_use(const std::string& address);
    /// The connection of this number, or a later one if another thread has made that meanwhile. UCX
    /// numbers them on both sides, too: both use the higher of what the two would use. Local.
    std::shared_ptr<UcxEndpoint> connect(const std::string& address, std::int64_t number);
    /// A tag that no other message to this process bears.
    std::uint64_t new_tag() { return next_tag_.fetch_add(1, std::memory_order_relaxed); }

    void send(UcxEndpoint& to, std::uint64_t tag, const void* data, std::size_t bytes,
              UcxOperation& operation);
    void receive(std::uint64_t tag, void* data, std::size_t bytes, UcxOperation& operation);
    /// Done when all that was sent over the connection is out of this process's hands.
    void flush(UcxEndpoint& endpoint, UcxOperation& operation);
    /// Gives up what is not done; nothing touches its buffer afterwards. The connection may have to
    /// go for that.
    void give_up(const std::shared_ptr<UcxEndpoint>& endpoint, UcxOperation& operation);
    /// Whether this was asked before.
    bool was_kept() { return kept_.exchange(true, std::memory_order_relaxed); }
    /// Gets everything on. Never waits; leaves it to another thread that is at it.
    void progress();

private:
    using Clock = std::chrono::steady_clock;
    // The latest to a process, and how many there were.
    struct Connection {
        std::shared_ptr<UcxEndpoint> endpoint;  // null: given up
        std::int64_t made = 0;
    };
    std::shared_ptr<UcxEndpoint> make_endpoint(const std::string& address);
    ucp_request_param_t parameters(UcxOperation& operation) const;
    void started(UcxOperation& operation, ucs_status_ptr_t result);
    void create_worker();
    void close_endpoints();
    void close_broken(std::shared_ptr<UcxEndpoint> endpoint);
    ucs_status_ptr_t start_closing(UcxEndpoint& endpoint, bool at_once);
    void wait_for(ucs_status_ptr_t request, Clock::time_point limit);
    void wait_for(const UcxOperation& operation, Clock::time_point limit);
    void stand_by();

    const UcxLibrary& ucx_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    std::string address_;
    std::mutex mutex_;
    std::map<std::string, Connection> connections_;  // by address
    std::atomic<std::uint64_t> next_tag_{1};
    std::atomic<std::uint64_t> looks_{0};  // at the network
    std::atomic<bool> kept_{false};
    bool closing_ = false;
    std::condition_variable close_;
    std::thread stand_by_;  // last, for it uses all that is above
};

/// That of this process, made where there is none. Local; throws Error where UCX finds nothing to
/// work with.
std::shared_ptr<UcxWorker> ucx_worker();
/// Making one takes tens of milliseconds, and connections are worth keeping: it outlives the
/// exchanges now. Local.
void keep_until_finalize(const std::shared_ptr<UcxWorker>& worker);

}  // namespace parhelion
