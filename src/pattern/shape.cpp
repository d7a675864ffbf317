#include "pattern/shape.hpp"

#include "parhelion/core/hash.hpp"

namespace parhelion {
namespace {

Shape shape_of(const Selection& side, local_index unique,
               const std::vector<local_index>& duplicate_of) {
    Hash hash;
    auto cells = static_cast<global_index>(side.cells.size());
    for (const BoxPiece& piece : side.boxes) {
        cells += piece.cells.cells();
        for (int d = 0; d < max_dimensions; ++d) {
            const int here = piece.axis(d);
            hash.add(piece.is_backward(d) ? piece.owner.hi[here] - piece.cells.hi[here]
                                          : piece.cells.lo[here] - piece.owner.lo[here])
                .add(piece.cells.extent(here))
                .add(piece.owner.extent(here));
        }
    }
    hash.add(unique).add_range(duplicate_of);
    return {cells, hash.value()};
}

}  // namespace

Shape shape_of_sends(const Link& link) {
    return shape_of(link.send, link.send_unique, link.send_duplicate_of);
}
Shape shape_of_receives(const Link& link) {
    return shape_of(link.receive, link.receive_unique, link.receive_duplicate_of);
}

}  // namespace parhelion
