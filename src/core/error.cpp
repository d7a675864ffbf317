#include "parhelion/core/error.hpp"

#include "core/meeting.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion {

void check_mpi(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw Error(
        std::string(call) + " failed: " + std::string(text, static_cast<std::size_t>(length)) +
            ". Other ranks may be waiting: end the job (MPI_Abort) unless the MPI can continue",
        ErrorKind::communication);
}

// One reduction tells whether there is anything to say: the common case costs no more.
void agree(const Communicator& comm, const std::string& complaint, ErrorKind kind) {
    if (const int first = meet(comm, !complaint.empty(), 0).complainer; first >= 0)
        throw_complaint(comm, {complaint, kind}, first);
}

void throw_complaint(const Communicator& comm, const Complaint& mine, int source) {
    const std::string told = broadcast(comm, static_cast<char>(mine.kind) + mine.text,
                                       source);  // its kind, then its text
    const std::string where = comm.size() > 1 ? "rank " + std::to_string(source) + ": " : "";
    throw Error(where + told.substr(1), static_cast<ErrorKind>(told.front()));
}

}  // namespace parhelion
