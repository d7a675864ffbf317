// Arrays not allocated by the library, mapped by XPMEM; skipped without XPMEM, but the build also
// runs them with a stand-in.
#include <dlfcn.h>
#include <cstdlib>

#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_field.hpp"
#include "support/transports.hpp"
#include "transport/node/peer_arrays.hpp"

using namespace test;

namespace {

bool has_xpmem() {
  if (xpmem_unavailable().empty()) return true;
  say("skipped: ", xpmem_unavailable());
  return false;
}

// Null with the real library, which has no counters.
int (*stand_in(const char* function))() {
  const char* library = std::getenv("PARHELION_XPMEM");
  void* loaded = library == nullptr ? nullptr : dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  return loaded == nullptr ? nullptr : reinterpret_cast<int (*)()>(dlsym(loaded, function));
}

CartesianDomain row_of_ranks(global_index across) {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  return CartesianDomain({global_index{ranks} * 24, across, across},
      {.halo = 2, .periodic = true, .process_grid = {ranks, 1, 1}});
}

GridField field_on(const CartesianDomain& domain, Memory memory) {
  return GridField(domain, GridSpec{{Scalar::float64, 8}, 1, domain.halo(), Layout::c}, 0, memory);
}

}  // namespace

// Must run first: the other cases use the transport.
CASE("a process shares its memory when xpmem is used, not when it is looked for") {
  if (!has_xpmem() || Communicator(MPI_COMM_WORLD).size() == 1) return;
  const auto made = stand_in("stand_in_made");
  if (made == nullptr) return;
  EXPECT_EQ(made(), 0);
  const CartesianDomain domain = row_of_ranks(12);
  const auto exchanged = [&](const char* transport) {
    std::vector<GridField> fields;
    fields.push_back(field_on(domain, Memory::elsewhere));
    Exchange exchange(build_pattern(domain), views(fields), {transport});
    check_forward(exchange, fields, 0);
  };
  exchanged("staged_shared");
  EXPECT_EQ(made(), 0);
  for (int time = 0; time < 2; ++time) exchanged("xpmem");
  EXPECT_EQ(made(), 1);
}

CASE("arrays that the library did not make are exchanged straight, forward and reverse") {
  if (!has_xpmem()) return;
  const CartesianDomain domain = row_of_ranks(12);
  for (const char* transport : {"xpmem", "xpmem|staged_shared"}) {
    CAPTURE(transport);
    std::vector<GridField> fields;
    for (int f = 0; f < 3; ++f) fields.push_back(field_on(domain, Memory::elsewhere));
    Exchange exchange(build_pattern(domain), views(fields), {transport});
    EXPECT_EQ(exchange.transport(), transport);
    for (int round = 0; round < 5; ++round) {
      check_forward(exchange, fields, round);
      check_reverse(exchange, fields, Reduction::sum, false, round);
    }
  }
}

CASE("auto tries xpmem for private arrays only, and remembers the two apart") {
  if (!has_xpmem() || Communicator(MPI_COMM_WORLD).size() == 1) return;
  const CartesianDomain domain = row_of_ranks(12);
  for (const Memory memory : {Memory::node_shared, Memory::elsewhere, Memory::node_shared}) {
    std::vector<GridField> fields{field_on(domain, memory)};
    Exchange exchange(build_pattern(domain), views(fields), {"auto"});
    CAPTURE(exchange.explain());
    const bool first = holds(exchange.explain(), "fastest in");
    EXPECT_EQ(holds(exchange.explain(), "xpmem"),
        memory == Memory::elsewhere && (first || exchange.transport() != "staged_shared"));
    check_forward(exchange, fields, 0);
  }
}

CASE("where XPMEM does not work, asking for it tells what is missing") {
  const std::string missing = xpmem_unavailable();
  if (missing.empty()) return;
  const bool no_device = std::getenv("STAND_IN_WITHOUT_DEVICE") != nullptr;
  EXPECT_TRUE(holds(missing, no_device ? "/dev/xpmem" : "libxpmem.so.0"));
  const CartesianDomain domain = row_of_ranks(6);
  std::vector<GridField> fields{field_on(domain, Memory::elsewhere)};
  EXPECT_TRUE(
      holds(error_of([&] { Exchange(build_pattern(domain), views(fields), {"xpmem"}); }), missing));
  Exchange exchange(build_pattern(domain), views(fields), {"auto"});
  EXPECT_FALSE(holds(exchange.explain(), "xpmem"));
  check_forward(exchange, fields, 0);
}

CASE("what was mapped is given back with the exchange") {
  const auto open = stand_in("stand_in_open");
  if (!has_xpmem() || open == nullptr) return;
  const CartesianDomain domain = row_of_ranks(6);
  std::vector<GridField> fields{field_on(domain, Memory::elsewhere)};
  const int before = open();
  {
    const Exchange exchange(build_pattern(domain), views(fields), {"xpmem"});
    EXPECT_EQ(open() > before, Communicator(MPI_COMM_WORLD).size() > 1);
  }
  EXPECT_EQ(open(), before);
}

CASE("an array that XPMEM cannot map is refused by all ranks, and auto does without") {
  const auto open = stand_in("stand_in_open");
  if (!has_xpmem() || open == nullptr || Communicator(MPI_COMM_WORLD).size() == 1) return;
  const CartesianDomain domain = row_of_ranks(6);
  const bool odd = Communicator(MPI_COMM_WORLD).rank() == 1;
  std::vector<GridField> fields{field_on(domain, odd ? Memory::ordinary : Memory::elsewhere)};
  const std::string refusal =
      error_of([&] { Exchange(build_pattern(domain), views(fields), {"xpmem"}); });
  EXPECT_TRUE(holds(refusal, "xpmem_attach"));
  EXPECT_EQ(open(), 0);
  Exchange exchange(build_pattern(domain), views(fields), {"auto"});
  CAPTURE(exchange.explain());
  EXPECT_TRUE(holds(exchange.explain(), "xpmem_attach"));
  check_forward(exchange, fields, 0);
}
