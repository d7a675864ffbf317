#include "pattern/piece_lists.hpp"

#include <algorithm>

namespace parhelion {
namespace {

// Distinct pieces first; counts them and lists what duplicates repeat.
std::vector<BoxPiece> in_order(
    std::vector<KeyedPiece>& keyed, local_index& unique, std::vector<local_index>& duplicate_of) {
  std::ranges::sort(keyed, [](const KeyedPiece& a, const KeyedPiece& b) {
    return std::tuple(a.repeats(), a.key) < std::tuple(b.repeats(), b.key);
  });
  std::map<PieceKey, local_index> place;
  std::vector<BoxPiece> pieces;
  for (const auto& entry : keyed) {
    if (entry.repeats()) duplicate_of.push_back(place.at(entry.first));
    else place[entry.key] = unique++;
    pieces.push_back(entry.piece);
  }
  return pieces;
}

}  // namespace

Stage stage_of(std::map<int, Link> links) {
  Stage stage;
  for (auto& [rank, link] : links) {
    link.rank = rank;
    stage.push_back(std::move(link));
  }
  return stage;
}

Pattern indexed_pattern(
    const Communicator& comm, local_index owned, local_index ghosts, std::map<int, Link> links) {
  Pattern pattern{comm, 0, {}, {}, owned, ghosts, {}};
  pattern.stages.push_back(stage_of(std::move(links)));
  return pattern;
}

Stage join(PiecesByRank& receives, PiecesByRank& sends) {
  std::map<int, Link> links;
  for (auto& [rank, pieces] : receives) {
    Link& link = links[rank];
    link.receive.boxes = in_order(pieces, link.receive_unique, link.receive_duplicate_of);
  }
  for (auto& [rank, pieces] : sends) {
    Link& link = links[rank];
    link.send.boxes = in_order(pieces, link.send_unique, link.send_duplicate_of);
  }
  return stage_of(std::move(links));
}

}  // namespace parhelion
