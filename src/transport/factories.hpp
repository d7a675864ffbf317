#pragma once

#include "transport/messenger.hpp"

namespace parhelion {

class ArrayAccess;

/// The pointers stay valid. Local.
std::vector<const TransportInfo*> known_transports();

std::unique_ptr<Transport> make_loopback(const TransportContext& context);
std::unique_ptr<Transport> make_mpi(const TransportContext& context);
std::unique_ptr<Transport> make_mpi_neighbor(const TransportContext& context);
std::unique_ptr<Transport> make_shared_reverse(const TransportContext& context,
    const std::string& name, std::shared_ptr<const ArrayAccess> access);
std::unique_ptr<Transport> make_single_copy(const TransportContext& context,
    const std::string& name, std::shared_ptr<const ArrayAccess> access);
std::unique_ptr<Transport> make_device_ipc(const TransportContext& context);
std::unique_ptr<Transport> make_staged_shared(const TransportContext& context);
std::unique_ptr<Transport> make_node_aware(
    const TransportContext& context, const MakeMessenger& make);
/// For node_aware. Collective; the context's links are those to the channels' ranks.
std::unique_ptr<Messenger> make_mpi_messenger(
    const TransportContext& context, std::vector<Channel> channels);
std::unique_ptr<Messenger> make_ucx_messenger(
    const TransportContext& context, std::vector<Channel> channels);
/// Why UCX cannot be used, else empty.
std::string ucx_missing();

}  // namespace parhelion
