// Chains of waits that only end if a rank progresses an exchange that it is not ending.
#include <unistd.h>

#include <optional>

#include "support/cases.hpp"
#include "support/cell_field.hpp"
#include "support/exchanging.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// `reader` has a ghost of the cell of `owner`; there are no others.
struct OneWay {
  Mesh mesh;
  IndexedDomain domain;
  CellField field;
  Exchange exchange;

  OneWay(int owner, int reader, int cells, const std::string& transport)
      : mesh(one_way_mesh(owner, reader, cells)), domain(mesh.domain()),
        field(domain, mesh, {{Scalar::int64, 8}, 1, CellLayout::joined}, 0, Memory::node_shared),
        exchange(build_pattern(domain), {field.view()}, {transport}) {}

  static Mesh one_way_mesh(int owner, int reader, int cells) {
    const int ranks = Communicator(MPI_COMM_WORLD).size();
    Mesh mesh = Mesh::of_blocks(std::vector<global_index>(static_cast<std::size_t>(ranks), cells));
    for (int i = 0; i < cells; ++i)
      mesh.ghosts[static_cast<std::size_t>(reader)].push_back(owner * cells + i);
    return mesh;
  }
  Exchange::Step begin(int round) {
    field.fill(Values::bits, round);
    field.expect_forward();
    return exchange.begin();
  }
  void end(Exchange::Step& step) {
    step.end();
    ASSERT_EQ(field.difference(), "");
  }
  void once(int round) {
    auto step = begin(round);
    end(step);
  }
};

// Cycle 0 → 1 → 2 → 0 of three exchanges. Rank 0 begins the first one again and ends the last one
// before it: rank 1 receives its message only if rank 0 sends it while waiting in the last one.
void run_chain(const std::string& first, const std::string& others, int cells) {
  OneWay a(0, 1, cells, first), b(1, 2, 1, others), c(2, 0, 1, others);
  const int rank = a.domain.communicator().rank();
  for (int repeat = 0; repeat < 5; ++repeat) {
    constexpr int ahead = 4;
    if (rank == 0) {
      for (int i = 0; i + 1 < ahead; ++i) a.once(repeat * ahead + i);
      auto step = a.begin(repeat * ahead + ahead - 1);
      c.once(repeat);
      a.end(step);
    }
    if (rank == 1) {
      for (int i = 0; i < ahead; ++i) usleep(2000), a.once(repeat * ahead + i);
      b.once(repeat);
    }
    if (rank == 2) {
      b.once(repeat);
      c.once(repeat);
    }
  }
}

}  // namespace

CASE(
    "a message that had to wait for its reader goes out while its sender waits in another "
    "exchange") {
  if (Communicator(MPI_COMM_WORLD).size() < 3) return;
  run_chain("staged_shared", "staged_shared", 1);
  run_chain("staged_shared", "shared", 100);
  run_chain("shared", "staged_shared", 1000);
}

CASE("a large MPI message gets on while its sender waits for a neighbor on its node") {
  if (Communicator(MPI_COMM_WORLD).size() < 3) return;
  run_chain("mpi", "shared", 1 << 17);
  run_chain("mpi", "staged_shared", 1 << 17);
}

CASE("the user's own large message gets on while its sender waits for a neighbor on its node") {
  if (Communicator(MPI_COMM_WORLD).size() < 3) return;
  OneWay b(1, 2, 1, "shared"), c(2, 0, 1, "staged_shared");
  const int rank = c.domain.communicator().rank();
  std::vector<int> message(1 << 18);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) MPI_Isend(message.data(), 1 << 18, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
  if (rank == 1) {
    usleep(20000);
    MPI_Recv(message.data(), 1 << 18, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  b.once(0);
  c.once(0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
