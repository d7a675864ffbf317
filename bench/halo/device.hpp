#pragma once

#include "halo/by_hand.hpp"

namespace parhelion::bench {

/// Local. Sets `arrays` and `values` of the setup to arrays in CUDA device memory; the ranks of a
/// node take its devices round robin. Throws Error without a driver or device.
void place_on_device(HaloSetup& setup);

/// Adds hand-written exchanges of device arrays: packed into page-locked memory by one launch of
/// the library's kernel or by cuMemcpy3DAsync per box, or packed into device memory for CUDA-aware
/// MPI.
void add_by_hand_on_device(std::vector<Entry>& entries, const HaloSetup& setup);

}  // namespace parhelion::bench
