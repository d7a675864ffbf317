// Migration of rows to other ranks: particles, load balancing.
#pragma once

#include <string_view>

#include "parhelion/core/sparse_exchange.hpp"
#include "parhelion/index_map/cell_values.hpp"

namespace parhelion {

/// Sends rows of arrays to given ranks; no rank needs to know from which it receives. Any number of
/// arrays, also of different elements, travel in one message per pair of ranks. A call allocates
/// only for more rows than ever before. Construction is collective the first time for a
/// communicator.
///
///     Migration migrate(comm);
///     const std::int64_t count = migrate.send(ranks, {{x, 3}, ids});   // three components per row
///     x.resize(3 * count), ids.resize(count);
///     migrate.receive({{x, 3}, ids});
class Migration {
 public:
  explicit Migration(Communicator comm) : exchange_(std::move(comm)) {}
  Migration(Migration&&) noexcept = default;
  Migration& operator=(Migration&&) noexcept = default;

  static constexpr int dropped = -1;
  const Communicator& communicator() const { return exchange_.communicator(); }

  /// Collective. Sends row i of each array to `ranks[i]`, possibly this rank; `dropped`: to none.
  /// Arrays have at least ranks.size() rows, in their owned cells, and may change after the
  /// return. Returns the number of rows received. A rank may send or receive none. Errors (on
  /// every rank): an invalid rank, too few rows, elements or components that differ between
  /// ranks. `kinds`: names of the elements, which must be equal, too.
  std::int64_t send(
      std::span<const int> ranks, const CellArrays& arrays, std::string_view kinds = {});
  /// Local. Writes the rows of the last `send` into arrays with room for them, with the elements
  /// and components that were sent: sorted by source rank, then in the order of `ranks` there.
  /// The sent arrays may be reused.
  void receive(const CellArrays& arrays) const;
  /// Local. The source rank of each row.
  std::vector<int> sources() const;

 private:
  struct Destination {
    int rank;
    std::size_t rows, next;
  };
  void sort(std::span<const int> ranks);
  void pack(const CellArrays& arrays);

  RepeatedExchange exchange_;
  std::vector<Destination> destinations_;  // by rank
  std::vector<std::size_t> order_;         // rows, by destination
  std::vector<CellValues> sent_;           // arrays of the last call
  byte_count width_ = 0;                   // bytes per row, all arrays
  std::int64_t received_ = 0;
};

}  // namespace parhelion
