#pragma once

#include "transport/messenger.hpp"

namespace parhelion {

class ArrayAccess;

/// The pointers stay valid. Local.
std::vector<const TransportInfo*> known_transports();

std::unique_ptr<Transport> make_loopback(const TransportContext& context);
std::unique_ptr<Transport> make_mpi(const TransportContext& context);
std::unique_ptr<Transport> make_device_mpi(const TransportContext& context);
/// What MPI says of itself.
bool mpi_claims_devices();
constexpr byte_count host_page = 64 << 10;  // at least
/// Until the result is destroyed, the host may touch pages of device memory that it cannot reach,
/// without effect on the device: an MPI that takes them for the host's moves other values, instead
/// of ending the process. Throws Error, of kind system, if it cannot be.
std::shared_ptr<void> shield(std::byte* first, byte_count bytes);
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
