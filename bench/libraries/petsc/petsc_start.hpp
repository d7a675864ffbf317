#pragma once

#include <petscsys.h>

#include <stdexcept>
#include <string>

inline void require_petsc(PetscErrorCode code, const char* what) {
  if (code)
    throw std::runtime_error(
        std::string("PETSc: ") + what + " failed with error " + std::to_string(code));
}

// Initializes PETSc once per process; errors become return codes, signals stay the program's.
inline void start_petsc() {
  PetscBool started = PETSC_FALSE;
  require_petsc(PetscInitialized(&started), "PetscInitialized");
  if (started) return;
  require_petsc(PetscInitializeNoArguments(), "PetscInitialize");
  require_petsc(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr), "PetscPushErrorHandler");
  require_petsc(PetscPopSignalHandler(), "PetscPopSignalHandler");
}
