#include "parhelion/core/error.hpp"

#include "core/meeting.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion {

void check_mpi(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw Error(std::string(call) + " failed: " + std::string(text, static_cast<std::size_t>(length)) +
                    ". Other ranks may be waiting: end the job (MPI_Abort) unless the MPI can continue",
                ErrorKind::communication);
}

namespace {

// The complaint of `source`, known to every rank afterwards.
std::string broadcast_text(const Communicator& comm, std::string text, int& kind, int source) {
    int header[2] = {static_cast<int>(text.size()), kind};
    check_mpi(MPI_Bcast(header, 2, MPI_INT, source, comm.handle()), "MPI_Bcast");
    text.resize(static_cast<std::size_t>(header[0]));
    kind = header[1];
    check_mpi(MPI_Bcast(text.data(), header[0], MPI_CHAR, source, comm.handle()), "MPI_Bcast");
    return text;
}

}  // namespace

// One reduction tells whether there is anything to say: the common case costs no more.
void agree(const Communicator& comm, const std::string& complaint, ErrorKind kind) {
    if (const int first = meet(comm, !complaint.empty(), 0).complainer; first >= 0) throw_complaint(comm, {complaint, kind}, first);
}

void throw_complaint(const Communicator& comm, const Complaint& mine, int source) {
    int kind = static_cast<int>(mine.kind);
    const std::string text = broadcast_text(comm, mine.text, kind, source);
    const std::string where = comm.size() > 1 ? "rank " + std::to_string(source) + ": " : "";
    throw Error(where + text, static_cast<ErrorKind>(kind));
}

}  // namespace parhelion
