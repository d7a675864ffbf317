// A stand-in for libxpmem: maps shared-memory files that the other process has open, and validates
// arguments as the kernel module does. Rejects other memory with an error.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Address {
  std::int64_t permit;
  off_t offset;
};

constexpr std::int64_t mark = std::int64_t{0x7e}
                              << 40;  // marks segment ids; permits have another mark
constexpr std::int64_t permit_mark = std::int64_t{0x7f} << 40;
constexpr std::int64_t process_of(std::int64_t number) { return number & 0xffffffff; }

std::atomic<int> made = 0;
std::mutex mutex;
std::map<std::int64_t, int> permits;  // reference counts
std::map<void*, std::size_t> attached;

template <class Result>
Result refuse(int why, Result result) {
  errno = why;
  return result;
}

struct Piece {
  std::uintptr_t begin, end;
  off_t offset;
  ino_t file;
};

std::vector<Piece> pieces_of(std::int64_t process) {
  std::vector<Piece> pieces;
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    char rights[5];
    std::uintptr_t begin, end, offset;
    unsigned long file;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNxPTR " %*s %lu", &begin,
            &end, rights, &offset, &file) == 5 &&
        rights[3] == 's')
      pieces.push_back({begin, end, static_cast<off_t>(offset), static_cast<ino_t>(file)});
  }
  return pieces;
}

int open_file(std::int64_t process, ino_t file) {
  std::error_code gone;
  for (const auto& entry :
      std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd", gone)) {
    struct stat status{};
    if (stat(entry.path().c_str(), &status) == 0 && status.st_ino == file &&
        S_ISREG(status.st_mode))
      return open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
  }
  return -1;
}

// Maps a range of the other process at `to`; the whole range must be mapped there.
bool map_range(std::int64_t process, std::uintptr_t from, std::size_t bytes, std::byte* to) {
  std::uintptr_t at = from;
  for (const Piece& piece : pieces_of(process)) {
    if (piece.end <= at || piece.begin > at || at >= from + bytes) continue;
    const std::size_t part = std::min(piece.end, from + bytes) - at;
    const int file = open_file(process, piece.file);
    const off_t offset = piece.offset + static_cast<off_t>(at - piece.begin);
    const bool mapped = file >= 0 && mmap(to + (at - from), part, PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_FIXED, file, offset) != MAP_FAILED;
    if (file >= 0) close(file);
    if (!mapped) return false;
    at += part;
  }
  return at == from + bytes;
}

}  // namespace

extern "C" {

int xpmem_version() { return std::getenv("STAND_IN_WITHOUT_DEVICE") != nullptr ? -1 : 0x26003; }

std::int64_t xpmem_make(void* start, std::size_t bytes, int permit_type, void* permit) {
  if (start != nullptr || bytes != ~std::size_t{0} || permit_type != 1)
    return refuse<std::int64_t>(EINVAL, -1);
  if (reinterpret_cast<std::uintptr_t>(permit) != 0600) return refuse<std::int64_t>(EPERM, -1);
  ++made;
  return mark | getpid();
}

std::int64_t xpmem_get(std::int64_t segment, int flags, int permit_type, void* permit) {
  if ((segment & ~std::int64_t{0xffffffff}) != mark || flags != 2 || permit_type != 1 ||
      permit != nullptr)
    return refuse<std::int64_t>(EINVAL, -1);
  const std::lock_guard lock(mutex);
  const std::int64_t number = permit_mark | process_of(segment);
  ++permits[number];
  return number;
}

int xpmem_release(std::int64_t permit) {
  const std::lock_guard lock(mutex);
  if (permits[permit] == 0) return refuse(EINVAL, -1);
  --permits[permit];
  return 0;
}

void* xpmem_attach(Address address, std::size_t bytes, void* wanted) {
  const auto failed = reinterpret_cast<void*>(-1);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::lock_guard lock(mutex);
  if (wanted != nullptr || permits[address.permit] == 0 ||
      static_cast<std::size_t>(address.offset) % page != 0 || bytes % page != 0)
    return refuse(EINVAL, failed);
  void* const place = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return failed;
  if (!map_range(process_of(address.permit), static_cast<std::uintptr_t>(address.offset), bytes,
          static_cast<std::byte*>(place))) {
    munmap(place, bytes);
    return refuse(EFAULT, failed);
  }
  attached[place] = bytes;
  return place;
}

int xpmem_detach(void* place) {
  const std::lock_guard lock(mutex);
  const auto found = attached.find(place);
  if (found == attached.end()) return refuse(EINVAL, -1);
  munmap(place, found->second);
  attached.erase(found);
  return 0;
}

/// Test hook: number of segments that this process has created.
int stand_in_made() { return made; }

/// Test hook: number of current attachments and permits.
int stand_in_open() {
  const std::lock_guard lock(mutex);
  int open = static_cast<int>(attached.size());
  for (const auto& [number, count] : permits) open += count;
  return open;
}
}
