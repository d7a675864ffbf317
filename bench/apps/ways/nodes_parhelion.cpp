#include <optional>

#include "apps/ways/nodes.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/index_map/index_map.hpp"
#include "parhelion/index_map/localize.hpp"
#include "parhelion/pattern/shared_points.hpp"

namespace parhelion::bench {

namespace {

class WithParhelion final : public NodeSums {
public:
    explicit WithParhelion(const std::string& transport) : options_{.transport = transport, .at_once = true} {}

    std::array<std::span<double>, 3> add(const NodeBox& box) override {
        std::vector<global_index> ids;
        for (int node = 0; node < box.nodes(); ++node) ids.push_back(box.global(node));
        auto [nodes, places] = localize(ids, box.comm);
        places_ = std::move(places);
        map_.emplace(std::move(nodes), options_);
        memory_ = allocate_node_shared(static_cast<byte_count>(3 * ids.size() * sizeof(double)));
        auto* first = reinterpret_cast<double*>(memory_.get());
        for (std::size_t f = 0; f < 3; ++f) fields_[f] = {first + f * ids.size(), ids.size()};
        sum();
        return fields_;
    }
    int place(int node) const override { return places_[static_cast<std::size_t>(node)]; }
    void sum() override { map_->sum_shared({fields_[0].data(), fields_[1].data(), fields_[2].data()}); }

    Traffic traffic() const override {
        const SharedPoints points = find_shared_points(map_->domain());
        Traffic sum;
        for (const Link& link : points.pattern.stages.front())
            sum.bytes += static_cast<std::int64_t>(3 * link.send.cells.size() * sizeof(double)), sum.messages += !link.send.cells.empty();
        return sum;
    }
    std::string explain() const override { return map_->explain_shared({fields_[0].data(), fields_[1].data(), fields_[2].data()}); }

private:
    ExchangeOptions options_;
    std::optional<IndexMap> map_;
    std::vector<local_index> places_;
    std::shared_ptr<std::byte> memory_;
    std::array<std::span<double>, 3> fields_;
};

}  // namespace

NodeSumsPointer nodes_with_parhelion(const std::string& transport) { return std::make_unique<WithParhelion>(transport); }

}  // namespace parhelion::bench
