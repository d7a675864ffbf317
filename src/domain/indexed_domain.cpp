#include "parhelion/domain/indexed_domain.hpp"

#include <limits>
#include <numeric>

#include "core/collective_step.hpp"
#include "core/concat.hpp"

namespace parhelion {
namespace {

constexpr global_index largest_id = global_index{1} << 62;
constexpr global_index most_local = std::numeric_limits<local_index>::max();

std::vector<local_index> ascending_order(std::span<const global_index> ids) {
  std::vector<local_index> order(ids.size());
  std::iota(order.begin(), order.end(), 0);
  if (!std::ranges::is_sorted(ids))
    std::stable_sort(
        order.begin(), order.end(), [&](local_index a, local_index b) { return ids[a] < ids[b]; });
  return order;
}

void check_counts(global_index owned, std::size_t ghosts) {
  if (owned < 0) refuse("a rank cannot own ", owned, " cells: pass 0 or more");
  if (owned > most_local || owned + static_cast<global_index>(ghosts) > most_local)
    refuse(owned, " owned cells and ", ghosts,
        " ghosts exceed 2147483647 cells on one rank: use more ranks");
}

std::string ghost_text(global_index id, std::size_t position) {
  return concat("ghost ", position, " has global id ", id);
}

struct Entry {
  global_index id;
  int owner;
  friend auto operator<=>(const Entry&, const Entry&) = default;
};

// One message per directory rank: number of registrations, registrations, questions.
struct Desk {
  std::vector<global_index> registered, questions;
};

std::map<int, Desk> address(std::span<const global_index> registered,
    std::span<const global_index> ids, global_index range) {
  std::map<int, Desk> desks;
  for (const global_index id : registered) desks[id / range].registered.push_back(id);
  for (auto next = ids.begin(); next != ids.end();) {
    const int rank = *next / range;
    const auto end = std::lower_bound(next, ids.end(), (rank + 1) * range);
    desks[rank].questions.assign(next, end);
    next = end;
  }
  return desks;
}

std::vector<Message> wrap(const std::map<int, Desk>& desks) {
  std::vector<Message> messages;
  for (const auto& [rank, desk] : desks) {
    Message message = message_of(std::array<global_index, 1>{std::ssize(desk.registered)}, rank);
    message.append(desk.registered.data(), desk.registered.size());
    message.append(desk.questions.data(), desk.questions.size());
    messages.push_back(std::move(message));
  }
  return messages;
}

// Owner of the block that covers this range's start: the last registered on lower ranks.
int owner_from_the_left(const Communicator& comm, const std::vector<Entry>& entries) {
  const int last = entries.empty() ? -1 : entries.back().owner;
  const auto later = [](std::int64_t before, std::int64_t mine) { return std::max(before, mine); };
  return before_this_rank(comm, last, -1, later);
}

int owner_of(const std::vector<Entry>& entries, global_index id, bool arbitrary, int from_left) {
  const auto after = std::upper_bound(entries.begin(), entries.end(), id,
      [](global_index value, const Entry& entry) { return value < entry.id; });
  if (after == entries.begin()) return arbitrary ? -1 : from_left;
  const Entry& entry = *(after - 1);
  return arbitrary && entry.id != id ? -1 : entry.owner;
}

// Checks all ids, not only the requested ones.
void require_one_owner(const std::vector<Entry>& entries) {
  const auto twice = std::ranges::adjacent_find(entries, {}, &Entry::id);
  if (twice != entries.end())
    refuse("global id ", twice->id, " is owned more than once, by ranks ", twice->owner, " and ",
        (twice + 1)->owner, ": give it one owner");
}

}  // namespace

IndexedDomain::IndexedDomain(
    global_index owned, std::vector<global_index> ghosts, Communicator comm, SelfGhosts self)
    : comm_(comm) {
  collectively(comm_, "IndexedDomain", [&] {
    check_counts(owned, ghosts.size());
    owned_ = static_cast<local_index>(owned);
    ghost_ids_ = std::move(ghosts);
    id_limit_ = global_size_ = total(comm_, {owned}).front();
    first_ = before_this_rank(comm_, owned, 0, std::plus<>());
    finish(self);
  });
}

IndexedDomain IndexedDomain::with_owned_ids(std::vector<global_index> owned_ids,
    std::vector<global_index> ghosts, Communicator comm, SelfGhosts self) {
  return collectively(comm, "IndexedDomain", [&] {
    IndexedDomain domain{comm};
    check_counts(static_cast<global_index>(owned_ids.size()), ghosts.size());
    global_index limit = 0;
    for (global_index id : owned_ids) {
      if (id < 0) refuse("owned global id ", id, " is negative: ids start at 0");
      if (id >= largest_id) refuse("owned global id ", id, " is too large: use ids below 2^62");
      limit = std::max(limit, id + 1);
    }
    domain.arbitrary_ = true;
    domain.owned_ = static_cast<local_index>(owned_ids.size());
    domain.owned_ids_ = std::move(owned_ids);
    domain.ghost_ids_ = std::move(ghosts);
    domain.global_size_ = total(comm, {domain.owned_}).front();
    domain.id_limit_ = largest(comm, {limit}).front();
    domain.finish(self);
    return domain;
  });
}

void IndexedDomain::finish(SelfGhosts self) {
  by_id_ = ascending_order(ghost_ids_);
  table_.reserve(owned_ids_.size() + ghost_ids_.size());
  const auto ids = [this](local_index cell) { return id_of(cell); };
  for (local_index cell = arbitrary_ ? 0 : owned_; cell < size(); ++cell) table_.insert(cell, ids);
  check_ghosts(self);
  ghost_owners_ = find_owners(ghost_ids_, by_id_);
  for (const local_index position : by_id_)  // ids in range of blocks have an owner
    if (ghost_owners_[position] < 0)
      refuse("no rank owns the ghost with global id ", ghost_ids_[position],
          ": every ghost needs an owner");
}

// Asks for each id once; −1: unowned.
std::vector<int> IndexedDomain::find_owners(
    std::span<const global_index> ids, std::span<const local_index> ascending) const {
  std::vector<global_index> unique;
  unique.reserve(ids.size());
  for (const local_index i : ascending)
    if (unique.empty() || unique.back() != ids[i]) unique.push_back(ids[i]);
  const std::vector<int> found = ask_directory(unique);
  std::vector<int> owners(ids.size());
  std::size_t slot = 0;
  for (const local_index i : ascending) {
    if (unique[slot] != ids[i]) ++slot;
    owners[i] = found[slot];
  }
  return owners;
}

// A distributed directory: rank i / ⌈limit / ranks⌉ looks up id i among its range's owners. Blocks
// register once, at their first id; a prefix maximum finds owners of blocks that start further
// left.
std::vector<int> IndexedDomain::ask_directory(std::span<const global_index> ids) const {
  const global_index range =
      std::max<global_index>(1, (id_limit_ + comm_.size() - 1) / comm_.size());
  const std::span<const global_index> block(&first_, owned_ > 0 ? 1 : 0);
  const auto desks = address(arbitrary_ ? std::span(owned_ids_) : block, ids, range);
  const auto received = sparse_exchange(comm_, wrap(desks));

  std::vector<Entry> entries;
  std::vector<std::vector<global_index>> questions;
  for (const auto& message : received) {
    const auto words = message.values<global_index>();
    const auto split = words.begin() + 1 + words[0];
    for (auto id = words.begin() + 1; id != split; ++id) entries.push_back({*id, message.rank});
    questions.emplace_back(split, words.end());
  }
  std::ranges::sort(entries);
  if (arbitrary_) require_one_owner(entries);
  const int from_left = arbitrary_ ? -1 : owner_from_the_left(comm_, entries);

  std::vector<Message> answers;
  for (std::size_t i = 0; i < received.size(); ++i) {
    if (questions[i].empty()) continue;
    std::vector<int> owners;
    for (global_index id : questions[i])
      owners.push_back(owner_of(entries, id, arbitrary_, from_left));
    answers.push_back(message_of(owners, received[i].rank));
  }
  std::vector<int> asked;
  for (const auto& [rank, desk] : desks)
    if (!desk.questions.empty()) asked.push_back(rank);
  return joined_values<int>(neighbor_exchange(comm_, answers, asked));
}

void IndexedDomain::check_ghosts(SelfGhosts self) const {
  for (std::size_t i = 0; i < ghost_ids_.size(); ++i) {
    const global_index id = ghost_ids_[i];
    if (id < 0 || id >= id_limit_)
      refuse(ghost_text(id, i), ", outside of 0 … ", id_limit_ - 1,
          ": ids start at 0 and end below the number of cells");
    if (self == SelfGhosts::refused && owned_of(id) >= 0)
      refuse(ghost_text(id, i),
          ", which this rank owns: ghosts are cells of other ranks "
          "(or allow self ghosts)");
  }
}

global_index IndexedDomain::global_of(local_index cell) const {
  if (cell < 0 || cell >= size())
    refuse("local cell ", cell, " does not exist: this rank has ", size());
  return arbitrary_ || cell >= owned_ ? id_of(cell) : first_ + cell;
}

global_index IndexedDomain::id_of(local_index cell) const {
  return cell < owned_ ? owned_ids_[cell] : ghost_ids_[cell - owned_];
}

local_index IndexedDomain::owned_of(global_index id) const {
  if (!arbitrary_)
    return id >= first_ && id < first_ + owned_ ? static_cast<local_index>(id - first_) : -1;
  const local_index cell = local_of(id);
  return cell < owned_ ? cell : -1;
}

local_index IndexedDomain::local_of(global_index id) const {
  if (!arbitrary_ && id >= first_ && id < first_ + owned_)
    return static_cast<local_index>(id - first_);
  return table_.find(id, [this](local_index each) { return id_of(each); });
}

void IndexedDomain::local_of(
    std::span<const global_index> ids, std::span<local_index> cells) const {
  if (ids.size() != cells.size())
    refuse(ids.size(), " ids and places for ", cells.size(), " local numbers: pass equal numbers");
  for (std::size_t i = 0; i < ids.size(); ++i) cells[i] = local_of(ids[i]);
}

std::vector<global_index> IndexedDomain::owned_ids() const {
  std::vector<global_index> ids(owned_);
  for (local_index cell = 0; cell < owned_; ++cell) ids[cell] = global_of(cell);
  return ids;
}

IndexedDomain IndexedDomain::with_ghosts(std::vector<global_index> ghosts, SelfGhosts self) const {
  if (!arbitrary_) return {owned_, std::move(ghosts), comm_, self};
  return with_owned_ids(owned_ids_, std::move(ghosts), comm_, self);
}

std::vector<int> IndexedDomain::owners_of(std::span<const global_index> ids) const {
  return collectively(comm_, "owners", [&] {
    for (global_index id : ids)
      if (id < 0 || id >= id_limit_) refuse("global id ", id, " does not exist");
    std::vector<int> owners = find_owners(ids, ascending_order(ids));
    for (std::size_t i = 0; i < owners.size(); ++i)
      if (owners[i] < 0) refuse("no rank owns global id ", ids[i]);
    return owners;
  });
}

}  // namespace parhelion
