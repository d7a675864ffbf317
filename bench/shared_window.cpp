#include "shared_window.hpp"

#include <cstdint>

#include "parhelion/core/error.hpp"
#include "transport/node/peer_memory.hpp"

namespace parhelion::bench {

namespace {

// Each rank's part on pages of its own: touched first, and so placed, by its owner.
std::size_t whole_pages(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    return (bytes + 2 * page - 1) / page * page;
}

std::byte* next_line(void* start) {
    constexpr std::uintptr_t line = 64;
    return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(start) + line - 1) /
                                        line * line);
}

bool on_every_rank(MPI_Comm comm, bool here) {
    int all = here;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
    return all != 0;
}

std::vector<RemotePlace> places_of_all(MPI_Comm comm, const RemotePlace& mine) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    std::vector<RemotePlace> places(static_cast<std::size_t>(size));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places.data(), sizeof mine, MPI_BYTE, comm);
    return places;
}

}  // namespace

SharedWindow::SharedWindow(MPI_Comm comm, std::size_t bytes_of_mine) {
    const std::size_t bytes = whole_pages(bytes_of_mine);
    if (!map_parts(comm, bytes)) make_window(comm, bytes);
}

SharedWindow::~SharedWindow() {
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
}

bool SharedWindow::map_parts(MPI_Comm comm, std::size_t bytes) {
    std::shared_ptr<std::byte> mine;
    try {
        mine = allocate_node_shared(static_cast<byte_count>(bytes));
    } catch (const Error&) {
    }
    if (!on_every_rank(comm, mine != nullptr)) return false;
    bool mapped = true;
    try {
        for (const RemotePlace& place : places_of_all(comm, describe_place(mine.get())))
            parts_.push_back(map_place(place));
    } catch (const Error&) {
        mapped = false;
    }
    if (on_every_rank(comm, mapped)) return true;
    parts_.clear();
    return false;
}

void SharedWindow::make_window(MPI_Comm comm, std::size_t bytes) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    void* mine = nullptr;
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, info, comm, &mine, &window_);
    MPI_Info_free(&info);
    int size = 0;
    MPI_Comm_size(comm, &size);
    for (int rank = 0; rank < size; ++rank) {
        MPI_Aint its_bytes = 0;
        int unit = 0;
        void* start = nullptr;
        MPI_Win_shared_query(window_, rank, &its_bytes, &unit, &start);
        parts_.push_back({std::shared_ptr<void>{}, next_line(start)});
    }
}

}  // namespace parhelion::bench
