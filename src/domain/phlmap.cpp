// One rank's ghosts in an index-map file of this library's own format (docs/index-map-format.md has it byte for byte).
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "domain/partition_formats.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

constexpr std::array<unsigned char, 8> magic{0x89, 'P', 'H', 'L', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t header_bytes = 64, entry_bytes = 56;

std::uint64_t number_at(const std::vector<unsigned char>& bytes, std::size_t at, int size) {
    std::uint64_t value = 0;
    for (int i = size; i-- > 0;) value = value << 8 | bytes[at + static_cast<std::size_t>(i)];
    return value;
}

std::uint32_t crc_of(const std::vector<unsigned char>& bytes, std::size_t count) {
    std::uint32_t crc = 0xffffffffU;
    for (std::size_t i = 0; i < count; ++i) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320U & (0U - (crc & 1U)));
    }
    return ~crc;
}

class Reader {
public:
    explicit Reader(const std::filesystem::path& file) : file_(file), stream_(file, std::ios::binary) {
        std::error_code code;
        size_ = std::filesystem::file_size(file, code);
        if (code || !stream_) throw Error(file.string() + " cannot be read: check its name and permissions");
    }
    // Never allocates more than the file's size.
    std::vector<unsigned char> bytes(std::uint64_t at, std::uint64_t count, const char* what) {
        if (at > size_ || count > size_ - at) refuse(std::string("ends before its ") + what);
        std::vector<unsigned char> read(count);
        stream_.seekg(static_cast<std::streamoff>(at));
        stream_.read(reinterpret_cast<char*>(read.data()), static_cast<std::streamsize>(count));
        if (stream_.gcount() != static_cast<std::streamsize>(count)) refuse(std::string("ends before its ") + what);
        return read;
    }
    void check(const std::vector<unsigned char>& read, std::size_t count, std::uint64_t sum, const char* what) const {
        if (crc_of(read, count) != sum) refuse(std::string("has another checksum than its ") + what);
    }
    [[noreturn]] void refuse(const std::string& why) const {
        throw Error(file_.string() + ": " + why + ": the file is damaged or not an index map; write it again");
    }
    std::uint64_t size() const { return size_; }

private:
    std::filesystem::path file_;
    std::ifstream stream_;
    std::uint64_t size_ = 0;
};

void check_header(const Reader& file, const std::vector<unsigned char>& header, const std::filesystem::path& name, int ranks) {
    if (std::memcmp(header.data(), magic.data(), magic.size()) != 0) file.refuse("does not begin as an index map does");
    if (number_at(header, 8, 4) != 1) file.refuse("has version " + std::to_string(number_at(header, 8, 4)) + ", and this library reads 1");
    file.check(header, 60, number_at(header, 60, 4), "header");
    if (number_at(header, 40, 8) != file.size()) file.refuse("has another size than it says");
    if (const auto parts = number_at(header, 16, 8); parts != static_cast<std::uint64_t>(ranks))
        throw Error(name.string() + " is for " + std::to_string(parts) + " ranks and " + std::to_string(ranks) +
                    " were started: start as many as the index map has parts");
}

// Where a rank's part lies.
struct Section {
    std::uint64_t owned, ghosts, words, offset, per_id;  // `words` of ghosts and owners, keys behind them
    std::uint64_t sum, sum_of_keys;
};

Section find_section(Reader& file, const std::filesystem::path& name, int rank, int ranks) {
    const auto header = file.bytes(0, header_bytes, "header");
    check_header(file, header, name, ranks);
    const auto entry = file.bytes(header_bytes + entry_bytes * static_cast<std::uint64_t>(rank), entry_bytes, "index");
    file.check(entry, 52, number_at(entry, 52, 4), "index");
    const std::uint64_t ghosts = number_at(entry, 16, 8), owners = number_at(entry, 24, 8), most = file.size() / 8;
    if (ghosts > most || owners > most) file.refuse("promises more ghosts than it can hold");
    return {number_at(entry, 8, 8), ghosts, ghosts + 2 * owners, number_at(entry, 32, 8), number_at(header, 32, 4), number_at(entry, 40, 4),
            number_at(entry, 44, 4)};
}

std::vector<global_index> numbers(const std::vector<unsigned char>& bytes, std::uint64_t count) {
    std::vector<global_index> read;
    for (std::size_t i = 0; i < count; ++i) read.push_back(static_cast<global_index>(number_at(bytes, 8 * i, 8)));
    return read;
}

}  // namespace

PartitionPart read_phlmap(const std::filesystem::path& name, int rank, int ranks) {
    Reader file(name);
    const Section at = find_section(file, name, rank, ranks);
    const auto section = file.bytes(at.offset, 8 * at.words, "ghosts");
    file.check(section, section.size(), at.sum, "ghosts");
    return {static_cast<global_index>(at.owned), numbers(section, at.ghosts)};
}

PartitionKeys read_phlmap_keys(const std::filesystem::path& name, int rank, int ranks) {
    Reader file(name);
    const Section at = find_section(file, name, rank, ranks);
    if (at.per_id == 0) throw Error(name.string() + " has no keys: write it by parhelion partition");
    if (at.owned > file.size() / 8 / at.per_id) file.refuse("promises more keys than it can hold");
    const auto section = file.bytes(at.offset + 8 * at.words, 8 * at.owned * at.per_id, "keys");
    file.check(section, section.size(), at.sum_of_keys, "keys");
    return {static_cast<int>(at.per_id), numbers(section, at.owned * at.per_id)};
}

}  // namespace parhelion
