// Messages beyond 2^31 − 1 bytes with MPI's int counts.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/environment.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/core/types.hpp"

namespace parhelion {

/// 2^31 − 1, or PARHELION_LARGEST_COUNT, for tests.
inline byte_count largest_count() {
  constexpr byte_count most = std::numeric_limits<int>::max();
  static const auto told = number_told("PARHELION_LARGEST_COUNT").value_or(0);
  return told > 0 ? std::min(told, most) : most;
}

/// `count()` elements of `type()` are `bytes` bytes. Large messages get a derived type.
class MessageType {
 public:
  explicit MessageType(byte_count bytes) {
    if (bytes <= largest_count()) {
      count_ = static_cast<int>(bytes);
      return;
    }
    const byte_count chunk = std::min(largest_count(), byte_count{1} << 20);
    const int chunks = static_cast<int>(bytes / chunk);
    MPI_Datatype parts[2] = {MPI_DATATYPE_NULL, MPI_BYTE};
    check_mpi(
        MPI_Type_contiguous(static_cast<int>(chunk), MPI_BYTE, &parts[0]), "MPI_Type_contiguous");
    const int lengths[2] = {chunks, static_cast<int>(bytes % chunk)};
    const MPI_Aint offsets[2] = {0, static_cast<MPI_Aint>(chunks) * chunk};
    check_mpi(MPI_Type_create_struct(2, lengths, offsets, parts, &type_), "MPI_Type_create_struct");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
    MPI_Type_free(&parts[0]);
    count_ = 1;
  }
  MessageType(MessageType&& other) noexcept
      : count_(other.count_), type_(std::exchange(other.type_, MPI_BYTE)) {}
  MessageType& operator=(MessageType&&) = delete;
  ~MessageType() {
    if (type_ != MPI_BYTE && !mpi_has_ended()) MPI_Type_free(&type_);
  }
  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  int count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
};

}  // namespace parhelion
