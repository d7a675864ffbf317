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
        for (int d = 0; d < max_dimensions; ++d)
            hash.add(piece.backward >> d & 1 ? piece.owner.hi[d] - piece.cells.hi[d]
                                             : piece.cells.lo[d] - piece.owner.lo[d])
                .add(piece.cells.extent(d))
                .add(piece.owner.extent(d));
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
