// This process's UCX worker and its connections.
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

#include "transport/ucx/library.hpp"

namespace parhelion {

/// A connection to another process, shared by all exchanges.
struct UcxEndpoint {
  ucp_ep_h handle = nullptr;
  std::atomic<int> failure{UCS_OK};  ///< why it broke
  bool closed = false;               ///< the handle is invalid
};

/// A pending send, receive or flush; must not move until done.
struct UcxOperation {
  std::atomic<bool> done{true};
  std::atomic<int> status{UCS_OK};
  void* request = nullptr;  ///< UCX's request until done

  UcxOperation() = default;
  UcxOperation(const UcxOperation&) = delete;
};

/// One per process, thread-safe: each call locks. Lives as long as its users (keep_until_finalize:
/// until MPI_Finalize).
class UcxWorker {
 public:
  UcxWorker();
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;

  /// The address that other processes connect to.
  const std::string& address() const { return address_; }
  /// Number, from 1, of the connection to this address that this side would use: the existing
  /// one, else the next. Local.
  std::int64_t connection_to_use(const std::string& address);
  /// The connection with this number, or a later one that another thread made meanwhile. UCX
  /// counts them on both sides: both use the higher of their two numbers. Local.
  std::shared_ptr<UcxEndpoint> connect(const std::string& address, std::int64_t number);
  /// A tag unique among messages to this process.
  std::uint64_t new_tag() { return next_tag_.fetch_add(1, std::memory_order_relaxed); }

  void send(UcxEndpoint& to, std::uint64_t tag, const void* data, std::size_t bytes,
      UcxOperation& operation);
  void receive(std::uint64_t tag, void* data, std::size_t bytes, UcxOperation& operation);
  /// Done when all messages sent over the connection have left this process.
  void flush(UcxEndpoint& endpoint, UcxOperation& operation);
  /// Cancels a pending operation, if need be by closing the connection; its buffer is unused
  /// afterwards.
  void give_up(const std::shared_ptr<UcxEndpoint>& endpoint, UcxOperation& operation);
  /// Progresses all operations without waiting, unless another thread does so.
  void progress();

 private:
  using Clock = std::chrono::steady_clock;
  // The latest connection to a process, and the number made.
  struct Connection {
    std::shared_ptr<UcxEndpoint> endpoint;  // null: closed
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
  std::uint64_t looks_ = 0;  // number of progress calls
  bool closing_ = false;
  std::condition_variable close_;
  std::thread stand_by_;  // last member: uses all above
};

/// This process's worker, created on demand. Local; throws Error when UCX finds no device.
std::shared_ptr<UcxWorker> ucx_worker();
/// Keeps the worker beyond its exchanges: creating one takes tens of milliseconds. Local.
void keep_until_finalize(const std::shared_ptr<UcxWorker>& worker);

}  // namespace parhelion
