#include "dolfinx_vector.hpp"

#include "peer_functions.hpp"

extern "C" __attribute__((visibility("default"))) const phl_vector_peer_functions phl_vector_peer =
    phl_vectors_of<DolfinxVector>;
