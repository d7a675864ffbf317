#include "halo/device.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "halo/messages.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/plan/executor.hpp"
#include "plan/device/driver.hpp"

namespace parhelion::bench {

namespace cuda {
namespace {

using device::Address;
using device::Context;
using Stream = device::Stream;

// CUDA_MEMCPY3D of cuda.h. The driver finds out whether an address is on the host.
struct Copy3d {
  struct Side {
    std::size_t x = 0, y = 0, z = 0, level = 0;
    unsigned memory_type = 4;  // CU_MEMORYTYPE_UNIFIED
    void* host = nullptr;
    Address device = 0;
    void *array = nullptr, *reserved = nullptr;
    std::size_t pitch = 0, height = 0;
  };
  Side src, dst;
  std::size_t width = 0, height = 0, depth = 0;
};
static_assert(sizeof(Copy3d) == 200);

// Functions that the library itself does not call.
#define PARHELION_BENCH_DRIVER(X) \
  X(init, cuInit, (unsigned)) \
  X(count, cuDeviceGetCount, (int*)) \
  X(device, cuDeviceGet, (int*, int)) \
  X(copy_to_device, cuMemcpyHtoD_v2, (Address, const void*, std::size_t)) \
  X(copy_to_host, cuMemcpyDtoH_v2, (void*, Address, std::size_t)) \
  X(copy_box, cuMemcpy3DAsync_v2, (const Copy3d*, Stream))

void check(int status, const char* call) {
  if (status == 0) return;
  throw Error("--memory device: " + std::string(call) + " failed with error " +
                  std::to_string(status) + ": see parhelion doctor",
      ErrorKind::system);
}

struct Driver {
#define PARHELION_DECLARE(name, symbol, parameters) int(*name) parameters = nullptr;
  PARHELION_BENCH_DRIVER(PARHELION_DECLARE)
#undef PARHELION_DECLARE

  // Keeps the driver loaded and the context current, as a CUDA program does.
  explicit Driver(int rank_on_node) {
    const char* const named = std::getenv("PARHELION_CUDA");
    const std::string file = named != nullptr && *named != '\0' ? named : "libcuda.so.1";
    void* const library = dlopen(file.c_str(), RTLD_NOW);
    if (library == nullptr)
      throw Error("--memory device needs a CUDA driver: " + std::string(dlerror()));
    const auto find = [&](auto& function, const char* symbol) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
      if (function == nullptr) throw Error("--memory device: " + file + " has no " + symbol);
    };
#define PARHELION_FIND(name, symbol, parameters) find(name, #symbol);
    PARHELION_BENCH_DRIVER(PARHELION_FIND)
#undef PARHELION_FIND
    int devices = 0, chosen = 0;
    Context context = nullptr;
    check(init(0), "cuInit");
    check(count(&devices), "cuDeviceGetCount");
    if (devices == 0) throw Error("--memory device: " + file + " finds no device");
    check(device(&chosen, rank_on_node % devices), "cuDeviceGet");
    check(device::driver().retain_primary(&context, chosen), "cuDevicePrimaryCtxRetain");
    check(device::driver().push_context(context), "cuCtxPushCurrent");
  }
};

// Loads the driver in the first call, which picks the device by `rank_on_node`.
const Driver& driver(int rank_on_node = 0) {
  static const Driver instance(rank_on_node);
  return instance;
}

Address address(const std::byte* at) { return reinterpret_cast<Address>(at); }

// Allocates on the device, or page-locked on the host.
std::shared_ptr<std::byte> allocate(std::size_t bytes, bool on_device) {
  if (on_device) {
    Address first = 0;
    check(device::driver().allocate(&first, bytes), "cuMemAlloc");
    return {reinterpret_cast<std::byte*>(first),
        [](std::byte* memory) { device::driver().free_memory(address(memory)); }};
  }
  void* memory = nullptr;
  check(device::driver().allocate_host(&memory, bytes, device::host_memory_portable),
      "cuMemHostAlloc");
  return {
      static_cast<std::byte*>(memory), [](std::byte* first) { device::driver().free_host(first); }};
}

class DeviceMemory final : public Memory {
 public:
  DeviceMemory(int blocks, std::size_t bytes) {
    for (int i = 0; i < blocks; ++i) blocks_.push_back(allocate(bytes, true));
  }
  std::byte* block(int index) const override {
    return blocks_[static_cast<std::size_t>(index)].get();
  }

 private:
  std::vector<std::shared_ptr<std::byte>> blocks_;
};

// Writes and checks values in host arrays, copied to and from the device.
class DeviceValues final : public Values {
 public:
  explicit DeviceValues(const HaloSetup& setup)
      : bytes_(setup.bytes()), there_(setup.arrays),
        here_(setup.geometry, setup.params,
            std::make_shared<PrivateMemory>(setup.params.fields, bytes_)) {}
  void refresh(unsigned round) override {
    here_.refresh(round);
    for (int f = 0; f < here_.fields(); ++f)
      check(driver().copy_to_device(address(there_->field(f)), here_.field(f), bytes_),
          "cuMemcpyHtoD");
  }
  std::int64_t count_wrong(unsigned round) const override {
    for (int f = 0; f < here_.fields(); ++f)
      check(
          driver().copy_to_host(here_.field(f), address(there_->field(f)), bytes_), "cuMemcpyDtoH");
    return here_.count_wrong(round);
  }

 private:
  std::size_t bytes_;
  std::shared_ptr<HaloArrays> there_;
  HaloArrays here_;
};

struct BoxCopy {
  Region from, to;
};

Region dense_at(std::byte* start, const Region& like) {
  Region dense = like;
  dense.start = start;
  auto stride = static_cast<std::ptrdiff_t>(like.run_bytes);
  for (std::size_t d = 0; d < 3; ++d)
    stride *= like.count[d], dense.stride[d] = stride / like.count[d];
  return dense;
}

// Copies a step by one launch of the library's kernel.
class ByKernel {
 public:
  ByKernel(const HaloArrays& arrays, std::vector<std::byte*> buffers)
      : executor_(make_executor(MemorySpace::device, 1, arrays.field(0))),
        queue_(executor_->make_queue()), bases_(std::move(buffers)) {
    for (int f = 0; f < arrays.fields(); ++f) bases_.push_back(arrays.field(f));
    std::sort(bases_.begin(), bases_.end());
  }

  using Step = Program;
  Step step(const std::vector<BoxCopy>& copies) const {
    Program program;
    for (const auto& [from, to] : copies) {
      StridedOp op;
      op.src_base = base_of(from.start), op.dst_base = base_of(to.start);
      op.src = from.start - bases_[static_cast<std::size_t>(op.src_base)];
      op.dst = to.start - bases_[static_cast<std::size_t>(op.dst_base)];
      op.width = static_cast<byte_count>(from.run_bytes);
      op.dims = 3;
      for (std::size_t d = 0; d < 3; ++d) {
        op.count[2 - d] = from.count[d];
        op.src_stride[2 - d] = from.stride[d];
        op.dst_stride[2 - d] = to.stride[d];
      }
      program.add(op);
    }
    executor_->compile(program);
    return program;
  }
  void enqueue(const Step& step) { queue_->enqueue(step, bases_.data(), bases_.data()); }
  void wait() { queue_->wait(); }

 private:
  // Index of the last base at or before `at`.
  int base_of(std::byte* at) const {
    return static_cast<int>(std::upper_bound(bases_.begin(), bases_.end(), at) - bases_.begin()) -
           1;
  }
  std::shared_ptr<Executor> executor_;
  std::shared_ptr<Queue> queue_;
  std::vector<std::byte*> bases_;
};

// Copies each box by a call of the driver.
class ByMemcpy {
 public:
  ByMemcpy(const HaloArrays&, const std::vector<std::byte*>&) {
    check(device::driver().create_stream(&stream_, device::stream_non_blocking), "cuStreamCreate");
  }
  ~ByMemcpy() { device::driver().destroy_stream(stream_); }
  ByMemcpy(const ByMemcpy&) = delete;
  ByMemcpy& operator=(const ByMemcpy&) = delete;

  using Step = std::vector<Copy3d>;
  static Step step(const std::vector<BoxCopy>& copies) {
    Step all;
    for (const auto& [from, to] : copies)
      for (std::ptrdiff_t k = 0; k < from.count[2]; ++k) {
        Copy3d& copy = all.emplace_back();
        copy.src = side(from, k), copy.dst = side(to, k);
        copy.width = from.run_bytes;
        copy.height = static_cast<std::size_t>(from.count[0]);
        copy.depth = static_cast<std::size_t>(from.count[1]);
      }
    return all;
  }
  void enqueue(const Step& step) {
    for (const Copy3d& each : step) check(driver().copy_box(&each, stream_), "cuMemcpy3DAsync");
  }
  void wait() { check(device::driver().synchronize_stream(stream_), "cuStreamSynchronize"); }

 private:
  // Planes are a whole number of rows apart, so that `height` is exact.
  static Copy3d::Side side(const Region& region, std::ptrdiff_t k) {
    Copy3d::Side side;
    side.device = address(region.start + k * region.stride[2]);
    const bool has_rows = region.count[0] > 1;
    const auto pitch = has_rows ? region.stride[0] : static_cast<std::ptrdiff_t>(region.run_bytes);
    side.pitch = static_cast<std::size_t>(pitch);
    side.height =
        static_cast<std::size_t>(region.count[1] > 1 ? region.stride[1] / pitch : region.count[0]);
    return side;
  }
  Stream stream_ = nullptr;
};

template <class Copies, bool messages_on_device>
class DeviceByHand final : public Variant {
 public:
  DeviceByHand(const HaloSetup& setup, Messages messages)
      : comm_(setup.comm), values_(setup.values), messages_(std::move(messages)),
        sends_(messages_.sends), receives_(messages_.receives),
        copies_(*messages_.array, {sends_.memory.get(), receives_.memory.get()}),
        requests_(messages_.sends.size() + messages_.receives.size(), MPI_REQUEST_NULL) {
    std::vector<BoxCopy> packed, unpacked, images;
    for (std::size_t i = 0; i < messages_.sends.size(); ++i)
      for_each_box(messages_.sends[i], sends_[i],
          [&](const Region& box, const Region& part) { packed.push_back({box, part}); });
    for (std::size_t i = 0; i < messages_.receives.size(); ++i)
      for_each_box(messages_.receives[i], receives_[i],
          [&](const Region& box, const Region& part) { unpacked.push_back({part, box}); });
    for (const LocalCopy& each : messages_.local) images.push_back({each.from, each.to});
    pack_ = copies_.step(packed), unpack_ = copies_.step(unpacked);
    images_ = copies_.step(images);
  }

  void exchange() override {
    MPI_Request* next = requests_.data();
    for (std::size_t i = 0; i < messages_.receives.size(); ++i) {
      const Message& m = messages_.receives[i];
      MPI_Irecv(receives_[i], m.count(), MPI_BYTE, m.rank, m.tag, comm_, next++);
    }
    copies_.enqueue(pack_);
    copies_.wait();
    for (std::size_t i = 0; i < messages_.sends.size(); ++i) {
      const Message& m = messages_.sends[i];
      MPI_Isend(sends_[i], m.count(), MPI_BYTE, m.rank, m.tag, comm_, next++);
    }
    copies_.enqueue(images_);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    copies_.enqueue(unpack_);
    copies_.wait();
  }
  Values& values() override { return *values_; }
  Traffic traffic() const override { return traffic_of(messages_.sends); }

 private:
  struct Buffers {
    explicit Buffers(const std::vector<Message>& messages)
        : offsets(offsets_of(messages, MessageBuffers::line)),
          memory(offsets.back() > 0 ? allocate(offsets.back(), messages_on_device) : nullptr) {}
    std::byte* operator[](std::size_t message) const { return memory.get() + offsets[message]; }
    std::vector<std::size_t> offsets;
    std::shared_ptr<std::byte> memory;
  };
  template <class Visit>
  static void for_each_box(const Message& message, std::byte* at, Visit&& visit) {
    for (const Region& box : message.regions) {
      visit(box, dense_at(at, box));
      at += box.bytes();
    }
  }

  MPI_Comm comm_;
  std::shared_ptr<Values> values_;
  Messages messages_;
  Buffers sends_, receives_;
  Copies copies_;
  typename Copies::Step pack_, unpack_, images_;
  std::vector<MPI_Request> requests_;
};

template <class Copies, bool messages_on_device = false>
VariantPointer by_hand_on_device(const HaloSetup& setup, SetupTimes& times) {
  auto messages =
      timed(times.pattern, [&] { return plan_messages(setup.arrays, Grouping::per_rank); });
  return timed(times.plan, [&] {
    return std::make_unique<DeviceByHand<Copies, messages_on_device>>(setup, std::move(messages));
  });
}

constexpr TableRow<HaloSetup> on_device[] = {
    {"hand_device_packed", "baseline", by_hand_on_device<ByKernel>},
    {"hand_device_copies", "baseline", by_hand_on_device<ByMemcpy>},
    {"hand_device_mpi", "baseline", by_hand_on_device<ByKernel, true>, true},
};

}  // namespace
}  // namespace cuda

void place_on_device(HaloSetup& setup) {
  cuda::driver(Communicator(setup.comm).node().rank());
  setup.arrays = std::make_shared<HaloArrays>(setup.geometry, setup.params,
      std::make_shared<cuda::DeviceMemory>(setup.params.fields, setup.bytes()));
  setup.values = std::make_shared<cuda::DeviceValues>(setup);
}

void add_by_hand_on_device(std::vector<Entry>& entries, const HaloSetup& setup) {
  add_rows(entries, cuda::on_device, setup);
}

}  // namespace parhelion::bench
