// Redistribution by global id: the cells owned afterwards are ghosts of the domain before.
#include "core/concat.hpp"
#include "exchange/selection.hpp"
#include "parhelion/index_map/index_map.hpp"
#include "redistribution/mover.hpp"

namespace parhelion {
namespace {

IndexedDomain with_readers(const IndexedDomain& from, const IndexedDomain& to) {
  require_one_communicator(from.communicator(), to.communicator());
  if (from.global_size() != to.global_size())
    refuse("the two domains have ", from.global_size(), " and ", to.global_size(),
        " cells: redistribute between domains of the same cells");
  try {
    return from.with_ghosts(to.owned_ids(), SelfGhosts::allowed);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::value || error.known_to() != KnownTo::this_rank) throw;
    refuse("the two domains do not have the same cells (", error.what(),
        "): use the same global ids in both");
  }
}

class Cells final : public Redistribution::Mover {
 public:
  Cells(const IndexedDomain& from, const IndexedDomain& to, const ExchangeOptions& options)
      : map_(with_readers(from, to), options), timeout_s_(setup_limit(options)) {
    std::vector<int> ranks;
    for (const Link& link : map_.pattern().stages[0]) ranks.push_back(link.rank);
    require_transport(options, map_.communicator(), ranks);
  }

  void prepare(std::span<const Move> arrays) override {
    with(arrays, [&](const CellArrays& values) { map_.prepare(values); });
  }
  void move(std::span<const Move> arrays, Direction direction) override {
    with(arrays, [&](const CellArrays& values) {
      if (direction == Direction::forward) map_.forward(values);
      else map_.reverse(values, Reduction::replace);
    });
  }

  std::string explain() const override { return describe(map_.pattern()); }

 private:
  template <class Work>
  void with(std::span<const Move> arrays, const Work& work) {
    const auto run = [&] {
      require_alike(arrays);
      std::vector<CellValues> values;
      for (const auto& [from, to] : arrays) {
        const CellValues before(from), after(to);
        if (after.owned.first == nullptr && map_.domain().ghosts() > 0)
          refuse("the destination array is a null pointer: pass an array");
        values.emplace_back(before.owned, after.owned, from.element, from.components);
      }
      work(values);
    };
    if (called_) return run();
    collectively(map_.communicator(),
        "forward, back or prepare, the first call of a redistribution", timeout_s_, run);
    called_ = true;
  }

  IndexMap map_;
  double timeout_s_;
  bool called_ = false;
};

}  // namespace

std::unique_ptr<Redistribution::Mover> move_cells(
    const IndexedDomain& from, const IndexedDomain& to, ExchangeOptions options) {
  return collectively(from.communicator(), "Redistribution", setup_limit(options),
      [&]() -> std::unique_ptr<Redistribution::Mover> {
        return std::make_unique<Cells>(from, to, options);
      });
}

}  // namespace parhelion
