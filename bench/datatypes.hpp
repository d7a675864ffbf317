#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace parhelion::bench {

/// Datatypes in a row, freed with their holder.
class Datatypes {
public:
    Datatypes() = default;
    ~Datatypes() {
        for (MPI_Datatype& type : types_) MPI_Type_free(&type);
    }
    Datatypes(const Datatypes&) = delete;
    Datatypes& operator=(const Datatypes&) = delete;

    /// Takes over `type` and commits it.
    void add(MPI_Datatype type) {
        types_.push_back(type);
        MPI_Type_commit(&types_.back());
    }
    MPI_Datatype operator[](std::size_t which) const { return types_[which]; }
    const MPI_Datatype* data() const { return types_.data(); }

private:
    std::vector<MPI_Datatype> types_;
};

/// `bytes` contiguous bytes in units as wide as divide them, which spares the MPI library work per
/// byte. The caller frees it.
inline MPI_Datatype contiguous_bytes(std::size_t bytes) {
    const std::size_t unit = bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
    const MPI_Datatype base = unit == 8   ? MPI_INT64_T
                              : unit == 4 ? MPI_INT32_T
                              : unit == 2 ? MPI_INT16_T
                                          : MPI_BYTE;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(bytes / unit), base, &type);
    return type;
}

}  // namespace parhelion::bench
