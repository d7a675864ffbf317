#include "parhelion/index_map/derive.hpp"

#include <limits>
#include <numeric>

#include "core/collective_step.hpp"
#include "core/concat.hpp"

namespace parhelion {
namespace {

constexpr global_index most = std::numeric_limits<local_index>::max();

void check_count(global_index count, const char* owner, const char* what) {
  if (count < 0 || count > most)
    refuse(owner, " cannot have ", count, what, ": pass 0 or more, fewer than 2^31");
}

void check_lists(const RootLists& lists, int ranks) {
  const auto expect = [&](std::size_t given, const char* what) {
    if (given != static_cast<std::size_t>(ranks))
      refuse("the root lists ", what, " of ", given, " ranks, but the communicator has ", ranks,
          ": give one entry per rank");
  };
  expect(lists.owned.size(), "owned cells");
  expect(lists.ghost_counts.size(), "ghosts");
  global_index sum = 0;
  for (global_index count : lists.ghost_counts) {
    check_count(count, "a rank", " ghosts");
    sum += count;
  }
  if (std::cmp_not_equal(sum, lists.ghost_ids.size()))
    refuse("the ghost counts add up to ", sum, " and ", lists.ghost_ids.size(),
        " ghost ids are given: make them equal");
}

// Sends each rank its number of owned cells and its ghosts, in turn: no second copy of all lists.
std::vector<global_index> part_from_root(
    const RootLists& lists, int root, const Communicator& comm) {
  const Tag tag = comm.next_tag();
  if (comm.rank() != root) return receive_message(comm, root, tag).values<global_index>();
  std::vector<global_index> own;
  const global_index* next = lists.ghost_ids.data();
  for (int r = 0; r < comm.size(); next += lists.ghost_counts[r], ++r) {
    Message part{r, {}};
    part.append(&lists.owned[r], 1);
    part.append(next, lists.ghost_counts[r]);
    if (r == root) own = part.values<global_index>();
    else send_message(comm, std::move(part), tag);
  }
  return own;
}

struct Row {
  global_index count, first;  // id
};

}  // namespace

IndexedDomain domain_from_root(const RootLists& lists, int root, Communicator comm) {
  return collectively(comm, "from_root", [&]() -> IndexedDomain {
    require_root(root, comm);
    if (comm.rank() == root) check_lists(lists, comm.size());
    auto part = part_from_root(lists, root, comm);
    const global_index owned = part.front();
    part.erase(part.begin());
    return {owned, std::move(part), comm, SelfGhosts::allowed};
  });
}

IndexedDomain ragged_domain(const IndexMap& rows, std::span<const global_index> counts) {
  return collectively(rows.communicator(), "ragged", [&]() -> IndexedDomain {
    validate_together(rows.communicator(), [&] {  // before an exchange, which would stay broken
      refuse_places(rows.places());
      if (counts.size() != static_cast<std::size_t>(rows.domain().owned()))
        refuse(counts.size(), " row counts are given for ", rows.domain().owned(),
            " owned rows: give one count per owned row");
      for (global_index count : counts) check_count(count, "a row", " entries");
    });
    const global_index owned = std::accumulate(counts.begin(), counts.end(), global_index{0});
    global_index next = before_this_rank(rows.communicator(), owned, 0, std::plus<>());
    std::vector<Row> all(rows.domain().size());
    for (std::size_t i = 0; i < counts.size(); next += counts[i++]) all[i] = {counts[i], next};
    rows.forward({all});
    const auto ghost_rows = std::span(all).subspan(counts.size());
    global_index entries = owned;
    for (const Row& row : ghost_rows) entries += row.count;
    if (entries > most) refuse(entries, " entries exceed 2147483647 on one rank: use more ranks");
    std::vector<global_index> ghosts;
    ghosts.reserve(entries - owned);
    for (const Row& row : ghost_rows)
      for (global_index k = 0; k < row.count; ++k) ghosts.push_back(row.first + k);
    return {owned, std::move(ghosts), rows.communicator(), SelfGhosts::allowed};
  });
}

IndexedDomain with_added_ghosts(const IndexedDomain& domain, std::span<const global_index> ids) {
  return collectively(domain.communicator(), "a map with further ghosts", [&]() -> IndexedDomain {
    std::vector<global_index> added;
    for (global_index id : ids)
      if (domain.local_of(id) < 0) added.push_back(id);
    std::ranges::sort(added);
    added.erase(std::unique(added.begin(), added.end()), added.end());
    std::vector<global_index> ghosts(domain.ghost_ids().begin(), domain.ghost_ids().end());
    ghosts.insert(ghosts.end(), added.begin(), added.end());
    return domain.with_ghosts(std::move(ghosts), SelfGhosts::allowed);
  });
}

}  // namespace parhelion
