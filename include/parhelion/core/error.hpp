// The only exception type that the library throws.
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

namespace parhelion {

/// Kind of error; other languages map it (Python: ValueError, TypeError, parhelion.Error).
enum class ErrorKind : int { value = 1, type, communication, timeout, lost_peer, system };

/// The ranks that know of an error.
enum class KnownTo : int {
  this_rank,
  all_ranks,      ///< agreed by all ranks at the same point, who may continue
  all_have_left,  ///< agreed by all ranks, who leave the collective call (`collectively`)
};

/// An error whose text names the cause, the place and a remedy.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ErrorKind kind = ErrorKind::value,
      KnownTo known = KnownTo::this_rank)
      : std::runtime_error(message), kind_(kind), known_(known) {}
  ErrorKind kind() const noexcept { return kind_; }
  KnownTo known_to() const noexcept { return known_; }
  /// Whether the system refused a request on all ranks at the same point: they may try another
  /// method.
  bool is_refusal() const noexcept {
    return kind_ == ErrorKind::system && known_ == KnownTo::all_ranks;
  }

 private:
  ErrorKind kind_;
  KnownTo known_;
};

/// Throws Error unless `code` is MPI_SUCCESS. Local.
void check_mpi(int code, const char* call);

}  // namespace parhelion
