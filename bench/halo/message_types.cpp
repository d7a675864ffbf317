#include "halo/message_types.hpp"

namespace parhelion::bench {

namespace {

// A vector over each level of strides, outward; replaces `type`.
void repeat(MPI_Datatype& type, std::ptrdiff_t count, std::ptrdiff_t stride) {
    if (count == 1) return;
    MPI_Datatype outer = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(static_cast<int>(count), 1, stride, type, &outer);
    MPI_Type_free(&type);
    type = outer;
}

MPI_Datatype region_type(const Region& region) {
    MPI_Datatype type = contiguous_bytes(region.run_bytes);
    for (std::size_t level = 0; level < 3; ++level) repeat(type, region.count[level], region.stride[level]);
    return type;
}

}  // namespace

MPI_Datatype message_type(const Message& message) {
    std::vector<MPI_Datatype> parts;
    std::vector<MPI_Aint> addresses;
    for (const Region& region : message.regions) {
        parts.push_back(region_type(region));
        MPI_Get_address(region.start, &addresses.emplace_back());
    }
    const std::vector<int> ones(parts.size(), 1);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(static_cast<int>(parts.size()), ones.data(), addresses.data(), parts.data(), &type);
    for (MPI_Datatype& part : parts) MPI_Type_free(&part);
    return type;
}

}  // namespace parhelion::bench
