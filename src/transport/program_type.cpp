#include "transport/program_type.hpp"

#include <algorithm>
#include <cstdint>
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
MPI_Datatype op_type(const StridedOp& op, Side side, int unit) {
    const auto& message = side == Side::source ? op.dst_stride : op.src_stride;
    const auto& field = side == Side::source ? op.src_stride : op.dst_stride;
    std::vector<int> order(static_cast<std::size_t>(op.dims));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return message[a] < message[b]; });
    MPI_Datatype type = MPI_DATATYPE_NULL;
    // MPIs move single bytes one by one, but wider numbers by vector loops.
    const MPI_Datatype number = unit == 8 ? MPI_INT64_T : unit == 4 ? MPI_INT32_T : unit == 2 ? MPI_INT16_T : MPI_BYTE;
    check_mpi(MPI_Type_contiguous(static_cast<int>(op.width / unit), number, &type), "MPI_Type_contiguous");
    for (int d : order)
        if (op.count[d] != 1) repeat(type, op.count[d], field[d]);
    return type;
}

const std::byte* start_of(const StridedOp& op, Bases bases, Side side) {
    return side == Side::source ? bases[op.src_base] + op.src : bases[op.dst_base] + op.dst;
}

}  // namespace

int widest_unit(const Program& program, Bases bases, Side side) {
    std::uint64_t bits = 8;
    for (const StridedOp& op : program.strided) {
        bits |= reinterpret_cast<std::uintptr_t>(start_of(op, bases, side)) | static_cast<std::uint64_t>(op.width);
        for (int d = 0; d < op.dims; ++d)
            bits |= static_cast<std::uint64_t>(side == Side::source ? op.src_stride[d] : op.dst_stride[d]);
    }
    return static_cast<int>(bits & -bits);
}

MPI_Datatype program_type(const Program& program, Bases bases, Side side, int unit) {
    std::vector<MPI_Datatype> parts;
    std::vector<MPI_Aint> places;
    for (const StridedOp& op : program.strided) {
        parts.push_back(op_type(op, side, unit));
        check_mpi(MPI_Get_address(start_of(op, bases, side), &places.emplace_back()), "MPI_Get_address");
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
