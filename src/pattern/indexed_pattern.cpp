// Readers request cells by global id; both sides then hold the same list.
#include "core/collective_step.hpp"
#include "parhelion/domain/indexed_domain.hpp"
#include "pattern/piece_lists.hpp"

namespace parhelion {
namespace {

// Ghosts per owner: distinct ids in ascending order, then duplicates.
void collect_receives(const IndexedDomain& domain, std::map<int, Link>& links) {
  const auto ids = domain.ghost_ids();
  const auto owners = domain.ghost_owners();
  std::map<int, std::vector<local_index>> repeated;
  local_index previous = -1;
  Link* link = nullptr;
  for (local_index position : domain.ghosts_by_id()) {
    if (previous < 0 || owners[position] != owners[previous]) link = &links[owners[position]];
    const local_index cell = domain.owned() + position;
    if (previous >= 0 && ids[previous] == ids[position]) {
      repeated[owners[position]].push_back(cell);
      link->receive_duplicate_of.push_back(
          static_cast<local_index>(link->receive.cells.size()) - 1);
    } else {
      link->receive.cells.push_back(cell);
    }
    previous = position;
  }
  for (auto& [rank, each] : links) each.receive_unique = each.receive.cells.size();
  for (auto& [rank, cells] : repeated)
    links[rank].receive.cells.insert(links[rank].receive.cells.end(), cells.begin(), cells.end());
}

// Number of distinct cells, their global ids, index of each duplicate's original.
Message request(const IndexedDomain& domain, int rank, const Link& link) {
  std::vector<global_index> words{link.receive_unique};
  words.reserve(link.receive.cells.size() + 1);
  for (local_index k = 0; k < link.receive_unique; ++k)
    words.push_back(domain.ghost_ids()[link.receive.cells[k] - domain.owned()]);
  words.insert(words.end(), link.receive_duplicate_of.begin(), link.receive_duplicate_of.end());
  return message_of(words, rank);
}

void answer(const IndexedDomain& domain, const Message& message, Link& link) {
  const auto words = message.values<global_index>();
  link.send_unique = words.at(0);
  link.send.cells.reserve(words.size() - 1);
  for (local_index k = 0; k < link.send_unique; ++k)
    link.send.cells.push_back(domain.owned_of(words[k + 1]));
  for (std::size_t k = 1 + static_cast<std::size_t>(link.send_unique); k < words.size(); ++k) {
    link.send_duplicate_of.push_back(words[k]);
    link.send.cells.push_back(link.send.cells[words[k]]);
  }
}

std::shared_ptr<const CellIds> ids_of(const IndexedDomain& domain) {
  CellIds ids{domain.first(), {}, {domain.ghost_ids().begin(), domain.ghost_ids().end()}};
  for (local_index cell = 0; ids.first < 0 && cell < domain.owned(); ++cell)
    ids.owned.push_back(domain.global_of(cell));
  return std::make_shared<const CellIds>(std::move(ids));
}

}  // namespace

Pattern build_pattern(const IndexedDomain& domain) {
  return collectively(domain.communicator(), "build_pattern", [&]() -> Pattern {
    agree(domain.communicator());  // detects ranks in other calls
    std::map<int, Link> links;
    collect_receives(domain, links);
    std::vector<Message> requests;
    for (const auto& [rank, link] : links) requests.push_back(request(domain, rank, link));
    for (const auto& message : sparse_exchange(domain.communicator(), std::move(requests)))
      answer(domain, message, links[message.rank]);

    Pattern pattern =
        indexed_pattern(domain.communicator(), domain.owned(), domain.ghosts(), std::move(links));
    pattern.ids = ids_of(domain);
    return pattern;
  });
}

}  // namespace parhelion
