// A transport made of transports, each for some of the links.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "parhelion/transport/transport.hpp"

namespace parhelion {

/// Its slots are those of `add`, whatever transport they go by. With none it moves nothing.
class Split final : public Transport {
public:
    /// `slots[i]`: what slot i of the transport is here. Each slot once.
    void add(std::unique_ptr<Transport> transport, std::vector<int> slots) {
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const auto slot = static_cast<std::size_t>(slots[i]);
            if (homes_.size() <= slot) homes_.resize(slot + 1);
            homes_[slot] = {transport.get(), static_cast<int>(i)};
        }
        parts_.push_back({std::move(transport), std::move(slots)});
    }

    std::string refusal() override {
        std::string why;
        for (Part& part : parts_)
            if (why.empty()) why = part.transport->refusal();
        return why;
    }
    void begin() override {
        for (Part& part : parts_) part.transport->begin();
    }
    void leave() override {
        for (Part& part : parts_) part.transport->leave();
    }
    int ready() override {
        for (Part& part : parts_)
            if (const int slot = part.transport->ready(); slot >= 0) return part.slots[slot];
        return -1;
    }
    void deliver(int slot, Reduction reduction) override {
        const Home& home = at(slot);
        home.transport->deliver(home.slot, reduction);
    }
    bool finished() override {
        bool all = true;
        for (Part& part : parts_) all = part.transport->finished() && all;
        return all;
    }
    int expected() const override {
        int all = 0;
        for (const Part& part : parts_) all += part.transport->expected();
        return all;
    }
    std::string state(int slot) const override { return at(slot).transport->state(at(slot).slot); }

    std::vector<NodeTraffic> traffic() const override {
        std::vector<NodeTraffic> all;
        for (const Part& part : parts_)
            std::ranges::copy(part.transport->traffic(), std::back_inserter(all));
        return all;
    }
    NodeContext* node() const override {
        NodeContext* found = nullptr;
        for (const Part& part : parts_)
            if (!part.slots.empty() && part.transport->node() != nullptr)
                found = part.transport->node();
        return found;
    }
    bool must_poll() const override {
        return any([](const Transport& each) { return each.must_poll(); });
    }
    bool passes_on() const override {
        return any([](const Transport& each) { return each.passes_on(); });
    }
    bool calls_mpi() const override {
        return any([](const Transport& each) { return each.calls_mpi(); });
    }

private:
    struct Part {
        std::unique_ptr<Transport> transport;
        std::vector<int> slots;
    };
    struct Home {
        Transport* transport = nullptr;
        int slot = 0;
    };
    const Home& at(int slot) const { return homes_[slot]; }
    // Of those that have something to do.
    template <class Property>
    bool any(Property&& property) const {
        bool found = false;
        for (const Part& part : parts_)
            found = found || (!part.slots.empty() && property(*part.transport));
        return found;
    }

    std::vector<Part> parts_;
    std::vector<Home> homes_;
};

}  // namespace parhelion
