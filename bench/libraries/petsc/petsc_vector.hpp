// PETSc's ghosted vector, as programs use it.
#pragma once

#include <petscvec.h>

#include <vector>

#include "adapter.h"
#include "petsc_start.hpp"

class PetscVector {
 public:
  explicit PetscVector(const phl_adapter_cells& cells) {
    start_petsc();
    const std::vector<PetscInt> ghosts(cells.ghost_ids, cells.ghost_ids + cells.ghosts);
    require_petsc(VecCreateGhostBlock(cells.comm, cells.components, cells.owned * cells.components,
                      PETSC_DECIDE, cells.ghosts, ghosts.data(), &vector_),
        "VecCreateGhostBlock");
    require_petsc(VecGhostGetLocalForm(vector_, &local_), "VecGhostGetLocalForm");
    require_petsc(VecGetArray(local_, &values_), "VecGetArray");
  }
  ~PetscVector() {
    VecRestoreArray(local_, &values_);
    VecGhostRestoreLocalForm(vector_, &local_);
    VecDestroy(&vector_);
  }
  PetscVector(const PetscVector&) = delete;
  PetscVector& operator=(const PetscVector&) = delete;

  PetscScalar* values() { return values_; }
  void exchange() {
    require_petsc(
        VecGhostUpdateBegin(vector_, INSERT_VALUES, SCATTER_FORWARD), "VecGhostUpdateBegin");
    require_petsc(VecGhostUpdateEnd(vector_, INSERT_VALUES, SCATTER_FORWARD), "VecGhostUpdateEnd");
  }

 private:
  Vec vector_ = nullptr, local_ = nullptr;
  PetscScalar* values_ = nullptr;
};
