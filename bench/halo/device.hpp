#pragma once

#include "halo/by_hand.hpp"

namespace parhelion::bench {

/// Arrays in the memory of a device of CUDA, ranks of a node on its devices in turn: as `arrays` of
/// the setup, and what knows their values. Local. Throws Error where there is no driver or device.
void place_on_device(HaloSetup& setup);

/// Exchanges of such arrays by hand: packed by a launch of the library's kernel, or box by box by
/// cuMemcpy3DAsync, into page-locked memory that MPI sends; and packed into device memory, for MPIs
/// that know devices.
void add_by_hand_on_device(std::vector<Entry>& entries, const HaloSetup& setup);

}  // namespace parhelion::bench
