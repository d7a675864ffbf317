#pragma once

#include <functional>
#include <new>

#include "core/collective_step.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/transport/transport.hpp"
#include "pattern/words.hpp"
#include "transport/node/signals.hpp"

namespace parhelion {

/// Collective. Sends a header to each link's neighbor and opens the received one. `write` allocates
/// what the headers describe and returns them in link order. Errors of `write` and `open` are
/// agreed on in one reduction: every rank throws. If `write` threw, sends empty headers, so that
/// neighbors do not hang; headers then stay unopened on both sides.
inline void exchange_headers(const TransportContext& context,
    const std::function<std::vector<Words>()>& write,
    const std::function<void(std::size_t link, WordReader& header)>& open) {
  std::vector<Words> headers;
  Complaint complaint = complaint_of([&] { headers = write(); });
  headers.resize(context.links.size());
  std::vector<Message> messages;
  std::vector<int> expected;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    expected.push_back(context.links[i]->rank);
    messages.push_back(message_of(headers[i], expected.back()));
  }
  const auto received = neighbor_exchange(context.plan.communicator(), messages, expected);
  const auto open_all = [&] {
    for (std::size_t i = 0; i < received.size(); ++i) {
      const Words words = received[i].values<global_index>();
      if (words.empty()) continue;
      WordReader header(words);
      open(i, header);
    }
  };
  if (!complaint.any) complaint = complaint_of(open_all);
  agree(context.plan.communicator(), complaint);
}

/// `count` trivially destructible objects in node-shared memory. Local.
template <class T>
std::shared_ptr<T> make_lines(std::size_t count) {
  const auto deleter = [count](T* first) { NodeAllocator<T>().deallocate(first, count + 1); };
  std::shared_ptr<T> lines(NodeAllocator<T>().allocate(count + 1), deleter);
  for (std::size_t i = 0; i <= count; ++i) new (lines.get() + i) T;
  return lines;
}

/// Node-shared memory; each cache line begins with zeros. Local.
template <class Line = SequenceLine>
std::shared_ptr<std::byte> make_lines_of(byte_count bytes) {
  return std::reinterpret_pointer_cast<std::byte>(
      make_lines<Line>(static_cast<std::size_t>(bytes) / sizeof(Line)));
}

}  // namespace parhelion
