// Packs all cells that a rank exchanges at one end, for inspection.
#pragma once

#include "parhelion/plan/executor.hpp"
#include "plan/compile.hpp"

namespace parhelion {

/// Cells that a rank shares with a neighbor (or itself), and a buffer for their values.
struct PackedCells {
  PackedCells(int with, std::size_t in, MessageLayout of)
      : rank(with), stage(in), layout(std::move(of)) {}

  int rank;           ///< of the neighbor
  std::size_t stage;  ///< of the plan
  MessageLayout layout;
  Program pack, unpack;
  std::shared_ptr<std::byte> values;

  /// Copies arrays to `values`, or back; synchronous, local.
  void take(const Plan& plan, Bases arrays) const { take(plan, arrays, values.get()); }
  void take(const Plan& plan, Bases arrays, std::byte* to) const { copy(plan, pack, arrays, &to); }
  void put(const Plan& plan, Bases arrays) const {
    std::byte* const from = values.get();
    copy(plan, unpack, &from, arrays);
  }

 private:
  static void copy(const Plan& plan, const Program& program, Bases src, Bases dst) {
    const auto queue = plan.executor->make_queue();
    queue->follow_program();
    queue->enqueue(program, src, dst);
    queue->wait();
  }
};

/// One entry per neighbor, and for the rank's own periodic copies: all ghosts, or the unique owned
/// cells that other ranks hold as ghosts; signs stay. The plan must outlive it. Local.
inline std::vector<PackedCells> packed_cells(const Plan& plan, End end) {
  std::vector<PackedCells> all;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto add = [&](int rank, const Links& links) {
      MessageLayout layout = message_layout(
          plan, links, end, end == End::ghosts ? Direction::reverse : Direction::forward);
      if (layout.fields.empty()) return;
      PackedCells& cells = all.emplace_back(rank, s, std::move(layout));
      cells.pack = compile_end(plan, cells.layout, Into::message);
      for (StridedOp& op : cells.pack.strided) op.negated = false;
      cells.unpack = inverse(cells.pack);
      for (Program* each : {&cells.pack, &cells.unpack}) plan.executor->compile(*each);
      cells.values = plan.executor->allocate(cells.layout.bytes());
    };
    for (const LinkPlan& link : plan.stages[s].links) add(link.rank, link.links);
    if (plan.stages[s].self) add(plan.communicator().rank(), plan.stages[s].self->links);
  }
  return all;
}

/// Saves all ghosts; `restore` writes them back, else the destructor, without errors. Local. The
/// plan must outlive it.
class SavedGhosts {
 public:
  explicit SavedGhosts(const Plan& plan) : plan_(plan), ghosts_(packed_cells(plan, End::ghosts)) {
    for (PackedCells& cells : ghosts_) cells.take(plan_, plan_.bases.data());
  }
  SavedGhosts(const SavedGhosts&) = delete;
  SavedGhosts& operator=(const SavedGhosts&) = delete;
  ~SavedGhosts() {
    static_cast<void>(complaint_of([this] { restore(); }));
  }
  void restore() {
    for (const PackedCells& cells : std::exchange(ghosts_, {}))
      cells.put(plan_, plan_.bases.data());
  }

 private:
  const Plan& plan_;
  std::vector<PackedCells> ghosts_;
};

}  // namespace parhelion
