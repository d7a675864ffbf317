#include "apps/ways/ways.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/exchange/exchange.hpp"

namespace parhelion::bench {

namespace {

class WithParhelion final : public GhostUpdate {
public:
    explicit WithParhelion(const std::string& transport) : options_{.transport = transport, .at_once = true} {}

    std::vector<Ghosted> add(const Cells& cells, int components, int count) override {
        const IndexedDomain domain{cells.owned, cells.ghosts, cells.comm};
        const Pattern pattern = build_pattern(domain);
        const std::size_t values = cells.size() * static_cast<std::size_t>(components);
        std::vector<Ghosted> added;
        for (int i = 0; i < count; ++i) {
            auto* array = reinterpret_cast<double*>(memory_.emplace_back(allocate_node_shared(values * sizeof(double))).get());
            exchanges_.emplace_back(pattern, std::vector<Field>{view(domain, array, components)}, options_);
            added.push_back({{array, values}, exchanges_.size() - 1});
        }
        return added;
    }

    void update(std::size_t number) override { exchanges_[number](); }

    Traffic traffic(std::size_t number) const override {
        const Plan& plan = exchanges_[number].plan();
        return {plan.bytes_sent(), plan.messages_sent()};
    }
    std::string explain() const override { return exchanges_.front().explain(); }

private:
    ExchangeOptions options_;
    std::vector<std::shared_ptr<std::byte>> memory_;
    std::vector<Exchange> exchanges_;
};

}  // namespace

GhostUpdatePointer with_parhelion(const std::string& transport) { return std::make_unique<WithParhelion>(transport); }

}  // namespace parhelion::bench
