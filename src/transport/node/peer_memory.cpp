#include "transport/node/peer_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "core/concat.hpp"
#include "core/populate.hpp"

namespace parhelion {
namespace {

using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // process, identity, size

struct Cache {
  std::recursive_mutex mutex;  // if inserting fails, the deleter locks again
  std::map<Key, std::weak_ptr<std::byte>> mappings;
};

Cache& cache() {
  static auto* instance = new Cache;
  return *instance;
}

[[noreturn]] void fail(const RemotePlace& place, const std::string& what) {
  const bool used_up = errno == EMFILE || errno == ENFILE;
  throw Error(concat("cannot ", what, " the shared memory of process ", place.process, " (",
                  std::strerror(errno), "): ",
                  (used_up ? "raise the limit of open files (ulimit -n), or use transport mpi"
                           : "both must be of one user and one container; use transport mpi if "
                             "they cannot be")),
      ErrorKind::system);
}

// Keeps an entry mapped again.
void forget(const Key& key) {
  const std::lock_guard lock(cache().mutex);
  const auto known = cache().mappings.find(key);
  if (known != cache().mappings.end() && known->second.expired()) cache().mappings.erase(known);
}

// Maps only allocated pages: others would be allocated now, at this rank's expense.
void map_taken_pages(int descriptor, std::byte* memory) {
  for (off_t at = 0, end;
      (at = lseek(descriptor, at, SEEK_DATA)) >= 0 && (end = lseek(descriptor, at, SEEK_HOLE)) > at;
      at = end)
    map_pages_now(memory + at, static_cast<std::size_t>(end - at));
}

std::shared_ptr<std::byte> map_new(const RemotePlace& place) {
  const std::string path =
      "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) fail(place, "open");
  struct stat status{};
  if (fstat(descriptor, &status) != 0 ||
      static_cast<std::int64_t>(status.st_ino) != place.identity || status.st_size != place.size) {
    close(descriptor);
    errno = ESTALE;  // another process has this number in another namespace
    fail(place, "recognise");
  }
  const auto size = static_cast<std::size_t>(place.size);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory != MAP_FAILED) map_taken_pages(descriptor, static_cast<std::byte*>(memory));
  close(descriptor);
  if (memory == MAP_FAILED) fail(place, "map");
  return {static_cast<std::byte*>(memory),
      [size, key = Key{place.process, place.identity, place.size}](std::byte* start) {
        munmap(start, size);
        forget(key);
      }};
}

}  // namespace

RemotePlace describe_place(const void* address) {
  const auto place = find_node_shared(address);
  if (!place) return {};
  return {getpid(), place->descriptor, static_cast<std::int64_t>(place->identity), place->size,
      place->offset};
}

void put_place(Words& words, const RemotePlace& place) {
  words.insert(
      words.end(), {place.process, place.descriptor, place.identity, place.size, place.offset});
}

RemotePlace get_place(WordReader& words) {
  return {words.next(), words.next(), words.next(), words.next(), words.next()};
}

std::shared_ptr<std::byte> map_place(const RemotePlace& place) {
  const std::lock_guard lock(cache().mutex);
  const Key key{place.process, place.identity, place.size};
  const auto known = cache().mappings.find(key);
  std::shared_ptr<std::byte> mapping =
      known == cache().mappings.end() ? nullptr : known->second.lock();
  if (!mapping) cache().mappings[key] = mapping = map_new(place);
  return {mapping, mapping.get() + place.offset};
}

}  // namespace parhelion
