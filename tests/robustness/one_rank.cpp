// one_rank GRID CELLS HALO CASE: messages and allocations of one rank's set-up in a periodic grid
// of ranks with CELLS³ cells each, such as `one_rank 100x100x100 32 1 grid`. CASE: `grid`, a
// CartesianDomain; `blocks`, an IndexedDomain with blocks of ids; `rows`, one with ids in order of
// the whole grid. The other ranks are real or simulated.
#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "core/collective_step.hpp"
#include "parhelion/parhelion.hpp"

using namespace parhelion;

namespace {

using Ids = std::vector<global_index>;
using Messages = std::deque<Message>;
using Place = std::array<global_index, 3>;

Place sum(Place at, global_index factor, const Place& other) {
  for (int d = 0; d < 3; ++d) at[d] += factor * other[d];
  return at;
}
Place wrapped(Place at, const Place& extents) {
  for (int d = 0; d < 3; ++d) at[d] = (at[d] % extents[d] + extents[d]) % extents[d];
  return at;
}
Place cube(global_index edge) { return {edge, edge, edge}; }
global_index number(const Place& at, const Place& in) {
  return (at[0] * in[1] + at[1]) * in[2] + at[2];
}
Place place(global_index number, const Place& in) {
  return {number / in[2] / in[1], number / in[2] % in[1], number % in[2]};
}

// Periodic grid of cells; coordinates may exceed the extents.
struct Torus {
  Place ranks{};
  global_index cells = 0, halo = 0;
  bool by_rows = false;

  int size() const { return static_cast<int>(ranks[0] * ranks[1] * ranks[2]); }
  global_index owned() const { return cells * cells * cells; }
  Place extents() const { return sum({}, cells, ranks); }
  Place first_cell(global_index rank) const { return sum({}, cells, place(rank, ranks)); }
  int owner(Place at) const {
    at = wrapped(at, extents());
    for (global_index& each : at) each /= cells;
    return static_cast<int>(number(at, ranks));
  }
  global_index id(const Place& at) const {
    const Place in = by_rows ? extents() : cube(cells);
    return (by_rows ? 0 : owner(at) * owned()) + number(wrapped(at, in), in);
  }
  Place cell(global_index id) const {
    return by_rows ? place(id, extents())
                   : sum(first_cell(id / owned()), 1, place(id % owned(), cube(cells)));
  }
  Ids ids_of(int rank, bool ghosts) const {
    Ids ids;
    const global_index edge = cells + 2 * halo;
    for (global_index i = 0; i < edge * edge * edge; ++i) {
      const Place at = sum(place(i, cube(edge)), -halo, cube(1));
      if ((at != wrapped(at, cube(cells))) == ghosts)
        ids.push_back(id(sum(first_cell(rank), 1, at)));
    }
    return ids;
  }
};

template <class Values>
Message message(global_index rank, const Values& values) {
  Message made{static_cast<int>(rank), {}};
  made.append(values.data(), values.size());
  return made;
}

// Simulates the messages from other ranks to `rank`.
struct Others {
  Torus torus;
  int rank;
  std::string steps;  // of set-up, one letter per tag
  std::map<int, Messages> sent = {}, waiting = {};
  Messages taken = {}, questions = {};

  Message* find(int from, int tag) {
    if (tag <= Communicator::waiting_tag) return nullptr;  // no rank fails
    if (!waiting.contains(tag)) waiting[tag] = answer(tag);
    for (Message& each : waiting[tag])
      if (each.rank >= 0 && (from == MPI_ANY_SOURCE || from == each.rank)) return &each;
    return nullptr;
  }
  Messages answer(int tag) {
    const auto step = static_cast<std::size_t>(tag - Communicator::waiting_tag - 1);
    switch (const char kind = steps.at(step)) {
      case 's':
      case 'm': return from_before(kind == 's', step - steps.find(kind));
      case 'd': questions = sent[tag]; return for_directory();
      case 'o': return owners();
      default: return mirrored(sent[tag], kind == 'r');
    }
  }
  // before_this_rank: the number of cells, or the last rank, of up to 2^round ranks.
  Messages from_before(bool cells, std::size_t round) const {
    const global_index from = rank - (global_index{1} << round);
    const global_index ranks = std::min(rank - from, from + 1);
    if (from < 0) return {};
    return {message(from, Ids{cells ? ranks * torus.owned() : from})};
  }
  // find_owners: of this rank's share of the directory, the ids that each rank owns or requests.
  Messages for_directory() const {
    std::map<int, std::array<Ids, 2>> of;
    for (global_index i = 0; i < torus.owned(); ++i) {
      const global_index id = rank * torus.owned() + i;
      const Place at = torus.cell(id);
      const int owner = torus.owner(at);
      if (torus.by_rows) of[owner][0].push_back(id);
      for (int k = 0; k < 27; ++k) {
        const Place way = sum(place(k, cube(3)), -1, cube(1));
        const int reader = torus.owner(sum(at, torus.halo, way));
        Ids& asked = of[reader][1];
        if (reader != owner && (asked.empty() || asked.back() != id)) asked.push_back(id);
      }
    }
    Messages all;
    for (const auto& [other, ids] : of) {
      const auto& [own, asked] = ids;
      if (other == rank || own.size() + asked.size() == 0) continue;
      all.push_back(message(other, Ids{static_cast<global_index>(own.size())}));
      all.back().append(own.data(), own.size());
      all.back().append(asked.data(), asked.size());
    }
    return all;
  }
  Messages owners() const {
    Messages all;
    for (const Message& each : questions) {
      const Ids words = each.values<global_index>();
      std::vector<int> found;
      for (auto id = words.begin() + 1 + words[0]; id != words.end(); ++id)
        found.push_back(torus.owner(torus.cell(*id)));
      if (!found.empty()) all.push_back(message(each.rank, found));
    }
    return all;
  }
  // By symmetry, the opposite rank sends the same: with `ids`, a count and the ids of its cells.
  Messages mirrored(const Messages& messages, bool ids) const {
    Messages all;
    for (const Message& each : messages) {
      const Place here = torus.first_cell(rank);
      const Place back = sum(here, -1, torus.first_cell(each.rank));
      Ids words = each.values<global_index>();
      for (std::size_t i = 1; ids && i < words.size(); ++i)
        words[i] = torus.id(sum(torus.cell(words[i]), 1, back));
      if (ids) std::sort(words.begin() + 1, words.end());
      all.push_back(message(torus.owner(sum(here, 1, back)), words));
    }
    return all;
  }
};

Others* others = nullptr;            // null: the other ranks run
MPI_Comm duplicate = MPI_COMM_NULL;  // the library's duplicate of the world
bool has_all(MPI_Comm comm) { return comm == MPI_COMM_WORLD || comm == duplicate; }
bool is_alone(MPI_Comm comm) { return others != nullptr && has_all(comm); }

long sent = 0, sent_bytes = 0, received = 0, received_bytes = 0, collectives = 0;
long memory_now = 0, memory_most = 0;  // bytes allocated outside MPI

bool made_up = false;
struct MakingUp {
  MakingUp() { made_up = true; }
  ~MakingUp() { made_up = false; }
};

void count_memory(void* memory, int sign) {
  if (made_up || memory == nullptr) return;
  memory_now += sign * static_cast<long>(malloc_usable_size(memory));
  memory_most = std::max(memory_most, memory_now);
}

std::array<void*, 4096> aligned;
std::size_t aligned_count = 0;

template <class Call>
int send(Call call, const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
    MPI_Request* request) {
  const MakingUp memory;
  if (tag > Communicator::waiting_tag) ++sent, sent_bytes += count;
  if (!is_alone(comm)) return call(from, count, type, to, tag, comm, request);
  const auto* const bytes = static_cast<const std::byte*>(from);
  others->sent[tag].push_back({to, {bytes, bytes + count}});
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  count_memory(memory, 1);
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  count_memory(memory, -1);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

extern "C" {

void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  void* const memory = __libc_memalign(alignment, bytes);
  count_memory(memory, 1);
  if (aligned_count < aligned.size()) aligned[aligned_count++] = memory;
  return memory;
}
void free(void* memory) noexcept {
  const auto end = aligned.begin() + static_cast<std::ptrdiff_t>(aligned_count);
  if (const auto found = std::find(aligned.begin(), end, memory); found != end) {
    count_memory(memory, -1);
    *found = aligned[--aligned_count];
  }
  __libc_free(memory);
}

int MPI_Comm_size(MPI_Comm comm, int* size) {
  const int result = PMPI_Comm_size(comm, size);
  if (is_alone(comm)) *size = others->torus.size();
  return result;
}
int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  const int result = PMPI_Comm_rank(comm, rank);
  if (is_alone(comm)) *rank = others->rank;
  return result;
}
int MPI_Group_translate_ranks(
    MPI_Group from, int count, const int* numbers, MPI_Group to, int* found) {
  const int result = PMPI_Group_translate_ranks(from, count, numbers, to, found);
  if (others != nullptr) *found = others->rank;
  return result;
}
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  ++collectives;
  const int result = PMPI_Comm_idup(comm, made, request);
  PMPI_Wait(request, MPI_STATUS_IGNORE);
  duplicate = *made;
  return result;
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  ++collectives;
  return PMPI_Comm_split_type(comm, type, key, info, made);
}
// All ranks contribute equal values, so only sums differ from this rank's value.
int MPI_Iallreduce(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op,
    MPI_Comm comm, MPI_Request* request) {
  const int result = PMPI_Iallreduce(from, into, count, type, op, comm, request);
  collectives += has_all(comm);
  if (!is_alone(comm) || type == MPI_UINT64_T || type == MPI_INT) return result;
  PMPI_Wait(request, MPI_STATUS_IGNORE);
  auto* all = static_cast<Contribution*>(into);
  if (static_cast<Combine>(all->combine) == Combine::sum)
    for (std::uint64_t& each : all->values) each *= static_cast<unsigned>(others->torus.size());
  return result;
}
int MPI_Ialltoallv(const void* from, const int sent_counts[], const int from_places[],
    MPI_Datatype type, void* into, const int counts[], const int places[], MPI_Datatype into_type,
    MPI_Comm comm, MPI_Request* request) {
  collectives += has_all(comm);
  return PMPI_Ialltoallv(
      from, sent_counts, from_places, type, into, counts, places, into_type, comm, request);
}
int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
    MPI_Request* request) {
  return send(PMPI_Isend, from, count, type, to, tag, comm, request);
}
int MPI_Issend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
    MPI_Request* request) {
  return send(PMPI_Issend, from, count, type, to, tag, comm, request);
}
int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* there, MPI_Status* status) {
  if (!is_alone(comm)) return PMPI_Iprobe(from, tag, comm, there, status);
  const MakingUp memory;
  const Message* const found = others->find(from, tag);
  *there = found != nullptr;
  if (found != nullptr && status != MPI_STATUS_IGNORE) status->MPI_SOURCE = found->rank;
  return MPI_SUCCESS;
}
// Delivers the message through MPI, from this process to itself.
int MPI_Improbe(
    int from, int tag, MPI_Comm comm, int* there, MPI_Message* message, MPI_Status* status) {
  if (!is_alone(comm)) return PMPI_Improbe(from, tag, comm, there, message, status);
  const MakingUp memory;
  Message* const found = others->find(from, tag);
  *there = 0;
  if (found == nullptr) return MPI_SUCCESS;
  const auto& [rank, bytes] = others->taken.emplace_back(std::move(*found));
  found->rank = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Isend(
      bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, tag, MPI_COMM_SELF, &request);
  PMPI_Request_free(&request);
  while (*there == 0) PMPI_Improbe(0, tag, MPI_COMM_SELF, there, message, status);
  status->MPI_SOURCE = rank;
  return MPI_SUCCESS;
}
int MPI_Imrecv(
    void* into, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  ++received, received_bytes += count;
  return PMPI_Imrecv(into, count, type, message, request);
}

}  // extern "C"

namespace {

// Tags of the set-up: rounds of before_this_rank (sums, then maxima), directory requests, owners,
// cell requests, plan checks.
std::string steps_of(const std::string& name, int ranks) {
  if (name != "blocks") return name == "rows" ? "dorn" : "n";
  std::size_t rounds = 0;
  while ((1 << rounds) < ranks) ++rounds;
  return std::string(rounds, 's') + "d" + std::string(rounds, 'm') + "orn";
}

// Set-up without arrays.
void set_up(const Torus& torus, const std::string& name, int rank, bool told) {
  const Place extents = torus.extents();
  const CartesianOptions options{.halo = static_cast<int>(torus.halo),
      .periodic = true,
      .process_grid = {torus.ranks.begin(), torus.ranks.end()}};
  const auto edge = static_cast<std::size_t>(torus.cells + 2 * torus.halo);
  std::vector<double> field(edge * edge * edge);
  const Ids own = torus.ids_of(rank, false), ghosts = torus.ids_of(rank, true);
  const long before = memory_most = memory_now;
  const auto print = [&](const Exchange&) {
    if (told)
      std::printf(
          "sends %ld messages, %ld bytes; receives %ld messages, %ld bytes; %ld "
          "collective calls; %ld bytes of memory, then %ld\n",
          sent, sent_bytes, received, received_bytes, collectives, memory_most - before,
          memory_now - before);
  };
  if (name == "grid") {
    const CartesianDomain domain({extents.begin(), extents.end()}, options);
    print(Exchange(domain, {view(domain, field.data())}, {.transport = "mpi"}));
  } else {
    const IndexMap map(torus.by_rows ? IndexedDomain::with_owned_ids(own, ghosts)
                                     : IndexedDomain(torus.owned(), ghosts));
    const Field cells = view(map.domain(), field.data());
    print(Exchange(map.pattern(), {cells}, {.transport = "mpi"}));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Torus torus;
  auto& [x, y, z] = torus.ranks;
  if (argc != 5 || std::sscanf(argv[1], "%ldx%ldx%ld", &x, &y, &z) != 3) return 2;
  torus.cells = std::atol(argv[2]);
  torus.halo = std::atol(argv[3]);
  const std::string name = argv[4];
  torus.by_rows = name == "rows";
  // With `rows`, the last rank owns the largest id.
  const int one = torus.by_rows ? torus.size() - 1 : torus.size() / 2;
  setenv("PARHELION_NODE_RANKS", "1", 1);  // one rank per node
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1) others = new Others{torus, rank = one, steps_of(name, torus.size())};
  set_up(torus, name, rank, rank == one);
  MPI_Finalize();
}
