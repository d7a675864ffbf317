#include "exchange/stage_exchange.hpp"

#include <algorithm>

#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/plan/executor.hpp"
#include "transport/split.hpp"

namespace parhelion {

namespace {

void require_reach(const TransportInfo& info, const LinkPlan& link, bool on_node) {
    const std::string refusal =
        "transport " + info.name + " cannot reach rank " + std::to_string(link.rank);
    if (info.scope == Scope::own_rank)
        throw Error(
            refusal +
            ": it serves a rank's own periodic images only, which every transport does: use auto");
    if (info.scope == Scope::same_node && !on_node)
        throw Error(refusal + ", which is on another node: use auto, or " + info.name + "+mpi");
}

// Whoever the neighbors are: known to all ranks without asking.
bool reaches_all(const Choice& choice, const Communicator& comm) {
    if (std::ranges::any_of(choice.used(), [](const TransportInfo* info) {
            return info->scope == Scope::own_rank;
        }))
        return false;
    return choice.far->scope == Scope::anywhere || comm.node().size() == comm.size();
}

void require_space(const TransportInfo& info, const Plan& plan) {
    if (!serves_memory_of(info, plan))
        throw Error("transport " + info.name + ": " + refusal_of(info, plan));
}

}  // namespace

StageExchange::StageExchange(const Plan& plan, const BoundArrays& arrays, Queue& queue,
                             Direction direction, const StagePlan& stage, const Choice& choice)
    : plan_(plan), arrays_(arrays), queue_(queue), direction_(direction), stage_(stage),
      arrived_(stage.links.size()) {
    if (choice.splits()) plan.communicator().node();
    for (const LinkPlan& link : stage.links)
        names_.push_back(&choice.for_link(link, on_node(choice, link)));
    for (const TransportInfo* each : choice.used())
        require_space(*each, plan);  // all ranks have the same spaces
    if (!reaches_all(choice, plan.communicator()))
        validate_together(plan.communicator(), [&] {
            for (std::size_t i = 0; i < names_.size(); ++i)
                require_reach(*names_[i], stage.links[i], on_node(choice, stage.links[i]));
        });
    use_transports(choice);
    if (stage.links.empty()) return;
    node_ = transport_->node();
    must_poll_ = transport_->must_poll() || !plan.executor->is_immediate();
    calls_mpi_ = transport_->calls_mpi();
}

bool StageExchange::on_node(const Choice& choice, const LinkPlan& link) const {
    return choice.splits() && plan_.communicator().node_rank(link.rank) >= 0;
}

// Every rank makes each transport, also with no links.
void StageExchange::use_transports(const Choice& choice) {
    TransportContext context{plan_, arrays_, direction_, queue_, false, {}};
    const auto make = [&](const TransportInfo* info, std::vector<int>& slots) {
        std::vector<const LinkPlan*> links;
        for (int slot = 0; slot < static_cast<int>(names_.size()); ++slot)
            if (names_[slot] == info) {
                links.push_back(&stage_.links[slot]);
                slots.push_back(slot);
            }
        context.has_reach = reach_of(*info, plan_) == Reach::arrays;
        return info->make(context.with(std::move(links)));
    };
    const auto used = choice.used();
    std::vector<int> slots;
    if (used.size() == 1) {
        transport_ = make(used.front(), slots);
        return;
    }
    auto split = std::make_unique<Split>();
    for (const TransportInfo* info : used) {
        slots.clear();
        auto transport = make(info, slots);
        split->add(std::move(transport), slots);
    }
    transport_ = std::move(split);
}

void StageExchange::begin() {
    expect();
    transport_->begin();
    if (forward()) copy_own_images();
}

void StageExchange::expect() {
    missing_ = transport_->expected();
    wrapped_ = stage_.wrap.empty();
    combined_ = 0;
    own_combined_ = !stage_.self;
}

void StageExchange::copy(const Program& program, Reduction reduction) {
    if (!program.empty()) queue_.enqueue(program, arrays_.bases(), arrays_.bases(), reduction);
}

void StageExchange::copy_own_images() {
    copy(stage_.wrap_owned);
    if (!stage_.self) return;
    copy(stage_.self->forward);
    copy(stage_.self->repeat);
}

bool StageExchange::take_arrived(Reduction reduction) {
    bool any = false;
    for (int slot; missing_ > 0 && (slot = transport_->ready()) >= 0; any = true) {
        --missing_;
        if (forward()) transport_->deliver(slot, reduction);
        else arrived_[slot] = true;
    }
    return any;
}

// As far as all ranks before have come; this rank's own ghosts take their turn.
bool StageExchange::combine_in_order(Reduction reduction) {
    const std::size_t before = combined_ + own_combined_;
    const auto receives = [this](std::size_t slot) {
        return stage_.links[slot].reverse.receive_bytes > 0;
    };
    for (; combined_ < arrived_.size(); ++combined_) {
        if (!own_combined_ && plan_.communicator().rank() < stage_.links[combined_].rank)
            combine_own(reduction);
        if (!receives(combined_)) continue;
        if (!arrived_[combined_]) break;
        arrived_[combined_] = false;
        transport_->deliver(static_cast<int>(combined_), reduction);
    }
    if (!own_combined_ && combined_ == arrived_.size()) combine_own(reduction);
    return combined_ + own_combined_ != before;
}

void StageExchange::combine_own(Reduction reduction) {
    copy(stage_.self->reverse, reduction);
    own_combined_ = true;
}

Poll StageExchange::poll(Reduction reduction, bool may_combine) {
    bool moved = take_arrived(reduction);
    if (!forward()) {
        if (!may_combine) return moved ? Poll::moved : Poll::nothing;
        moved = combine_in_order(reduction) || moved;
    } else if (missing_ == 0 && !wrapped_) {
        copy(stage_.wrap);
        wrapped_ = moved = true;
    }
    if (missing_ == 0 && transport_->finished()) return Poll::complete;
    return moved ? Poll::moved : Poll::nothing;
}

std::string StageExchange::missing_text() const {
    std::string text = forward() ? "in a forward exchange" : "in a reverse exchange";
    text += " of rank " + std::to_string(plan_.communicator().rank());
    std::string waits;
    for (std::size_t slot = 0; slot < names_.size(); ++slot) {
        const std::string state = transport_->state(static_cast<int>(slot));
        if (!state.empty()) waits += ", " + names_[slot]->name + " " + state;
    }
    return text + (waits.empty() ? ", waiting for its neighbors to take its values" : waits);
}

}  // namespace parhelion
