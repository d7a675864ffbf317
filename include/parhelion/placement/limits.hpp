// Size limits of placement. Errors name the limit.
#pragma once

namespace parhelion::placement {

inline constexpr int most_ranks = 1 << 24;  ///< of a machine, and of a placed process grid
inline constexpr int most_nodes = 1 << 20;  ///< of a machine
inline constexpr int most_units = 1 << 24;  ///< sockets, … or hardware threads of the whole machine
inline constexpr int most_step = 1 << 20;   ///< of a stencil offset along a dimension, in magnitude
inline constexpr int most_offsets = 1 << 12;         ///< of a stencil
inline constexpr int most_topology_bytes = 1 << 26;  ///< of a node description file

}  // namespace parhelion::placement
