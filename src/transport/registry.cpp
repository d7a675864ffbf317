#include <algorithm>
#include <list>
#include <mutex>

#include "core/concat.hpp"
#include "parhelion/plan/executor.hpp"
#include "transport/factories.hpp"
#include "transport/node/peer_arrays.hpp"

namespace parhelion {
namespace {

std::string works() { return {}; }

// For host and for device memory.
constexpr std::array<Reach, 2> any_arrays{Reach::arrays, Reach::arrays},
    by_messages{Reach::arrays, Reach::messages},
    by_own_messages{Reach::arrays, Reach::own_messages}, on_devices{Reach::none, Reach::arrays};

std::string xpmem_refusal(const Plan&) { return xpmem_unavailable(); }

constexpr auto short_name = "node_aware", short_for = "node_aware(mpi)";

}  // namespace

#ifndef PARHELION_WITH_UCX
std::string ucx_missing() {
  return "this build has no UCX (pip install libucx-cu12, then build again)";
}
std::unique_ptr<Messenger> make_ucx_messenger(const TransportContext&, std::vector<Channel>) {
  refuse(ucx_missing());
}
#endif

namespace {

// Direct copies slow down most when cores are far apart or migrate.
constexpr double for_direct = 1.05;

using Context = const TransportContext&;

// A list keeps addresses valid.
struct Registry {
  std::mutex mutex;
  std::list<TransportInfo> all{
      {"loopback", "copies to the rank's own periodic ghosts", Scope::own_rank, works,
          make_loopback, {.reach = any_arrays}},
      {"mpi", "MPI_Isend and MPI_Irecv", Scope::anywhere, works, make_mpi, {.reach = by_messages}},
      {"mpi_neighbor", "MPI neighborhood collective", Scope::anywhere, works, make_mpi_neighbor,
          {.reach = by_messages, .makes_communicator = true}},
      {"shared", "one copy between arrays in node-shared memory", Scope::same_node, works,
          [](Context of) { return make_single_copy(of, "shared", node_shared_access()); },
          {.refusal = private_field, .direct = true, .handicap = for_direct}},
      {"staged_shared", "two copies through rings in node-shared memory", Scope::same_node, works,
          make_staged_shared, {.reach = by_own_messages}},
      {"xpmem", "one copy between arrays that XPMEM maps", Scope::same_node, xpmem_unavailable,
          [](Context of) { return make_single_copy(of, "xpmem", xpmem_access()); },
          {.refusal = xpmem_refusal, .direct = true, .handicap = for_direct}},
      {"device_ipc", "one copy between arrays on devices that CUDA's handles share",
          Scope::same_node, device_ipc_unavailable, make_device_ipc,
          {.refusal = device_ipc_refusal, .reach = on_devices, .direct = true}},
      {"device_mpi", "messages in device memory, by an MPI that moves it", Scope::anywhere,
          device_ipc_unavailable, make_device_mpi,
          {.is_promising = mpi_claims_devices, .reach = on_devices}},
      {"ucx", "messages by UCX, without MPI", Scope::anywhere, ucx_missing,
          [](Context of) {
            return make_message_transport(of, make_ucx_messenger, {.mpi = false, .pieces = true});
          },
          {.reach = by_messages, .between_nodes = true}},
      {"node_aware(mpi)", "one MPI message per pair of nodes, with each cell once", Scope::anywhere,
          works, [](Context of) { return make_node_aware(of, make_mpi_messenger); },
          {.reach = by_own_messages, .between_nodes = true, .passes_on = true}},
      {"node_aware(ucx)", "one UCX message per pair of nodes, with each cell once", Scope::anywhere,
          ucx_missing, [](Context of) { return make_node_aware(of, make_ucx_messenger); },
          {.reach = by_own_messages, .between_nodes = true, .passes_on = true}},
  };
};

Registry& registry() {
  static auto* instance = new Registry;  // never freed: exchanges may use it during exit
  return *instance;
}

void check_new(const Registry& known, const TransportInfo& info) {
  if (info.name.empty() || info.name == "auto" ||
      info.name.find_first_of("+|,:") != std::string::npos)
    refuse("a transport cannot be called '", info.name, "': use a word without +, |, : and commas");
  if (!info.make) refuse("transport ", info.name, " has no `make` function");
  for (const TransportInfo& other : known.all)
    if (other.name == info.name || info.name == short_name)
      refuse("transport ", info.name, " exists already: use another name");
}

}  // namespace

Reach reach_of(const TransportInfo& info, const Plan& plan) {
  return info.traits.reach[static_cast<std::size_t>(plan.space())];
}

bool serves_memory_of(const TransportInfo& info, const Plan& plan) {
  const Reach reach = plan.fields.empty() ? Reach::arrays : reach_of(info, plan);
  return reach != Reach::none && (reach != Reach::own_messages || plan.executor->reaches_host());
}

std::string refusal_of(const TransportInfo& info, const Plan& plan) {
  if (!serves_memory_of(info, plan))
    return field_name(plan, 0) + " is in " + to_string(plan.fields.front().space) +
           " memory, which it does not reach: use mpi, keep the arrays in the host's memory, "
           "or "
           "register a transport for it";
  return info.traits.refusal ? info.traits.refusal(plan) : "";
}

std::vector<TransportInfo> transports() {
  const std::lock_guard lock(registry().mutex);
  return {registry().all.begin(), registry().all.end()};
}

std::vector<const TransportInfo*> known_transports() {
  const std::lock_guard lock(registry().mutex);
  std::vector<const TransportInfo*> known;
  for (const TransportInfo& info : registry().all) known.push_back(&info);
  return known;
}

void register_transport(TransportInfo info) {
  const std::lock_guard lock(registry().mutex);
  check_new(registry(), info);
  if (!info.unavailable) info.unavailable = works;
  registry().all.push_back(std::move(info));
}

const TransportInfo& find_transport(const std::string& name) {
  const std::vector<const TransportInfo*> known = known_transports();
  const auto found =
      std::ranges::find(known, name == short_name ? short_for : name, &TransportInfo::name);
  if (found == known.end()) {
    std::string names;
    for (const TransportInfo* each : known) names += (names.empty() ? "" : ", ") + each->name;
    refuse("there is no transport '", name, "': use auto, or one of ", names);
  }
  const std::string why_not = (*found)->unavailable();
  if (!why_not.empty()) refuse("transport ", name, " cannot be used here: ", why_not);
  return **found;
}

}  // namespace parhelion
