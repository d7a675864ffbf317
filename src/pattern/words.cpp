#include "pattern/words.hpp"

#include "core/concat.hpp"

namespace parhelion {
namespace {

constexpr global_index coordinate_limit = global_index{1} << 48;
constexpr global_index index_limit = 2147483647;

}  // namespace

void put_box(Words& words, const Box& box) {
    words.insert(words.end(), box.lo.begin(), box.lo.end());
    words.insert(words.end(), box.hi.begin(), box.hi.end());
}

namespace {

// Two bits per axis, one mirror bit per axis, two flags.
constexpr int bits_of_axes = 2 * max_dimensions, bits_of_turn = bits_of_axes + max_dimensions + 2;

void put_turn(Words& words, const BoxPiece& piece) {
    global_index word = 0;
    for (int d = 0; d < max_dimensions; ++d) word |= global_index{piece.turn.axes[d]} << 2 * d;
    word |= global_index{piece.turn.mirrored} << bits_of_axes;
    word |= global_index{piece.turn.seam} << (bits_of_turn - 2);
    words.push_back(word | global_index{piece.at_owner} << (bits_of_turn - 1));
}

void take_turn(int word, BoxPiece& piece) {
    for (int d = 0; d < max_dimensions; ++d)
        piece.turn.axes[d] = static_cast<std::uint8_t>(word >> 2 * d & 3);
    piece.turn.mirrored =
        static_cast<DimensionSet>(word >> bits_of_axes & ((1 << max_dimensions) - 1));
    piece.turn.seam = (word >> (bits_of_turn - 2) & 1) != 0;
    piece.at_owner = (word >> (bits_of_turn - 1) & 1) != 0;
}

}  // namespace

void put_selection(Words& words, const Selection& side) {
    words.push_back(static_cast<global_index>(side.boxes.size()));
    for (const BoxPiece& piece : side.boxes) {
        words.push_back(piece.block);
        put_box(words, piece.cells);
        put_box(words, piece.owner);
        words.insert(words.end(), piece.shift.begin(), piece.shift.end());
        put_turn(words, piece);
    }
    put_list(words, side.cells);
}

void WordReader::refuse(const std::string& why) const {
    throw Error("cannot load the " + what_ + ": " + why +
                ": save it again with this version and the same ranks");
}

global_index WordReader::next() {
    if (at_ >= words_.size()) refuse("it ends early");
    return words_[at_++];
}

std::size_t WordReader::count(std::size_t words_each) {
    const global_index value = next();
    if (value < 0 || value > static_cast<global_index>((words_.size() - at_) / words_each))
        refuse(concat("a list of ", value, " entries does not fit into it"));
    return static_cast<std::size_t>(value);
}

std::vector<local_index> WordReader::list() {
    std::vector<local_index> result(count(1));
    for (auto& value : result) value = next_in<local_index>(0, index_limit);
    return result;
}

Box WordReader::box() {
    Box box;
    for (auto& x : box.lo) x = next_in<global_index>(-coordinate_limit, coordinate_limit);
    for (auto& x : box.hi) x = next_in<global_index>(-coordinate_limit, coordinate_limit);
    return box;
}

Selection WordReader::selection() {
    Selection side;
    side.boxes.resize(count(22));
    for (BoxPiece& piece : side.boxes) {
        piece.block = next_in<std::int32_t>(0, index_limit);
        piece.cells = box();
        piece.owner = box();
        for (auto& x : piece.shift) x = next_in<global_index>(-coordinate_limit, coordinate_limit);
        take_turn(next_in<int>(0, (1 << bits_of_turn) - 1), piece);
    }
    side.cells = list();
    return side;
}

}  // namespace parhelion
