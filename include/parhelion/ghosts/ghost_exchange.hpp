// Filling the ghosts of row arrays.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "parhelion/exchange/exchange.hpp"
#include "parhelion/ghosts/ghost_rows.hpp"

namespace parhelion {

/// Fills the ghost rows of arrays of one map, of whatever layouts and elements, in one message per
/// neighbor; or gives the ghosts' contributions back to the owners.
///
/// Construction is collective and fetches the sizes of ragged ghost rows. From then on a rank waits
/// for its neighbors only. An array that has been compressed, rebound or refreshed since is
/// noticed: the exchange is refused, on every rank, until `refresh`. One that is being edited is
/// refused by the ranks that edit it; the others get its rows as they were before. The exchange
/// keeps the arrays alive. Between begin and end the rules of Exchange hold. Errors: arrays of
/// different maps or under edit; an array that is named twice, arrays that share memory; see
/// Exchange.
///
///     GhostExchange exchange{{velocity, neighbors}};
///     exchange();
class GhostExchange {
    struct Impl;

public:
    explicit GhostExchange(std::vector<GhostRows> arrays, ExchangeOptions options = {});
    ~GhostExchange();
    GhostExchange(GhostExchange&&) noexcept;
    GhostExchange& operator=(GhostExchange&&) noexcept;

    using Step = parhelion::Step;

    /// Owner → ghost.
    [[nodiscard]] Step begin();
    void operator()();

    /// Ghost → owner, combined in a fixed order. Sizes of padded rows do not travel; all their room
    /// does. The first reverse exchange of padded rows is collective. Ghosts keep their values.
    [[nodiscard]] Step begin_reverse(Reduction reduction = Reduction::sum);
    void reverse(Reduction reduction = Reduction::sum) { begin_reverse(reduction).end(); }

    void end();
    bool under_way() const;

    /// Collective: fetches the sizes of ragged ghost rows anew and takes the arrays' memory as it
    /// is now.
    void refresh();
    /// Whether an array has changed since. Local; the same on every rank.
    bool stale() const;

    /// `arrive` transforms ghosts after every forward exchange, in the order of registration: the
    /// rotation of vectors beyond a periodic end, say. `depart` is its transpose, for contributions
    /// before a reverse exchange; without it a reverse exchange is refused. Local; register the
    /// same on every rank.
    void on_arrival(std::function<void()> arrive, std::function<void()> depart = {});

    const std::vector<GhostRows>& arrays() const;
    /// What moves the rows, as of the last refresh.
    const Exchange& exchange() const;

private:
    std::shared_ptr<Impl> impl_;
};

/// Collective. One forward exchange, set up and forgotten. For several, make a GhostExchange:
/// setting up costs as much as many.
void fill_ghosts(std::vector<GhostRows> arrays);

}  // namespace parhelion
