#include "transport/node/handshake.hpp"

#include "core/collective_step.hpp"

namespace parhelion {

// A rank whose `write` threw sends empty headers, so that neighbors do not hang, and reports
// afterwards.
void exchange_headers(const TransportContext& context,
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

}  // namespace parhelion
