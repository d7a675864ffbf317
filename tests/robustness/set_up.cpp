// set_up memory|still|inside|unequal|tags|handles: failures at any point of collective calls.
//
// memory: the n-th allocation on one rank fails; every rank throws, and a retry on the same
// communicator works. still: one rank sleeps in the call; the others name it at the time limit.
// inside: likewise, a rank is stopped in a call that MPI cannot interrupt.
// unequal: every rank names arguments that differ between ranks but must not. tags: a communicator
// outlasts more objects than tags, and no tag is reused while in use. handles: freeing the last
// object of a freed communicator does not communicate.
#include <execinfo.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "parhelion/index_map/derive.hpp"
#include "parhelion/index_map/localize.hpp"
#include "parhelion/parhelion.hpp"
#include "parhelion/phl.h"
#include "parhelion/placement/graph.hpp"
#include "parhelion/placement/placed_comm.hpp"

using namespace parhelion;

namespace {

constexpr int still_s =
    3;  // time limit 1 s, plus 1.5 s in which waiting ranks listen to each other

enum class Trap { none, fails, sleeps };
thread_local Trap trap = Trap::none;
thread_local long counted = 0, at = 0;
thread_local bool sprung = false;

void show_place() {
  std::array<void*, 40> frames{};
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), static_cast<int>(frames.size())), 2);
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (trap != Trap::none && ++counted == at) {
    sprung = true;
    if (std::getenv("SET_UP_TRACE") != nullptr) show_place();
    if (trap == Trap::fails) throw std::bad_alloc();
    std::this_thread::sleep_for(std::chrono::seconds(still_s));
  }
  void* const memory = std::aligned_alloc(
      alignment, (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, std::max(static_cast<std::size_t>(alignment), alignof(std::max_align_t)));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes);
}  // never fails: callers of nothrow new handle null
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

std::atomic<long> calls_of_freeing = 0;
std::atomic<int> inside = 0;  // blocking calls
std::string_view stopped_in;  // this rank is stopped in that call

template <class Call>
int blocking(const char* name, const Call& call) {
  ++inside;
  if (stopped_in == name) stopped_in = {}, kill(getpid(), SIGSTOP);
  const int code = call();
  --inside;
  return code;
}

}  // namespace

// Counts the calls by which ranks free a communicator together.
extern "C" {
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return ++calls_of_freeing, PMPI_Ibarrier(comm, request);
}
int MPI_Comm_free(MPI_Comm* comm) { return ++calls_of_freeing, PMPI_Comm_free(comm); }
int MPI_Improbe(
    int rank, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  return ++calls_of_freeing, PMPI_Improbe(rank, tag, comm, flag, message, status);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return blocking("split", [=] { return PMPI_Comm_split(comm, color, key, made); });
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return blocking("split_type", [=] { return PMPI_Comm_split_type(comm, type, key, info, made); });
}
int MPI_Cart_create(
    MPI_Comm comm, int axes, const int* extents, const int* wraps, int reorder, MPI_Comm* made) {
  return blocking(
      "cart", [=] { return PMPI_Cart_create(comm, axes, extents, wraps, reorder, made); });
}
int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, const int* sources, const int* weights,
    int out, const int* targets, const int* outside, MPI_Info info, int reorder, MPI_Comm* made) {
  return blocking("graph", [=] {
    return PMPI_Dist_graph_create_adjacent(
        comm, in, sources, weights, out, targets, outside, info, reorder, made);
  });
}
}

namespace {

using Action = std::function<void()>;

/// `prepare`, which may be collective, builds the call's arguments before any failure, and returns
/// the call.
struct Case {
  const char* name;
  std::function<Action(MPI_Comm)> prepare;
};

template <class T>
std::shared_ptr<T> held(T value) {
  return std::make_shared<T>(std::move(value));
}

constexpr global_index cells = 6;  // per rank

// Two ghosts from the next rank, one from the previous one.
std::vector<global_index> ghosts_of(const Communicator& comm) {
  if (comm.size() == 1) return {};
  const global_index all = cells * comm.size(), next = (comm.rank() + 1) % comm.size() * cells,
                     before = (comm.rank() * cells + all - 1) % all;
  std::vector<global_index> ghosts{next, next + 1};
  if (before != next && before != next + 1) ghosts.push_back(before);
  return ghosts;
}

// On two ranks, each owns every second id.
std::vector<global_index> owned_of(const Communicator& comm) {
  std::vector<global_index> ids;
  for (global_index k = 0; k < cells; ++k) ids.push_back(k * comm.size() + comm.rank());
  return ids;
}

std::vector<global_index> foreign_of(const Communicator& comm) {
  const int next = (comm.rank() + 1) % comm.size();
  return comm.size() == 1 ? std::vector<global_index>{}
                          : std::vector<global_index>{next, next + comm.size()};
}

std::shared_ptr<IndexedDomain> indexed(MPI_Comm comm) {
  return held(IndexedDomain(cells, ghosts_of(comm), comm));
}

Action first_use(MPI_Comm comm) {
  MPI_Comm fresh = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &fresh);
  return [fresh] { Communicator{fresh}; };
}

Action make_indexed(MPI_Comm comm) {
  const auto ghosts = held(ghosts_of(comm));
  const Communicator own(comm);
  return [=] { IndexedDomain(cells, std::move(*ghosts), own); };
}

Action make_with_ids(MPI_Comm comm) {
  const auto owned = held(owned_of(comm)), ghosts = held(foreign_of(comm));
  const Communicator own(comm);
  return [=] { IndexedDomain::with_owned_ids(std::move(*owned), std::move(*ghosts), own); };
}

Action make_map(MPI_Comm comm) {
  const auto domain = indexed(comm);
  return [=] { IndexMap(std::move(*domain)); };
}

Action make_from_root(MPI_Comm comm) {
  const Communicator own(comm);
  const auto lists = held(std::pair(
      std::vector<global_index>(own.size(), 4), std::vector<global_index>(own.size(), 0)));
  return [=] { domain_from_root({lists->first, lists->second, {}}, 0, own); };
}

Action make_localized(MPI_Comm comm) {
  const auto connectivity = held(owned_of(comm));
  for (const global_index id : foreign_of(comm)) connectivity->push_back(id);
  const Communicator own(comm);
  return [=] { localize(*connectivity, own); };
}

std::function<Action(MPI_Comm)> first_forward(const char* transport) {
  return [transport](MPI_Comm comm) -> Action {
    const auto map = held(IndexMap(std::move(*indexed(comm)), {.transport = transport}));
    const auto values = held(std::vector<double>(map->size()));
    const auto arrays = held(std::vector<CellValues>{CellValues(*values)});
    return [=] { static_cast<void>(values), map->forward(*arrays); };
  };
}

Action first_sum(MPI_Comm comm) {
  const auto map = held(IndexMap(std::move(*indexed(comm)), {.transport = "mpi"}));
  const auto values = held(std::vector<double>(map->size()));
  const auto arrays = held(std::vector<CellValues>{CellValues(*values)});
  return [=] { static_cast<void>(values), map->sum_shared(*arrays); };
}

std::function<Action(MPI_Comm)> spread(bool from_root) {
  return [from_root](MPI_Comm comm) -> Action {
    const auto domain = indexed(comm);
    const auto all =
        held(std::vector<double>(domain->communicator().rank() == 0 ? domain->global_size() : 0));
    const auto mine = held(std::vector<double>(domain->owned()));
    return [=] {
      const CellArray whole{reinterpret_cast<std::byte*>(all->data()), 8},
          owned{reinterpret_cast<std::byte*>(mine->data()), 8};
      const auto count = static_cast<global_index>(all->size());
      from_root ? distribute(*domain, 0, whole, count, owned, 8)
                : collate(*domain, 0, whole, count, owned, 8);
    };
  };
}

struct Grid {
  CartesianDomain domain;
  Array<double> array;
  explicit Grid(MPI_Comm comm)
      : domain({8, 8}, {.halo = 1, .periodic = true}, comm), array(make_array<double>(domain)) {}
};

Action make_cartesian(MPI_Comm comm) {
  const Communicator own(comm);
  const auto extents = held(std::vector<global_index>{8, 8});
  const auto options = held(CartesianOptions{.halo = 1});
  return [=] { CartesianDomain(std::move(*extents), std::move(*options), own); };
}

std::function<Action(MPI_Comm)> exchange_by(const char* transport) {
  return [transport](MPI_Comm comm) -> Action {
    const auto grid = held(Grid(comm));
    const auto pattern = held(build_pattern(grid->domain));
    const auto fields = held(std::vector<Field>{view(grid->array)});
    const auto options = held(ExchangeOptions{.transport = transport});
    const auto groups = held(std::vector<Group>());
    groups->emplace_back(std::move(*pattern), std::move(*fields));
    return [=] { static_cast<void>(grid), Exchange(std::move(*groups), std::move(*options)); };
  };
}

// After a failure, all ranks must know the same choice of transports.
Action choose_again(MPI_Comm comm) {
  MPI_Comm fresh = MPI_COMM_NULL;  // knows none
  MPI_Comm_dup(comm, &fresh);
  const std::shared_ptr<MPI_Comm> owner(new MPI_Comm(fresh), [](MPI_Comm* each) {
    MPI_Comm_free(each);
    delete each;
  });
  exchange_by("mpi")(fresh)();  // sets up the communicator's own resources
  const auto first = held(exchange_by("auto")(fresh)), again = held(exchange_by("auto")(fresh));
  return [=] {
    static_cast<void>(owner);
    try {
      (*first)();
    } catch (const std::exception& error) {
      trap = Trap::none;
      if (std::string_view(error.what()).find("out of memory") != std::string_view::npos)
        (*again)();
      throw;
    }
  };
}

Action first_subset(MPI_Comm comm) {
  const auto grid = held(Grid(comm));
  const auto other = held(make_array<double>(grid->domain));
  const auto exchange =
      held(Exchange(grid->domain, {view(grid->array), view(*other)}, {.transport = "mpi"}));
  const auto subset = held(exchange->only({.fields = {1}}));
  return [=] { static_cast<void>(grid), static_cast<void>(other), (*subset)(); };
}

Action make_point_sums(MPI_Comm comm) {
  const auto grid = held(Grid(comm));
  const auto points = held(std::vector<double>(100));
  const auto fields = held(std::vector<Field>{view(grid->domain, points->data(), {.stagger = 1})});
  const auto options = held(ExchangeOptions{.transport = "mpi"});
  return [=] {
    static_cast<void>(points), PointSums(grid->domain, std::move(*fields), std::move(*options));
  };
}

Action first_move(MPI_Comm comm) {
  const Communicator own(comm);
  const auto from = held(CartesianDomain({8, 8}, {.process_grid = {own.size(), 1}}, comm));
  const auto to = held(CartesianDomain({8, 8}, {.process_grid = {1, own.size()}}, comm));
  const auto before = held(make_array<double>(*from)), after = held(make_array<double>(*to));
  const auto moves = held(std::vector<Move>{{view(*before), view(*after)}});
  const auto options = held(ExchangeOptions{.transport = "mpi"});
  return [=] {
    static_cast<void>(before), static_cast<void>(after),
        Redistribution(*from, *to, std::move(*options)).forward(*moves);
  };
}

std::function<Action(MPI_Comm)> in_one_place(bool to_root) {
  return [to_root](MPI_Comm comm) -> Action {
    const auto grid = held(Grid(comm));
    const auto all = held(std::vector<double>(64));
    const auto whole = held(view_whole(grid->domain, all->data()));
    return [=] {
      static_cast<void>(all);
      to_root ? gather(grid->domain, grid->array.field(), *whole)
              : scatter(grid->domain, *whole, grid->array.field());
    };
  };
}

Action discover_machine(MPI_Comm comm) {
  const Communicator own(comm);
  return [=] { placement::discover(own); };
}

Action make_placed_comm(MPI_Comm comm) {
  const auto options = held(placement::PlacedOptions{.cells = {64, 64}});
  return [=] { placement::PlacedComm(comm, *options); };
}

Action make_cart_and_rows(MPI_Comm comm) {
  const auto placed = held(placement::PlacedComm(comm, {.cells = {16, 16}}));
  const auto remain = held(std::vector<bool>{true, false});
  return [=] {
    MPI_Comm cart = placed->to_cart(), row = placed->sub(*remain);
    MPI_Comm_free(&cart);
    MPI_Comm_free(&row);
  };
}

Action place_some_parts(MPI_Comm comm) {
  const Communicator own(comm);
  const auto edges = held(placement::PartEdges{{(own.rank() + 1) % own.size()}, {8}});
  return [=] {
    MPI_Comm placed = placement::place_parts(comm, *edges);
    MPI_Comm_free(&placed);
  };
}

Action make_ragged(MPI_Comm comm) {
  const auto rows = held(IndexMap(std::move(*indexed(comm)), {.transport = "mpi"}));
  const auto counts = held(std::vector<global_index>{});
  for (local_index row = 0; row < cells; ++row) counts->push_back(1 + row % 3);
  return [=] { IndexMap(ragged_domain(*rows, *counts)); };
}

Action make_by_c(MPI_Comm comm) {
  const auto drop = [](phl_migration* made) { phl_migration_free(made), delete made; };
  const std::shared_ptr<phl_migration> made(new phl_migration(nullptr), drop);
  return [=] {
    if (phl_migration_create(comm, made.get()) != PHL_SUCCESS) throw Error(phl_last_error());
  };
}

std::vector<int> told_by_all(int mine) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> all(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return all;
}

// Message of the exception, or empty.
std::string run(const Action& action, Trap how, long where) {
  std::string thrown;
  counted = 0, at = where, sprung = false, trap = how;
  try {
    action();
    trap = Trap::none;
  } catch (const std::exception& error) {
    trap = Trap::none;
    thrown = error.what();
  }
  return thrown;
}

bool all_well = true;

void expect(bool right, const std::string& what) {
  if (right) return;
  all_well = false;
  std::printf("FAILED: %s\n", what.c_str());
  std::fflush(stdout);
}

// Number of allocations of the call on the victim.
long length_of(const Case& each, MPI_Comm comm, int victim, bool mine) {
  const Action action = each.prepare(comm);
  const std::string thrown = run(action, mine ? Trap::fails : Trap::none, -1);
  expect(thrown.empty(), std::string(each.name) + ": " + thrown);
  long length = counted;
  MPI_Bcast(&length, 1, MPI_LONG, victim, MPI_COMM_WORLD);
  return length;
}

void fail_everywhere(const Case& each, int rank, int victim) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const bool mine = rank == victim, races = std::string(each.name).ends_with("auto");
  length_of(each, comm, victim, mine);  // first call: sets up the communicator's own resources
  const long length = length_of(each, comm, victim, mine);
  const bool reads_folders = std::string(each.name) == "discover";  // few allocations matter
  const long step = reads_folders ? 1 : std::max(length / (races ? 120 : 40), 1L);
  int thrown_in = 0, places = 0;
  for (long where = 1; where <= length;
      where += where < 12 || where + step + 12 > length ? 1 : step, ++places) {
    const std::string text = std::string(each.name) + ", allocation " + std::to_string(where) +
                             " of " + std::to_string(length) + " on rank " + std::to_string(victim);
    if (std::getenv("SET_UP_VERBOSE") != nullptr && rank == 0)
      std::fprintf(stderr, "%s\n", text.c_str());
    const Action action = each.prepare(comm);
    const std::string thrown = run(action, mine ? Trap::fails : Trap::none, where);
    const std::vector<int> who = told_by_all(!thrown.empty()), fell = told_by_all(sprung);
    const auto throwers = std::accumulate(who.begin(), who.end(), 0);
    const bool failed = fell[static_cast<std::size_t>(victim)] != 0;
    expect(throwers == 0 || throwers == static_cast<int>(who.size()),
        text + ": " + std::to_string(throwers) + " ranks threw; here: " + thrown);
    expect(!failed || throwers > 0 || races, text + ": nobody threw");
    expect(
        thrown.empty() || thrown.find("out of memory") != std::string::npos, text + ": " + thrown);
    thrown_in += throwers > 0;
    const std::string again = run(each.prepare(comm), Trap::none, -1);
    expect(again.empty(), text + ": afterwards " + again);
    if (!all_well) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == 0)
    std::printf("%s: all ranks threw in %d of %d places\n", each.name, thrown_in, places);
  MPI_Comm_free(&comm);
}

void stand_still(const Case& each, int rank, int victim) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const bool mine = rank == victim;
  length_of(each, comm, victim, mine);
  const long length = length_of(each, comm, victim, mine);
  const Action action = each.prepare(comm);
  const auto start = std::chrono::steady_clock::now();
  const std::string thrown = run(action, mine ? Trap::sleeps : Trap::none, (length + 1) / 2);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool names = thrown.find("rank " + std::to_string(victim)) != std::string::npos;
  expect(mine || names, std::string(each.name) + ", rank " + std::to_string(victim) +
                            " still: after " + std::to_string(seconds) + " s: " + thrown);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

// The victim is stopped in the call of MPI, and continued when the others have thrown.
void stop_inside(const Case& each, const char* call, int rank, int victim) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const Action action = each.prepare(comm);
  pid_t stopped = getpid();
  MPI_Bcast(&stopped, sizeof stopped, MPI_BYTE, victim, MPI_COMM_WORLD);
  if (rank == victim) stopped_in = call;
  const std::string thrown = run(action, Trap::none, -1);
  if (rank != victim) {
    const bool names = thrown.find("rank " + std::to_string(victim)) != std::string::npos;
    expect(
        names, std::string(each.name) + ", rank " + std::to_string(victim) + " stopped: " + thrown);
  }
  if (rank == 0) std::this_thread::sleep_for(std::chrono::seconds(still_s));
  if (rank == 0) kill(stopped, SIGCONT);
  while (inside > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  MPI_Barrier(MPI_COMM_WORLD);
  expect(stopped_in.empty(), std::string(each.name) + " does not call " + call);
}

MPI_Comm duplicate() {
  MPI_Comm fresh = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  return fresh;
}

void expect_named(const std::string& what, const Action& action) {
  const std::string thrown = run(action, Trap::none, -1);
  expect(thrown.find(what) != std::string::npos && thrown.find("rank 1") != std::string::npos,
      what + " differs: '" + thrown + "'");
}

void differ(int rank) {
  for (const char* variable :
      {"PARHELION_NODE_RANKS", "PARHELION_BEGIN_BYTES", "PARHELION_LARGEST_COUNT"}) {
    MPI_Comm fresh = duplicate();
    if (rank == 1) setenv(variable, "1", 1);
    expect_named(variable, [&] { Communicator{fresh}; });
    if (rank == 1) setenv(variable, "2x", 1);
    expect_named(std::string(variable) + " is '2x'", [&] { Communicator{fresh}; });
    unsetenv(variable);
    const std::string again = run(exchange_by("mpi")(fresh), Trap::none, -1);
    expect(again.empty(), std::string(variable) + " is equal again: " + again);
    MPI_Comm_free(&fresh);
  }
  const std::string limit = std::getenv("PARHELION_TIMEOUT");
  MPI_Comm fresh = duplicate();
  if (rank == 1) setenv("PARHELION_TIMEOUT", "60s", 1);
  expect_named("PARHELION_TIMEOUT is '60s'", [&] { Communicator{fresh}; });
  setenv("PARHELION_TIMEOUT", limit.c_str(), 1);
  if (rank == 1)
    register_transport(
        {"of_rank_1", "for a test", Scope::anywhere, {}, find_transport("mpi").make});
  expect_named("of_rank_1", exchange_by("auto")(fresh));
  expect_named("of_rank_1", exchange_by("mpi")(fresh));
  MPI_Comm_free(&fresh);
}

// Verifies the ghosts of a new map: the same formula of the global index as for owned cells.
bool is_right(const IndexMap& map, long round) {
  std::vector<double> values(static_cast<std::size_t>(map.size()), -1);
  const auto value = [&](global_index id) { return static_cast<double>(1000 * round + id); };
  for (local_index i = 0; i < cells; ++i)
    values[static_cast<std::size_t>(i)] = value(map.domain().first() + i);
  const std::vector<CellValues> arrays{CellValues(values)};
  map.forward(arrays);
  const auto ghosts = ghosts_of(map.communicator());
  for (std::size_t k = 0; k < ghosts.size(); ++k)
    if (values[cells + k] != value(ghosts[k])) return false;
  return true;
}

// One rank begins an exchange that all drop: its announcement and values remain unreceived.
void leave_messages(MPI_Comm comm, int rank) {
  const IndexMap map(
      std::move(*indexed(comm)), {.transport = "mpi", .timeout_s = 0.3, .check = true});
  expect(is_right(map, 0), "tags: wrong where calls are checked");
  if (rank != 0) return;
  const std::string thrown = run([&] { is_right(map, 1); }, Trap::none, -1);
  expect(!thrown.empty(), "tags: a rank that exchanges alone is told nothing");
}

void use_up_tags(int rank) {
  constexpr int most = 32767;
  MPI_Comm comm = duplicate();
  const Communicator own(comm);
  const auto make = [&] { return IndexMap(std::move(*indexed(comm)), {.transport = "mpi"}); };
  const IndexMap living = make();
  expect(is_right(living, 0), "tags: wrong at first");
  int unread = 0;  // tag of an unreceived message: its receiver threw before
  const std::string thrown = run(
      [&] {
        collectively(own, "a call that fails", [&] {
          const Tag tag = own.next_tag();
          unread = tag;
          if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, tag, own.handle());
          if (rank == 1) throw Error("on purpose");
        });
      },
      Trap::none, -1);
  expect(thrown.find("on purpose") != std::string::npos, "tags: " + thrown);
  leave_messages(comm, rank);
  const Tag held = own.next_tag();
  long again = 0, beyond = 0, round = 0;
  for (long taken = 0; taken < 4 * most; ++taken) {
    const Tag next = own.next_tag();
    again += next == held || next == unread;
    beyond += next >= most || next <= Communicator::lost_rank_tag;
    if (taken % 60 == 0 && ++round % 10 == 0)
      expect(
          is_right(living, round), "tags: wrong in an older map, round " + std::to_string(round));
    if (taken % 60 == 0)
      expect(is_right(make(), round), "tags: wrong in a new map, round " + std::to_string(round));
  }
  expect(again == 0, "tags: one in use was given to others " + std::to_string(again) + " times");
  expect(beyond == 0, "tags: " + std::to_string(beyond) + " out of bounds");
  std::vector<Tag> all;
  const std::string full = run(
      [&] {
        while (all.size() <= most) all.push_back(own.next_tag());
      },
      Trap::none, -1);
  expect(full.find("all message tags") != std::string::npos,
      "tags: all in use, and told '" + full + "'");
  long left = 0;  // unreceived messages, which the next user of the tag would match
  for (const Tag& tag : all) {
    int there = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, tag, own.handle(), &there, MPI_STATUS_IGNORE);
    left += there;
  }
  expect(left == 0, "tags: " + std::to_string(left) + " were given away with unread messages");
  all.clear();
  expect(is_right(make(), 1), "tags: wrong after all were in use");
  MPI_Message message = MPI_MESSAGE_NULL;
  int there = 0;
  if (rank == 1) PMPI_Improbe(0, unread, own.handle(), &there, &message, MPI_STATUS_IGNORE);
  if (there != 0) MPI_Mrecv(&there, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
}

void drop_last(int rank) {
  MPI_Comm comm = duplicate();
  auto last = std::make_unique<Communicator>(comm);
  auto map =
      std::make_unique<IndexMap>(std::move(*indexed(comm)), ExchangeOptions{.transport = "shared"});
  expect(is_right(*map, 0), "handles: wrong");
  MPI_Comm_free(&comm);
  MPI_Barrier(MPI_COMM_WORLD);
  const long before = calls_of_freeing;
  if (rank == 0) map.reset(), last.reset();
  expect(calls_of_freeing == before,
      "handles: the last object on a freed communicator communicates where it goes");
  MPI_Barrier(MPI_COMM_WORLD);
  expect(rank == 0 || is_right(IndexMap(std::move(*indexed(MPI_COMM_WORLD))), 1),
      "handles: another rank cannot go on");
  if (rank == 0)
    expect(
        is_right(IndexMap(std::move(*indexed(MPI_COMM_WORLD))), 1), "handles: rank 0 cannot go on");
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases_{{"first use", first_use}, {"Cartesian", make_cartesian},
      {"indexed", make_indexed}, {"with_owned_ids", make_with_ids}, {"IndexMap", make_map},
      {"from_root", make_from_root}, {"localize", make_localized},
      {"first forward", first_forward("mpi")}, {"first forward shared", first_forward("shared")},
      {"distribute", spread(true)}, {"collate", spread(false)}, {"first sum_shared", first_sum},
      {"exchange mpi", exchange_by("mpi")}, {"exchange shared", exchange_by("shared")},
      {"exchange staged_shared", exchange_by("staged_shared")},
      {"exchange mpi_neighbor", exchange_by("mpi_neighbor")},
      {"exchange node_aware", exchange_by("node_aware")}, {"exchange ucx", exchange_by("ucx")},
      {"exchange auto", exchange_by("auto")}, {"first auto", choose_again},
      {"first subset", first_subset}, {"PointSums", make_point_sums},
      {"Redistribution", first_move}, {"gather", in_one_place(true)},
      {"scatter", in_one_place(false)}, {"ragged rows", make_ragged}, {"a handle of C", make_by_c},
      {"discover", discover_machine}, {"PlacedComm", make_placed_comm},
      {"to_cart and sub", make_cart_and_rows}, {"place_parts", place_some_parts}};
  return cases_;
}

bool has_ucx() {
  const auto all = transports();
  const auto ucx = std::ranges::find(all, "ucx", &TransportInfo::name);
  return ucx != all.end() && ucx->unavailable().empty();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "memory";
  const bool memory = mode == "memory";
  setenv("PARHELION_TIMEOUT", mode == "still" || mode == "inside" ? "1" : "20", 1);
  int provided = 0, rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (mode == "unequal") differ(rank);
  if (mode == "tags") use_up_tags(rank);
  if (mode == "handles") drop_last(rank);
  const std::pair<const char*, const char*> blocked[] = {{"first use", "split_type"},
      {"exchange mpi_neighbor", "graph"}, {"PlacedComm", "split"}, {"to_cart and sub", "cart"},
      {"place_parts", "split"}};
  for (const auto& [name, call] : blocked)
    if (mode == "inside" && provided == MPI_THREAD_MULTIPLE)
      stop_inside(*std::ranges::find(all_cases(), std::string_view(name), &Case::name), call, rank,
          size - 1);
  for (const Case& each : all_cases()) {
    if (mode != "memory" && mode != "still") break;
    if (argc > 2 && std::string(argv[2]) != each.name) continue;
    if (std::string(each.name) == "exchange ucx" && !has_ucx()) continue;
    memory ? fail_everywhere(each, rank, size - 1) : stand_still(each, rank, size - 1);
  }
  MPI_Finalize();
  return all_well ? 0 : 1;
}
