// Messages of more than 2^31 bytes. Two ranks, one of which owns everything: little more memory
// than two copies of the message.
#include <array>
#include <cstring>

#include "core/resources.hpp"
#include "parhelion/core/sparse_exchange.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

constexpr local_index cells = 4099;
constexpr int components = 524'417;
constexpr byte_count bytes = byte_count{cells} * components;
static_assert(bytes > byte_count{1} << 31);
constexpr byte_count words = bytes / 8;
constexpr byte_count needed = 5 * bytes;  // arrays, plus two ring slots or buffers

std::uint64_t word(byte_count at) { return static_cast<std::uint64_t>(at) * 0x9E3779B97F4A7C15u; }

class Large {
 public:
  explicit Large(const Communicator& comm)
      : owner_(comm.rank() == 0),
        domain_(owner_ ? cells : 0, owner_ ? std::vector<global_index>{} : all_ids(), comm),
        memory_(allocate_node_shared(bytes)) {
    for (byte_count w = 0; owner_ && w < words; ++w) put(w, word(w));
  }
  Exchange exchange(const std::string& transport) {
    std::byte* const array = memory_.get();
    const Field field = view_cells(owner_ ? array : nullptr, domain_.owned(),
        owner_ ? nullptr : array, domain_.ghosts(), {Scalar::int8, 1}, {Order::c, components});
    return {build_pattern(domain_), {field}, {.transport = transport, .timeout_s = 60}};
  }
  // A sample of one word per about 100 pages detects missing data.
  void forget() {
    for (byte_count w = 0; !owner_ && w < words; w += 49'999) put(w, 1);
  }
  byte_count wrong() const {
    byte_count count = 0;
    for (byte_count w = 0; !owner_ && w < words; ++w) count += get(w) != word(w);
    return count;
  }

 private:
  static std::vector<global_index> all_ids() {
    std::vector<global_index> ids;
    for (global_index id = 0; id < cells; ++id) ids.push_back(id);
    return ids;
  }
  void put(byte_count at, std::uint64_t value) { std::memcpy(memory_.get() + 8 * at, &value, 8); }
  std::uint64_t get(byte_count at) const {
    std::uint64_t value = 0;
    std::memcpy(&value, memory_.get() + 8 * at, 8);
    return value;
  }

  bool owner_;
  IndexedDomain domain_;
  std::shared_ptr<std::byte> memory_;
};

bool enough_memory(const Communicator& comm) {
  long long mine = available_memory(), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_MIN, comm.handle());
  if (all >= needed) return true;
  say("skipped: needs ", needed >> 30, " GiB of memory, ", all >> 30, " are free");
  return false;
}

}  // namespace

CASE("messages of more than 2^31 bytes arrive over every transport") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() != 2 || !enough_memory(comm)) return;
  Large large(comm);
  for (const Route& route : all_routes()) {
    if (!takes_any_array(route) || route.transport == "auto")
      continue;  // auto tries all the same transports
    CAPTURE(route.transport);
    Exchange exchange = large.exchange(route.transport);
    large.forget();
    const double start = MPI_Wtime();
    exchange();
    if (comm.rank() == 0)
      say(route.transport, ": ", static_cast<double>(bytes) / (MPI_Wtime() - start) / 1e9, " GB/s");
    EXPECT_EQ(large.wrong(), 0);
  }
}

CASE("a set-up message of more than 2^31 bytes arrives whole") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() != 2 || !enough_memory(comm)) return;
  std::vector<Message> sent;
  if (comm.rank() == 0) {
    sent.push_back({1, std::vector<std::byte>(static_cast<std::size_t>(bytes))});
    for (byte_count w = 0; w < words; w += 511)
      std::memcpy(sent[0].bytes.data() + 8 * w, std::array{word(w)}.data(), 8);
  }
  const auto arrived = sparse_exchange(comm, std::move(sent));
  ASSERT_EQ(arrived.size(), static_cast<std::size_t>(comm.rank()));
  byte_count wrong = 0;
  for (const Message& message : arrived) {
    EXPECT_EQ(static_cast<byte_count>(message.bytes.size()), bytes);
    for (byte_count w = 0; w < words; w += 511)
      wrong += std::memcmp(message.bytes.data() + 8 * w, std::array{word(w)}.data(), 8) != 0;
  }
  EXPECT_EQ(wrong, 0);
}
