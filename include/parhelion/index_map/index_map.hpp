// An indexed domain together with all that is needed to exchange whatever array is passed.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "parhelion/domain/indexed_domain.hpp"
#include "parhelion/index_map/buffered_exchange.hpp"
#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// Values of the cells of an index map: `components` elements per cell next to each other, cells `stride` bytes apart.
struct CellValues {
    CellArray owned, ghosts;
    Element element;
    int components = 1;

    byte_count width() const { return byte_count{element.size} * components; }
};

/// Who owns what, and its exchanges for arrays that are named at each call.
///
/// An Exchange belongs to arrays at fixed addresses and is set up once for them; a map sets up one exchange for each number
/// of bytes per cell, at the first call that needs it, and copies between its buffers and the arrays. That first call is
/// collective; the others wait for neighbors only. Exchanges of different arrays may be under way at once.
/// Every rank makes the same calls in the same order. The map must outlive what is under way.
/// Errors, of the rank that passes them: arrays of owned cells and of ghosts that share memory.
class IndexMap {
public:
    /// Collective: builds the pattern.
    explicit IndexMap(IndexedDomain domain);

    const IndexedDomain& domain() const { return domain_; }
    const Pattern& pattern() const { return pattern_; }
    const Communicator& communicator() const { return domain_.communicator(); }

    /// Owner → ghost. After begin the owned values may change again; the ghosts are written by end.
    void forward(const CellValues& values);
    void begin_forward(const CellValues& values);
    void end_forward(const CellValues& values);

    /// Ghost → owner, combined in a fixed order (by rank, then by id). After begin the ghosts may change; the owned values
    /// are written by end. Errors: a reduction that the elements do not have.
    void reverse(const CellValues& values, Reduction reduction);
    void begin_reverse(const CellValues& values, Reduction reduction);
    void end_reverse(const CellValues& values);

    bool under_way() const { return !active_.empty(); }

private:
    struct Active {
        CellValues values;
        Direction direction;
        Reduction reduction;
        BufferedExchange* exchange;
    };
    void require_disjoint(const CellValues& values) const;
    BufferedExchange& idle_exchange(byte_count width);
    Active take(const CellValues& values, Direction direction);

    IndexedDomain domain_;
    Pattern pattern_;
    std::map<byte_count, std::vector<std::unique_ptr<BufferedExchange>>> exchanges_;
    std::vector<Active> active_;
};

}  // namespace parhelion
