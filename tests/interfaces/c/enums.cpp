// Enumerators in phl.h equal those of the C++ enumerations, checked at compile time.
#include "parhelion/core/element.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/reduction.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/phl.h"
#include "parhelion/plan/field.hpp"

namespace {

template <class Enum>
constexpr bool same(Enum cpp, int c) {
  return static_cast<int>(cpp) == c;
}

using parhelion::ErrorKind, parhelion::Scalar, parhelion::Reduction;
static_assert(same(ErrorKind::value, PHL_ERROR_VALUE) && same(ErrorKind::type, PHL_ERROR_TYPE) &&
              same(ErrorKind::communication, PHL_ERROR_COMMUNICATION) &&
              same(ErrorKind::timeout, PHL_ERROR_TIMEOUT) &&
              same(ErrorKind::lost_peer, PHL_ERROR_LOST_PEER) &&
              same(ErrorKind::system, PHL_ERROR_SYSTEM));
static_assert(same(Scalar::bytes, PHL_BYTES) && same(Scalar::int8, PHL_INT8) &&
              same(Scalar::int16, PHL_INT16) && same(Scalar::int32, PHL_INT32) &&
              same(Scalar::int64, PHL_INT64) && same(Scalar::uint8, PHL_UINT8) &&
              same(Scalar::uint16, PHL_UINT16) && same(Scalar::uint32, PHL_UINT32) &&
              same(Scalar::uint64, PHL_UINT64) && same(Scalar::float32, PHL_FLOAT32) &&
              same(Scalar::float64, PHL_FLOAT64) && same(Scalar::complex64, PHL_COMPLEX64) &&
              same(Scalar::complex128, PHL_COMPLEX128));
static_assert(same(Reduction::replace, PHL_REPLACE) && same(Reduction::sum, PHL_SUM) &&
              same(Reduction::min, PHL_MIN) && same(Reduction::max, PHL_MAX) &&
              same(Reduction::bit_and, PHL_AND) && same(Reduction::bit_or, PHL_OR) &&
              same(Reduction::prod, PHL_PROD));
static_assert(same(parhelion::Direction::forward, PHL_FORWARD) &&
              same(parhelion::Direction::reverse, PHL_REVERSE));
static_assert(
    same(parhelion::Order::c, PHL_ORDER_C) && same(parhelion::Order::fortran, PHL_ORDER_FORTRAN));
static_assert(same(parhelion::Neighbors::full, PHL_NEIGHBORS_FULL) &&
              same(parhelion::Neighbors::faces, PHL_NEIGHBORS_FACES));
static_assert(same(parhelion::Algorithm::standard, PHL_STANDARD) &&
              same(parhelion::Algorithm::by_dimension, PHL_BY_DIMENSION));
static_assert(parhelion::max_dimensions == PHL_MAX_DIMENSIONS);

}  // namespace
