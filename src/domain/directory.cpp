#include "domain/directory.hpp"

#include <algorithm>
#include <map>

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/sparse_exchange.hpp"

namespace parhelion {
namespace {

struct Entry {
    global_index id;
    int owner;
    bool operator<(const Entry& other) const {
        return id != other.id ? id < other.id : owner < other.owner;
    }
};

// One message per directory rank: number of registrations, registrations, questions.
struct Desk {
    std::vector<global_index> registered, questions;
};

std::map<int, Desk> address(const Ownership& mine, std::span<const global_index> ids,
                            global_index range) {
    std::map<int, Desk> desks;
    const auto desk_of = [&](global_index id) -> Desk& {
        return desks[static_cast<int>(id / range)];
    };
    if (mine.arbitrary) {
        for (global_index id : mine.owned_ids) desk_of(id).registered.push_back(id);
    } else if (mine.owned > 0) {
        desk_of(mine.first).registered.push_back(mine.first);
    }
    for (auto next = ids.begin(); next != ids.end();) {
        const int rank = static_cast<int>(*next / range);
        const auto end = std::lower_bound(next, ids.end(), (rank + 1) * range);
        desks[rank].questions.assign(next, end);
        next = end;
    }
    return desks;
}

std::vector<Message> wrap(const std::map<int, Desk>& desks) {
    std::vector<Message> messages;
    for (const auto& [rank, desk] : desks) {
        Message message{rank, {}};
        const auto count = static_cast<global_index>(desk.registered.size());
        message.append(&count, 1);
        message.append(desk.registered.data(), desk.registered.size());
        message.append(desk.questions.data(), desk.questions.size());
        messages.push_back(std::move(message));
    }
    return messages;
}

// Owner of the block that covers the start of this rank's range: the last registered on lower
// ranks.
int owner_from_the_left(const Communicator& comm, const std::vector<Entry>& entries) {
    const int last = entries.empty() ? -1 : entries.back().owner;
    const auto later = [](std::int64_t before, std::int64_t mine) {
        return std::max(before, mine);
    };
    return static_cast<int>(before_this_rank(comm, last, -1, later));
}

int owner_of(const std::vector<Entry>& entries, global_index id, bool arbitrary, int from_left) {
    const auto after =
        std::upper_bound(entries.begin(), entries.end(), id,
                         [](global_index value, const Entry& entry) { return value < entry.id; });
    if (after == entries.begin()) return arbitrary ? -1 : from_left;
    const Entry& entry = *(after - 1);
    return arbitrary && entry.id != id ? -1 : entry.owner;
}

// Checks all ids, not only those asked for.
void require_one_owner(const std::vector<Entry>& entries) {
    const auto twice = std::ranges::adjacent_find(entries, {}, &Entry::id);
    if (twice != entries.end())
        throw Error(concat("global id ", twice->id, " is owned more than once, by ranks ",
                           twice->owner, " and ", (twice + 1)->owner, ": give it one owner"));
}

}  // namespace

std::vector<int> find_owners(const Communicator& comm, const Ownership& mine,
                             std::span<const global_index> ids) {
    const global_index range =
        std::max<global_index>(1, (mine.id_limit + comm.size() - 1) / comm.size());
    const auto desks = address(mine, ids, range);
    const auto received = sparse_exchange(comm, wrap(desks));

    std::vector<Entry> entries;
    std::vector<std::vector<global_index>> questions;
    for (const auto& message : received) {
        const auto words = message.values<global_index>();
        const auto split = words.begin() + 1 + words[0];
        for (auto id = words.begin() + 1; id != split; ++id) entries.push_back({*id, message.rank});
        questions.emplace_back(split, words.end());
    }
    std::sort(entries.begin(), entries.end());
    if (mine.arbitrary) require_one_owner(entries);
    const int from_left = mine.arbitrary ? -1 : owner_from_the_left(comm, entries);

    std::vector<Message> answers;
    for (std::size_t i = 0; i < received.size(); ++i) {
        if (questions[i].empty()) continue;
        std::vector<int> owners;
        for (global_index id : questions[i])
            owners.push_back(owner_of(entries, id, mine.arbitrary, from_left));
        answers.push_back({received[i].rank, {}});
        answers.back().append(owners.data(), owners.size());
    }
    std::vector<int> asked;
    for (const auto& [rank, desk] : desks)
        if (!desk.questions.empty()) asked.push_back(rank);
    std::vector<int> owners;
    for (const auto& answer : neighbor_exchange(comm, answers, asked)) {
        const auto part = answer.values<int>();
        owners.insert(owners.end(), part.begin(), part.end());
    }
    return owners;
}

}  // namespace parhelion
