// Copies between a grid's blocks and one array of all. The root serves ranks in turn and requests a
// message before it receives the previous one: at most two are in flight.
#include "parhelion/redistribution/gather.hpp"

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "plan/array_block.hpp"
#include "redistribution/pieces.hpp"

namespace parhelion {
namespace {

constexpr byte_count most_bytes = byte_count{32} << 20;

Pieces blocks_of(const CartesianDomain& domain, int rank) {
  Pieces blocks;
  for (const Block& block : domain.blocks_of(rank))
    blocks.push_back({static_cast<int>(blocks.size()), block.owned});
  return blocks;
}

// One message: as many pieces as fit.
struct Part {
  Pieces pieces = {};
  byte_count bytes = 0;
};
std::vector<Part> parts_of(const CartesianDomain& domain, int rank, byte_count width) {
  std::vector<Part> parts;
  Pieces left = blocks_of(domain, rank);
  for (std::ranges::reverse(left); !left.empty();) {
    Piece piece = left.back();
    left.pop_back();
    const byte_count cells = piece.cells.cells(), bytes = cells * width;
    if (bytes > most_bytes && cells > 1) {
      int d = 0;
      while (piece.cells.extent(d) == 1) ++d;
      Piece rest = piece;
      rest.cells.lo[d] = piece.cells.hi[d] = piece.cells.lo[d] + piece.cells.extent(d) / 2;
      left.insert(left.end(), {rest, piece});
    } else if (cells > 0) {
      if (parts.empty() || parts.back().bytes + bytes > most_bytes) parts.emplace_back();
      parts.back().pieces.push_back(piece);
      parts.back().bytes += bytes;
    }
  }
  return parts;
}

class Transfer {
 public:
  // Collective.
  Transfer(const CartesianDomain& domain, const Field& field, const Field& whole, int root)
      : field_(field), whole_(whole), root_(root), comm_(domain.communicator()) {
    require_root(root, comm_);
    const auto tell = [&](Properties& told) {
      told.add("the type", to_string(field.element));
      told.add("the number of components", field.components);
      for (int d = 0; d < domain.dimensions(); ++d)
        told.add("the stagger in dimension %", field.stagger.along[d], {d});
    };
    require_equal(comm_, "the arrays", tell,
        "pass arrays of the same type, components and stagger everywhere", [&] { check(domain); });
  }

  void gather() {
    const Tag tag = comm_.next_tag();
    if (comm_.rank() != root_) {
      for (const Part& part : parts(comm_.rank())) {
        receive_message(comm_, root_, tag);
        send_message(comm_, packed(field_, root_, part), tag);
      }
      return;
    }
    keep(true);
    std::optional<std::pair<int, Part>> allowed;
    const auto take = [&] {
      if (allowed) unpack(whole_, allowed->second, receive_message(comm_, allowed->first, tag));
    };
    for_others([&](int rank, const Part& part) {
      send_message(comm_, {rank, {}}, tag);
      take();
      allowed.emplace(rank, part);
    });
    take();
  }

  void scatter() {
    const Tag tag = comm_.next_tag();
    if (comm_.rank() != root_) {
      for (const Part& part : parts(comm_.rank()))
        unpack(field_, part, receive_message(comm_, root_, tag));
      return;
    }
    keep(false);
    for_others(
        [&](int rank, const Part& part) { send_message(comm_, packed(whole_, rank, part), tag); });
  }

 private:
  void check(const CartesianDomain& domain) {
    Stagger more;
    for (int d = 0; d < domain.dimensions(); ++d)
      more.along[d] =
          static_cast<std::int16_t>(field_.stagger.along[d] - domain.stagger().along[d]);
    domain_.emplace(domain.staggered(more));
    require_arrays(*domain_, field_);
    require_on_host(field_);
    if (comm_.rank() != root_) return;
    if (whole_.blocks.size() != 1 || whole_.element != field_.element ||
        whole_.components != field_.components || whole_.stagger != field_.stagger)
      throw Error("the root's array is " + to_string(whole_) + " and that of its block " +
                      to_string(field_) +
                      ": pass a view_whole with the block's element, components and stagger",
          ErrorKind::type);
    require_on_host(whole_);
    Box all;
    for (int d = 0; d < domain_->dimensions(); ++d) all.hi[d] = domain_->axis(d).extent;
    if (whole_.blocks[0].first == nullptr && !all.empty())
      refuse("the root's array is a null pointer: pass one of all cells there");
    for (const Piece& own : blocks_of(*domain_, root_))
      if (!own.cells.empty() && overlap(footprint(whole_, place(whole_, {0, all})),
                                    footprint(field_, place(field_, own))))
        refuse(
            "the root's array shares memory with that of a block: pass arrays that do not "
            "overlap");
  }

  BoxLayout place(const Field& array, const Piece& piece) const {
    const int dimensions = domain_->dimensions();
    if (&array == &whole_) return box_in_array(array, {}, {0, piece.cells}, dimensions);
    return box_in_array(array, first_of(*domain_, array, piece.block), piece, dimensions);
  }

  std::vector<Part> parts(int rank) const {
    return parts_of(*domain_, rank, bytes_per_cell(field_));
  }
  template <class Use>
  void for_others(Use&& use) const {
    for (int rank = 0; rank < comm_.size(); ++rank)
      if (rank != root_)
        for (const Part& part : parts(rank)) use(rank, part);
  }

  void keep(bool to_whole) {
    const Field &from = to_whole ? field_ : whole_, &to = to_whole ? whole_ : field_;
    Program program;
    for (const Piece& own : blocks_of(*domain_, root_))
      program.add(copy_between(place(from, own), place(to, own), field_.element));
    run(std::move(program), first_cells(from).data(), first_cells(to).data());
  }
  Message packed(const Field& array, int rank, const Part& part) {
    Message message{rank, std::vector<std::byte>(part.bytes)};
    copy(array, part, message.bytes.data(), true);
    return message;
  }
  void unpack(const Field& array, const Part& part, Message message) {
    copy(array, part, message.bytes.data(), false);
  }
  void copy(const Field& array, const Part& part, std::byte* packed, bool packing) {
    byte_count offset = 0;
    const auto cells = first_cells(array);
    run(copies(
            field_, part.pieces, [&](const Piece& piece) { return place(array, piece); }, packing,
            offset),
        packing ? cells.data() : &packed, packing ? &packed : cells.data());
  }
  void run(Program program, Bases from, Bases to) {
    executor_->compile(program);
    queue_->enqueue(program, from, to);
    queue_->wait();
  }

  const Field &field_, &whole_;
  int root_;
  Communicator comm_;
  std::optional<CartesianDomain> domain_;  // of the field's points
  const std::shared_ptr<Executor> executor_ = make_executor(MemorySpace::host);
  const std::shared_ptr<Queue> queue_ = executor_->make_queue();
};

}  // namespace

void gather(const CartesianDomain& domain, const Field& field, const Field& whole, int root) {
  collectively(
      domain.communicator(), "gather", [&] { Transfer(domain, field, whole, root).gather(); });
}

void scatter(const CartesianDomain& domain, const Field& whole, const Field& field, int root) {
  collectively(
      domain.communicator(), "scatter", [&] { Transfer(domain, field, whole, root).scatter(); });
}

}  // namespace parhelion
