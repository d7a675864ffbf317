#pragma once

#include <memory>
#include <vector>

#include "halo/baselines.hpp"

// The order of things in an exchange, for any of the kinds of messages: IsendMessages,
// PersistentMessages, TypedMessages, NodeMessages.

namespace parhelion::bench {

/// All neighbors at once.
template <class MessageKind>
class Direct : public HandHalo {
public:
    Direct(const HaloSetup& setup, Messages messages)
        : HandHalo(setup), messages_(setup.comm, std::move(messages)) {}

    void begin() override {
        messages_.post_receives();
        messages_.pack_and_send();
        messages_.copy_own_images();
    }
    void end() override {
        messages_.unpack_arrivals();
        messages_.wait_for_sends();
    }

    Traffic traffic() const override { return messages_.traffic(); }

private:
    MessageKind messages_;
};

/// One dimension after the other.
template <class MessageKind>
class Staged : public HandHalo {
public:
    Staged(const HaloSetup& setup, std::vector<Messages> stages) : HandHalo(setup) {
        for (Messages& stage : stages)
            stages_.push_back(std::make_unique<MessageKind>(setup.comm, std::move(stage)));
    }

    void begin() override {
        for (auto& stage : stages_) stage->post_receives();
        if (!stages_.empty()) send(*stages_.front());
    }
    void end() override {
        for (auto& stage : stages_) {
            if (&stage != &stages_.front()) send(*stage);
            stage->unpack_arrivals();
        }
        for (auto& stage : stages_) stage->wait_for_sends();
    }

    Traffic traffic() const override {
        Traffic total;
        for (const auto& stage : stages_) {
            const Traffic traffic = stage->traffic();
            total.bytes += traffic.bytes;
            total.messages += traffic.messages;
            total.sent.insert(total.sent.end(), traffic.sent.begin(), traffic.sent.end());
        }
        return total;
    }

private:
    static void send(MessageKind& stage) {
        stage.pack_and_send();
        stage.copy_own_images();
    }
    std::vector<std::unique_ptr<MessageKind>> stages_;
};

}  // namespace parhelion::bench
