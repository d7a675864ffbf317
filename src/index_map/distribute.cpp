// Between one rank that has all values and the ranks that own them. The root serves one rank after
// the other: it needs no more memory than for the largest part.
#include <cstring>

#include "index_map/root.hpp"
#include "index_map/share_memory.hpp"
#include "parhelion/core/agreement.hpp"
#include "parhelion/core/doing.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/index_map/derive.hpp"
#include "transport/message_type.hpp"

namespace parhelion {
namespace {

std::vector<global_index> owned_ids(const IndexedDomain& domain) {
    std::vector<global_index> ids(static_cast<std::size_t>(domain.owned()));
    for (local_index cell = 0; cell < domain.owned(); ++cell)
        ids[static_cast<std::size_t>(cell)] = domain.global_of(cell);
    return ids;
}

void validate(const IndexedDomain& domain, int root, CellArray all, global_index cells,
              CellArray owned, byte_count width) {
    const Communicator& comm = domain.communicator();
    require_root(root, comm);
    require_equal(
        comm, "the arrays",
        [width](Properties& told) { told.add("the number of bytes per cell", width); },
        "pass arrays of the same type and number of components everywhere");
    validate_together(comm, [&] {
        if (comm.rank() == root && cells != domain.global_size())
            throw Error("the root's array has " + std::to_string(cells) + " cells and the map " +
                        std::to_string(domain.global_size()) +
                        ": pass an array of all cells on the root");
        if (comm.rank() == root &&
            share_memory(CellPlaces{all, cells, width}, CellPlaces{owned, domain.owned(), width}))
            throw Error(
                "the array of all cells and that of the owned ones share memory: pass arrays that "
                "do not overlap");
        for (local_index cell = 0; domain.first() < 0 && cell < domain.owned(); ++cell)
            if (domain.global_of(cell) >= domain.global_size())
                throw Error("global id " + std::to_string(domain.global_of(cell)) +
                            " exceeds the number of cells, " +
                            std::to_string(domain.global_size()) +
                            ": values of all cells need ids without gaps");
    });
}

/// Cells of an array ↔ packed cells. With ids, packed cell k belongs to cell ids[k] of the array.
void copy_cells(CellArray array, const std::vector<global_index>* ids, std::byte* packed,
                std::size_t count, byte_count width, bool pack) {
    for (std::size_t k = 0; k < count; ++k) {
        std::byte* cell =
            array.first + (ids ? (*ids)[k] : static_cast<global_index>(k)) * array.stride;
        std::byte* place = packed + static_cast<byte_count>(k) * width;
        std::memcpy(pack ? place : cell, pack ? cell : place, static_cast<std::size_t>(width));
    }
}

/// Copies this rank's own cells to or from their places among all.
struct Root {
    const IndexedDomain& domain;
    CellArray all;
    byte_count width;
    std::vector<std::byte> packed{};

    std::vector<global_index> ids_of(int rank) const {
        if (rank == domain.communicator().rank()) return owned_ids(domain);
        MPI_Status status;
        int count = 0;
        check_mpi(MPI_Probe(rank, 0, domain.communicator().handle(), &status), "MPI_Probe");
        check_mpi(MPI_Get_count(&status, MPI_INT64_T, &count), "MPI_Get_count");
        std::vector<global_index> ids(static_cast<std::size_t>(count));
        check_mpi(MPI_Recv(ids.data(), count, MPI_INT64_T, rank, 0, domain.communicator().handle(),
                           MPI_STATUS_IGNORE),
                  "MPI_Recv");
        return ids;
    }
    void serve(int rank, CellArray owned, bool sending) {
        const Communicator& comm = domain.communicator();
        const auto ids = ids_of(rank);
        packed.resize(ids.size() * static_cast<std::size_t>(width));
        const MessageType type(static_cast<byte_count>(packed.size()));
        const bool own = rank == comm.rank();
        if (sending) copy_cells(all, &ids, packed.data(), ids.size(), width, true);
        if (own) copy_cells(owned, nullptr, packed.data(), ids.size(), width, !sending);
        else if (sending)
            check_mpi(MPI_Send(packed.data(), type.count(), type.type(), rank, 0, comm.handle()),
                      "MPI_Send");
        else
            check_mpi(MPI_Recv(packed.data(), type.count(), type.type(), rank, 0, comm.handle(),
                               MPI_STATUS_IGNORE),
                      "MPI_Recv");
        if (!sending) copy_cells(all, &ids, packed.data(), ids.size(), width, false);
    }
};

void exchange_with_root(const IndexedDomain& domain, int root, CellArray owned, byte_count width,
                        bool receiving) {
    const Communicator& comm = domain.communicator();
    const auto ids = owned_ids(domain);
    check_mpi(
        MPI_Send(ids.data(), static_cast<int>(ids.size()), MPI_INT64_T, root, 0, comm.handle()),
        "MPI_Send");
    std::vector<std::byte> packed(ids.size() * static_cast<std::size_t>(width));
    const MessageType type(static_cast<byte_count>(packed.size()));
    if (!receiving) copy_cells(owned, nullptr, packed.data(), ids.size(), width, true);
    if (receiving)
        check_mpi(MPI_Recv(packed.data(), type.count(), type.type(), root, 0, comm.handle(),
                           MPI_STATUS_IGNORE),
                  "MPI_Recv");
    else
        check_mpi(MPI_Send(packed.data(), type.count(), type.type(), root, 0, comm.handle()),
                  "MPI_Send");
    if (receiving) copy_cells(owned, nullptr, packed.data(), ids.size(), width, false);
}

void between(const IndexedDomain& domain, int root, CellArray all, global_index cells,
             CellArray owned, byte_count width, bool from_root) {
    validate(domain, root, all, cells, owned, width);
    const Communicator& comm = domain.communicator();
    if (comm.rank() != root) return exchange_with_root(domain, root, owned, width, from_root);
    Root here{domain, all, width};
    for (int rank = 0; rank < comm.size(); ++rank) here.serve(rank, owned, from_root);
}

}  // namespace

void distribute(const IndexedDomain& domain, int root, CellArray all, global_index cells,
                CellArray owned, byte_count width) {
    const Doing doing(domain.communicator(), "distribute");
    between(domain, root, all, cells, owned, width, true);
}

void collate(const IndexedDomain& domain, int root, CellArray all, global_index cells,
             CellArray owned, byte_count width) {
    const Doing doing(domain.communicator(), "collate");
    between(domain, root, all, cells, owned, width, false);
}

}  // namespace parhelion
