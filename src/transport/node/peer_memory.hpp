#pragma once

#include <memory>

#include "parhelion/core/node_memory.hpp"
#include "pattern/words.hpp"

namespace parhelion {

/// Place of an object for other processes, in words to send.
struct RemotePlace {
  std::int64_t process = 0;
  std::int64_t descriptor = -1;  ///< −1: not in node-shared memory
  std::int64_t identity = 0;
  std::int64_t size = 0;
  std::int64_t offset = 0;
};

RemotePlace describe_place(const void* address);
void put_place(Words& words, const RemotePlace& place);
RemotePlace get_place(WordReader& words);

/// Maps another process's node-shared memory; equal places share a mapping. Local. Throws Error
/// without the process, its descriptor or the permission.
std::shared_ptr<std::byte> map_place(const RemotePlace& place);
template <class T>
std::shared_ptr<T> map_as(const RemotePlace& place) {
  return std::reinterpret_pointer_cast<T>(map_place(place));
}

}  // namespace parhelion
