// Rows that go to other ranks: particles, work that is balanced anew.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parhelion/core/sparse_exchange.hpp"
#include "parhelion/index_map/cell_values.hpp"

namespace parhelion {

/// Sends each row of arrays to the rank that is named for it, where nobody knows beforehand who
/// sends how much to whom. Any number of arrays, of different elements if need be, go together, in
/// one message from each rank to each that gets rows of it. Its memory grows, and is used again: a
/// call allocates nothing where it has no more rows than one before. Construction is collective the
/// first time for a communicator.
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

    /// Collective. Row i of each array goes to `ranks[i]`, which may be this rank; `dropped`: to
    /// nobody. Arrays have at least as many rows as there are ranks, in their owned cells; they may
    /// change when it returns. Returns how many rows have come. A rank may send none, and may get
    /// none. Errors (on every rank): a rank that does not exist, too few rows, elements or
    /// components that differ between ranks.
    std::int64_t send(std::span<const int> ranks, const CellArrays& arrays);
    /// Local. Writes the rows that the last `send` has brought, by the rank that sent them, those
    /// of one rank in the order in which it named them: arrays with room for them, of the elements
    /// and components that were sent, in that order. They may be the ones that were sent.
    void receive(const CellArrays& arrays) const;
    /// Local. The rank that each of these rows came from.
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
    std::vector<CellValues> sent_;           // of the last call
    byte_count width_ = 0;                   // of a row of all arrays
    std::int64_t received_ = 0;
};

}  // namespace parhelion
