#include "parhelion/domain/partition_files.hpp"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>

#include "domain/partition_formats.hpp"
#include "parhelion/core/doing.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

std::int32_t little_endian(const unsigned char* at) {
    return static_cast<std::int32_t>(std::uint32_t{at[0]} | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 |
                                     std::uint32_t{at[3]} << 24);
}

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
    throw Error(file.string() + ": " + why + ": the file is damaged or not a partition file; write it again");
}

std::vector<unsigned char> read_words(std::ifstream& stream, std::uintmax_t words) {
    std::vector<unsigned char> raw(words * 4);
    stream.read(reinterpret_cast<char*>(raw.data()), static_cast<std::streamsize>(raw.size()));
    raw.resize(static_cast<std::size_t>(stream.gcount()));
    return raw;
}

// P of a folder named …-P, or 0.
int ranks_of_name(const std::filesystem::path& folder) {
    const auto clean = folder.has_filename() ? folder.filename() : folder.parent_path().filename();
    const std::string name = clean.string();
    const auto dash = name.rfind('-');
    if (dash == std::string::npos) return 0;
    int ranks = 0;
    const auto [end, error] = std::from_chars(name.data() + dash + 1, name.data() + name.size(), ranks);
    return error == std::errc{} && end == name.data() + name.size() ? ranks : 0;
}

}  // namespace

PartitionPart read_partition_file(const std::filesystem::path& file) {
    std::error_code code;
    const auto status = std::filesystem::status(file, code);
    if (code || !std::filesystem::exists(status)) throw Error(file.string() + " is missing: a data set needs one file per rank");
    if (!std::filesystem::is_regular_file(status)) throw Error(file.string() + " is not a regular file");
    const auto size = std::filesystem::file_size(file, code);
    std::ifstream stream(file, std::ios::binary);
    if (code || !stream) throw Error(file.string() + " cannot be read: check its permissions");
    const auto header = read_words(stream, 2);
    if (header.size() < 8) refuse(file, "ends before its two counts");
    PartitionPart part;
    part.owned = little_endian(header.data());
    const std::int64_t ghosts = little_endian(header.data() + 4);
    if (part.owned < 0) refuse(file, "says that the rank owns " + std::to_string(part.owned) + " cells");
    if (ghosts < 0) refuse(file, "says that there are " + std::to_string(ghosts) + " off-process cells");
    if (static_cast<std::uintmax_t>(ghosts) > (size - 8) / 4)
        refuse(file, "promises " + std::to_string(ghosts) + " off-process cells and holds " + std::to_string((size - 8) / 4));
    const auto raw = read_words(stream, static_cast<std::uintmax_t>(ghosts));
    if (raw.size() != static_cast<std::size_t>(ghosts) * 4) refuse(file, "ends early");
    part.ghosts.reserve(static_cast<std::size_t>(ghosts));
    for (std::int64_t i = 0; i < ghosts; ++i) {
        const global_index id = little_endian(raw.data() + 4 * i);
        if (id < 1) refuse(file, "holds global id " + std::to_string(id) + " (they start at 1)");
        if (!part.ghosts.empty() && id - 1 <= part.ghosts.back())
            refuse(file, "holds global id " + std::to_string(id) + " out of ascending order");
        part.ghosts.push_back(id - 1);
    }
    return part;
}

PartitionPart read_partition(const std::filesystem::path& path, const Communicator& comm) {
    PartitionPart part;
    const Doing doing(comm, "read_partition");
    validate_together(comm, [&] {
        std::error_code code;
        if (std::filesystem::is_regular_file(path, code)) {
            part = read_phlmap(path, comm.rank(), comm.size());
            return;
        }
        if (!std::filesystem::is_directory(path, code))
            throw Error(path.string() +
                        " is neither a file nor a folder: pass a data-set folder with data001, data002, …, or a file NAME-P.phlmap");
        const int meant_for = ranks_of_name(path);
        if (meant_for != 0 && meant_for != comm.size())
            throw Error(path.string() + " is for " + std::to_string(meant_for) + " ranks and " + std::to_string(comm.size()) +
                        " were started: start as many as the data set has parts");
        char name[32];
        std::snprintf(name, sizeof name, "data%03d", comm.rank() + 1);
        part = read_partition_file(path / name);
    });
    return part;
}

PartitionKeys read_partition_keys(const std::filesystem::path& path, const Communicator& comm) {
    PartitionKeys keys;
    const Doing doing(comm, "read_partition_keys");
    validate_together(comm, [&] {
        std::error_code code;
        if (std::filesystem::is_directory(path, code))
            throw Error(path.string() + " is a folder, which has no keys: pass a file NAME-P.phlmap");
        keys = read_phlmap_keys(path, comm.rank(), comm.size());
    });
    return keys;
}

}  // namespace parhelion
