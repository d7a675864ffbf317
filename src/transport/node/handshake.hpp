// One-time exchange of addresses between neighbors on a node.
#pragma once

#include <functional>
#include <new>

#include "parhelion/core/node_memory.hpp"
#include "parhelion/transport/transport.hpp"
#include "pattern/words.hpp"
#include "transport/node/signals.hpp"

namespace parhelion {

/// Collective. Sends a header to each link's neighbor and opens the received one. `write` allocates
/// what the headers describe and returns them in the order of the links. Errors of `write` and
/// `open` are agreed on in one reduction: every rank throws. If `write` threw, this rank and its
/// neighbors leave headers unopened.
void exchange_headers(const TransportContext& context,
    const std::function<std::vector<Words>()>& write,
    const std::function<void(std::size_t link, WordReader& header)>& open);

/// `count` trivially destructible objects in node-shared memory. Local.
template <class T>
std::shared_ptr<T> make_lines(std::size_t count) {
  const auto deleter = [count](T* first) { NodeAllocator<T>().deallocate(first, count + 1); };
  std::shared_ptr<T> lines(NodeAllocator<T>().allocate(count + 1), deleter);
  for (std::size_t i = 0; i <= count; ++i) new (lines.get() + i) T;
  return lines;
}

/// Node-shared memory with zeros at the start of each cache line. Local.
template <class Line = SequenceLine>
std::shared_ptr<std::byte> make_lines_of(byte_count bytes) {
  const auto lines = make_lines<Line>(static_cast<std::size_t>(bytes) / sizeof(Line));
  return {lines, reinterpret_cast<std::byte*>(lines.get())};
}

}  // namespace parhelion
