#include "shared_window.hpp"

#include <cstdint>

namespace parhelion::bench {

SharedWindow::SharedWindow(MPI_Comm comm, std::size_t bytes_of_mine) {
    constexpr std::size_t page = 4096;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    // Each rank's part on pages of its own: touched first, and so placed, by its owner.
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    void* mine = nullptr;
    const auto bytes = static_cast<MPI_Aint>((bytes_of_mine + 2 * page - 1) / page * page);
    MPI_Win_allocate_shared(bytes, 1, info, comm, &mine, &window_);
    MPI_Info_free(&info);
}

std::byte* SharedWindow::of(int rank) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* start = nullptr;
    MPI_Win_shared_query(window_, rank, &bytes, &unit, &start);
    constexpr std::uintptr_t line = 64;
    return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(start) + line - 1) / line * line);
}

}  // namespace parhelion::bench
