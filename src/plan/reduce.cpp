// destination = destination ⊕ source, in the order of the program, so that a repeated run gives the same bits.
#include <complex>
#include <cstring>

#include "parhelion/core/error.hpp"
#include "parhelion/plan/program.hpp"

namespace parhelion {
namespace {

template <class T>
T load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

struct Sum {
    // Integers wrap around, as MPI's sums do in practice; in signed arithmetic that would be undefined.
    template <class T> T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            using U = std::make_unsigned_t<T>;
            return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
        } else {
            return a + b;
        }
    }
};
struct Min { template <class T> T operator()(T a, T b) const { return b < a ? b : a; } };
struct Max { template <class T> T operator()(T a, T b) const { return a < b ? b : a; } };
struct And { template <class T> T operator()(T a, T b) const { return static_cast<T>(a & b); } };
struct Or { template <class T> T operator()(T a, T b) const { return static_cast<T>(a | b); } };

// `values` scalars next to each other.
template <class T, class Operation>
void combine(std::byte* dst, const std::byte* src, byte_count values) {
    for (byte_count i = 0; i < values; ++i) {
        const T result = Operation{}(load<T>(dst + i * sizeof(T)), load<T>(src + i * sizeof(T)));
        std::memcpy(dst + i * sizeof(T), &result, sizeof(T));
    }
}

template <class Combine>
void visit(const StridedOp& op, std::byte* dst, const std::byte* src, Combine&& row, int d = 0) {
    if (d == op.dims) return row(dst, src, op.width);
    for (byte_count i = 0; i < op.count[d]; ++i, dst += op.dst_stride[d], src += op.src_stride[d])
        visit(op, dst, src, row, d + 1);
}

template <class Combine>
void visit(const IndexedOp& op, std::byte* dst, const std::byte* src, Combine&& cell) {
    for (byte_count k = 0; k < op.count; ++k)
        cell(dst + (op.dst_list ? op.dst_list[k] : k) * op.dst_stride,
             src + (op.src_list ? op.src_list[k] : k) * op.src_stride, op.width);
}

template <class Combine>
void visit(const RunsOp& op, std::byte* dst, const std::byte* src, Combine&& row) {
    for (const Run& run : op.runs) row(dst + run.dst, src + run.src, run.bytes);
}

template <class T, class Operation, class Op>
void apply(const Op& op, std::byte* dst, const std::byte* src) {
    visit(op, dst, src, [](std::byte* to, const std::byte* from, byte_count bytes) {
        combine<T, Operation>(to, from, bytes / static_cast<byte_count>(sizeof(T)));
    });
}

template <class T, class Op>
void apply_to(const Op& op, std::byte* dst, const std::byte* src, Reduction reduction) {
    constexpr bool ordered = std::is_arithmetic_v<T>;
    if (reduction == Reduction::sum) return apply<T, Sum>(op, dst, src);
    if constexpr (ordered) {
        if (reduction == Reduction::min) return apply<T, Min>(op, dst, src);
        if (reduction == Reduction::max) return apply<T, Max>(op, dst, src);
    }
    if constexpr (std::is_integral_v<T>) {
        if (reduction == Reduction::bit_and) return apply<T, And>(op, dst, src);
        if (reduction == Reduction::bit_or) return apply<T, Or>(op, dst, src);
    }
}

// Runs tell their places from the bases themselves.
template <class Op>
byte_count first_source(const Op& op) { return op.src; }
template <class Op>
byte_count first_destination(const Op& op) { return op.dst; }
template <>
byte_count first_source(const RunsOp&) { return 0; }
template <>
byte_count first_destination(const RunsOp&) { return 0; }

template <class Op>
void reduce_op(const Op& op, Bases src_bases, Bases dst_bases, Reduction reduction) {
    std::byte* dst = dst_bases[op.dst_base] + first_destination(op);
    const std::byte* src = src_bases[op.src_base] + first_source(op);
    if (reduction == Reduction::replace)
        return visit(op, dst, src, [](std::byte* to, const std::byte* from, byte_count bytes) {
            std::memcpy(to, from, static_cast<std::size_t>(bytes));
        });
    switch (op.scalar) {
        case Scalar::bytes: return;  // refused by supports()
        case Scalar::int8: return apply_to<std::int8_t>(op, dst, src, reduction);
        case Scalar::int16: return apply_to<std::int16_t>(op, dst, src, reduction);
        case Scalar::int32: return apply_to<std::int32_t>(op, dst, src, reduction);
        case Scalar::int64: return apply_to<std::int64_t>(op, dst, src, reduction);
        case Scalar::uint8: return apply_to<std::uint8_t>(op, dst, src, reduction);
        case Scalar::uint16: return apply_to<std::uint16_t>(op, dst, src, reduction);
        case Scalar::uint32: return apply_to<std::uint32_t>(op, dst, src, reduction);
        case Scalar::uint64: return apply_to<std::uint64_t>(op, dst, src, reduction);
        case Scalar::float32: return apply_to<float>(op, dst, src, reduction);
        case Scalar::float64: return apply_to<double>(op, dst, src, reduction);
        case Scalar::complex64: return apply_to<std::complex<float>>(op, dst, src, reduction);
        case Scalar::complex128: return apply_to<std::complex<double>>(op, dst, src, reduction);
    }
}

}  // namespace

bool supports(Reduction reduction, Scalar scalar) {
    if (reduction == Reduction::replace) return true;
    if (scalar == Scalar::bytes) return false;
    if (reduction == Reduction::sum) return true;
    if (scalar == Scalar::complex64 || scalar == Scalar::complex128) return false;
    if (reduction == Reduction::min || reduction == Reduction::max) return true;
    return scalar != Scalar::float32 && scalar != Scalar::float64;
}

void require_reducible(const Element& element, Reduction reduction) {
    if (!supports(reduction, element.scalar))
        throw Error("elements of type " + to_string(element) + " cannot be combined so: use replace, or a type that can be added and "
                    "compared", ErrorKind::type);
}

void reduce(const Program& program, Bases src, Bases dst, Reduction reduction) {
    for (const StridedOp& op : program.strided) reduce_op(op, src, dst, reduction);
    for (const IndexedOp& op : program.indexed) reduce_op(op, src, dst, reduction);
    for (const RunsOp& op : program.runs) reduce_op(op, src, dst, reduction);
}

}  // namespace parhelion
