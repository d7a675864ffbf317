// Transport device_ipc: maps device arrays of other processes by CUDA IPC handles, which name whole
// allocations, open once per process and never in the exporting one.
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "plan/device/driver.hpp"
#include "transport/factories.hpp"
#include "transport/node/peer_arrays.hpp"

namespace parhelion {
namespace device {
namespace {

static_assert(2 * sizeof(std::int64_t) + sizeof(IpcHandle) == sizeof(BlockPlace::memory));

Address address_of(const std::byte* at) { return reinterpret_cast<Address>(at); }

// Unique per allocation, also at reused addresses.
std::uint64_t number_of(const std::byte* array) {
  std::uint64_t number = 0;
  const int status =
      driver().get_pointer_attribute(&number, attribute_buffer_id, address_of(array));
  return status == success ? number : 0;
}

struct Opened {
  Address first = 0;
  int users = 0;
};
using OpenedKey = std::pair<Context, decltype(BlockPlace::memory)>;

struct OpenedHandles {
  std::mutex mutex;
  std::map<OpenedKey, Opened> all;
};

OpenedHandles& opened_handles() {
  static auto* const instance = new OpenedHandles;  // never freed: exchanges may use it during exit
  return *instance;
}

void close_handle(const OpenedKey& key) {
  const std::lock_guard lock(opened_handles().mutex);
  const auto known = opened_handles().all.find(key);
  if (--known->second.users > 0) return;
  at_end(key.first, [&] {
    driver().synchronize();  // copies of a failed exchange may be pending
    driver().close_handle(known->second.first);
  });
  opened_handles().all.erase(known);
}

class DeviceIpcAccess final : public ArrayAccess {
 public:
  /// Opens handles in the context of the plan's first array.
  explicit DeviceIpcAccess(const Plan& plan) {
    for (const Field& field : plan.fields)
      for (const BlockView& block : field.blocks)
        if (context_ == nullptr && block.first != nullptr) context_ = context_of(block.first);
  }

  std::string refusal(const Plan& plan) const override { return device_ipc_refusal(plan); }

  std::optional<BlockPlace> describe(const ArrayBlock& block) const override {
    return describe_on_device(block);
  }
  static std::optional<BlockPlace> describe_on_device(const ArrayBlock& block) {
    Context const context = context_of(block.first);
    if (context == nullptr) return {};
    const Current current(context);
    Address first = 0;
    std::size_t bytes = 0;
    IpcHandle handle{};
    if (driver().get_range(&first, &bytes, address_of(block.first)) != success ||
        address_of(block.begin) < first || address_of(block.end) > first + bytes ||
        driver().get_handle(&handle, first) != success)
      return {};
    BlockPlace place;
    place.memory[0] = getpid();
    place.memory[1] = number_of(block.first);
    std::memcpy(&place.memory[2], &handle, sizeof handle);
    place.offset = address_of(block.first) - first;
    return place;
  }

  std::shared_ptr<std::byte> map(const BlockPlace& place) const override {
    const OpenedKey key{context_, place.memory};
    const std::lock_guard lock(opened_handles().mutex);
    Opened& opened = opened_handles().all[key];
    if (opened.users == 0) {
      IpcHandle handle;
      std::memcpy(&handle, &place.memory[2], sizeof handle);
      const Current current(context_);
      const int status = driver().open_handle(&opened.first, handle, lazy_peer_access);
      if (status != success) {
        opened_handles().all.erase(key);
        check(status, "cuIpcOpenMemHandle (use transport mpi where it does not work)");
      }
    }
    ++opened.users;
    return {reinterpret_cast<std::byte*>(opened.first), [key](std::byte*) { close_handle(key); }};
  }

  std::shared_ptr<std::byte> allocate(byte_count bytes) const override {
    return device::allocate(context_, static_cast<std::size_t>(bytes));
  }

  std::uint64_t identity(const std::vector<ArrayBlock>& blocks, Bases bases) const override {
    std::uint64_t all = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (!blocks[b].empty()) all = all * 0x100000001b3 + number_of(bases[b]);
    return all;
  }

 private:
  Context context_ = nullptr;
};

}  // namespace
}  // namespace device

std::string device_ipc_unavailable() {
  return device::find_driver() != nullptr ? ""
                                          : "no driver of CUDA or HIP is in use by this program";
}

std::string device_ipc_refusal(const Plan& plan) {
  std::string refusal;
  for_blocks(plan, [&](int f, int b) {
    const ArrayBlock block = written_block(plan, f, b);
    if (refusal.empty() && !block.empty() && !device::DeviceIpcAccess::describe_on_device(block))
      refusal = field_name(plan, f) +
                " is in device memory that CUDA's handles do not share (a pool's, managed, "
                "or mapped by the program): use memory of cudaMalloc";
  });
  return refusal;
}

std::unique_ptr<Transport> make_device_ipc(const TransportContext& context) {
  return make_single_copy(
      context, "device_ipc", std::make_shared<device::DeviceIpcAccess>(context.plan));
}

}  // namespace parhelion
