// A saved pattern is: "PHLPTN01", word count, checksum, then 64-bit little-endian words.
#include <cstring>
#include <istream>
#include <ostream>

#include "parhelion/core/error.hpp"
#include "parhelion/core/hash.hpp"
#include "parhelion/pattern/pattern.hpp"

namespace parhelion {
namespace {

static_assert(std::endian::native == std::endian::little, "patterns are saved as little-endian words");

constexpr char magic[8] = {'P', 'H', 'L', 'P', 'T', 'N', '0', '1'};
using Words = std::vector<global_index>;

[[noreturn]] void refuse(const std::string& why) {
    throw Error("cannot load the pattern: " + why + ": save it again with this version and the same ranks");
}

template <class Range>
void put_list(Words& words, const Range& list) {
    words.push_back(static_cast<global_index>(list.size()));
    words.insert(words.end(), list.begin(), list.end());
}

void put(Words& words, const Box& box) {
    words.insert(words.end(), box.lo.begin(), box.lo.end());
    words.insert(words.end(), box.hi.begin(), box.hi.end());
}

void put(Words& words, const Selection& side) {
    words.push_back(static_cast<global_index>(side.boxes.size()));
    for (const BoxPiece& piece : side.boxes) {
        words.push_back(piece.block);
        put(words, piece.cells);
        put(words, piece.owner);
        words.insert(words.end(), piece.shift.begin(), piece.shift.end());
    }
    put_list(words, side.cells);
}

void put(Words& words, const Link& link) {
    words.push_back(link.rank);
    put(words, link.send);
    put(words, link.receive);
    words.push_back(link.send_unique);
    words.push_back(link.receive_unique);
    put_list(words, link.send_duplicate_of);
    put_list(words, link.receive_duplicate_of);
}

Words flatten(const Pattern& pattern) {
    Words words{pattern.communicator.rank(), pattern.communicator.size(), pattern.dimensions, pattern.owned, pattern.ghosts};
    for (int d = 0; d < max_dimensions; ++d) {
        words.push_back(pattern.halo.lower[d]);
        words.push_back(pattern.halo.upper[d]);
    }
    words.push_back(static_cast<global_index>(pattern.blocks.size()));
    for (const Box& block : pattern.blocks) put(words, block);
    words.push_back(static_cast<global_index>(pattern.stages.size()));
    for (const Stage& stage : pattern.stages) {
        words.push_back(static_cast<global_index>(stage.size()));
        for (const Link& link : stage) put(words, link);
    }
    return words;
}

// Reads words in order; never past the end, never a list longer than what is left.
class Reader {
public:
    explicit Reader(const Words& words) : words_(words) {}
    global_index next() {
        if (at_ >= words_.size()) refuse("it ends early");
        return words_[at_++];
    }
    template <class T>
    T next_in(global_index lo, global_index hi) {
        const global_index value = next();
        if (value < lo || value > hi) refuse("the number " + std::to_string(value) + " is out of range");
        return static_cast<T>(value);
    }
    std::size_t count(std::size_t words_each) {
        return next_in<std::size_t>(0, static_cast<global_index>((words_.size() - at_) / words_each));
    }
    std::vector<local_index> list() {
        std::vector<local_index> result(count(1));
        for (auto& value : result) value = next_in<local_index>(0, 2147483647);
        return result;
    }
    bool at_end() const { return at_ == words_.size(); }

private:
    const Words& words_;
    std::size_t at_ = 0;
};

constexpr global_index coordinate_limit = global_index{1} << 48;

Box get_box(Reader& reader) {
    Box box;
    for (auto& x : box.lo) x = reader.next_in<global_index>(-coordinate_limit, coordinate_limit);
    for (auto& x : box.hi) x = reader.next_in<global_index>(-coordinate_limit, coordinate_limit);
    return box;
}

Selection get_selection(Reader& reader) {
    Selection side;
    side.boxes.resize(reader.count(21));
    for (BoxPiece& piece : side.boxes) {
        piece.block = reader.next_in<std::int32_t>(0, 2147483647);
        piece.cells = get_box(reader);
        piece.owner = get_box(reader);
        for (auto& x : piece.shift) x = reader.next_in<global_index>(-coordinate_limit, coordinate_limit);
    }
    side.cells = reader.list();
    return side;
}

Link get_link(Reader& reader) {
    Link link;
    link.rank = reader.next_in<int>(0, 2147483647);
    link.send = get_selection(reader);
    link.receive = get_selection(reader);
    link.send_unique = reader.next_in<local_index>(0, 2147483647);
    link.receive_unique = reader.next_in<local_index>(0, 2147483647);
    link.send_duplicate_of = reader.list();
    link.receive_duplicate_of = reader.list();
    return link;
}

Pattern unflatten(const Words& words, Communicator comm) {
    Reader reader(words);
    Pattern pattern{comm, 0, {}, HaloWidth(0), 0, 0, {}};
    const auto rank = reader.next(), size = reader.next();
    if (rank != comm.rank() || size != comm.size())
        refuse("it is the part of rank " + std::to_string(rank) + " of " + std::to_string(size) + ", read by rank " +
               std::to_string(comm.rank()) + " of " + std::to_string(comm.size()));
    pattern.dimensions = reader.next_in<int>(0, max_dimensions);
    pattern.owned = reader.next_in<local_index>(0, 2147483647);
    pattern.ghosts = reader.next_in<local_index>(0, 2147483647);
    for (int d = 0; d < max_dimensions; ++d) {
        pattern.halo.lower[d] = reader.next_in<int>(0, 2147483647);
        pattern.halo.upper[d] = reader.next_in<int>(0, 2147483647);
    }
    pattern.blocks.resize(reader.count(8));
    for (Box& block : pattern.blocks) block = get_box(reader);
    pattern.stages.resize(reader.count(1));
    for (Stage& stage : pattern.stages) {
        stage.resize(reader.count(9));
        for (Link& link : stage) link = get_link(reader);
    }
    if (!reader.at_end()) refuse("something follows its end");
    return pattern;
}

std::uint64_t checksum(const Words& words) { return Hash{}.add_range(words).value(); }

// In steps, so that a damaged length asks for no more memory than the stream fills.
Words read_words(std::istream& stream, std::uint64_t count) {
    constexpr std::uint64_t step = 1 << 16;
    Words words;
    while (count > 0) {
        const std::uint64_t now = std::min(count, step);
        const std::size_t before = words.size();
        words.resize(before + now);
        stream.read(reinterpret_cast<char*>(words.data() + before), static_cast<std::streamsize>(now * 8));
        if (static_cast<std::uint64_t>(stream.gcount()) != now * 8) refuse("it is truncated");
        count -= now;
    }
    return words;
}

}  // namespace

void save(const Pattern& pattern, std::ostream& stream) {
    const Words words = flatten(pattern);
    const std::uint64_t header[2] = {words.size(), checksum(words)};
    stream.write(magic, sizeof magic);
    stream.write(reinterpret_cast<const char*>(header), sizeof header);
    stream.write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 8));
    if (!stream) throw Error("cannot write the pattern: check the disk's space and permissions", ErrorKind::system);
}

Pattern load_pattern(std::istream& stream, Communicator comm) {
    char found[8] = {};
    std::uint64_t header[2] = {};
    stream.read(found, sizeof found);
    if (stream.gcount() != sizeof found || std::memcmp(found, magic, 6) != 0) refuse("it is not a pattern");
    if (std::memcmp(found, magic, sizeof magic) != 0) refuse("another version of the library wrote it");
    stream.read(reinterpret_cast<char*>(header), sizeof header);
    if (stream.gcount() != sizeof header) refuse("it is truncated");
    const Words words = read_words(stream, header[0]);
    if (checksum(words) != header[1]) refuse("its checksum is wrong");
    Pattern pattern = unflatten(words, comm);
    check_local(pattern);
    return pattern;
}

}  // namespace parhelion
