#include "petsc_vector.hpp"

#include "peer_functions.hpp"

static_assert(std::is_same_v<PetscScalar, double>,
              "a PETSc of real numbers of double precision is needed (Debian: libpetsc-real-dev)");

extern "C" __attribute__((visibility("default"))) const phl_vector_peer_functions phl_vector_peer =
    phl_vectors_of<PetscVector>;
