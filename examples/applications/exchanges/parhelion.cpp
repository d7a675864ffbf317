#include "exchanges/exchanges.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/exchange/exchange.hpp"

namespace applications {

using namespace parhelion;

namespace {

class WithParhelion final : public GhostUpdate {
 public:
  explicit WithParhelion(const std::string& transport)
      : options_{.transport = transport, .at_once = true} {}

  std::vector<Ghosted> add(const Cells& cells, int components, int count) override {
    const IndexedDomain domain{cells.owned, cells.ghosts, cells.comm};
    const std::size_t values = cells.size() * static_cast<std::size_t>(components);
    std::vector<Ghosted> added;
    for (int i = 0; i < count; ++i) {
      auto* array = reinterpret_cast<double*>(
          memory_.emplace_back(allocate_node_shared(values * sizeof(double))).get());
      arrays_.push_back({view(domain, array, components), exchanges_.size()});
      added.push_back({{array, values}, arrays_.size() - 1});
    }
    exchanges_.emplace_back(
        build_pattern(domain), std::vector<Field>{arrays_.back().field}, options_);
    return added;
  }

  void update(std::size_t number) override {
    exchanges_[arrays_[number].exchange](arrays_[number].field);
  }

  Traffic traffic(std::size_t number) const override {
    const Plan& plan = exchanges_[arrays_[number].exchange].plan();
    return {plan.bytes_sent(), plan.messages_sent()};
  }
  std::string explain() const override { return exchanges_.front().explain(); }

 private:
  struct Array {
    Field field;
    std::size_t exchange;  // index; arrays with the same cells share an exchange
  };
  ExchangeOptions options_;
  std::vector<std::shared_ptr<std::byte>> memory_;
  std::vector<Array> arrays_;
  std::vector<Exchange> exchanges_;
};

}  // namespace

GhostUpdatePointer with_parhelion(const std::string& transport) {
  return std::make_unique<WithParhelion>(transport);
}

}  // namespace applications
