#pragma once

#include <memory>
#include <vector>

#include "halo/baselines.hpp"

// The order of things in an exchange, for any of the kinds of messages: IsendMessages, PersistentMessages, TypedMessages, NodeMessages.

namespace parhelion::bench {

/// All neighbors at once.
template <class MessageKind>
class Direct : public Contender {
public:
    Direct(const HaloSetup& setup, Messages messages) : arrays_(setup.arrays), messages_(setup.comm, std::move(messages)) {}

    void exchange() override {
        begin();
        end();
    }
    bool has_halves() const override { return true; }
    void begin() override {
        messages_.post_receives();
        messages_.pack_and_send();
        messages_.copy_own_images();
    }
    void end() override {
        messages_.unpack_arrivals();
        messages_.wait_for_sends();
    }

    Values& values() override { return *arrays_; }
    Traffic traffic() const override { return messages_.traffic(); }

private:
    std::shared_ptr<HaloArrays> arrays_;
    MessageKind messages_;
};

/// One dimension after the other.
template <class MessageKind>
class Staged : public Contender {
public:
    Staged(const HaloSetup& setup, std::vector<Messages> stages) : arrays_(setup.arrays) {
        for (Messages& stage : stages) stages_.push_back(std::make_unique<MessageKind>(setup.comm, std::move(stage)));
    }

    void exchange() override {
        begin();
        end();
    }
    bool has_halves() const override { return true; }
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

    Values& values() override { return *arrays_; }
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
    std::shared_ptr<HaloArrays> arrays_;
    std::vector<std::unique_ptr<MessageKind>> stages_;
};

}  // namespace parhelion::bench
