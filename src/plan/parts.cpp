#include "plan/parts.hpp"

#include <algorithm>

#include "plan/compile.hpp"
#include "plan/layout.hpp"

namespace parhelion {
namespace {

constexpr byte_count line = 64;
// Bytes of cache lines that one side touches for a part; the few parts that are under way at once fit into a second-level cache.
constexpr byte_count lines_per_part = 32 * 1024;

struct Side {
    const Plan& plan;
    const Selection& selection;
    byte_count entries;
    bool ghosts;
    Into into;
    const std::vector<std::vector<int>>* orders;  // the sender's packing orders; null: this rank's own

    std::vector<int> order(int f) const {
        if (orders != nullptr) return (*orders)[static_cast<std::size_t>(f)];
        return packing_order(plan.fields[static_cast<std::size_t>(f)], plan.pattern->dimensions);
    }
    BoxLayout layout(int f, byte_count k) const {
        const BoxPiece& piece = selection.boxes[static_cast<std::size_t>(k)];
        const Field& field = plan.fields[static_cast<std::size_t>(f)];
        return box_in_field(plan, f, piece, clipped(piece, field, plan.pattern->dimensions));
    }
};

byte_count points(const BoxLayout& layout) {
    byte_count all = 1;
    for (int d = 0; d < layout.dims; ++d) all *= layout.count[static_cast<std::size_t>(d)];
    return all;
}

// Bytes of the cache lines that a field's pieces lie on, each row of the message being one run somewhere else. The same on both
// sides, though strides differ.
byte_count lines_of(const Side& side, int f) {
    const byte_count size = side.plan.fields[static_cast<std::size_t>(f)].element.size;
    if (side.plan.pattern->indexed()) return std::max(side.entries * line, message_bytes(side.plan, f, side.selection, side.entries));
    const auto order = side.order(f);
    byte_count total = 0;
    for (byte_count k = 0; k < side.entries; ++k) {
        const BoxLayout layout = side.layout(f, k);
        if (points(layout) == 0) continue;
        byte_count row = 1;  // values that lie together: the components, where they come last, and the dimension before them
        for (std::size_t i = order.size(); i-- > 0;) {
            row *= layout.count[static_cast<std::size_t>(order[i])];
            if (order[i] + 1 < layout.dims) break;
        }
        total += points(layout) / row * std::max(line, row * size);
    }
    return total;
}

// Extent along the outermost dimension of the message, or the one after it; 1 where the pieces differ in it and are not cut.
byte_count extent_of(const Side& side, int f, std::size_t after_outermost) {
    const auto order = side.order(f);
    if (after_outermost >= order.size()) return 1;
    byte_count extent = 0;
    for (byte_count k = 0; k < side.entries; ++k) {
        const byte_count here = side.layout(f, k).count[static_cast<std::size_t>(order[after_outermost])];
        if (extent != 0 && here != extent) return 1;
        extent = here;
    }
    return std::max<byte_count>(extent, 1);
}

// Part number `which` of `parts` equal ones of a dimension.
struct Cut {
    byte_count which = 0, parts = 1;

    BoxLayout of(const BoxLayout& box, int dimension) const {
        const byte_count rows = box.count[static_cast<std::size_t>(dimension)];
        return cut(box, dimension, rows * which / parts, rows * (which + 1) / parts);
    }
};

class Cutter {
public:
    explicit Cutter(const Side& side) : side_(side) {}

    std::vector<Part> cut() {
        for (int f = 0; f < static_cast<int>(side_.plan.fields.size()); ++f) {
            const byte_count touched = lines_of(side_, f);
            if (side_.plan.pattern->indexed()) {
                cut_cells(f, touched);
                continue;
            }
            // Along the second dimension only where the first is cut into single layers.
            const byte_count wanted = std::max<byte_count>(touched / lines_per_part, 1), layers = extent_of(side_, f, 0);
            const byte_count slices = std::min(wanted, layers);
            const byte_count strips = slices == layers ? std::min(wanted / slices, extent_of(side_, f, 1)) : 1;
            for (byte_count i = 0; i < slices * strips; ++i) {
                add_slice(f, {i / strips, slices}, {i % strips, strips});
                close(touched / (slices * strips));
            }
        }
        if (open_.bytes > 0) parts_.push_back(std::move(open_));
        return std::move(parts_);
    }

private:
    // Small fields share a part.
    void close(byte_count touched) {
        touched_ += touched;
        if (touched_ < lines_per_part || open_.bytes == 0) return;
        parts_.push_back(std::move(open_));
        open_ = {};
        touched_ = 0;
    }

    void cut_cells(int f, byte_count touched) {
        const Field& field = side_.plan.fields[static_cast<std::size_t>(f)];
        const byte_count pieces = field.ragged() ? 1 : std::clamp<byte_count>(touched / lines_per_part, 1, std::max<byte_count>(side_.entries, 1));
        for (byte_count i = 0; i < pieces; ++i) {
            const Entries entries{side_.entries * i / pieces, side_.entries * (i + 1) / pieces};
            open_.bytes = aligned(open_.bytes);
            add_side_of_cells(open_.program, side_.plan, f, side_.selection, entries, side_.ghosts, side_.into, open_.bytes, false);
            open_.bytes += pieces == 1 ? message_bytes(side_.plan, f, side_.selection, side_.entries)
                                       : (entries.end - entries.first) * bytes_per_cell(field);
            close(touched / pieces);
        }
    }

    // A part of the two outermost dimensions of the message.
    void add_slice(int f, Cut outermost, Cut second) {
        const Field& field = side_.plan.fields[static_cast<std::size_t>(f)];
        const auto order = side_.order(f);
        open_.bytes = aligned(open_.bytes);
        for (byte_count k = 0; k < side_.entries; ++k) {
            BoxLayout mine = outermost.of(side_.layout(f, k), order.front());
            if (order.size() > 1) mine = second.of(mine, order[1]);
            const BoxLayout message = box_in_message(mine, order, field.element.size, open_.bytes);
            open_.program.add(side_.into == Into::message ? copy_between(mine, message, field.element)
                                                          : copy_between(message, mine, field.element));
            open_.bytes += points(mine) * field.element.size;
        }
    }

    const Side& side_;
    std::vector<Part> parts_;
    Part open_;
    byte_count touched_ = 0;
};

}  // namespace

std::vector<Part> parts_sent(const Plan& plan, const LinkPlan& link) {
    const Side side{plan, link.link->send, link.link->send_unique, false, Into::message, nullptr};
    return Cutter(side).cut();
}

std::vector<Part> parts_received(const Plan& plan, const LinkPlan& link) {
    const Side side{plan, link.link->receive, link.link->receive_unique, true, Into::field, &link.orders};
    return Cutter(side).cut();
}

}  // namespace parhelion
