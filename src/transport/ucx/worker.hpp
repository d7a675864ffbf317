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
#include <vector>

#include "parhelion/core/error.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
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
  void* request = nullptr;  ///< until done

  UcxOperation() = default;
  UcxOperation(const UcxOperation&) = delete;
};

/// One per process, thread-safe: each call locks. Lives as long as its users (keep_until_finalize:
/// until MPI_Finalize).
class UcxWorker {
 public:
  UcxWorker() : ucx_(ucx_library()), context_(create_context(ucx_)) {
    try {
      create_worker();
      stand_by_ = std::thread([this] { stand_by(); });
    } catch (...) {
      ucx_.cleanup(context_);
      throw;
    }
  }

  ~UcxWorker() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    close_.notify_all();
    stand_by_.join();
    close_endpoints();
    ucx_.worker_destroy(worker_);
    ucx_.cleanup(context_);
  }

  UcxWorker(const UcxWorker&) = delete;

  const std::string& address() const { return address_; }

  /// Number, from 1, of the connection to this address that this side would use: the existing one,
  /// else the next. Local.
  std::int64_t connection_to_use(const std::string& address) {
    const std::lock_guard lock(mutex_);
    const Connection& known = connections_[address];
    const bool works = known.endpoint && known.endpoint->failure == UCS_OK;
    return works ? known.made : known.made + 1;
  }

  /// The connection with this number, or a later one that another thread made meanwhile. UCX counts
  /// them on both sides: both use the higher of their numbers, and create those skipped. Local.
  std::shared_ptr<UcxEndpoint> connect(const std::string& address, std::int64_t number) {
    const std::lock_guard lock(mutex_);
    Connection& connection = connections_[address];
    while (connection.made < number) {
      if (connection.endpoint) close_broken(connection.endpoint);
      connection.endpoint = make_endpoint(address);
      ++connection.made;
    }
    if (!connection.endpoint)
      throw Error(
          "another thread abandoned the connection to another process while this one "
          "connected: construct the exchange again",
          ErrorKind::communication);
    return connection.endpoint;
  }

  /// A tag unique among messages to this process.
  std::uint64_t new_tag() { return next_tag_.fetch_add(1, std::memory_order_relaxed); }

  void send(UcxEndpoint& to, std::uint64_t tag, const void* data, std::size_t bytes,
      UcxOperation& operation) {
    const std::lock_guard lock(mutex_);
    if (to.closed) return started(operation, UCS_STATUS_PTR(UCS_ERR_CANCELED));
    ucp_request_param_t params = parameters(operation);
    params.cb.send = sent;
    started(operation, ucx_.tag_send_nbx(to.handle, data, bytes, tag, &params));
  }

  void receive(std::uint64_t tag, void* data, std::size_t bytes, UcxOperation& operation) {
    const std::lock_guard lock(mutex_);
    ucp_request_param_t params = parameters(operation);
    params.cb.recv = received;
    started(operation, ucx_.tag_recv_nbx(worker_, data, bytes, tag, ~ucp_tag_t{0}, &params));
  }

  /// Done when all messages sent over the connection have left this process.
  void flush(UcxEndpoint& endpoint, UcxOperation& operation) {
    const std::lock_guard lock(mutex_);
    if (endpoint.closed) return started(operation, UCS_STATUS_PTR(UCS_ERR_CANCELED));
    ucp_request_param_t params = parameters(operation);
    params.cb.send = sent;
    started(operation, ucx_.ep_flush_nbx(endpoint.handle, &params));
  }

  /// Cancels a pending operation; its buffer is unused afterwards. UCX cannot cancel a transfer
  /// that the peer has begun: then the whole connection is closed.
  void give_up(const std::shared_ptr<UcxEndpoint>& endpoint, UcxOperation& operation) {
    const std::lock_guard lock(mutex_);
    if (operation.request != nullptr) ucx_.request_cancel(worker_, operation.request);
    wait_for(operation, Clock::now() + longest_doubt);
    if (operation.done) return;
    if (!endpoint->closed) close_broken(endpoint);
    wait_for(operation, Clock::now() + longest_farewell);
  }

  /// Progresses all operations without waiting, unless another thread does so.
  void progress() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    ++looks_;
    ucx_.worker_progress(worker_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds longest_farewell{5};
  static constexpr std::chrono::milliseconds longest_absence{5}, longest_doubt{200};
  // The latest connection to a process, and how many were made.
  struct Connection {
    std::shared_ptr<UcxEndpoint> endpoint;  // null: closed
    std::int64_t made = 0;
  };

  static void on_failure(void* endpoint, ucp_ep_h, ucs_status_t status) {
    static_cast<UcxEndpoint*>(endpoint)->failure.store(status, std::memory_order_release);
  }

  static void finish(void* request, ucs_status_t status, void* of) {
    auto& operation = *static_cast<UcxOperation*>(of);
    operation.request = nullptr;
    operation.status.store(status, std::memory_order_relaxed);
    ucx_library().request_free(request);
    operation.done.store(true, std::memory_order_release);
  }

  static void sent(void* request, ucs_status_t status, void* operation) {
    finish(request, status, operation);
  }
  static void received(
      void* request, ucs_status_t status, const ucp_tag_recv_info_t*, void* operation) {
    finish(request, status, operation);
  }

  static ucp_context_h create_context(const UcxLibrary& ucx) {
    constexpr unsigned api_major = 1, api_minor = 13;  // the oldest with all functions
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG;
    ucp_context_h context = nullptr;
    check_ucx(ucx.init_version(api_major, api_minor, &params, nullptr, &context), "ucp_init");
    return context;
  }

  void create_worker() {
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    params.thread_mode = UCS_THREAD_MODE_SERIALIZED;  // ensured by the mutex
    check_ucx(ucx_.worker_create(context_, &params, &worker_), "ucp_worker_create");
    ucp_address_t* address = nullptr;
    std::size_t length = 0;
    const ucs_status_t status = ucx_.worker_get_address(worker_, &address, &length);
    if (status != UCS_OK) ucx_.worker_destroy(worker_);
    check_ucx(status, "ucp_worker_get_address");
    address_.assign(reinterpret_cast<const char*>(address), length);
    ucx_.worker_release_address(worker_, address);
  }

  // Flushes the last messages, for a limited time: the other side may be gone.
  void close_endpoints() {
    std::vector<ucs_status_ptr_t> closing;
    for (auto& [address, connection] : connections_)
      if (const auto& endpoint = connection.endpoint)
        closing.push_back(start_closing(*endpoint, endpoint->failure != UCS_OK));
    const auto limit = Clock::now() + longest_farewell;
    for (ucs_status_ptr_t request : closing) wait_for(request, limit);
  }

  ucs_status_ptr_t start_closing(UcxEndpoint& endpoint, bool at_once) {
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = at_once ? UCP_EP_CLOSE_FLAG_FORCE : 0;
    return ucx_.ep_close_nbx(endpoint.handle, &how);
  }

  void wait_for(ucs_status_ptr_t request, Clock::time_point limit) {
    if (!UCS_PTR_IS_PTR(request)) return;
    while (ucx_.request_check_status(request) == UCS_INPROGRESS && Clock::now() < limit)
      ucx_.worker_progress(worker_);
    ucx_.request_free(request);
  }

  void wait_for(const UcxOperation& operation, Clock::time_point limit) {
    while (!operation.done.load(std::memory_order_relaxed) && Clock::now() < limit)
      ucx_.worker_progress(worker_);
  }

  std::shared_ptr<UcxEndpoint> make_endpoint(const std::string& address) {
    auto endpoint = std::make_shared<UcxEndpoint>();
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {on_failure, endpoint.get()};
    const ucs_status_t status = ucx_.ep_create(worker_, &params, &endpoint->handle);
    if (status == UCS_ERR_UNREACHABLE)  // other transports may work
      throw Error(
          "transport ucx cannot be used here: UCX finds no network between two ranks (UCX_TLS "
          "and UCX_NET_DEVICES limit its choice)",
          ErrorKind::system);
    check_ucx(status, "ucp_ep_create");
    return endpoint;
  }

  ucp_request_param_t parameters(UcxOperation& operation) const {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    params.user_data = &operation;
    operation.done.store(false, std::memory_order_relaxed);
    return params;
  }

  void started(UcxOperation& operation, ucs_status_ptr_t result) {
    if (UCS_PTR_IS_PTR(result)) {
      if (!operation.done.load(std::memory_order_relaxed)) operation.request = result;
      return;
    }
    operation.status.store(UCS_PTR_RAW_STATUS(result), std::memory_order_relaxed);
    operation.done.store(true, std::memory_order_release);
  }

  void close_broken(std::shared_ptr<UcxEndpoint> endpoint) {
    endpoint->closed = true;
    if (endpoint->failure == UCS_OK) endpoint->failure = UCS_ERR_CANCELED;
    for (auto& [address, connection] : connections_)
      if (connection.endpoint == endpoint) connection.endpoint = nullptr;
    wait_for(start_closing(*endpoint, true), Clock::now() + longest_farewell);
  }

  // Progresses UCX while the rank computes after an exchange and last messages are queued. Does
  // nothing while the ranks' own threads call progress often enough.
  void stand_by() {
    std::unique_lock lock(mutex_);
    for (std::uint64_t seen = 0; !closing_;) {
      close_.wait_for(lock, longest_absence);
      if (seen == looks_)
        while (ucx_.worker_progress(worker_) != 0) {
        }
      seen = looks_;
    }
  }

  const UcxLibrary& ucx_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::string address_;
  std::mutex mutex_;
  std::map<std::string, Connection> connections_;  // by address
  std::atomic<std::uint64_t> next_tag_{1};
  std::uint64_t looks_ = 0;  // progress calls
  bool closing_ = false;
  std::condition_variable close_;
  std::thread stand_by_;  // last member: uses all above
};

/// This process's worker, created on demand. Local; throws Error when UCX finds no device.
inline std::shared_ptr<UcxWorker> ucx_worker() {
  static std::mutex mutex;
  static std::weak_ptr<UcxWorker> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<UcxWorker> worker = known.lock();
  if (!worker) known = worker = std::make_shared<UcxWorker>();
  return worker;
}

/// Keeps the worker beyond its exchanges: creating one takes tens of milliseconds. Local.
inline void keep_until_finalize(const std::shared_ptr<UcxWorker>& worker) {
  static auto* const kept = new std::shared_ptr<UcxWorker>;  // the end of a forked child keeps it
  static std::once_flag once;
  std::call_once(once, [&] {
    when_mpi_ends([] { kept->reset(); });
    *kept = worker;
  });
}

}  // namespace parhelion
