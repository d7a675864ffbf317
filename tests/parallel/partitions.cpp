// Partition files: published ones for their number of ranks, corrupt ones for any.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include "parhelion/core/collective.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/meshes.hpp"
#include "support/transports.hpp"

using namespace test;
namespace fs = std::filesystem;

namespace {

using Numbers = std::vector<std::int32_t>;

// Next to the checkout unless PARHELION_DATA is set.
fs::path data_folder() {
  if (const char* folder = std::getenv("PARHELION_DATA")) return folder;
  return fs::path(__FILE__).parent_path() / "../../../shared/data";
}

std::string part_name(int rank) {
  char name[32];
  std::snprintf(name, sizeof name, "data%03d", rank + 1);
  return name;
}

void write(const fs::path& file, const Numbers& numbers, std::size_t bytes_less = 0) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(numbers.data()),
      static_cast<std::streamsize>(numbers.size() * 4 - bytes_less));
}

// A temporary folder that rank 0 creates and removes; all ranks know its path.
class Folder {
 public:
  explicit Folder(const std::string& name) {
    std::int64_t number = getpid();
    MPI_Bcast(&number, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    path_ = fs::temp_directory_path() / ("parhelion-test-" + std::to_string(number)) / name;
    if (comm_.rank() == 0) fs::create_directories(path_);
    agree(comm_);
  }
  ~Folder() {
    MPI_Barrier(comm_.handle());
    std::error_code ignored;
    if (comm_.rank() == 0) fs::remove_all(path_.parent_path(), ignored);
  }
  fs::path mine() const { return path_ / part_name(comm_.rank()); }
  const fs::path& path() const { return path_; }

 private:
  Communicator comm_{MPI_COMM_WORLD};
  fs::path path_;
};

constexpr int owned_each = 10;

// Ten cells per rank; ids start at 1; ghosts are the neighbors' boundary cells.
Numbers good_part() {
  const Communicator comm(MPI_COMM_WORLD);
  Numbers ghosts;
  const int first = owned_each * comm.rank();
  if (comm.rank() > 0) ghosts.insert(ghosts.end(), {first - 1, first});
  if (comm.rank() + 1 < comm.size())
    ghosts.insert(ghosts.end(), {first + owned_each + 1, first + owned_each + 2});
  Numbers part{owned_each, static_cast<std::int32_t>(ghosts.size())};
  part.insert(part.end(), ghosts.begin(), ghosts.end());
  return part;
}

IndexedDomain domain_of(const fs::path& folder) {
  PartitionPart part = read_partition(folder);
  return {part.owned, std::move(part.ghosts)};
}

template <class T>
void check_ids(const IndexedDomain& domain, const Pattern& pattern, const std::string& transport) {
  std::vector<T, NodeAllocator<T>> values(static_cast<std::size_t>(domain.size()), T{-7});
  for (local_index cell = 0; cell < domain.owned(); ++cell)
    values[static_cast<std::size_t>(cell)] = static_cast<T>(domain.global_of(cell));
  Exchange exchange(pattern, {view(domain, values.data())}, {transport});
  for (int time = 0; time < 2; ++time) {
    exchange();
    global_index wrong = 0;
    for (local_index cell = 0; cell < domain.size(); ++cell)
      wrong += values[static_cast<std::size_t>(cell)] != static_cast<T>(domain.global_of(cell));
    EXPECT_EQ(wrong, 0);
  }
}

void check_set(const fs::path& folder) {
  const IndexedDomain domain = domain_of(folder);
  const Pattern pattern = build_pattern(domain);
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    check_ids<std::int32_t>(domain, pattern, route.transport);
    check_ids<std::int64_t>(domain, pattern, route.transport);
  }
}

struct Published {
  fs::path folder;
  int ranks = 0;
};

std::vector<Published> published_sets() {
  std::vector<Published> sets;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(data_folder(), none)) {
    const std::string name = entry.path().filename().string();
    const auto dash = name.rfind('-');
    if (entry.is_directory() && dash != std::string::npos)
      sets.push_back({entry.path(), std::atoi(name.c_str() + dash + 1)});
  }
  std::sort(
      sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a.folder < b.folder; });
  return sets;
}

Numbers raw_part(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  Numbers numbers(2);
  stream.read(reinterpret_cast<char*>(numbers.data()), 8);
  numbers.resize(2 + static_cast<std::size_t>(numbers[1]));
  stream.read(
      reinterpret_cast<char*>(numbers.data() + 2), static_cast<std::streamsize>(numbers[1]) * 4);
  if (!stream) numbers.clear();
  return numbers;
}

// Checks, without the library, that the parts are consistent.
bool is_sound(const Published& set) {
  std::vector<Numbers> parts;
  global_index cells = 0;
  for (int rank = 0; rank < set.ranks; ++rank) {
    parts.push_back(raw_part(set.folder / part_name(rank)));
    if (parts.back().empty()) return false;
    cells += parts.back()[0];
  }
  global_index first = 1;
  for (const Numbers& part : parts) {
    for (std::size_t i = 2; i < part.size(); ++i) {
      const bool ascending = i == 2 || part[i - 1] < part[i];
      if (!ascending || part[i] < 1 || part[i] > cells ||
          (part[i] >= first && part[i] < first + part[0]))
        return false;
    }
    first += part[0];
  }
  return true;
}

}  // namespace

CASE(
    "every published set at its own number of ranks: each ghost is its global id, over every "
    "transport") {
  for (const Published& set : published_sets()) {
    if (set.ranks != Communicator(MPI_COMM_WORLD).size()) continue;
    CAPTURE(set.folder.string());
    if (is_sound(set)) check_set(set.folder);
    else EXPECT_NE(error_of([&] { domain_of(set.folder); }), "");
  }
}

CASE("published sets for other numbers of ranks are refused by every rank") {
  for (const Published& set : published_sets()) {
    if (set.ranks == Communicator(MPI_COMM_WORLD).size()) continue;
    CAPTURE(set.folder.string());
    EXPECT_TRUE(holds(error_of([&] { read_partition(set.folder); }),
        "is for " + std::to_string(set.ranks) + " ranks"));
    EXPECT_TRUE(holds(error_of([&] { read_partition(set.folder / ""); }),
        "is for " + std::to_string(set.ranks) + " ranks"));
  }
}

CASE("a set made here is read, also with surplus bytes and surplus files") {
  const Folder folder("mesh-" + std::to_string(Communicator(MPI_COMM_WORLD).size()));
  Numbers part = good_part();
  part.insert(part.end(), {-1, 2000000000, 17});
  write(folder.mine(), part);
  if (Communicator(MPI_COMM_WORLD).rank() == 0)
    write(folder.path() / part_name(Communicator(MPI_COMM_WORLD).size()), {5, 0});
  agree(Communicator(MPI_COMM_WORLD));
  check_set(folder.path());
}

namespace {

// Corrupts the last rank's file; every rank must report the same error.
void refuse_part(const std::string& part, const std::function<void(Numbers&)>& spoil,
    std::size_t bytes_less = 0) {
  CAPTURE(part);
  const Communicator comm(MPI_COMM_WORLD);
  const Folder folder("mesh");
  Numbers numbers = good_part();
  const bool last = comm.rank() == comm.size() - 1;
  if (last) spoil(numbers);
  write(folder.mine(), numbers, last ? bytes_less : 0);
  agree(comm);
  const std::string message = error_of([&] { domain_of(folder.path()); });
  CAPTURE(message);
  EXPECT_TRUE(holds(message, part));
}

}  // namespace

CASE("broken parts are refused by every rank: truncated, negative and absurd sizes") {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max(),
                         least = std::numeric_limits<std::int32_t>::min();
  const auto nothing = [](Numbers&) {};
  refuse_part("ends before its two counts", [](Numbers& part) { part.clear(); });
  refuse_part("ends before its two counts", [](Numbers& part) { part.resize(1); });
  refuse_part("ends before its two counts", [](Numbers& part) { part.resize(2); }, 1);
  refuse_part("promises", [](Numbers& part) { part = {10, 4, 1, 2, 3}; });
  if (Communicator(MPI_COMM_WORLD).size() > 1) refuse_part("promises", nothing, 1);
  if (Communicator(MPI_COMM_WORLD).size() > 1) refuse_part("promises", nothing, 5);
  refuse_part("owns -1 cells", [](Numbers& part) { part[0] = -1; });
  refuse_part("owns -2147483648 cells", [](Numbers& part) { part[0] = least; });
  refuse_part("-1 off-process", [](Numbers& part) { part[1] = -1; });
  refuse_part("off-process", [](Numbers& part) { part[1] = least; });
  refuse_part("promises 2147483647", [](Numbers& part) { part[1] = most; });
  refuse_part("exceed", [](Numbers& part) { part = {most, 1, 1}; });
}

CASE("broken parts are refused by every rank: ids out of range, of the reader, out of order") {
  const int size = Communicator(MPI_COMM_WORLD).size(), cells = owned_each * size,
            mine = owned_each * (size - 1);
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  refuse_part("global id 0", [](Numbers& part) { part = {10, 1, 0}; });
  refuse_part("global id -3", [](Numbers& part) { part = {10, 1, -3}; });
  refuse_part("outside", [&](Numbers& part) { part = {10, 1, cells + 1}; });
  refuse_part("outside", [&](Numbers& part) { part = {10, 1, most}; });
  refuse_part("which this rank owns", [&](Numbers& part) { part = {10, 1, mine + 1}; });
  refuse_part("which this rank owns", [&](Numbers& part) { part = {10, 1, cells}; });
  refuse_part("out of ascending order", [](Numbers& part) { part = {10, 2, 5, 4}; });
  refuse_part("out of ascending order", [](Numbers& part) { part = {10, 2, 4, 4}; });
}

CASE("a missing file, a missing folder and a file that is none are refused by every rank") {
  const Communicator comm(MPI_COMM_WORLD);
  EXPECT_TRUE(holds(error_of([] { read_partition("/nowhere/at/all"); }), "is not a folder"));
  EXPECT_TRUE(holds(error_of([] { read_partition(""); }), "is not a folder"));
  const Folder folder("mesh");
  EXPECT_TRUE(holds(error_of([&] { read_partition(folder.path()); }), "data001 is missing"));
  if (comm.rank() != comm.size() - 1) write(folder.mine(), good_part());
  else fs::create_directory(folder.mine());
  agree(comm);
  EXPECT_TRUE(holds(error_of([&] { read_partition(folder.path()); }), "is not a regular file"));
}

CASE("a part whose bytes are damaged anywhere is refused, or read as what it says") {
  if (Communicator(MPI_COMM_WORLD).size() != 1) return;
  const Folder folder("mesh");
  const Numbers good{10, 3, 12, 15, 40};
  for (std::size_t at = 0; at < good.size() * 4; ++at)
    for (const int value : {0x00, 0x01, 0x02, 0x0B, 0x0D, 0x7F, 0x80, 0xFE, 0xFF}) {
      Numbers bad = good;
      reinterpret_cast<unsigned char*>(bad.data())[at] = static_cast<unsigned char>(value);
      write(folder.mine(), bad);
      PartitionPart part;
      if (!error_of([&] { part = read_partition_file(folder.mine()); }).empty()) continue;
      EXPECT_EQ(part.owned, bad[0]);
      EXPECT_EQ(part.ghosts.size(), static_cast<std::size_t>(bad[1]));
      for (std::size_t i = 0; i < part.ghosts.size(); ++i)
        EXPECT_EQ(part.ghosts[i] + 1, bad[2 + i]);
    }
}
