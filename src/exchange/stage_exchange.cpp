#include "exchange/stage_exchange.hpp"

#include <algorithm>

#include "exchange/waiter.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {

StageExchange::StageExchange(const Plan& plan, const StagePlan& stage, const Choice& choice) : plan_(plan), stage_(stage) {
    const Communicator& comm = plan.communicator();
    if (choice.splits()) comm.node();
    const auto on_node = [&](const LinkPlan& link) { return choice.splits() && comm.node_rank(link.rank) >= 0; };
    validate_together(comm, [&] {
        for (const LinkPlan& link : stage.links)
            if (choice.far->scope == Scope::same_node && !on_node(link))
                throw Error("transport " + choice.far->name + " cannot reach rank " + std::to_string(link.rank) +
                            ", which is on another node: use auto, or " + choice.far->name + "+mpi_persistent");
    });
    for (const TransportInfo* info : choice.used()) {
        std::vector<const LinkPlan*> links;
        for (const LinkPlan& link : stage.links)
            if (&choice.for_link(link, on_node(link)) == info) links.push_back(&link);
        use(plan, *info, std::move(links));
    }
    if (stage.self) in_order_.push_back({comm.rank(), -1, 0});
    for (int u = 0; u < static_cast<int>(used_.size()); ++u) {
        arrived_.emplace_back(used_[u].links.size());
        for (int slot = 0; slot < static_cast<int>(used_[u].links.size()); ++slot)
            if (used_[u].links[slot]->reverse.receive_bytes > 0) in_order_.push_back({used_[u].links[slot]->rank, u, slot});
    }
    std::sort(in_order_.begin(), in_order_.end(), [](const Place& a, const Place& b) { return a.rank < b.rank; });
}

void StageExchange::use(const Plan& plan, const TransportInfo& info, std::vector<const LinkPlan*> links) {
    auto transport = info.make({plan, links, plan.communicator().next_tag()});
    if (!links.empty()) {
        if (transport->node() != nullptr) node_ = transport->node();
        else also_mpi_ = true;
    }
    used_.push_back({&info, std::move(transport), std::move(links)});
}

void StageExchange::begin(Direction direction) {
    missing_ = 0;
    for (Used& used : used_) {
        missing_ += used.transport->expected(direction);
        used.transport->begin(direction);
    }
    if (direction == Direction::forward && stage_.self) {
        run(stage_.self->forward, plan_.bases.data(), plan_.bases.data());
        run(stage_.self->repeat, plan_.bases.data(), plan_.bases.data());
    }
    for (auto& flags : arrived_) std::fill(flags.begin(), flags.end(), 0);
}

bool StageExchange::deliver_arrived(Direction direction, Reduction reduction) {
    bool any = false;
    for (std::size_t u = 0; u < used_.size(); ++u)
        for (int slot; (slot = used_[u].transport->ready(direction)) >= 0; any = true) {
            --missing_;
            if (direction == Direction::forward) used_[u].transport->deliver(slot, direction, reduction);
            arrived_[u][static_cast<std::size_t>(slot)] = 1;
        }
    return any;
}

void StageExchange::deliver_in_order(Reduction reduction) {
    for (const Place& place : in_order_) {
        if (place.used < 0) {
            reduce(stage_.self->reverse, plan_.bases.data(), plan_.bases.data(), reduction);
            continue;
        }
        used_[static_cast<std::size_t>(place.used)].transport->deliver(place.slot, Direction::reverse, reduction);
    }
}

bool StageExchange::finished(Direction direction) {
    bool all = true;
    for (Used& used : used_) all = used.transport->finished(direction) && all;
    return all;
}

void StageExchange::end(Direction direction, Reduction reduction, double timeout_s) {
    Waiter waiter(node_, also_mpi_, timeout_s);
    const auto wait = [&](bool progressed) {
        if (progressed) waiter.reset();
        else waiter.pause([&] { return missing_text(direction); });
    };
    while (missing_ > 0) wait(deliver_arrived(direction, reduction));
    if (direction == Direction::reverse) deliver_in_order(reduction);
    while (!finished(direction)) wait(false);
}

std::string StageExchange::missing_text(Direction direction) const {
    std::string text = direction == Direction::forward ? "in a forward exchange" : "in a reverse exchange";
    text += " of rank " + std::to_string(plan_.communicator().rank());
    for (std::size_t u = 0; u < used_.size(); ++u)
        for (std::size_t slot = 0; slot < arrived_[u].size(); ++slot)
            if (!arrived_[u][slot] && used_[u].links[slot]->way(direction).receive_bytes > 0)
                text += ", " + used_[u].info->name + " " + used_[u].transport->state(static_cast<int>(slot), direction);
    return missing_ > 0 ? text : text + ", waiting for its neighbors to take its values";
}

}  // namespace parhelion
