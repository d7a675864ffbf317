#include "alltoall/on_buffers.hpp"

#include <cstring>

namespace parhelion::bench {

void OnBuffers::copy_own_block() const { std::memcpy(receive(rank()), send(rank()), block_bytes()); }

}  // namespace parhelion::bench
