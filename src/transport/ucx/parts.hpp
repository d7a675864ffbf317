// What the transport ucx is put together from.
#pragma once

#include <map>
#include <memory>

#include "transport/messenger.hpp"
#include "transport/ucx/worker.hpp"

namespace parhelion {

namespace slots {
class Memory;
}

/// Connections by rank.
using UcxNeighbors = std::map<int, std::shared_ptr<UcxEndpoint>>;

/// Memory that UCX allocates here and maps there (System V, POSIX, XPMEM: what UCX has and UCX_TLS allows).
std::shared_ptr<slots::Memory> make_ucx_memory(std::shared_ptr<UcxWorker> worker, UcxNeighbors neighbors);

/// Tagged messages. Collective.
std::unique_ptr<Messenger> make_ucx_channels(const TransportContext& context, const std::vector<Channel>& channels,
                                             std::shared_ptr<UcxWorker> worker, const UcxNeighbors& neighbors);
std::unique_ptr<Transport> make_ucx_messages(const TransportContext& context, std::shared_ptr<UcxWorker> worker,
                                             const UcxNeighbors& neighbors);

}  // namespace parhelion
