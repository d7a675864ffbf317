// The Cartesian pattern is a product of one-dimensional ones: along each axis the extended range of
// a block is cut into segments by owner, and every combination of segments with at least one ghost
// segment is one piece. Points are cut as cells are: the point behind a block's last cell is the
// next block's, and one more layer of ghosts. Layers beyond an end are more cells of the block
// there. Where a side is folded, the segment of the folded axis says by which list the mirrored one
// is cut: plain, beyond the fold, or on its line.
#include <algorithm>
#include <map>
#include <tuple>

#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/pattern/pattern.hpp"
#include "pattern/by_dimensions.hpp"

namespace parhelion {
namespace {

// Which rows of the folded axis a list of segments of the mirrored one is for: those of the grid,
// or of a fold, by its number, those beyond it or the one on its line.
using Rows = int;
constexpr Rows plain = 0;
constexpr Rows beyond(std::size_t fold) { return static_cast<Rows>(2 * fold + 1); }
constexpr Rows on_line(std::size_t fold) { return static_cast<Rows>(2 * fold + 2); }
constexpr std::size_t fold_of(Rows rows) { return static_cast<std::size_t>(rows - 1) / 2; }

// Part of a block's extended range along one axis that one block owns.
struct Segment {
    global_index lo, hi;  // in the receiver's coordinates
    global_index shift;   // + x, or − x where it is mirrored: in the owner's coordinates
    int owner;            // block position along the axis
    bool ghost;
    bool beyond;  // a ghost that is none of the points that the block holds
    bool mirrored = false;
    Rows rows = plain;  // of a folded axis: the list of the mirrored one
};

// What is at a place of an axis, from there to before `end`: a cell of the grid, or `nothing`.
struct Image {
    global_index at, end;
    bool mirrored = false;
    Rows rows = plain;
};
constexpr global_index nothing = -1 - (global_index{1} << 40);

// x ↦ sum − x beyond a fold, along the folded axis and along the mirrored one.
struct Mirror {
    Fold fold;
    global_index across, along;
    bool is_beyond(global_index x) const {
        return fold.side == Side::upper ? 2 * x > across : 2 * x < across;
    }
    // The first place on it or behind it.
    global_index line() const { return (across + 1) / 2; }
};

// About a line between points or through them: 2 · its place, cells being ½ behind their lower
// faces.
Mirror mirror_of(const Fold& fold, const Axis& folded, const Axis& mirrored) {
    const auto cells = [](const Axis& axis) {
        return axis.extent - (axis.periodic ? 0 : axis.stagger);
    };
    const int inward = fold.pivot == Pivot::center ? 1 : 0;
    const global_index line =
        fold.side == Side::upper ? 2 * cells(folded) - inward : global_index{inward};
    return {fold, line - 1 + folded.stagger, cells(mirrored) + inward - 1 + mirrored.stagger};
}

struct PatternAxis : Axis {
    bool apart = false;                 // ghosts that the block holds are segments of their own
    std::vector<Mirror> across, along;  // folds of this axis, and those that mirror it

    // The halo is that of ghosts, and the block at an end owns what lies beyond it.
    PatternAxis(const Axis& axis, int below, int above, bool cut_held)
        : Axis(axis), apart(cut_held && axis.stagger > 0) {
        upper += stagger;
        if (periodic) return;
        starts.front() -= below;
        starts.back() += above;
    }

    // Points behind a block's last cell that it holds and does not own.
    int points_of_next(int block) const {
        return periodic || starts[block + 1] != starts.back() ? stagger : 0;
    }
    global_index wrapped(global_index x) const {
        return periodic ? ((x % extent) + extent) % extent : x;
    }
    bool has(global_index x) const { return x >= starts.front() && x < starts.back(); }

    Image image_of(global_index x, Rows rows) const {
        if (rows != plain) return beside_fold(x, rows);
        for (std::size_t i = 0; i < across.size(); ++i) {
            const Mirror& mirror = across[i];
            if (mirror.is_beyond(x))
                return {mirror.across - x,
                        mirror.fold.side == Side::upper ? past_all : mirror.line(), true,
                        beyond(i)};
            if (2 * x == mirror.across) return {x, x + 1, false, on_line(i)};
        }
        if (!periodic && !has(x)) return {nothing, x < starts.front() ? starts.front() : past_all};
        return {wrapped(x), periodic ? x + extent - wrapped(x) : next_line(x)};
    }

private:
    static constexpr global_index past_all = global_index{1} << 60;

    // Where the plain rows from x on end.
    global_index next_line(global_index x) const {
        global_index next = starts.back();
        for (const Mirror& mirror : across)
            if (mirror.line() > x) next = std::min(next, mirror.line());
        return next;
    }

    // On the line of a fold two places are one point: the one with the smaller coordinate owns it.
    Image beside_fold(global_index x, Rows rows) const {
        if (!periodic && !has(x)) return {nothing, x + 1};
        const global_index here = wrapped(x), mate = mate_of(here, along[fold_of(rows)]);
        if (rows == on_line(fold_of(rows)) && (mate == nothing || here <= mate))
            return {here, x + 1};
        return {mate, x + 1, true};
    }
    global_index mate_of(global_index x, const Mirror& mirror) const {
        const global_index mate = wrapped(mirror.along - x);
        if (periodic || has(mate)) return mate;
        // The formula of cells goes around the end, periodic or not.
        return mirror.fold.pivot == Pivot::center && stagger == 0 && mate == extent ? 0 : nothing;
    }
};

// Joined to the segment before where that goes on.
void append(std::vector<Segment>& segments, const Segment& next) {
    if (!segments.empty()) {
        Segment& last = segments.back();
        if (last.hi == next.lo && last.owner == next.owner && last.shift == next.shift &&
            last.ghost == next.ghost && last.beyond == next.beyond &&
            last.mirrored == next.mirrored && last.rows == next.rows) {
            last.hi = next.hi;
            return;
        }
    }
    segments.push_back(next);
}

void append_images(const PatternAxis& axis, global_index lo, global_index hi, Rows rows, bool own,
                   bool beyond, std::vector<Segment>& segments) {
    while (lo < hi) {
        const Image image = axis.image_of(lo, rows);
        global_index end = std::min(hi, image.end);
        if (image.at != nothing) {
            const auto next = std::upper_bound(axis.starts.begin(), axis.starts.end(), image.at);
            const global_index to_edge =
                image.mirrored ? image.at - *(next - 1) + 1 : *next - image.at;
            end = std::min(end, lo + to_edge);
            const bool ghost = !own || image.mirrored;
            append(segments, {lo, end, image.mirrored ? image.at + lo : image.at - lo,
                              static_cast<int>(next - axis.starts.begin()) - 1, ghost, beyond,
                              image.mirrored, image.rows});
        }
        lo = end;
    }
}

// A block without cells along an axis has no halo there.
std::vector<Segment> segments_of(const PatternAxis& axis, int block, Rows rows) {
    const global_index lo = axis.starts[block], hi = axis.starts[block + 1];
    std::vector<Segment> segments;
    if (lo == hi) return segments;
    const int next = axis.points_of_next(block);
    const global_index held = hi + (axis.apart ? next : 0);
    append_images(axis, lo - axis.lower, lo, rows, false, true, segments);
    append_images(axis, lo, hi, rows, true, false, segments);
    append_images(axis, hi, held, rows, false, false, segments);
    append_images(axis, held, hi + axis.upper - axis.stagger + next, rows, false, true, segments);
    return segments;
}

// A segment of some block (the reader) together with its number there, by which both sides order
// their pieces.
struct Reading {
    int reader;
    int number;
    int own_number;  // of the reader's segment without ghosts
    Segment segment;
};

// What this rank's blocks read along an axis, and what others read from them; indexed by position −
// first.
struct AxisView {
    using Readings = std::vector<std::vector<Reading>>;
    Readings reads, read_from;
    int first = 0;

    AxisView(const PatternAxis& axis, int first_block, int blocks, Rows rows)
        : reads(blocks), read_from(blocks), first(first_block) {
        for (int b = 0; b < axis.blocks(); ++b) {
            const bool mine = b >= first && b < first + blocks;
            if (!mine && rows == plain && !near(axis, b, blocks)) continue;
            const auto segments = segments_of(axis, b, rows);
            const int own = static_cast<int>(
                std::find_if(segments.begin(), segments.end(),
                             [](const Segment& segment) { return !segment.ghost; }) -
                segments.begin());
            for (int n = 0; n < static_cast<int>(segments.size()); ++n) {
                if (mine) reads[b - first].push_back({b, n, own, segments[n]});
                const int owner = segments[n].owner;
                if (owner >= first && owner < first + blocks)
                    read_from[owner - first].push_back({b, n, own, segments[n]});
            }
        }
    }

private:
    // Could block b's halo reach the blocks from `first` on? Keeps set-up cheap on long axes.
    bool near(const PatternAxis& axis, int b, int blocks) const {
        const global_index lo = axis.starts[first], hi = axis.starts[first + blocks];
        const global_index from = axis.starts[b] - axis.lower, to = axis.starts[b + 1] + axis.upper;
        if ((from < hi && to > lo) || !axis.across.empty()) return true;
        return axis.periodic && (from < 0 || to > axis.extent);
    }
};

// Order of the pieces of a link: by the reader's block, then by the segments' numbers.
using Key = std::tuple<int, std::array<int, max_dimensions>>;
struct Keyed {
    Key key;
    Key first;  // key of the piece that holds the same cells; key itself when none does
    BoxPiece piece;
    bool repeats() const { return key != first; }
};
using PiecesByRank = std::map<int, std::vector<Keyed>>;

class Builder {
public:
    Builder(const CartesianDomain& domain, const HaloWidth& ends)
        : domain_(domain), blocks_(domain.blocks()) {
        const Block& first = domain.blocks().front();
        for (int d = 0; d < domain.dimensions(); ++d) {
            PatternAxis& axis = axes_.emplace_back(domain.axis(d), ends.lower[d], ends.upper[d],
                                                   domain.neighbors() == Neighbors::faces);
            for (const Fold& fold : domain.seams()) {
                const Mirror mirror =
                    mirror_of(fold, domain.axis(fold.axis), domain.axis(fold.mirrored));
                if (fold.axis == d) axis.across.push_back(mirror), folded_ = d;
                if (fold.mirrored == d) axis.along.push_back(mirror);
            }
            for (Rows rows = plain; rows < beyond(axis.along.size()); ++rows)
                views_[d].emplace_back(axis, first.position[d], axis.blocks_per_rank, rows);
            for (Block& block : blocks_) {
                block.owned.lo[d] = axis.starts[block.position[d]];
                block.owned.hi[d] = axis.starts[block.position[d] + 1];
            }
        }
    }

    const std::vector<Block>& blocks() const { return blocks_; }
    HaloWidth halo() const {
        HaloWidth width = domain_.halo();
        for (int d = 0; d < domain_.dimensions(); ++d) width.upper[d] = axes_[d].upper;
        return width;
    }

    Stage stage() const {
        PiecesByRank receives, sends;
        for (int b = 0; b < static_cast<int>(blocks_.size()); ++b) {
            visit(b, &AxisView::reads,
                  [&](const Along& along) { add_receive(b, along, receives); });
            visit(b, &AxisView::read_from, [&](const Along& along) { add_send(b, along, sends); });
        }
        return join(receives, sends);
    }

private:
    using Along = std::array<const Reading*, max_dimensions>;
    using End = AxisView::Readings AxisView::*;

    template <class Visitor>
    void visit(int block, End end, Visitor&& visitor) const {
        Along along{};
        descend(0, blocks_[block], end, along, visitor);
    }

    // The folded axis comes first: its segment tells the list of the mirrored one.
    template <class Visitor>
    void descend(int n, const Block& block, End end, Along& along, Visitor& visitor) const {
        if (n == max_dimensions || n == domain_.dimensions()) {
            if (is_wanted(along)) visitor(along);
            return;
        }
        const int d = n == 0 ? folded_ : n <= folded_ ? n - 1 : n;
        const Rows rows = axes_[d].along.empty() ? plain : along[folded_]->segment.rows;
        const AxisView& view = views_[d][rows];
        for (const Reading& reading : (view.*end)[block.position[d] - view.first]) {
            along[d] = &reading;
            descend(n + 1, block, end, along, visitor);
        }
    }

    // Combinations with a ghost segment; without edges and corners, with at most one beyond what
    // the block holds.
    bool is_wanted(const Along& along) const {
        int ghosts = 0, beyond = 0;
        for (int d = 0; d < domain_.dimensions(); ++d)
            ghosts += along[d]->segment.ghost, beyond += along[d]->segment.beyond;
        return ghosts > 0 && (domain_.neighbors() == Neighbors::full || beyond <= 1);
    }

    Keyed keyed(const Along& along, int reader_block, const BoxPiece& piece) const {
        std::array<int, max_dimensions> numbers{};
        for (int d = 0; d < domain_.dimensions(); ++d) numbers[d] = along[d]->number;
        return {{reader_block, numbers}, {reader_block, first_numbers(along, numbers)}, piece};
    }

    // Where a block is its own periodic neighbor along a dimension, its ghosts there are images of
    // what it has already: a corner from another rank repeats the edge or face next to it.
    std::array<int, max_dimensions> first_numbers(const Along& along,
                                                  std::array<int, max_dimensions> numbers) const {
        const auto original = numbers;
        int others = 0;
        for (int d = 0; d < domain_.dimensions(); ++d) {
            const Reading& reading = *along[d];
            if (reading.segment.rows != plain) return original;
            if (!reading.segment.ghost) continue;
            if (reading.segment.owner == reading.reader) numbers[d] = reading.own_number;
            else ++others;
        }
        return others > 0 ? numbers : original;
    }

    DimensionSet folded(const Along& along) const {
        unsigned axes = 0;
        for (int d = 0; d < domain_.dimensions(); ++d)
            if (along[d]->segment.mirrored) axes |= 1u << d;
        return static_cast<DimensionSet>(axes);
    }

    // A width counts the point of the next block. Beyond a fold there is none: the last point is
    // one of them.
    global_index owner_end(const Along& along, int d, DimensionSet folded) const {
        const int reader = along[d]->reader;
        const int last = axes_[d].stagger - axes_[d].points_of_next(reader);
        return axes_[d].starts[reader + 1] - (d == folded_ && folded != 0 ? last : 0);
    }

    void add_receive(int block, const Along& along, PiecesByRank& receives) const {
        BoxPiece piece{block, {}, {}, {}};
        piece.folded = folded(along);
        std::array<int, max_dimensions> owner{};
        for (int d = 0; d < domain_.dimensions(); ++d) {
            const Segment& segment = along[d]->segment;
            piece.cells.lo[d] = segment.lo;
            piece.cells.hi[d] = segment.hi;
            piece.shift[d] = segment.shift;
            piece.owner.lo[d] = axes_[d].starts[along[d]->reader];
            piece.owner.hi[d] = owner_end(along, d, piece.folded);
            owner[d] = segment.owner;
        }
        receives[domain_.place_of(owner).rank].push_back(keyed(along, block, piece));
    }

    void add_send(int block, const Along& along, PiecesByRank& sends) const {
        BoxPiece piece{block, {}, {}, {}};
        piece.folded = piece.backward = folded(along);
        std::array<int, max_dimensions> reader{};
        const auto put = [](const Segment& segment, global_index lo, global_index hi, int d,
                            Box& box) {
            box.lo[d] = segment.mirrored ? segment.shift - hi + 1 : segment.shift + lo;
            box.hi[d] = segment.mirrored ? segment.shift - lo + 1 : segment.shift + hi;
        };
        for (int d = 0; d < domain_.dimensions(); ++d) {
            const Segment& segment = along[d]->segment;
            reader[d] = along[d]->reader;
            put(segment, segment.lo, segment.hi, d, piece.cells);
            put(segment, axes_[d].starts[reader[d]], owner_end(along, d, piece.folded), d,
                piece.owner);
        }
        const auto place = domain_.place_of(reader);
        sends[place.rank].push_back(keyed(along, place.block, piece));
    }

    // Sorts the pieces, those that repeat others last; tells how many do not, and what the others
    // repeat.
    static std::vector<BoxPiece> in_order(std::vector<Keyed>& keyed, local_index& unique,
                                          std::vector<local_index>& duplicate_of) {
        std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
            return std::tuple(a.repeats(), a.key) < std::tuple(b.repeats(), b.key);
        });
        std::map<Key, local_index> place;
        std::vector<BoxPiece> pieces;
        for (const auto& entry : keyed) {
            if (entry.repeats()) duplicate_of.push_back(place.at(entry.first));
            else place[entry.key] = unique++;
            pieces.push_back(entry.piece);
        }
        return pieces;
    }

    static Stage join(PiecesByRank& receives, PiecesByRank& sends) {
        std::map<int, Link> links;
        for (auto& [rank, pieces] : receives) {
            Link& link = links[rank];
            link.receive.boxes = in_order(pieces, link.receive_unique, link.receive_duplicate_of);
        }
        for (auto& [rank, pieces] : sends) {
            Link& link = links[rank];
            link.send.boxes = in_order(pieces, link.send_unique, link.send_duplicate_of);
        }
        Stage stage;
        for (auto& [rank, link] : links) {
            link.rank = rank;
            stage.push_back(std::move(link));
        }
        return stage;
    }

    const CartesianDomain& domain_;
    std::vector<Block> blocks_;
    std::vector<PatternAxis> axes_;
    std::array<std::vector<AxisView>, max_dimensions> views_;  // by rows
    int folded_ = 0;                                           // axis, or the first one
};

}  // namespace

Pattern build_pattern(const CartesianDomain& domain, const HaloWidth& ends) {
    HaloWidth owned_ends = 0;
    for (int d = 0; domain.boundary() == Boundary::owned && d < domain.dimensions(); ++d)
        owned_ends.lower[d] = ends.lower[d], owned_ends.upper[d] = ends.upper[d];
    const Builder builder(domain, owned_ends);
    Pattern pattern{domain.communicator(), domain.dimensions(), {}, builder.halo(), 0, 0, {},
                    domain.stagger(),      owned_ends};
    for (const Block& block : builder.blocks()) pattern.blocks.push_back(block.owned);
    pattern.stages.push_back(builder.stage());
    if (domain.algorithm() == Algorithm::standard) return pattern;
    std::vector<DimensionSet> each;
    for (int d = 0; d < domain.dimensions(); ++d)
        each.push_back(static_cast<DimensionSet>(1u << d));
    return by_dimensions(pattern, each);
}

Pattern build_pattern(const CartesianDomain& domain) {
    return build_pattern(domain, domain.halo());
}

}  // namespace parhelion
