// destination = destination ⊕ source, in program order, so that repeated runs give the same bits.
#include <cstring>
#include <iterator>
#include <unordered_set>
#include <vector>

#include "parhelion/core/error.hpp"
#include "parhelion/core/reduction.hpp"
#include "plan/kernels.hpp"

namespace parhelion {

bool supports(Reduction reduction, Scalar scalar) {
    return reduction == Reduction::replace || kernels().combining(scalar, reduction) != nullptr;
}

namespace {

std::string remedy(const Element& element, Reduction reduction) {
    if (reduction.by() != nullptr)
        return "it is for " + to_string(reduction.by()->element()) +
               ": define one for these elements (reduction_of), or view the array as such";
    if (element.scalar == Scalar::complex64 || element.scalar == Scalar::complex128)
        return "complex numbers have no order and no bits: use sum, prod, replace, a reduction of "
               "your own (reduction_of), or combine real "
               "and "
               "imaginary parts as two components";
    return "use replace, a reduction of your own (reduction_of), or a type that can be added and "
           "compared";
}

}  // namespace

std::string to_string(Reduction reduction) {
#define PARHELION_TEXT(name, ...) #name,
    static constexpr const char* names[] = {PHL_REDUCTIONS(PARHELION_TEXT) "the program's own"};
#undef PARHELION_TEXT
    return names[reduction.kind()];
}

void require_reducible(const Element& element, Reduction reduction) {
    const bool possible = reduction.by() != nullptr ? reduction.by()->element() == element
                                                    : supports(reduction, element.scalar);
    if (!possible)
        throw Error("elements of type " + to_string(element) + " cannot be combined so (" +
                        to_string(reduction) + "): " + remedy(element, reduction),
                    ErrorKind::type);
}

namespace {

class ByUser {
public:
    explicit ByUser(const UserReduction& by) : by_(by) {}

    void strided(const StridedOp& op, std::byte* dst, const std::byte* src, int d = 0) const {
        if (d == op.dims) return by_.combine(dst, src, op.width);
        for (byte_count i = 0; i < op.count[d]; ++i)
            strided(op, dst + i * op.dst_stride[d], src + i * op.src_stride[d], d + 1);
    }
    void indexed(const IndexedOp& op, std::byte* dst, const std::byte* src) const {
        if (by_.wants_many()) return together(op, dst, src);
        for (byte_count k = 0; k < op.count; ++k)
            by_.combine(dst + to(op, k), src + from(op, k), op.width);
    }
    void runs(const RunsOp& op, std::byte* dst, const std::byte* src) const {
        for (const Run& run : op.runs) by_.combine(dst + run.dst, src + run.src, run.bytes);
    }

private:
    static byte_count to(const IndexedOp& op, byte_count k) {
        return (op.dst_list ? op.dst_list[k] : k) * op.dst_stride;
    }
    static byte_count from(const IndexedOp& op, byte_count k) {
        return (op.src_list ? op.src_list[k] : k) * op.src_stride;
    }

    // Batches cells up to the first repeated one, then continues from it.
    void together(const IndexedOp& op, std::byte* dst, const std::byte* src) const {
        std::vector<std::byte> left, right;
        std::unordered_set<byte_count> seen;
        for (byte_count first = 0, k = 0; first < op.count; first = k) {
            for (seen.clear(); k < op.count && seen.insert(to(op, k)).second;) ++k;
            const auto bytes = static_cast<std::size_t>((k - first) * op.width),
                       width = static_cast<std::size_t>(op.width);
            left.resize(bytes), right.resize(bytes);
            for (byte_count i = first; i < k; ++i) {
                std::memcpy(left.data() + (i - first) * op.width, dst + to(op, i), width);
                std::memcpy(right.data() + (i - first) * op.width, src + from(op, i), width);
            }
            by_.combine(left.data(), right.data(), static_cast<byte_count>(bytes));
            for (byte_count i = first; i < k; ++i)
                std::memcpy(dst + to(op, i), left.data() + (i - first) * op.width, width);
        }
    }

    const UserReduction& by_;
};

void run_row(const Loops& use, std::byte* dst, const std::byte* src, byte_count bytes) {
    static constexpr byte_count none[2] = {0, 0};
    use.strided(dst, src, 1, 1, none, none, bytes);
}

// Combines values of opposite sign: negates whole elements of `size` bytes into a buffer first.
template <class Combine>
void reduce_negated(const StridedOp& op, std::byte* dst, const std::byte* src, byte_count size,
                    const Combine& combine, int d = 0) {
    if (d < op.dims) {
        for (byte_count i = 0; i < op.count[d]; ++i)
            reduce_negated(op, dst + i * op.dst_stride[d], src + i * op.src_stride[d], size,
                           combine, d + 1);
        return;
    }
    alignas(64) std::byte values[largest_signed_element];
    const byte_count most = largest_signed_element / size * size;
    for (byte_count done = 0; done < op.width; done += most) {
        const byte_count bytes = std::min(most, op.width - done);
        run_row(copying(kernels(), op), values, src + done, bytes);
        combine(dst + done, values, bytes);
    }
}

void reduce_by_user(const Program& program, Bases src, Bases dst, const UserReduction& reduction) {
    const ByUser by(reduction);
    for (const StridedOp& op : program.strided) {
        std::byte* const to = dst[op.dst_base] + op.dst;
        const std::byte* const from = src[op.src_base] + op.src;
        const auto combine = [&](std::byte* into, const std::byte* values, byte_count bytes) {
            reduction.combine(into, values, bytes);
        };
        if (op.negated) reduce_negated(op, to, from, reduction.element().size, combine);
        else by.strided(op, to, from);
    }
    for (const IndexedOp& op : program.indexed)
        by.indexed(op, dst[op.dst_base] + op.dst, src[op.src_base] + op.src);
    for (const RunsOp& op : program.runs)
        by.runs(op, dst[op.dst_base] + op.dst, src[op.src_base] + op.src);
}

}  // namespace

void reduce(const Program& program, Bases src, Bases dst, Reduction reduction) {
    if (reduction == Reduction::replace) return run(program, src, dst);
    if (reduction.by() != nullptr) return reduce_by_user(program, src, dst, *reduction.by());
    const auto loops = [&, combining = kernels().combining](const auto& op) -> const Loops& {
        return *combining(op.scalar, reduction);
    };
    for (const StridedOp& op : program.strided) {
        if (!op.negated) {
            run_strided(op, src, dst, loops(op));
            continue;
        }
        const auto combine = [&](std::byte* into, const std::byte* values, byte_count bytes) {
            run_row(loops(op), into, values, bytes);
        };
        reduce_negated(op, dst[op.dst_base] + op.dst, src[op.src_base] + op.src, size_of(op.scalar),
                       combine);
    }
    for (const IndexedOp& op : program.indexed)
        loops(op).indexed(dst[op.dst_base] + op.dst, src[op.src_base] + op.src, op);
    for (const RunsOp& op : program.runs)
        loops(op).runs(dst[op.dst_base] + op.dst, src[op.src_base] + op.src, op.runs.data(),
                       static_cast<byte_count>(op.runs.size()));
}

}  // namespace parhelion
