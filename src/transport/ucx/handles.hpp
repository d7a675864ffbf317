// What the transport ucx is put together from.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "pattern/words.hpp"
#include "transport/messenger.hpp"
#include "transport/ucx/worker.hpp"

namespace parhelion {

inline void put_text(Words& words, const std::string& text) {
    words.push_back(static_cast<global_index>(text.size()));
    const std::size_t at = words.size();
    words.resize(at + (text.size() + sizeof(global_index) - 1) / sizeof(global_index), 0);
    std::memcpy(words.data() + at, text.data(), text.size());
}

inline std::string get_text(WordReader& header) {
    std::string text(header.next_in<std::size_t>(0, 1 << 20), '\0');
    for (std::size_t at = 0; at < text.size(); at += sizeof(global_index)) {
        const global_index word = header.next();
        std::memcpy(text.data() + at, &word, std::min(sizeof word, text.size() - at));
    }
    return text;
}

namespace slots {
class Memory;
}

/// Connections by rank.
using UcxNeighbors = std::map<int, std::shared_ptr<UcxEndpoint>>;

/// Memory that UCX allocates here and maps there (System V, POSIX, XPMEM: what UCX has and UCX_TLS
/// allows).
std::shared_ptr<slots::Memory> make_ucx_memory(std::shared_ptr<UcxWorker> worker,
                                               UcxNeighbors neighbors);

/// Tagged messages. Collective.
std::unique_ptr<Messenger> make_ucx_channels(const TransportContext& context,
                                             const std::vector<Channel>& channels,
                                             std::shared_ptr<UcxWorker> worker,
                                             const UcxNeighbors& neighbors);
std::unique_ptr<Transport> make_ucx_messages(const TransportContext& context,
                                             std::shared_ptr<UcxWorker> worker,
                                             const UcxNeighbors& neighbors);

}  // namespace parhelion
