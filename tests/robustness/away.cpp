// After begin, a rank may block in MPI until its neighbor, having ended the exchange, sends a
// message.
#include <unistd.h>

#include <algorithm>

#include "robustness/work.hpp"
#include "support/cases.hpp"
#include "support/cell_field.hpp"
#include "support/exchanging.hpp"
#include "support/transports.hpp"
#include "support/world.hpp"

using namespace test;

namespace {

bool alone() { return Communicator(MPI_COMM_WORLD).size() < 2; }

// MPI collectives may synchronize.
bool may_run_ahead(const Route& route) { return !route.transport.starts_with("mpi_neighbor"); }

void tell(int whom) { MPI_Send(nullptr, 0, MPI_BYTE, whom, 7, MPI_COMM_WORLD); }
void hear_from(int whom) {
  MPI_Recv(nullptr, 0, MPI_BYTE, whom, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

bool has_next() { return rank() % 2 == 0 && rank() + 1 < Communicator(MPI_COMM_WORLD).size(); }

// Odd ranks begin after the previous rank has begun, so it cannot have found their grant.
void begin_in_turn(Work& work) {
  if (rank() % 2 == 1) hear_from(rank() - 1);
  work.begin();
  if (has_next()) tell(rank() + 1);
}

// Odd ranks end first, then notify the previous rank, which has begun and blocks in MPI.
void one_goes_away(Work& work, Direction direction, int round) {
  work.prepare(direction, round);
  begin_in_turn(work);
  if (has_next()) hear_from(rank() + 1);
  work.end();
  if (rank() % 2 == 1) tell(rank() - 1);
  ASSERT_EQ(work.difference(), "");
}

// The cells of rank 0 are ghosts of rank 1; there are no others.
struct ToTheNext {
  Mesh mesh;
  IndexedDomain domain;
  CellField field;
  Exchange exchange;

  ToTheNext(int cells, const Route& route)
      : mesh(mesh_of(cells)), domain(mesh.domain()),
        field(domain, mesh, {{Scalar::int64, 8}, 1, CellLayout::joined}, 0, route.memory),
        exchange(build_pattern(domain), {field.view()}, {route.transport}) {}

  static Mesh mesh_of(int cells) {
    Mesh mesh = Mesh::of_blocks(std::vector<global_index>(
        static_cast<std::size_t>(Communicator(MPI_COMM_WORLD).size()), cells));
    for (int i = 0; i < cells; ++i) mesh.ghosts[1].push_back(i);
    return mesh;
  }
  void once(int round) {
    field.fill(Values::bits, round);
    field.expect_forward();
    exchange();
    ASSERT_EQ(field.difference(), "");
  }
  Exchange::Step begin(Direction direction) {
    return direction == Direction::forward ? exchange.begin()
                                           : exchange.begin_reverse(Reduction::replace);
  }
};

// Reuses memory that exchanges have freed, and detects late writes to it.
class Recycled {
 public:
  explicit Recycled(unsigned char value) {
    for (int i = 0; i < 200; ++i)
      all_.emplace_back(
          (std::size_t{64} << (i % 10)) + static_cast<std::size_t>(i % 7) * 64, std::byte{value});
    value_ = std::byte{value};
  }
  bool untouched() const {
    return std::all_of(all_.begin(), all_.end(), [this](const auto& each) {
      return std::all_of(
          each.begin(), each.end(), [this](std::byte byte) { return byte == value_; });
    });
  }

 private:
  std::byte value_;
  std::vector<std::vector<std::byte, NodeAllocator<std::byte>>> all_;
};

// The sender ends and destroys its exchange before the receiver begins.
void sender_goes_first(const Route& route, Direction direction, int before) {
  const int sender = direction == Direction::forward ? 0 : 1, reader = 1 - sender;
  auto next = std::make_unique<ToTheNext>(50, route);
  for (int i = 0; i < before; ++i) next->begin(direction).end();
  if (rank() == reader) hear_from(sender);
  if (rank() <= 1) next->begin(direction).end();
  if (rank() == sender) {
    next.reset();
    const Recycled recycled(0xa5);
    tell(reader);
    hear_from(reader);
    ASSERT_TRUE(recycled.untouched());
  }
  if (rank() == reader) tell(sender);
}

// The sender begins and blocks in MPI; meanwhile the receiver ends and destroys its exchange.
void reader_goes_first(const Route& route, Direction direction, int before) {
  const int sender = direction == Direction::forward ? 0 : 1, reader = 1 - sender;
  auto next = std::make_unique<ToTheNext>(50, route);
  for (int i = 0; i < before; ++i) next->begin(direction).end();
  if (rank() > 1) return;
  auto step = next->begin(direction);
  if (rank() == sender) hear_from(reader);
  step.end();
  if (rank() == sender) return;
  next.reset();
  const Recycled recycled(0);
  tell(sender);
}

}  // namespace

CASE("a rank that has begun may wait for what its neighbor sends after its own exchange") {
  if (alone()) return;
  const CartesianDomain domain({18, 16}, {.halo = 1, .periodic = true});
  for (const Route& route : routes_for(0, 3)) {
    CAPTURE(route.transport);
    Work work(domain, route.transport, 0);
    for (int round = 0; round < 6; ++round)
      one_goes_away(work, round % 3 == 2 ? Direction::reverse : Direction::forward, round);
  }
}

CASE(
    "a rank that has begun may make another exchange while its neighbor ends the first one first") {
  if (alone()) return;
  const CartesianDomain domain({18, 16}, {.halo = 1, .periodic = true});
  for (const Route& route : routes_for(1, 2)) {
    CAPTURE(route.transport);
    Work first(domain, route.transport, 0);
    for (int round = 0; round < 2; ++round) {
      first.prepare(Direction::forward, round);
      begin_in_turn(first);
      if (rank() % 2 == 1) first.end();
      Work second(domain, route.transport, 1);
      if (rank() % 2 == 0) first.end();
      ASSERT_EQ(first.difference(), "");
      ASSERT_EQ(second.round_trip(Direction::forward, round), "");
    }
  }
}

CASE("a rank that only sends may run two exchanges ahead, and still begin a third and go away") {
  if (alone()) return;
  for (const Route& route : routes_for(2, 3)) {
    if (!may_run_ahead(route)) continue;
    CAPTURE(route.transport);
    ToTheNext next(50, route);
    for (int round = 0; round < 12; round += 3) {
      if (rank() == 1) hear_from(0);
      next.once(round);
      next.once(round + 1);
      if (rank() == 0) {
        next.field.fill(Values::bits, round + 2);
        next.field.expect_forward();
        auto step = next.exchange.begin();
        tell(1);
        hear_from(1);
        step.end();
        ASSERT_EQ(next.field.difference(), "");
      } else {
        next.once(round + 2);
      }
      if (rank() == 1) tell(0);
    }
  }
}

CASE(
    "what a rank has sent is there for a late neighbor when its exchange is gone and its memory "
    "used again") {
  if (alone()) return;
  const CartesianDomain domain({18, 16}, {.halo = 1, .periodic = true});
  for (const Route& route : routes_for(3, 3)) {
    CAPTURE(route.transport);
    for (int round = 0; round < 4; ++round) {
      auto work = std::make_unique<Work>(domain, route.transport, 0);
      work->prepare(Direction::forward, round);
      work->begin();
      if (rank() % 2 == 0) usleep(3000);
      work->end();
      ASSERT_EQ(work->difference(), "");
      work.reset();
      std::vector<std::unique_ptr<std::vector<std::byte>>> others;
      for (int i = 0; i < 20; ++i)
        others.push_back(
            std::make_unique<std::vector<std::byte>>(std::size_t{1} << (i % 15), std::byte{0xff}));
    }
  }
}

CASE(
    "where one rank only sends, either may end its exchange and use the memory again while the "
    "other is late") {
  if (alone()) return;
  for (const Route& route : routes_for(5, 3)) {
    if (!may_run_ahead(route)) continue;
    CAPTURE(route.transport);
    for (const Direction direction : {Direction::forward, Direction::reverse})
      for (int before = 0; before < 5; ++before) {
        CAPTURE(before);
        sender_goes_first(route, direction, before);
        reader_goes_first(route, direction, before);
      }
  }
}

CASE("an array that was sent in one piece may change as soon as the exchange has ended") {
  if (alone()) return;
  for (const Route& route : routes_for(4, 3)) {
    CAPTURE(route.transport);
    ToTheNext next(3000, route);
    for (int round = 0; round < 8; ++round) {
      if (rank() == 1 && round % 2 == 1) usleep(2000);
      next.once(round);
    }
  }
}
