// destination = destination ⊕ source, in the order of the program, so that a repeated run gives the same bits.
#include "parhelion/core/error.hpp"
#include "plan/kernels.hpp"

namespace parhelion {

bool supports(Reduction reduction, Scalar scalar) {
    return reduction == Reduction::replace || kernels().combining(scalar, reduction) != nullptr;
}

void require_reducible(const Element& element, Reduction reduction) {
    if (!supports(reduction, element.scalar))
        throw Error("elements of type " + to_string(element) + " cannot be combined so: use replace, or a type that can be added and "
                    "compared", ErrorKind::type);
}

void reduce(const Program& program, Bases src, Bases dst, Reduction reduction) {
    if (reduction == Reduction::replace) return run(program, src, dst);
    const auto loops = [&, combining = kernels().combining](const auto& op) -> const Loops& { return *combining(op.scalar, reduction); };
    for (const StridedOp& op : program.strided) run_strided(op, src, dst, loops(op));
    for (const IndexedOp& op : program.indexed) loops(op).indexed(dst[op.dst_base] + op.dst, src[op.src_base] + op.src, op);
    for (const RunsOp& op : program.runs)
        loops(op).runs(dst[op.dst_base] + op.dst, src[op.src_base] + op.src, op.runs.data(), static_cast<byte_count>(op.runs.size()));
}

}  // namespace parhelion
