#include "parhelion/pattern/pattern.hpp"

#include <set>
#include <sstream>

namespace parhelion {

global_index Link::cells_sent() const {
  if (send.boxes.empty()) return send_unique;
  global_index cells = 0;
  for (local_index k = 0; k < send_unique; ++k) cells += send.boxes[k].cells.cells();
  return cells;
}

global_index cells_sent(const Pattern& pattern) {
  global_index cells = 0;
  for (const Stage& stage : pattern.stages)
    for (const Link& link : stage)
      if (link.rank != pattern.communicator.rank()) cells += link.cells_sent();
  return cells;
}

std::vector<int> neighbor_ranks(const Pattern& pattern) {
  std::set<int> ranks;
  for (const Stage& stage : pattern.stages)
    for (const Link& link : stage) ranks.insert(link.rank);
  ranks.erase(pattern.communicator.rank());
  return {ranks.begin(), ranks.end()};
}

namespace {

void describe_side(std::ostream& out, const char* what, const Selection& side, local_index unique,
    int dimensions) {
  if (side.empty()) return;
  out << "      " << what << ": ";
  if (dimensions == 0) {
    out << unique << " cells";
    if (const auto repeated = side.cells.size() - unique) out << " (+ " << repeated << " repeated)";
  }
  const char* separator = "";
  for (const BoxPiece& piece : side.boxes) {
    out << separator << "block " << piece.block << " " << to_string(piece.cells, dimensions);
    separator = ", ";
  }
  out << "\n";
}

}  // namespace

std::string describe(const Pattern& pattern) {
  std::ostringstream out;
  const Communicator& comm = pattern.communicator;
  out << (pattern.indexed() ? "indexed" : "Cartesian") << " pattern of rank " << comm.rank()
      << " of " << comm.size() << ": ";
  if (pattern.indexed()) out << pattern.owned << " owned cells, " << pattern.ghosts << " ghosts";
  else out << pattern.blocks.size() << " block(s) in " << pattern.dimensions << " dimension(s)";
  out << ", " << neighbor_ranks(pattern).size() << " neighbors, sends " << cells_sent(pattern)
      << " cells\n";
  for (std::size_t b = 0; b < pattern.blocks.size(); ++b)
    out << "  block " << b << " owns " << to_string(pattern.blocks[b], pattern.dimensions) << "\n";
  for (std::size_t s = 0; s < pattern.stages.size(); ++s) {
    if (pattern.stages.size() > 1) out << "  stage " << s << "\n";
    for (const Link& link : pattern.stages[s]) {
      out << "    rank " << link.rank << (link.rank == comm.rank() ? " (itself)" : "") << "\n";
      describe_side(out, "sends", link.send, link.send_unique, pattern.dimensions);
      describe_side(out, "receives", link.receive, link.receive_unique, pattern.dimensions);
    }
  }
  return out.str();
}

}  // namespace parhelion
