// Transport "auto": its options, cached choices and exclusions. No test depends on the winner.
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>

#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/transports.hpp"
#include "support/world.hpp"

using namespace test;

namespace {

// Sets an environment variable for the lifetime of the object.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

// A new communicator has no cached choice.
class Fresh {
 public:
  Fresh() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  ~Fresh() { MPI_Comm_free(&comm_); }
  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// Verifies a new "auto" exchange in both directions and with begin/end; returns its explain().
std::string made_on(MPI_Comm comm, ExchangeOptions options = {}, int count = 2) {
  options.transport = "auto";
  const CartesianDomain domain(
      {6 * ranks(), 9}, {.halo = 2, .periodic = true, .process_grid = {ranks(), 1}}, comm);
  std::vector<GridField> fields;
  for (int f = 0; f < count; ++f)
    fields.emplace_back(
        domain, GridSpec{{Scalar::float64, 8}, 1, domain.halo()}, f, Memory::node_shared);
  Exchange exchange(build_pattern(domain), views(fields), options);
  check_forward(exchange, fields, 0);
  for (auto& field : fields) field.fill(Values::bits, 1), field.expect_forward();
  exchange.begin().end();
  for (const auto& field : fields) EXPECT_EQ(field.difference(), "");
  check_reverse(exchange, fields, Reduction::sum, false, count);
  return exchange.explain();
}
std::string made(const ExchangeOptions& options = {}) { return made_on(Fresh(), options); }

std::ptrdiff_t threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

}  // namespace

CASE("auto tries what can serve, tells what it measured, and remembers it") {
  const Fresh comm;
  const std::string first = made_on(comm), second = made_on(comm);
  if (ranks() == 1) {
    EXPECT_TRUE(holds(first, "transport loopback, the only candidate"));
    return;
  }
  for (const char* part : {"the fastest in", "staged_shared", "shared", "mpi"})
    EXPECT_TRUE(holds(first, part));
  EXPECT_TRUE(holds(second, "as measured for a similar plan before"));
}

CASE("one race serves exchanges that send about as much the same way, and no others") {
  if (ranks() == 1) return;
  const Fresh comm;
  EXPECT_TRUE(holds(made_on(comm, {}, 4), "the fastest in"));
  EXPECT_TRUE(holds(made_on(comm, {}, 3), "as measured for a similar plan before"));
  EXPECT_TRUE(holds(made_on(comm, {}, 2), "the fastest in"));
  EXPECT_TRUE(holds(made_on(comm, {}, 8), "the fastest in"));
  EXPECT_TRUE(holds(made_on(comm, {}, 7), "as measured for a similar plan before"));
}

CASE("users add transports to the race and leave others out") {
  if (ranks() == 1) return;
  const Variable list("PARHELION_AUTO", "-shared,+mpi_neighbor");
  const std::string told = made();
  for (const char* part : {" mpi_neighbor ", " staged_shared "}) EXPECT_TRUE(holds(told, part));
  EXPECT_FALSE(holds(told, " shared "));
  EXPECT_FALSE(holds(told, "shared|"));
}

CASE("a list that is wrong, or not the same on all ranks, is refused on all of them") {
  {
    const Variable list("PARHELION_AUTO", "+wheel");
    EXPECT_TRUE(holds(error_of([] { made(); }), "no transport 'wheel': use some of loopback"));
  }
  if (ranks() == 1) return;
  const Variable list("PARHELION_AUTO", last() ? "-shared" : "+mpi_neighbor");
  const std::string error = error_of([] { made(); });
  EXPECT_TRUE(holds(error, "PARHELION_AUTO is +mpi_neighbor on rank 0 and -shared on rank "));
  EXPECT_TRUE(holds(error_of([] {
    std::string all;
    for (const TransportInfo& info : transports()) all += (all.empty() ? "-" : ",-") + info.name;
    const Variable nothing("PARHELION_AUTO", all);
    made();
  }),
      "exclude fewer in PARHELION_AUTO"));
}

CASE(
    "an exchange that will overlap with work is measured so, and the ranks have to agree on that") {
  const std::string told = made({.overlap = true, .work_s = 20e-6});
  const Variable by_environment("PARHELION_OVERLAP", "1");
  const std::string again = made();
  made({.work_s = 5e-6});
  if (ranks() > 1) {
    EXPECT_TRUE(holds(told, "in begin and end"));
    EXPECT_TRUE(holds(again, "in begin and end"));
    EXPECT_TRUE(holds(error_of([] { made({.work_s = last() ? 1e-3 : 0}); }),
        "the work in seconds is 0.000000 on rank 0 and 0.001000"));
  }
  for (const double wrong : {-1e-6, 2.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(holds(error_of([&] { made({.work_s = wrong}); }), "s of work"));
}

CASE("how an exchange is used makes it another one to remember") {
  if (ranks() == 1) return;
  const Fresh comm;
  EXPECT_TRUE(holds(made_on(comm), "the fastest in"));
  EXPECT_TRUE(holds(made_on(comm, {.overlap = true}), "the fastest in"));
  EXPECT_TRUE(holds(made_on(comm), "as measured for a similar plan before"));
}

// Two rows of ranks: each rank has diagonal neighbors.
std::string made_in_rows(
    MPI_Comm comm, ExchangeOptions options, const std::function<void(Exchange&)>& also = {}) {
  const int rows = ranks() % 2 == 0 ? 2 : 1;
  const CartesianDomain domain({12, 6 * ranks()},
      {.halo = 2, .periodic = true, .process_grid = {rows, ranks() / rows}}, comm);
  std::vector<GridField> fields;
  fields.emplace_back(
      domain, GridSpec{{Scalar::float64, 8}, 1, domain.halo()}, 0, Memory::node_shared);
  Exchange exchange(build_pattern(domain), views(fields), options);
  check_forward(exchange, fields, 0);
  check_reverse(exchange, fields, Reduction::sum, false, 1);
  if (also) also(exchange);
  return exchange.explain();
}

// A PARHELION_AUTO list that excludes all transports but staged_shared and `other`.
// Leaves out all but two.
std::string alone(const std::string& one, const std::string& other) {
  std::string list;
  for (const TransportInfo& info : transports())
    if (info.name != one && info.name != other) list += (list.empty() ? "-" : ",-") + info.name;
  return list;
}
std::string rings_alone(const std::string& other = "") { return alone("staged_shared", other); }

CASE(
    "an exchange that is only called at once is tried dimension by dimension, one that may be "
    "begun is not") {
  if (ranks() < 4 || ranks() % 2 != 0) return;
  const auto told = [](const ExchangeOptions& options, const std::string& more = "") {
    const Variable list("PARHELION_AUTO", rings_alone() + more);
    return made_in_rows(Fresh(), options);
  };
  const char* tried = "by_dimension:staged_shared ";
  EXPECT_TRUE(holds(told({.transport = "auto", .at_once = true}), tried));
  EXPECT_FALSE(holds(
      told({.transport = "auto", .at_once = true}, ",-by_dimension,-far_by_dimension"), tried));
  EXPECT_FALSE(holds(told({.transport = "auto"}), tried));
  EXPECT_FALSE(holds(told({.transport = "auto", .overlap = true}), tried));
  EXPECT_TRUE(
      holds(error_of([&] { told({.transport = "auto"}, ",+by_dimension"); }), "option at_once"));
  const Variable overlap("PARHELION_OVERLAP", "1");  // at_once still holds
  EXPECT_TRUE(holds(told({.transport = "auto", .at_once = true}), tried));
}

CASE("what is made to be called at once cannot be begun") {
  if (ranks() == 1) return;
  made_in_rows(Fresh(), {.transport = "auto", .at_once = true}, [](Exchange& exchange) {
    EXPECT_TRUE(holds(error_of([&] { exchange.begin().end(); }), "constructed with at_once"));
    EXPECT_TRUE(
        holds(error_of([&] { exchange.begin_reverse().end(); }), "constructed with at_once"));
  });
  EXPECT_TRUE(holds(error_of([] { made_in_rows(Fresh(), {.overlap = true, .at_once = true}); }),
      "use one of at_once and overlap"));
  EXPECT_TRUE(holds(error_of([] { made_in_rows(Fresh(), {.at_once = last()}); }),
      "whether the exchange is only called at once"));
}

CASE("an order that is asked for by name is refused where it saves nothing") {
  for (const char* name : {"by_dimension:mpi", "far_by_dimension:mpi"})
    EXPECT_TRUE(holds(error_of([&] {
      const CartesianDomain row({6 * ranks(), 9}, {.halo = 2, .process_grid = {ranks(), 1}});
      std::vector<double> cells(static_cast<std::size_t>((6 + 4) * (9 + 4)));
      Exchange{build_pattern(row), {view(row, cells.data())}, {.transport = name}};
    }),
        "use the transport alone"));
}

// If `failing` is set, this transport throws after writing to the ghosts; otherwise it is
// unavailable.
bool failing = false;

class Failing final : public Transport {
 public:
  explicit Failing(const TransportContext& context) : context_(context) {}
  void begin() override {
    for (const LinkPlan* link : context_.links) {
      std::vector<std::byte> message(
          static_cast<std::size_t>(context_.way(*link).receive_bytes), std::byte{0x55});
      std::byte* const from[1] = {message.data()};
      run(context_.way(*link).unpack, from, context_.arrays.bases());
    }
    throw Error("a transport that fails", ErrorKind::communication);
  }
  int ready() override { return -1; }
  void deliver(int, Reduction) override {}
  bool finished() override { return true; }
  int expected() const override { return 0; }
  std::string state(int) const override { return {}; }

 private:
  TransportContext context_;
};

CASE("trials give ghosts their values back, also where one fails") {
  if (ranks() == 1) return;
  register_transport(
      {"failing", "fails", Scope::anywhere, [] { return std::string(failing ? "" : "not now"); },
          [](const TransportContext& context) { return std::make_unique<Failing>(context); }});
  const Fresh comm;
  const CartesianDomain domain({6 * ranks(), 9},
      {.halo = 1, .periodic = true, .process_grid = {ranks(), 1}}, MPI_Comm(comm));
  std::vector<double> u(8 * 11);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = static_cast<double>(i);
  const std::vector<double> before = u;
  const Pattern pattern = build_pattern(domain);
  Exchange exchange(pattern, {view(domain, u.data())}, {.transport = "auto"});
  EXPECT_TRUE(u == before);
  exchange.retune();
  EXPECT_TRUE(u == before);
  failing = true;
  EXPECT_TRUE(holds(error_of([&] {
    Exchange(pattern, {view(domain, u.data())}, {.transport = "auto", .work_s = 1e-6});
  }),
      "a transport that fails"));
  EXPECT_TRUE(u == before);
  EXPECT_TRUE(holds(error_of([&] { exchange.retune(); }), "a transport that fails"));
  EXPECT_TRUE(u == before);
  failing = false;
}

CASE("an exchange that is retuned races anew and is right, as are its subsets") {
  if (ranks() == 1) return;
  const Fresh comm;
  const CartesianDomain domain({6 * ranks(), 9},
      {.halo = 2, .periodic = true, .process_grid = {ranks(), 1}}, MPI_Comm(comm));
  std::vector<GridField> fields;
  for (int f = 0; f < 2; ++f)
    fields.emplace_back(
        domain, GridSpec{{Scalar::float64, 8}, 1, domain.halo()}, f, Memory::node_shared);
  made_on(comm);
  Exchange exchange(build_pattern(domain), views(fields), {.transport = "auto"});
  EXPECT_TRUE(holds(exchange.explain(), "as measured for a similar plan before"));
  Exchange subset = exchange.only({.fields = {0}});
  subset();
  exchange.retune();
  EXPECT_TRUE(holds(exchange.explain(), "the fastest in"));
  check_forward(exchange, fields, 0);
  check_reverse(exchange, fields, Reduction::sum, false, 3);
  subset();
  EXPECT_EQ(subset.transport(), exchange.transport());
  {
    const Variable list("PARHELION_AUTO",
        rings_alone("mpi"));  // the key of the cached choice includes the list
    exchange.retune();
    EXPECT_FALSE(holds(exchange.explain(), " shared "));
  }
  check_forward(exchange, fields, 1);
  auto step = exchange.begin();
  EXPECT_TRUE(holds(error_of([&] { exchange.retune(); }), "under way"));
  step.end();
  EXPECT_TRUE(holds(error_of([&] { subset.retune(); }), "retune that one"));
  Exchange named(build_pattern(domain), views(fields), {.transport = "mpi"});
  named.retune();
  EXPECT_EQ(named.transport(), "mpi");
  check_forward(named, fields, 2);
}

// Large messages into private memory are refused by transport shared.
CASE("what an array was refused for is forgotten when the exchange is retuned for it") {
  if (ranks() != 2) return;
  const Fresh comm;
  const CartesianDomain domain(
      {4, 1 << 20}, {.halo = {2, 0}, .periodic = true, .process_grid = {2, 1}}, MPI_Comm(comm));
  const Array<double> shared = make_array<double>(domain);
  std::vector<double> own(6 << 20, 1 + domain.communicator().rank());
  const Field given = view(domain, own.data());
  std::optional<Exchange> exchange;
  {
    const Variable list("PARHELION_AUTO", alone("shared", "shared"));
    exchange.emplace(build_pattern(domain), std::vector<Field>{view(shared)},
        ExchangeOptions{.transport = "auto"});
  }
  if (exchange->transport() != "shared") return;
  EXPECT_NE(exchange->refusal(Direction::forward, ArrayList(given)), "");
  const Variable list("PARHELION_AUTO", alone("mpi", "mpi"));
  exchange->retune(given);
  (*exchange)(given);
  EXPECT_EQ(own.front(), 2 - domain.communicator().rank());
}

// UCX has no network device of that name.
CASE("a UCX that makes no worker is left out with its reason") {
  if (ranks() == 1 || !is_usable("ucx")) return;
  const Variable no_network("UCX_TLS", "none_such"), quiet("UCX_LOG_LEVEL", "fatal"),
      list("PARHELION_AUTO", "+ucx");
  const std::string told = made();
  EXPECT_TRUE(holds(told, "\n  ucx") && holds(told, "left out: "));
  EXPECT_TRUE(holds(told, "transport ucx cannot be used here: ucp_"));
}

CASE("what lost leaves no thread behind") {
  const std::ptrdiff_t before = threads();
  made();
  EXPECT_EQ(threads(), before);
  if (ranks() == 1 || !is_usable("ucx")) return;
  const Variable list("PARHELION_AUTO", "+ucx");
  const std::string told = made();
  EXPECT_TRUE(holds(told, " ucx "));  // its time, or the reason for its exclusion
  if (!holds(told, "transport ucx")) EXPECT_EQ(threads(), before);
}
