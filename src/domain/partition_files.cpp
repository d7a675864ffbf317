#include "parhelion/domain/partition_files.hpp"

#include <charconv>
#include <cstdio>
#include <fstream>

#include "core/concat.hpp"
#include "parhelion/core/collective.hpp"

namespace parhelion {
namespace {

using std::filesystem::path;

constexpr int word_bytes = 4, key_bytes = 8;
constexpr std::int64_t kinds = 5, widest_key = 4096;

std::int64_t little_endian(const unsigned char* at, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes; i-- > 0;) value = value << 8 | at[i];
  return bytes == word_bytes ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

// One rank's file. Never allocates more than its size.
class RankFile {
 public:
  explicit RankFile(const path& file) : file_(file) {
    std::error_code code;
    const auto status = std::filesystem::status(file, code);
    if (code || !std::filesystem::exists(status))
      throw Error(file.string() + " is missing: a data set needs one file per rank");
    if (!std::filesystem::is_regular_file(status))
      throw Error(file.string() + " is not a regular file");
    size_ = std::filesystem::file_size(file, code);
    stream_.open(file, std::ios::binary);
    if (code || !stream_) throw Error(file.string() + " cannot be read: check its permissions");
  }
  std::vector<std::int64_t> numbers(std::uintmax_t count, int bytes) {
    const auto width = static_cast<std::uintmax_t>(bytes);
    if (count > left() / width) refuse("ends early");
    std::vector<unsigned char> raw(count * width);
    stream_.read(reinterpret_cast<char*>(raw.data()), static_cast<std::streamsize>(raw.size()));
    if (static_cast<std::size_t>(stream_.gcount()) != raw.size()) refuse("ends early");
    read_ += raw.size();
    std::vector<std::int64_t> values(count);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = little_endian(raw.data() + width * i, bytes);
    return values;
  }
  std::uintmax_t left() const { return size_ - read_; }
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... why) const {
    throw Error(concat(file_.string(), ": ", why...,
        ": the file is damaged or not a partition file; write it again"));
  }

 private:
  path file_;
  std::ifstream stream_;
  std::uintmax_t size_ = 0, read_ = 0;
};

std::pair<std::int64_t, std::int64_t> read_counts(RankFile& from) {
  if (from.left() < 2 * word_bytes) from.refuse("ends before its two counts");
  const auto counts = from.numbers(2, word_bytes);
  if (counts[0] < 0) from.refuse("says that the rank owns ", counts[0], " cells");
  if (counts[1] < 0) from.refuse("says that there are ", counts[1], " off-process cells");
  return {counts[0], counts[1]};
}

// P of a folder named …-P, or 0.
int ranks_of_name(const path& folder) {
  const auto clean = folder.has_filename() ? folder.filename() : folder.parent_path().filename();
  const std::string name = clean.string();
  const auto dash = name.rfind('-');
  if (dash == std::string::npos) return 0;
  int ranks = 0;
  const auto [end, error] =
      std::from_chars(name.data() + dash + 1, name.data() + name.size(), ranks);
  return error == std::errc{} && end == name.data() + name.size() ? ranks : 0;
}

// This rank's file (data001, keys001, …); the data set must be for this many ranks.
path own_file(const path& folder, const char* what, const Communicator& comm) {
  std::error_code code;
  if (!std::filesystem::is_directory(folder, code))
    throw Error(folder.string() +
                " is not a folder: pass that of a data set, which contains data001, data002, …");
  const int meant_for = ranks_of_name(folder);
  if (meant_for != 0 && meant_for != comm.size())
    throw Error(concat(folder.string(), " is for ", meant_for, " ranks and ", comm.size(),
        " were started: start one rank for each part of the data set"));
  char name[32];
  std::snprintf(name, sizeof name, "%s%03d", what, comm.rank() + 1);
  return folder / name;
}

// The entities' kind and keys.
std::pair<std::int64_t, PartitionKeys> read_keys(const path& file, std::int64_t owned) {
  std::error_code code;
  if (!std::filesystem::exists(file, code))
    throw Error(file.string() +
                " is missing, so the data set has no keys: parhelion partition writes them");
  RankFile from(file);
  if (from.left() < 2 * key_bytes) from.refuse("ends before its first two numbers");
  const auto head = from.numbers(2, key_bytes);
  if (head[0] < 0 || head[0] >= kinds || head[1] < 1 || head[1] > widest_key)
    from.refuse("does not have the header of a file of keys");
  const auto count = static_cast<std::uintmax_t>(owned) * static_cast<std::uintmax_t>(head[1]);
  if (from.left() != count * key_bytes)
    from.refuse("does not have the size of ", owned, " owned ids");
  return {head[0], {static_cast<int>(head[1]), from.numbers(count, key_bytes)}};
}

}  // namespace

PartitionPart read_partition_file(const path& file) {
  RankFile from(file);
  const auto [owned, ghosts] = read_counts(from);
  if (static_cast<std::uintmax_t>(ghosts) > from.left() / word_bytes)
    from.refuse("promises ", ghosts, " off-process cells and holds ", from.left() / word_bytes);
  PartitionPart part{owned, {}};
  part.ghosts.reserve(ghosts);
  for (const global_index id : from.numbers(static_cast<std::uintmax_t>(ghosts), word_bytes)) {
    if (id < 1) from.refuse("holds global id ", id, " (they start at 1)");
    if (!part.ghosts.empty() && id - 1 <= part.ghosts.back())
      from.refuse("holds global id ", id, " out of ascending order");
    part.ghosts.push_back(id - 1);
  }
  return part;
}

PartitionPart read_partition(const path& folder, const Communicator& comm) {
  return collectively(
      comm, "read_partition", [&] { return read_partition_file(own_file(folder, "data", comm)); });
}

PartitionKeys read_partition_keys(const path& folder, const Communicator& comm) {
  return collectively(comm, "read_partition_keys", [&] {
    RankFile from(own_file(folder, "data", comm));
    auto [kind, keys] = read_keys(own_file(folder, "keys", comm), read_counts(from).first);
    require_equal(
        comm, folder.string() + ": files of keys",
        [&, kind = kind, per_id = keys.per_id](Properties& each) {
          each.add("what is numbered", kind);
          each.add("the count of numbers in a key", per_id);
        },
        "write the data set again, all files at once");
    return std::move(keys);
  });
}

}  // namespace parhelion
