// A saved pattern is: "PHLPTN02", word count, checksum, then 64-bit little-endian words.
#include <cstring>
#include <istream>
#include <ostream>

#include "parhelion/core/hash.hpp"
#include "pattern/words.hpp"

namespace parhelion {
namespace {

static_assert(std::endian::native == std::endian::little, "patterns are saved as little-endian words");

constexpr char magic[8] = {'P', 'H', 'L', 'P', 'T', 'N', '0', '2'};

[[noreturn]] void refuse_file(const std::string& why) { WordReader({}, "pattern").refuse(why); }

void put_link(Words& words, const Link& link) {
    words.push_back(link.rank);
    put_selection(words, link.send);
    put_selection(words, link.receive);
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
    for (const Box& block : pattern.blocks) put_box(words, block);
    words.push_back(static_cast<global_index>(pattern.stages.size()));
    for (const Stage& stage : pattern.stages) {
        words.push_back(static_cast<global_index>(stage.size()));
        for (const Link& link : stage) put_link(words, link);
    }
    for (int d = 0; d < max_dimensions; ++d) {
        words.push_back(pattern.stagger.along[d]);
        words.push_back(pattern.ends.lower[d]);
        words.push_back(pattern.ends.upper[d]);
    }
    return words;
}

Link get_link(WordReader& reader) {
    Link link;
    link.rank = reader.next_in<int>(0, 2147483647);
    link.send = reader.selection();
    link.receive = reader.selection();
    link.send_unique = reader.next_in<local_index>(0, 2147483647);
    link.receive_unique = reader.next_in<local_index>(0, 2147483647);
    link.send_duplicate_of = reader.list();
    link.receive_duplicate_of = reader.list();
    return link;
}

Pattern unflatten(const Words& words, Communicator comm) {
    WordReader reader(words, "pattern");
    Pattern pattern{comm, 0, {}, HaloWidth(0), 0, 0, {}, {}, 0};
    const auto rank = reader.next(), size = reader.next();
    if (rank != comm.rank() || size != comm.size())
        refuse_file("it is the part of rank " + std::to_string(rank) + " of " + std::to_string(size) + ", read by rank " +
                    std::to_string(comm.rank()) + " of " + std::to_string(comm.size()));
    pattern.dimensions = reader.next_in<int>(0, max_dimensions);
    pattern.owned = reader.next_in<local_index>(0, 2147483647);
    pattern.ghosts = reader.next_in<local_index>(0, 2147483647);
    for (int d = 0; d < max_dimensions; ++d) {
        pattern.halo.lower[d] = reader.next_in<int>(0, 2147483647);
        pattern.halo.upper[d] = reader.next_in<int>(0, 2147483647);
    }
    pattern.blocks.resize(reader.count(8));
    for (Box& block : pattern.blocks) block = reader.box();
    pattern.stages.resize(reader.count(1));
    for (Stage& stage : pattern.stages) {
        stage.resize(reader.count(9));
        for (Link& link : stage) link = get_link(reader);
    }
    for (int d = 0; d < max_dimensions; ++d) {
        pattern.stagger.along[d] = reader.next_in<std::int16_t>(0, 1);
        pattern.ends.lower[d] = reader.next_in<int>(0, 2147483647);
        pattern.ends.upper[d] = reader.next_in<int>(0, 2147483647);
    }
    if (!reader.at_end()) refuse_file("something follows its end");
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
        if (static_cast<std::uint64_t>(stream.gcount()) != now * 8) refuse_file("it is truncated");
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
    if (stream.gcount() != sizeof found || std::memcmp(found, magic, 6) != 0) refuse_file("it is not a pattern");
    if (std::memcmp(found, magic, sizeof magic) != 0) refuse_file("another version of the library wrote it");
    stream.read(reinterpret_cast<char*>(header), sizeof header);
    if (stream.gcount() != sizeof header) refuse_file("it is truncated");
    const Words words = read_words(stream, header[0]);
    if (checksum(words) != header[1]) refuse_file("its checksum is wrong");
    Pattern pattern = unflatten(words, comm);
    check_local(pattern);
    return pattern;
}

}  // namespace parhelion
