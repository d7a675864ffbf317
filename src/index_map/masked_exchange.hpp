// A map's active ghosts, in lists equal at both ends of each link, and their exchange by MPI
// messages, whose lengths change with each mask.
#pragma once

#include <exception>

#include "index_map/cells_operation.hpp"
#include "index_map/placed_cells.hpp"
#include "transport/request_set.hpp"

namespace parhelion {

class NodeContext;

/// Updates refill the lists in place.
class MaskedCells {
 public:
  /// One neighbor's slice of a list: `count` active cells from `first`, at most `most`.
  struct Part {
    std::size_t first = 0, most = 0, first_word = 0, count = 0;
    bool joined = false;  // consecutive in masks
  };
  struct Neighbor {
    int rank;
    Part sent, received;
  };

  /// Local. `places` (null: none) must outlive it.
  MaskedCells(const Pattern& pattern, const std::vector<local_index>* places);
  ~MaskedCells() {
    if (updating_) settle();
  }
  MaskedCells(const MaskedCells&) = delete;
  MaskedCells& operator=(const MaskedCells&) = delete;

  /// Collective. `mask` has one integer per cell of this rank.
  void update(const CellValues& mask);
  /// Call `save` before an update, `restore` after one that failed on every rank.
  void save();
  void restore();
  std::uint64_t version() const { return version_; }

  const Communicator& communicator() const { return comm_; }
  local_index owned() const { return owned_; }
  const std::vector<Neighbor>& neighbors() const { return neighbors_; }  ///< by rank
  /// Owned cells to send, and local numbers of ghosts to receive.
  const std::vector<local_index>& sent() const { return sent_.now; }
  const std::vector<local_index>& received() const { return received_.now; }

 private:
  using Word = std::uint64_t;
  struct List {
    std::vector<local_index> all, now;
    std::shared_ptr<std::vector<Word>> bits = std::make_shared<std::vector<Word>>();
    std::vector<Word> saved = {};  // bits

    void add(const std::vector<local_index>& cells, Part& part);
    Word* bits_of(const Part& part) const { return bits->data() + part.first_word; }
    void keep(Part& part);
  };
  struct Messages {
    RequestSet sends{RequestSet::Kind::sends}, receives{RequestSet::Kind::receives};
    Tag tag;
  };
  void look_at(const CellValues& mask);
  void look_at_numbers();
  void prepare_messages();
  void start(const CellValues& mask);
  void settle();

  Communicator comm_;
  local_index owned_;
  std::vector<Neighbor> neighbors_;
  List sent_, received_;
  std::optional<PlacedCells> placed_;  // with places: layout of the last mask
  std::vector<local_index> numbers_;   // of all ghosts, in masks
  std::unique_ptr<Messages> messages_;
  bool updating_ = false;
  bool changed_ = false;  // the lists, since `save`
  std::uint64_t version_ = 0;
};

/// For arrays of any layout; buffers have room for all ghosts.
class MaskedExchange final : public CellsOperation {
 public:
  /// Collective. `cells` and `places` (null: none) must outlive it.
  MaskedExchange(const MaskedCells& cells, const std::vector<local_index>* places,
      CellArrays arrays, const ExchangeOptions& options);
  ~MaskedExchange() override;

  bool fits(CellArrays arrays, MapCall call, bool) const override {
    return call != MapCall::reduce_shared && has_widths_of(arrays);
  }
  void run(CellArrays arrays, MapCall call, Reduction reduction) override {
    begin(arrays, call, reduction);
    end();
  }
  void begin(CellArrays arrays, MapCall call, Reduction reduction) override;
  bool test() override;
  void end() override;

 private:
  // With places: active cells in arrays of the last layout.
  struct Numbers {
    PlacedCells placed;
    std::vector<local_index> sent = {}, received = {};
    std::uint64_t version = 0;
  };
  struct Slot {
    byte_count first;  // byte in both buffers
    bool missing = false;
  };
  using Part = MaskedCells::Part;
  using Neighbor = MaskedCells::Neighbor;
  bool sends_owned() const { return call() == MapCall::forward; }
  const Part& part(const Neighbor& neighbor, bool owned) const {
    return owned ? neighbor.sent : neighbor.received;
  }
  byte_count bytes(std::size_t cells) const;
  void look_at(std::size_t f);
  void copies(const Neighbor& neighbor, bool packing);
  void start();
  bool has_arrived(std::size_t k);
  void unpack(std::size_t k);
  void finish();
  void require_good() const;

  const MaskedCells& cells_;
  double timeout_s_;
  NodeContext* node_;
  std::vector<std::optional<Numbers>> numbers_;
  std::vector<Slot> slots_;  // in the order of neighbors
  std::shared_ptr<std::byte> out_, in_;
  Program program_;  // of one message
  std::vector<std::byte*> bases_;
  std::optional<Reduction> reduction_;
  Tag tag_;
  RequestSet sends_{RequestSet::Kind::sends}, receives_{RequestSet::Kind::receives};
  std::exception_ptr failure_;
};

}  // namespace parhelion
