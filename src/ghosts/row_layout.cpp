#include "parhelion/ghosts/row_layout.hpp"

#include <string>

#include "parhelion/core/error.hpp"

namespace parhelion {

void check_layout(const RowLayout& layout) {
    if (layout.element.size < 1)
        throw Error("rows of elements of no size: give an element of 1 byte or more",
                    ErrorKind::type);
    if (layout.components < 1)
        throw Error("entries of " + std::to_string(layout.components) +
                    " components: give 1 or more");
    if (layout.kind != RowKind::ragged && layout.width < 1)
        throw Error("rows of " + std::to_string(layout.width) + " entries: give 1 or more");
    const byte_count a = layout.alignment;
    if (a < 1 || a > 4096 || (a & (a - 1)) != 0)
        throw Error("rows aligned to " + std::to_string(a) +
                    " bytes: use a power of two from 1 to 4096");
    if (layout.entry_bytes() * (layout.kind == RowKind::ragged ? 1 : layout.width) > byte_count{1}
                                                                                         << 30)
        throw Error("rows of more than 1 GiB: use more rows or several arrays");
}

}  // namespace parhelion
