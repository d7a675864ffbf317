// The one exception type, and agreement on errors over ranks.
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace parhelion {

class Communicator;

/// What kind of mistake it was; the interfaces map it (Python: ValueError, TypeError,
/// parhelion.Error).
enum class ErrorKind : int { value = 1, type, communication, timeout, lost_peer, system };

/// Says what is wrong, where, and what to do about it.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& message, ErrorKind kind = ErrorKind::value)
        : std::runtime_error(message), kind_(kind) {}
    ErrorKind kind() const noexcept { return kind_; }

private:
    ErrorKind kind_;
};

/// Throws when an MPI call did not succeed. Local.
void check_mpi(int code, const char* call);

/// What a rank has to say against going on; an empty text is nothing.
struct Complaint {
    std::string text = {};
    ErrorKind kind = ErrorKind::value;
};

/// Runs `local` and takes down the Error it may throw. Local.
template <class Function>
Complaint complaint_of(Function&& local) {
    try {
        std::forward<Function>(local)();
    } catch (const Error& error) {
        return {error.what(), error.kind()};
    } catch (const std::bad_alloc&) {
        return {"out of memory: use more ranks or a smaller problem", ErrorKind::system};
    }
    return {};
}

/// Collective. Each rank passes its complaint, empty when it has none. If any rank complains, every
/// rank throws the complaint of the lowest one, so that no rank is left waiting for another.
void agree(const Communicator& comm, const std::string& complaint,
           ErrorKind kind = ErrorKind::value);

/// Collective. Runs `local` (which must not communicate) and agrees on the Error it may throw.
template <class Function>
void validate_together(const Communicator& comm, Function&& local) {
    const Complaint complaint = complaint_of(std::forward<Function>(local));
    agree(comm, complaint.text, complaint.kind);
}

}  // namespace parhelion
