// Compares each link with the neighbor's side.
#include <vector>

#include "core/concat.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/sparse_exchange.hpp"
#include "parhelion/pattern/pattern.hpp"
#include "pattern/shape.hpp"

namespace parhelion {
namespace {

struct View {
    global_index stage;
    Shape sends, receives;
};

View view_of(std::size_t stage, const Link& link) {
    return {static_cast<global_index>(stage), shape_of_sends(link), shape_of_receives(link)};
}

std::vector<Message> views(const Pattern& pattern) {
    std::vector<Message> messages;
    for (std::size_t s = 0; s < pattern.stages.size(); ++s)
        for (const Link& link : pattern.stages[s]) {
            const View view = view_of(s, link);
            messages.push_back({link.rank, {}});
            messages.back().append(&view, 1);
        }
    return messages;
}

const Link* find_link(const Pattern& pattern, global_index stage, int rank) {
    if (stage < 0 || stage >= static_cast<global_index>(pattern.stages.size())) return nullptr;
    for (const Link& link : pattern.stages[stage])
        if (link.rank == rank) return &link;
    return nullptr;
}

void compare(int rank, const Shape& theirs, const Shape& mine, const char* does,
             const char* does_here) {
    if (theirs == mine) return;
    throw Error(concat("broken pattern: rank ", rank, does, theirs.cells, " cells and this rank",
                       does_here, mine.cells,
                       (theirs.cells == mine.cells ? ", but others or in another order" : ""),
                       ": the parts do not belong together; build the pattern again"));
}

void compare(const Pattern& pattern, const std::vector<Message>& messages) {
    std::size_t expected = 0;
    for (const Stage& stage : pattern.stages) expected += stage.size();
    for (const Message& message : messages) {
        const View theirs = message.values<View>().at(0);
        const Link* link = find_link(pattern, theirs.stage, message.rank);
        if (link == nullptr)
            throw Error(concat("broken pattern: rank ", message.rank,
                               " expects a link with this rank, which has none: build it again"));
        compare(message.rank, theirs.sends, shape_of_receives(*link), " sends ", " expects ");
        compare(message.rank, theirs.receives, shape_of_sends(*link), " expects ", " sends ");
    }
    if (messages.size() != expected)
        throw Error(concat("broken pattern: ", expected, " links here, but ", messages.size(),
                           " name this rank: build it again"));
}

}  // namespace

void verify(const Pattern& pattern) {
    collectively(pattern.communicator, "verify", [&] {
        validate_together(pattern.communicator, [&] { check_local(pattern); });
        const auto theirs = sparse_exchange(pattern.communicator, views(pattern));
        validate_together(pattern.communicator, [&] { compare(pattern, theirs); });
    });
}

}  // namespace parhelion
