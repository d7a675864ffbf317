#include "core/patient_wait.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/left_behind.hpp"
#include "core/lost_rank.hpp"
#include "core/roll_call.hpp"

namespace parhelion {

void PatientWait::look() {
    constexpr std::chrono::milliseconds every{100};
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < every) return;
    looked_ = now;
    look_for_lost();
    look_at_the_clock(comm_, since_);
}

void PatientWait::look_for_lost() {
    const Lookout& lookout = comm_.shared_state<Lookout>();
    if (!lookout.lost) return;
    const int before = std::exchange(suspect_, lookout.lost());
    if (suspect_ < 0 || suspect_ != before) return;  // what it sent last may just have come
    lookout.tell(suspect_);
    throw LostRank(suspect_, std::string(" while an exchange was made") + lost_rank_remedy);
}

void allreduce(const Communicator& comm, const void* mine, void* all, int count, MPI_Datatype type, MPI_Op operation) {
#ifdef PARHELION_SIMULATED  // its own is made of messages between all ranks
    check_mpi(MPI_Allreduce(mine, all, count, type, operation, comm.handle()), "MPI_Allreduce");
#else
    const MPI_Comm handle = comm.handle();  // throws where MPI has ended: before anything is asked of it
    int size = 0;
    MPI_Type_size(type, &size);
    const std::size_t bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
    const auto buffer = std::make_shared<std::vector<std::byte>>(2 * bytes);
    std::memcpy(buffer->data(), mine, bytes);
    try {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Iallreduce(buffer->data(), buffer->data() + bytes, count, type, operation, handle, &request), "MPI_Iallreduce");
        PatientWait patience(comm);
        for (int done = 0;; patience.wait()) {
            check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done) break;
        }
    } catch (...) {
        leave_behind(buffer);  // MPI may still use it
        throw;
    }
    std::memcpy(all, buffer->data() + bytes, bytes);
#endif
}

}  // namespace parhelion
