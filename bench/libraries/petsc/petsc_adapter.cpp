// PETSc's star forest: roots are owned cells, leaves are ghosts; a gather is a broadcast.
#include <petscsf.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "adapter_functions.hpp"
#include "petsc_start.hpp"
#include "petsc_vector.hpp"

static_assert(std::is_same_v<PetscScalar, double>,
    "a PETSc of real numbers of double precision is needed (Debian: libpetsc-real-dev)");

namespace {

// Prefers the types for which PETSc has optimized packing.
MPI_Datatype base_type(const std::string& element) {
  const std::string own = "int" + std::to_string(8 * sizeof(PetscInt));
  if (element == own) return MPIU_INT;
  if (element == "int32") return MPI_INT;
  if (element == "int64") return MPI_INT64_T;
  if (element == "float64" && sizeof(PetscReal) == 8) return MPIU_REAL;
  if (element == "float64") return MPI_DOUBLE;
  if (element == "float32") return MPI_FLOAT;
  throw std::runtime_error("this plug-in supports int32, int64, float32 and float64");
}

class Adapter {
 public:
  Adapter(const phl_adapter_cells& gather, const std::string& variant)
      : cells_(gather.cells), ghosts_(gather.ghost_values) {
    start_petsc();
    unit_ = base_type(gather.element);
    if (gather.components > 1) {
      MPI_Type_contiguous(gather.components, unit_, &unit_);
      MPI_Type_commit(&unit_);
      own_unit_ = true;
    }
    require_petsc(PetscSFCreate(gather.comm, &forest_), "PetscSFCreate");
    choose(variant);
    std::vector<PetscSFNode> remote(static_cast<std::size_t>(gather.ghosts));
    for (int i = 0; i < gather.ghosts; ++i) {
      remote[static_cast<std::size_t>(i)].rank = gather.ghost_owners[i];
      remote[static_cast<std::size_t>(i)].index = gather.ghost_cells[i];
    }
    require_petsc(PetscSFSetGraph(forest_, gather.owned, gather.ghosts, nullptr, PETSC_COPY_VALUES,
                      remote.data(), PETSC_COPY_VALUES),
        "PetscSFSetGraph");
    require_petsc(PetscSFSetUp(forest_), "PetscSFSetUp");
    exchange();  // the first use prepares buffers, and fails for unsupported types
  }
  ~Adapter() {
    PetscSFDestroy(&forest_);
    if (own_unit_) MPI_Type_free(&unit_);
  }
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  void exchange() {
    require_petsc(
        PetscSFBcastBegin(forest_, unit_, cells_, ghosts_, MPI_REPLACE), "PetscSFBcastBegin");
    require_petsc(PetscSFBcastEnd(forest_, unit_, cells_, ghosts_, MPI_REPLACE), "PetscSFBcastEnd");
  }

 private:
  void choose(const std::string& variant) {
    const std::size_t space = variant.find(' ');
    require_petsc(PetscSFSetType(forest_, variant.substr(0, space).c_str()), "PetscSFSetType");
    if (space == std::string::npos) return;
    const std::string sync = variant.substr(space + 1);
    require_petsc(PetscSFWindowSetSyncType(forest_,
                      sync == "fence" ? PETSCSF_WINDOW_SYNC_FENCE : PETSCSF_WINDOW_SYNC_LOCK),
        "PetscSFWindowSetSyncType");
  }

  void* cells_;
  void* ghosts_;
  MPI_Datatype unit_;
  bool own_unit_ = false;
  PetscSF forest_ = nullptr;
};

Adapter* make(const phl_adapter_cells& gather, const char* variant) {
  return new Adapter(gather, variant);
}

}  // namespace

PHL_EXPORT phl_gather_adapter = PhlAdapter<phl_adapter_cells, make>::functions;
PHL_EXPORT phl_vector_adapter = phl_vector_functions<PetscVector>();
