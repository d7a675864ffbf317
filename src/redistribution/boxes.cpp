// Redistribution of grids. Each rank computes its pieces locally: intersections of both domains'
// blocks.
//
// Each rank pair exchanges one row of bytes, packed by the layouts of the call's arrays: without
// cell lists, and with one exchange for all arrays of equal total bytes per cell. The pattern sees
// chunks of 256 bytes.
#include <limits>
#include <numeric>
#include <ranges>

#include "core/concat.hpp"
#include "exchange/selection.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/core/node_memory.hpp"
#include "pattern/piece_lists.hpp"
#include "redistribution/mover.hpp"
#include "redistribution/pieces.hpp"

namespace parhelion {
namespace {

using PiecesOfRanks = std::map<int, Pieces>;

bool before(const Piece& a, const Piece& b) { return a.cells.lo < b.cells.lo; }

// From the first domain's axes to this one's. Boxes are compared in the first's order.
using Axes = std::array<std::size_t, max_dimensions>;
struct Turned {
  CartesianDomain domain;
  Axes axes;

  Box of_first(const Box& own) const {
    Box box = own;
    for (std::size_t d = 0; d < max_dimensions; ++d)
      box.lo[d] = own.lo[axes[d]], box.hi[d] = own.hi[axes[d]];
    return box;
  }
  Box own(const Box& of_first) const {
    Box box = of_first;
    for (std::size_t d = 0; d < max_dimensions; ++d)
      box.lo[axes[d]] = of_first.lo[d], box.hi[axes[d]] = of_first.hi[d];
    return box;
  }
};

// Intersections of this rank's blocks with theirs, in the same order on both sides.
PiecesOfRanks shared_pieces(const Turned& mine, const Turned& theirs) {
  PiecesOfRanks pieces;
  for (int b = 0; b < std::ssize(mine.domain.blocks()); ++b) {
    const Box owned = mine.of_first(mine.domain.owned(b));
    if (owned.empty()) continue;
    for_blocks(theirs.domain, theirs.own(owned), [&](const Box& box, CartesianDomain::Place place) {
      const Box common = intersect(owned, theirs.of_first(box));
      if (!common.empty()) pieces[place.rank].push_back({b, common});
    });
  }
  for (auto& [rank, list] : pieces) std::ranges::sort(list, before);
  return pieces;
}

byte_count cells_of(const Pieces& pieces) {
  byte_count cells = 0;
  for (const Piece& piece : pieces) cells += piece.cells.cells();
  return cells;
}

// A domain, and its intersections with the other one.
struct Half : Turned {
  PiecesOfRanks others;  // by rank
  Pieces own;            // stay on this rank

  Half(const Turned& mine, const Turned& theirs)
      : Turned(mine), others(shared_pieces(mine, theirs)) {
    if (const auto here = others.find(domain.communicator().rank()); here != others.end()) {
      own = std::move(here->second);
      others.erase(here);
    }
  }
  BoxLayout place(const Field& field, const Piece& piece) const {
    const BoxLayout placed = box_in_array(field, first_of(domain, field, piece.block),
        {piece.block, Turned::own(piece.cells)}, domain.dimensions());
    BoxLayout cells = placed;
    for (int d = 0; d < domain.dimensions(); ++d) {
      cells.count[d] = placed.count[axes[d]];
      cells.stride[d] = placed.stride[axes[d]];
    }
    return cells;
  }
};

constexpr byte_count chunk_bytes = 256;

// One row of bytes per other rank, for cells of `width` bytes.
struct Rows {
  struct Chunks {
    local_index first, end;
  };
  std::shared_ptr<std::byte> memory;
  std::map<int, Chunks> of_rank;
  local_index chunks = 0;

  Rows(const PiecesOfRanks& boxes, byte_count width) {
    for (const auto& [rank, list] : boxes) {
      const byte_count end = chunks + (cells_of(list) * width + chunk_bytes - 1) / chunk_bytes;
      if (end > std::numeric_limits<local_index>::max())
        refuse("more than 512 GiB move from or to one rank: use fewer arrays at a time");
      of_rank[rank] = {chunks, static_cast<local_index>(end)};
      chunks = of_rank[rank].end;
    }
    if (chunks > 0) memory = allocate_node_shared(chunks * chunk_bytes);
  }
  BlockView view() const { return {memory.get(), {chunk_bytes}}; }
};

Selection from_to(local_index first, local_index end) {
  Selection side;
  side.cells.resize(end - first);
  std::iota(side.cells.begin(), side.cells.end(), first);
  return side;
}

Pattern pattern_of(const Communicator& comm, const Rows& from, const Rows& to) {
  std::map<int, Link> links;
  for (const auto& [rank, row] : from.of_rank) {
    links[rank].send = from_to(row.first, row.end);
    links[rank].send_unique = row.end - row.first;
  }
  for (const auto& [rank, row] : to.of_rank) {
    links[rank].receive = from_to(from.chunks + row.first, from.chunks + row.end);
    links[rank].receive_unique = row.end - row.first;
  }
  return indexed_pattern(comm, from.chunks, to.chunks, std::move(links));
}

// For all arrays with `width` bytes per cell in total.
struct RowExchange {
  byte_count width;
  Rows from, to;
  std::optional<Exchange> exchange;
};

class Boxes final : public Redistribution::Mover {
 public:
  Boxes(const Turned& from, const Turned& to, ExchangeOptions options)
      : from_(from, to), to_(to, from), options_(std::move(options)) {
    std::vector<int> ranks;
    for (const Half* half : {&from_, &to_})
      for (const auto& [rank, pieces] : half->others) ranks.push_back(rank);
    require_transport(options_, from.domain.communicator(), ranks);
  }

  void prepare(std::span<const Move> arrays) override {
    if (find(arrays) == nullptr) add(arrays, [](RowExchange&) {});
  }
  void move(std::span<const Move> arrays, Direction direction) override {
    const auto move_all = [&](RowExchange& rows) {
      check_disjoint(arrays, direction);
      move(rows, arrays, direction);
    };
    RowExchange* const known = find(arrays);
    if (known == nullptr) return add(arrays, move_all);
    check(arrays);
    move_all(*known);
  }

  std::string explain() const override {
    std::string text = concat(cells_of(from_.own), " cells stay, and go to");
    for (const auto& [rank, pieces] : from_.others)
      text += concat(" rank ", rank, ": ", cells_of(pieces), ",");
    text.back() = from_.others.empty() ? 'o' : '\n';
    if (from_.others.empty()) text += " no other rank\n";
    for (const auto& each : exchanges_)
      text += concat(each->width, " bytes per cell: ", each->exchange->explain());
    return text;
  }

 private:
  static constexpr const char* first_call =
      "forward, back or prepare, the first call of a redistribution";

  static byte_count width_of_all(std::span<const Move> arrays) {
    byte_count width = 0;
    for (const Move& each : arrays) width += bytes_per_cell(each.from);
    return width;
  }
  RowExchange* find(std::span<const Move> arrays) const {
    const auto fits = [width = width_of_all(arrays)](
                          const auto& each) { return each->width == width; };
    const auto found = std::ranges::find_if(exchanges_, fits);
    return found == exchanges_.end() ? nullptr : found->get();
  }
  // Collective. Other ranks may be in the exchange of `work` when this one fails.
  template <class Work>
  void add(std::span<const Move> arrays, const Work& work) {
    exchanges_.push_back(
        collectively(from_.domain.communicator(), first_call, setup_limit(options_), [&] {
          auto rows = make(arrays);
          work(*rows);
          return rows;
        }));
  }
  std::unique_ptr<RowExchange> make(std::span<const Move> arrays) {
    check(arrays);
    exchanges_.reserve(exchanges_.size() + 1);
    const byte_count width = width_of_all(arrays);
    auto rows = std::make_unique<RowExchange>(
        RowExchange{width, {from_.others, width}, {to_.others, width}, {}});
    const Element chunk{Scalar::bytes, static_cast<std::int32_t>(chunk_bytes)};
    rows->exchange.emplace(pattern_of(from_.domain.communicator(), rows->from, rows->to),
        std::vector{Field{chunk, 1, chunk_bytes, 0, true, {rows->from.view(), rows->to.view()}}},
        options_);
    return rows;
  }
  void move(RowExchange& rows, std::span<const Move> arrays, Direction direction) {
    require_mpi_not_ended();  // in a forked child, before shared memory changes
    const bool forward = direction == Direction::forward;
    const auto give = forward ? &Move::from : &Move::to, get = forward ? &Move::to : &Move::from;
    const Half &source = forward ? from_ : to_, &target = forward ? to_ : from_;
    copy_rows(source, forward ? rows.from : rows.to, arrays, give, true);
    for (const Move& each : arrays) keep(source, each.*give, target, each.*get);
    if (forward) (*rows.exchange)(*queue_);
    else rows.exchange->reverse(*queue_, Reduction::replace);
    copy_rows(target, forward ? rows.to : rows.from, arrays, get, false);
    queue_->wait();
    programs_.clear();
  }

  void check(std::span<const Move> arrays) const {
    require_alike(arrays);
    for (const Move& each : arrays) check(from_.domain, each.from), check(to_.domain, each.to);
  }
  static void check(const CartesianDomain& domain, const Field& field) {
    require_arrays(domain, field);
    if (field.stagger != domain.stagger())
      throw Error(
          "an array does not live on the points of its domain: redistribute fields on points "
          "between domain.staggered(…) of both domains",
          ErrorKind::type);
  }

  void check_disjoint(std::span<const Move> arrays, Direction direction) const {
    std::vector<Footprint> written, read;
    const auto add = [](std::vector<Footprint>& to, const Half& half, const Field& field) {
      for (int b = 0; b < std::ssize(half.domain.blocks()); ++b)
        to.push_back(footprint(field, half.place(field, {b, half.of_first(half.domain.owned(b))})));
    };
    const bool forward = direction == Direction::forward;
    for (const Move& each : arrays) {
      add(forward ? read : written, from_, each.from);
      add(forward ? written : read, to_, each.to);
    }
    if (overlap(written, read))
      refuse(
          "a destination array shares memory with another array of the call: pass "
          "arrays that do not overlap");
  }

  // The program must live until the queue completes.
  void enqueue(Program program, Bases src, Bases dst) {
    executor_->compile(programs_.emplace_back(std::move(program)));
    queue_->enqueue(programs_.back(), src, dst);
  }

  // Array after array, piece after piece.
  void copy_rows(const Half& half, const Rows& rows, std::span<const Move> arrays,
      Field Move::* which, bool packing) {
    for (const auto& [rank, chunks] : rows.of_rank) {
      std::byte* const row = rows.memory.get() + chunks.first * chunk_bytes;
      byte_count offset = 0;
      for (const Move& each : arrays) {
        const Field& field = each.*which;
        const auto cells = first_cells(field);
        Program program = copies(
            field, half.others.at(rank),
            [&](const Piece& piece) { return half.place(field, piece); }, packing, offset);
        enqueue(std::move(program), packing ? cells.data() : &row, packing ? &row : cells.data());
      }
    }
  }

  // Copies cells that stay on this rank.
  void keep(const Half& source, const Field& from, const Half& target, const Field& to) {
    Program program;
    for (std::size_t k = 0; k < source.own.size(); ++k)
      program.add(copy_between(
          source.place(from, source.own[k]), target.place(to, target.own[k]), from.element));
    enqueue(std::move(program), first_cells(from).data(), first_cells(to).data());
  }

  Half from_, to_;
  ExchangeOptions options_;
  const std::shared_ptr<Executor> executor_ = make_executor(MemorySpace::host);  // checked
  const std::shared_ptr<Queue> queue_ = executor_->make_queue();
  std::deque<Program> programs_;  // in flight
  std::vector<std::unique_ptr<RowExchange>> exchanges_;
};

// Axis d of the second grid is axis `axes[d]` of the first.
Axes inverse_of(const std::vector<int>& axes, int dimensions) {
  Axes inverse;
  std::iota(inverse.begin(), inverse.end(), std::size_t{0});
  if (!axes.empty() && !std::ranges::is_permutation(axes, std::views::iota(0, dimensions)))
    refuse(
        "axes are not a permutation: for each axis of the second grid, name another axis of the "
        "first, from 0 to ",
        dimensions - 1);
  for (std::size_t d = 0; d < axes.size(); ++d) inverse[axes[d]] = d;
  return inverse;
}

void require_same_grid(const Turned& from, const Turned& to) {
  const auto extents = to.domain.extents();
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (from.domain.extents().size() != extents.size() ||
        from.domain.extents()[d] != extents[to.axes[d]])
      refuse(
          "the two domains have different extents: redistribute between domains of the same "
          "grid; `axes` lists the axes if they are permuted");
}

}  // namespace

std::unique_ptr<Redistribution::Mover> move_boxes(const CartesianDomain& from,
    const CartesianDomain& to, ExchangeOptions options, std::vector<int> axes) {
  const Communicator& comm = from.communicator();
  const auto tell = [&](Properties& properties) {
    properties.add("the number of axes", axes.size());
    for (std::size_t d = 0; d < axes.size(); ++d)
      properties.add("axes[%]", axes[d], {static_cast<int>(d)});
  };
  return collectively(comm, "Redistribution", setup_limit(options),
      [&]() -> std::unique_ptr<Redistribution::Mover> {
        require_one_communicator(from.communicator(), to.communicator());
        require_equal(comm, "axes", tell, "name the same axes on every rank");
        const Turned first{from, inverse_of({}, from.dimensions())},
            second{to, inverse_of(axes, from.dimensions())};
        require_same_grid(first, second);
        return std::make_unique<Boxes>(first, second, std::move(options));
      });
}

}  // namespace parhelion
