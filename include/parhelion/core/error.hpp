// The one exception type.
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

namespace parhelion {

/// What kind of mistake it was; the interfaces map it (Python: ValueError, TypeError,
/// parhelion.Error).
enum class ErrorKind : int { value = 1, type, communication, timeout, lost_peer, system };

/// Which ranks know of an error.
enum class KnownTo : int {
    this_rank,
    all_ranks,      ///< all ranks have agreed on it and are at the same place: they may go on
    all_have_left,  ///< all ranks have agreed on it, at different places of the collective call
                    ///< that they leave (`collectively`)
};

/// Says what is wrong, where, and what to do about it.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& message, ErrorKind kind = ErrorKind::value,
                   KnownTo known = KnownTo::this_rank)
        : std::runtime_error(message), kind_(kind), known_(known) {}
    ErrorKind kind() const noexcept { return kind_; }
    KnownTo known_to() const noexcept { return known_; }
    /// Whether the system refused something to all ranks, which are at the same place: another way
    /// may be tried.
    bool is_refusal() const noexcept {
        return kind_ == ErrorKind::system && known_ == KnownTo::all_ranks;
    }

private:
    ErrorKind kind_;
    KnownTo known_;
};

/// Throws when an MPI call did not succeed. Local.
void check_mpi(int code, const char* call);

}  // namespace parhelion
