#include "exchange/stage_exchange.hpp"

#include <algorithm>

#include "parhelion/core/error.hpp"
#include "plan/shared_run.hpp"

namespace parhelion {

namespace {

void require_reach(const TransportInfo& info, const LinkPlan& link, bool on_node) {
    const std::string refusal = "transport " + info.name + " cannot reach rank " + std::to_string(link.rank);
    if (info.scope == Scope::own_rank)
        throw Error(refusal + ": it serves a rank's own periodic images only, which every transport does: use auto");
    if (info.scope == Scope::same_node && !on_node)
        throw Error(refusal + ", which is on another node: use auto, or " + info.name + "+mpi_persistent");
}

}  // namespace

StageExchange::StageExchange(const Plan& plan, const StagePlan& stage, const Choice& choice, const Trial& trial)
    : plan_(plan), stage_(stage) {
    const Communicator& comm = plan.communicator();
    if (choice.splits()) comm.node();
    const auto on_node = [&](const LinkPlan& link) { return choice.splits() && comm.node_rank(link.rank) >= 0; };
    validate_together(comm, [&] {
        for (const LinkPlan& link : stage.links) require_reach(choice.for_link(link, on_node(link)), link, on_node(link));
    });
    for (const TransportInfo* info : choice.used()) {
        std::vector<const LinkPlan*> links;
        for (const LinkPlan& link : stage.links)
            if (&choice.for_link(link, on_node(link)) == info) links.push_back(&link);
        use(*info, std::move(links), trial);
    }
    if (stage.self) in_order_.push_back({comm.rank(), -1, 0});
    for (int u = 0; u < static_cast<int>(used_.size()); ++u)
        for (int slot = 0; slot < static_cast<int>(used_[u].links.size()); ++slot)
            if (used_[u].links[slot]->reverse.receive_bytes > 0) in_order_.push_back({used_[u].links[slot]->rank, u, slot});
    std::sort(in_order_.begin(), in_order_.end(), [](const Place& a, const Place& b) { return a.rank < b.rank; });
}

void StageExchange::use(const TransportInfo& info, std::vector<const LinkPlan*> links, const Trial& trial) {
    const std::shared_ptr<Transport> made = info.make({plan_, links, plan_.communicator().next_tag(), trial.lanes, trial.rival_s});
    if (!links.empty()) {
        if (made->node() != nullptr) node_ = made->node();
        must_poll_ = must_poll_ || made->must_poll();
        calls_mpi_ = calls_mpi_ || made->calls_mpi();
    }
    used_.push_back({&info, made, has_reverse(trial.lanes) ? made : nullptr, std::move(links)});
}

void StageExchange::complete() {
    for (Used& used : used_)
        if (!used.reverse)
            used.reverse = used.info->make({plan_, used.links, plan_.communicator().next_tag(), Lanes::reverse});
}

void StageExchange::begin(Direction direction) {
    expect(direction);
    for (Used& used : used_) used.at(direction).begin(direction);
    if (direction == Direction::forward) copy_own_images();
}

void StageExchange::leave(Direction direction) {
    for (Used& used : used_) used.at(direction).leave(direction);
}

void StageExchange::open_parts() {
    expect(Direction::forward);
    for (Used& used : used_)
        if (used.forward->takes_parts()) used.forward->open_parts();
}

void StageExchange::put_part(int part, bool may_call_mpi) {
    for (Used& used : used_)
        if (used.forward->takes_parts()) used.forward->put_part(part, may_call_mpi);
}

void StageExchange::close_parts() {
    for (Used& used : used_) used.forward->takes_parts() ? used.forward->close_parts() : used.forward->begin(Direction::forward);
    copy_own_images();
}

bool StageExchange::takes_parts() const {
    return std::any_of(used_.begin(), used_.end(), [](const Used& used) { return !used.links.empty() && used.forward->takes_parts(); });
}

void StageExchange::expect(Direction direction) {
    missing_ = 0;
    combined_ = direction == Direction::forward && stage_.wrap.empty();
    for (Used& used : used_) missing_ += used.at(direction).expected(direction);
}

void StageExchange::copy_own_images() {
    if (!stage_.self) return;
    run_shared(plan_, stage_.self->forward, plan_.bases.data(), plan_.bases.data());
    run(stage_.self->repeat, plan_.bases.data(), plan_.bases.data());
}

bool StageExchange::deliver_arrived(Direction direction, Reduction reduction) {
    bool any = false;
    for (Used& used : used_)
        for (int slot; (slot = used.at(direction).ready(direction)) >= 0; any = true) {
            --missing_;
            if (direction == Direction::forward) used.at(direction).deliver(slot, direction, reduction);
        }
    return any;
}

void StageExchange::deliver_in_order(Reduction reduction) {
    for (const Place& place : in_order_) {
        if (place.used < 0) {
            reduce(stage_.self->reverse, plan_.bases.data(), plan_.bases.data(), reduction);
            continue;
        }
        used_[static_cast<std::size_t>(place.used)].reverse->deliver(place.slot, Direction::reverse, reduction);
    }
}

bool StageExchange::finished(Direction direction) {
    bool all = true;
    for (Used& used : used_) all = used.at(direction).finished(direction) && all;
    return all;
}

Poll StageExchange::poll(Direction direction, Reduction reduction) {
    bool moved = missing_ > 0 && deliver_arrived(direction, reduction);
    if (missing_ == 0 && !combined_) {
        if (direction == Direction::forward) run_shared(plan_, stage_.wrap, plan_.bases.data(), plan_.bases.data(), true);
        else deliver_in_order(reduction);
        combined_ = moved = true;
    }
    if (missing_ == 0 && finished(direction)) return Poll::complete;
    return moved ? Poll::moved : Poll::nothing;
}

std::string StageExchange::missing_text(Direction direction) const {
    std::string text = direction == Direction::forward ? "in a forward exchange" : "in a reverse exchange";
    text += " of rank " + std::to_string(plan_.communicator().rank());
    std::string waits;
    for (const Used& used : used_)
        for (int slot = 0; slot < static_cast<int>(used.links.size()); ++slot) {
            const std::string state = used.at(direction).state(slot, direction);
            if (!state.empty()) waits += ", " + used.info->name + " " + state;
        }
    return text + (waits.empty() ? ", waiting for its neighbors to take its values" : waits);
}

}  // namespace parhelion
