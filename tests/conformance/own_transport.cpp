// A transport registered by a program; also with arrays in slow memory, which the host cannot
// touch.
#include <algorithm>

#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/executor.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/meshes.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

class Plain final : public Transport {
 public:
  explicit Plain(const TransportContext& context)
      : context_(context), comm_(context.plan.communicator().handle()) {
    for (const LinkPlan* link : context.links) {
      auto& [out, in] = buffers_.emplace_back();
      out.resize(static_cast<std::size_t>(context.way(*link).send_bytes));
      in.resize(static_cast<std::size_t>(context.way(*link).receive_bytes));
    }
    requests_.resize(2 * buffers_.size(), MPI_REQUEST_NULL);
  }
  ~Plain() override {
    int over = 0, all_sent = 0;
    MPI_Finalized(&over);
    const auto count = static_cast<int>(buffers_.size());
    for (int i = 0; i < count && !over; ++i) {
      MPI_Request& receive = requests_[static_cast<std::size_t>(i)];
      if (receive == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&receive);
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
    }
    if (!over) MPI_Testall(count, requests_.data() + count, &all_sent, MPI_STATUSES_IGNORE);
    static std::vector<decltype(buffers_)> read_by_mpi;
    if (!all_sent) read_by_mpi.push_back(std::move(buffers_));
  }
  void begin() override {
    ++made;
    sending_ = false;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      auto& [out, in] = buffers_[i];
      std::byte* const message[1] = {out.data()};
      context_.queue.enqueue(
          context_.way(*context_.links[i]).pack, context_.arrays.bases(), message);
      if (!in.empty())
        MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_BYTE, context_.links[i]->rank,
            context_.tag, comm_, &requests_[i]);
    }
    packed_ = context_.queue.record();
    send_when_packed();
  }
  void leave() override { send_when_packed(); }
  int ready() override {
    int index = MPI_UNDEFINED, flag = 0;
    send_when_packed();
    MPI_Testany(
        static_cast<int>(buffers_.size()), requests_.data(), &index, &flag, MPI_STATUS_IGNORE);
    return flag && index != MPI_UNDEFINED ? index : -1;
  }
  void deliver(int slot, Reduction reduction) override {
    const LinkPlan& link = *context_.links[static_cast<std::size_t>(slot)];
    std::byte* const message[1] = {buffers_[static_cast<std::size_t>(slot)].second.data()};
    const Bases arrays = context_.arrays.bases();
    context_.queue.enqueue(context_.way(link).unpack, message, arrays, reduction);
    if (context_.forward()) context_.queue.enqueue(link.repeat, arrays, arrays);
  }
  bool finished() override {
    int flag = 0;
    if (!send_when_packed()) return false;
    MPI_Testall(static_cast<int>(buffers_.size()), requests_.data() + buffers_.size(), &flag,
        MPI_STATUSES_IGNORE);
    return flag != 0;
  }
  int expected() const override {
    return static_cast<int>(std::count_if(
        buffers_.begin(), buffers_.end(), [](const auto& each) { return !each.second.empty(); }));
  }
  std::string state(int) const override { return {}; }

  static inline int made = 0;  // number of exchanges

 private:
  bool send_when_packed() {
    if (sending_ || !context_.queue.is_done(packed_)) return sending_;
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (const auto& out = buffers_[i].first; !out.empty())
        MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_BYTE, context_.links[i]->rank,
            context_.tag, comm_, &requests_[buffers_.size() + i]);
    return sending_ = true;
  }

  const TransportContext context_;
  MPI_Comm comm_;
  std::vector<std::pair<std::vector<std::byte>, std::vector<std::byte>>> buffers_;
  std::vector<MPI_Request> requests_;
  Event packed_;
  bool sending_ = false;
};

// Registers the transport for this process, and so for later tests too.
const std::string& registered() {
  static const std::string name = [] {
    register_transport({"test_plain", "for tests", Scope::anywhere, nullptr,
        [](const TransportContext& context) { return std::make_unique<Plain>(context); }});
    return std::string("test_plain");
  }();
  return name;
}

template <class Fields>
void check(const Pattern& pattern, Fields fields, bool staged) {
  Exchange exchange(pattern, views(fields), {registered()});
  EXPECT_EQ(exchange.transport(), "test_plain");
  check_forward(exchange, fields, 0);
  check_reverse(exchange, fields, Reduction::replace, staged, 1);
  exchange.begin().end();
}

// Calls check_case for every grid and mesh with its pattern, `count` fields, and whether the
// reverse exchange may change ghosts.
template <class Check>
void with_all_cases(int ranks, int count, Memory memory, Check&& check_case) {
  int turn = 0;
  for (const GridCase& each : grid_cases(ranks)) {
    CAPTURE(each.name);
    const CartesianDomain domain(each.extents, each.options);
    check_case(build_pattern(domain), make_fields(domain, count, turn++, memory),
        domain.algorithm() == Algorithm::by_dimension);
  }
  for (const MeshCase& each : mesh_cases(ranks)) {
    CAPTURE(each.name);
    const IndexedDomain domain = each.mesh.domain(each.self);
    check_case(build_pattern(domain), make_fields(domain, each.mesh, count, turn++, memory), false);
  }
}

}  // namespace

CASE("a transport that was registered from outside moves grids and index maps as any other does") {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  const int before = Plain::made;
  with_all_cases(ranks, 3, Memory::ordinary, [](const Pattern& pattern, auto fields, bool staged) {
    check(pattern, std::move(fields), staged);
  });
  EXPECT_GT(Plain::made, before);
}

CASE("a transport may look at the others when it is asked whether it works") {
  static bool registered_once = false;
  if (!std::exchange(registered_once, true))
    register_transport({"test_asking", "for tests", Scope::anywhere,
        [] { return "not beside " + transports().front().name; },
        [](const TransportContext& context) { return std::make_unique<Plain>(context); }});
  EXPECT_TRUE(holds(error_of([] { static_cast<void>(find_transport("test_asking")); }),
      "transport test_asking cannot be used here: not beside loopback"));
}

namespace {

template <class Fields>
void check_on_device(const Pattern& pattern, Fields fields, bool staged) {
  ExchangeOptions checked{"test_device"};
  checked.check = true;  // the executor copies the checked values to the host
  Exchange exchange(pattern, views(fields), {"test_device"}),
      watched(pattern, views(fields), checked);
  check_forward(exchange, fields, 0);
  check_forward(watched, fields, 3);
  check_reverse(watched, fields, Reduction::replace, staged, 4);
  if (!fields.empty())
    EXPECT_TRUE(holds(
        error_of([&] { static_cast<void>(watched.stale()); }), "device memory cannot be compared"));
  check_reverse(exchange, fields, Reduction::replace, staged, 1);
  check_forward(exchange, fields, 2);
  exchange(views(fields));
  if (!fields.empty()) exchange.only({.fields = {0}}).begin().end();
}

}  // namespace

CASE(
    "arrays on a device are served by a transport and an executor that are registered for them, "
    "and by nothing else") {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  const CartesianDomain domain(
      {4 * ranks, 6}, {.halo = 1, .periodic = true, .process_grid = {ranks, 1}});
  const Pattern pattern = build_pattern(domain);
  const std::size_t values = 8 * 6 * 8;
  const auto memory = allocate_slow(values * sizeof(double));
  double* const u = reinterpret_cast<double*>(memory.get());
  std::vector<double> v(values);
  const Field device = as_slow(view(domain, u)), host = view(domain, v.data());
  const auto refused = [&](std::vector<Field> fields, const std::string& transport = "auto") {
    return error_of([&] { Exchange(pattern, std::move(fields), {transport}); });
  };
  register_executor(MemorySpace::device, nullptr);
  EXPECT_TRUE(holds(
      refused({device}), "arrays on a device cannot be exchanged: no driver of CUDA is in use"));
  register_slow_executors(false);

  EXPECT_TRUE(holds(refused({device, host}),
      "an exchange of fields in device and in host memory: make one for each"));
  if (is_usable("shared")) {
    EXPECT_TRUE(holds(refused({device}, "shared+mpi"),
        "transport shared: field 0 is in device memory, which it does not reach"));
    std::vector<double> w(values);
    if (ranks > 1 && domain.communicator().node().size() == ranks)  // own copies reach all memory
      EXPECT_TRUE(holds(refused({host, view(domain, w.data())}, "shared+mpi"),
          "transport shared: field 0 is not in node-shared memory"));
  }
  EXPECT_TRUE(
      holds(refused({device}, registered()), "transport test_plain: field 0 is in device memory"));
  if (ranks > 1)
    EXPECT_TRUE(holds(refused({Communicator(MPI_COMM_WORLD).rank() == 0 ? device : host}),
        "the memory space of field 0"));

  static bool serves = true;
  register_transport({"test_device", "for tests", Scope::anywhere,
      [] { return std::string(serves ? "" : "only in its test"); },
      [](const TransportContext& context) { return std::make_unique<Plain>(context); },
      {.reach = {Reach::none, Reach::messages}}});
  EXPECT_TRUE(holds(refused({host}, "test_device"), "field 0 is in host memory"));
  Exchange exchange(pattern, {device}, {"test_device"});
  EXPECT_TRUE(holds(error_of([&] { exchange(host); }),
      "array 0 has its values in host memory, but the exchange needs device memory"));

  ExchangeOptions checked{"test_device"};
  checked.check = true;
  Exchange watched(pattern, {device}, checked);
  auto step = watched.begin();
  std::fill(u, u + values, 7.5);
  EXPECT_EQ(holds(error_of([&] { step.end(); }), "was written between begin and end"), true);

  const std::uint64_t before = slow_copies();
  with_all_cases(ranks, 2, Memory::slow, [](const Pattern& all, auto fields, bool staged) {
    check_on_device(all, std::move(fields), staged);
  });
  EXPECT_GT(slow_copies(), before);
  serves = false;
}

CASE("an exchange on a queue follows what is there, and what comes after its end follows it") {
  const Communicator world(MPI_COMM_WORLD);
  const int ranks = world.size();
  const CartesianDomain domain(
      {4 * ranks, 6}, {.halo = 1, .periodic = true, .process_grid = {ranks, 1}});
  constexpr std::size_t values = 6 * 8;
  const auto memory = allocate_slow(3 * values * sizeof(double));
  double* const made = reinterpret_cast<double*>(memory.get());
  double *const u = made + values, *const seen = u + values;
  Exchange exchange(build_pattern(domain), {as_slow(view(domain, u))}, {"mpi"});
  const auto executor = exchange.plan().executor;
  const auto queue = executor->make_queue();
  Program copy;
  copy.add(StridedOp{.width = values * sizeof(double)});
  executor->compile(copy);
  const auto enqueue = [&](double* from, double* to) {
    std::byte* const bases[2] = {
        as_slow(reinterpret_cast<std::byte*>(from)), as_slow(reinterpret_cast<std::byte*>(to))};
    queue->enqueue(copy, bases, bases + 1);
  };
  const auto value = [&](int i, int j) {
    return 10.0 * ((world.rank() * 4 + i + 4 * ranks) % (4 * ranks)) + (j + 6) % 6 + 1;
  };
  for (int time = 0; time < 20; ++time) {
    seed_slow_executors(static_cast<std::uint64_t>(time));
    std::fill(made, made + 3 * values, -1);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 6; ++j) made[(i + 1) * 8 + j + 1] = value(i, j) + time;
    enqueue(made, u);
    auto step = exchange.begin(*queue);
    exchange.end(*queue);
    enqueue(u, seen);
    queue->wait();
    for (int i = -1; i < 5; ++i)
      for (int j = -1; j < 7; ++j) ASSERT_EQ(seen[(i + 1) * 8 + j + 1], value(i, j) + time);
    enqueue(made, u);
    auto back = exchange.begin_reverse(*queue, Reduction::max);  // the ghosts are −1
    exchange.end(*queue);
    enqueue(u, seen);
    queue->wait();
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 6; ++j) ASSERT_EQ(seen[(i + 1) * 8 + j + 1], value(i, j) + time);
  }
}

CASE("names that are taken or mean something else are refused") {
  const auto refused = [](const std::string& name, auto make) {
    return error_of([&] { register_transport({name, "", Scope::anywhere, nullptr, make}); });
  };
  const auto make = [](const TransportContext& context) -> std::unique_ptr<Transport> {
    return std::make_unique<Plain>(context);
  };
  EXPECT_TRUE(holds(refused("shared", make), "transport shared exists already"));
  EXPECT_TRUE(holds(refused("mpi", make), "already"));
  EXPECT_TRUE(holds(refused("a+b", make), "cannot be called"));
  EXPECT_TRUE(holds(refused("auto", make), "cannot be called"));
  EXPECT_TRUE(holds(
      refused("nothing", std::function<std::unique_ptr<Transport>(const TransportContext&)>()),
      "no `make` function"));
}
