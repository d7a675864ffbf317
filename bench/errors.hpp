#pragma once

#include <stdexcept>

#include "parhelion/core/error.hpp"

namespace parhelion::bench {

/// A contender that cannot run here, with the reason. Thrown by every rank or by none; the others
/// go on. (A job or data set that cannot be used is a parhelion::Error and ends the program with
/// status 2.)
struct CannotRun : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace parhelion::bench
