#include "library.hpp"

#include <optional>
#include <sstream>

#include "parhelion/core/collective.hpp"
#include "variant.hpp"

namespace parhelion::bench {

namespace {

class LibraryExchange : public Variant {
 public:
  LibraryExchange(Exchange exchange, std::shared_ptr<Values> values)
      : exchange_(std::move(exchange)), values_(std::move(values)) {}

  void exchange() override { exchange_(); }
  bool has_halves() const override { return true; }
  void begin() override { step_.emplace(exchange_.begin()); }
  void end() override {
    step_->end();
    step_.reset();
  }
  Values& values() override { return *values_; }
  Traffic traffic() const override { return traffic_of(exchange_.plan()); }
  nlohmann::json explain() const override { return exchange_.explain(); }

 private:
  Exchange exchange_;
  std::optional<Exchange::Step> step_;
  std::shared_ptr<Values> values_;
};

std::string why_alone(const TransportInfo& info, const Communicator& comm) {
  if (info.scope == Scope::same_node && comm.node().size() < comm.size())
    return "it reaches only neighbors on the same node";
  if (info.scope == Scope::own_rank && comm.size() > 1)
    return "it serves a rank's own periodic images only";
  return {};
}

// Reason why the first unusable part of NEAR+FAR is unusable; empty if there is none.
std::string reason_against(const LibraryVariant& which, const Communicator& comm) {
  std::istringstream parts(which.transport);
  for (std::string part; std::getline(parts, part, '+');)
    for (const TransportInfo& info : transports()) {
      if (part != info.name) continue;
      if (const std::string why_not = info.unavailable(); !why_not.empty()) return why_not;
      if (part == which.transport) return why_alone(info, comm);
    }
  return {};
}

// Excluded from "all": they need a rare kernel module, device arrays, several nodes, or one rank.
bool rarely_there(const TransportInfo& info) {
  return info.name == "xpmem" || info.traits.reach[0] == Reach::none || info.traits.passes_on ||
         info.scope == Scope::own_rank;
}

}  // namespace

std::vector<LibraryVariant> library_variants() {
  std::vector<LibraryVariant> variants{{"auto", true}};
  for (const TransportInfo& info : transports())
    variants.push_back(
        {info.name, info.scope == Scope::same_node, rarely_there(info), info.unavailable()});
  for (const TransportInfo& near : transports()) {
    if (near.scope != Scope::same_node) continue;
    for (const TransportInfo& far : transports())
      if (far.scope == Scope::anywhere)
        variants.push_back({near.name + "+" + far.name, true, true});
  }
  for (const char* sequence : {"by_dimension:", "far_by_dimension:"})
    for (const TransportInfo& info : transports()) {
      if (info.scope == Scope::anywhere)
        variants.push_back({sequence + info.name, false, true, info.unavailable()});
      if (info.scope == Scope::same_node)
        variants.push_back({sequence + info.name + "+mpi", true, true, info.unavailable()});
    }
  return variants;
}

Traffic traffic_of(const Plan& plan) {
  Traffic traffic{plan.bytes_sent(), plan.messages_sent()};
  for (const StagePlan& stage : plan.stages) {
    for (const LinkPlan& link : stage.links)
      if (link.forward.send_bytes > 0) traffic.sent.push_back({link.rank, link.forward.send_bytes});
    if (stage.self)
      traffic.sent.push_back({plan.communicator().rank(), ghost_bytes(plan, stage.self->links)});
  }
  return traffic;
}

void require_usable(const LibraryVariant& which, const Communicator& comm) {
  const std::string mine = reason_against(which, comm);
  std::string agreed;
  try {
    agree(comm, {!mine.empty(), mine});
  } catch (const Error& e) {
    agreed = e.what();
  }
  if (!agreed.empty()) throw CannotRun(agreed);
}

VariantPointer make_library_variant(const LibraryVariant& which,
    const std::function<Pattern()>& pattern, std::vector<Field> fields,
    std::shared_ptr<Values> values, SetupTimes& times, const Work& work, bool in_halves) {
  Pattern built = timed(times.pattern, pattern);
  return timed(times.plan, [&] {
    ExchangeOptions options{.transport = which.transport,
        .overlap = work.any(),
        .at_once = !work.any() && !in_halves,
        .work_s = work.seconds};
    try {
      Exchange exchange{std::move(built), std::move(fields), std::move(options)};
      return std::make_unique<LibraryExchange>(std::move(exchange), std::move(values));
    } catch (const Error& error) {  // on every rank
      if (error.kind() != ErrorKind::system) throw;
      throw CannotRun(error.what());
    }
  });
}

}  // namespace parhelion::bench
