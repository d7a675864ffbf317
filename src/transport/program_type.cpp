#include "transport/program_type.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

// Replaces `type` by `count` of it, `stride` bytes apart.
void repeat(MPI_Datatype& type, byte_count count, byte_count stride) {
    MPI_Datatype outer = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_create_hvector(static_cast<int>(count), 1, stride, type, &outer), "MPI_Type_create_hvector");
    MPI_Type_free(&type);
    type = outer;
}

// Dimensions from the one that changes fastest in the message.
MPI_Datatype op_type(const StridedOp& op, Side side) {
    const auto& message = side == Side::source ? op.dst_stride : op.src_stride;
    const auto& field = side == Side::source ? op.src_stride : op.dst_stride;
    std::vector<int> order(static_cast<std::size_t>(op.dims));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return message[a] < message[b]; });
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_contiguous(static_cast<int>(op.width), MPI_BYTE, &type), "MPI_Type_contiguous");
    for (int d : order) repeat(type, op.count[d], field[d]);
    return type;
}

}  // namespace

MPI_Datatype program_type(const Program& program, Bases bases, Side side) {
    std::vector<MPI_Datatype> parts;
    std::vector<MPI_Aint> places;
    for (const StridedOp& op : program.strided) {
        parts.push_back(op_type(op, side));
        const std::byte* start = side == Side::source ? bases[op.src_base] + op.src : bases[op.dst_base] + op.dst;
        check_mpi(MPI_Get_address(start, &places.emplace_back()), "MPI_Get_address");
    }
    const std::vector<int> ones(parts.size(), 1);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_create_struct(static_cast<int>(parts.size()), ones.data(), places.data(), parts.data(), &type),
              "MPI_Type_create_struct");
    check_mpi(MPI_Type_commit(&type), "MPI_Type_commit");
    for (MPI_Datatype& part : parts) MPI_Type_free(&part);
    return type;
}

}  // namespace parhelion
