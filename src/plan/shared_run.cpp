#include "plan/shared_run.hpp"

#include <algorithm>

#include "parhelion/plan/interpreter.hpp"
#include "plan/kernels.hpp"

namespace parhelion {
namespace {

// Less is copied in a few microseconds, about as long as it takes to tell the others and to hear from them.
constexpr byte_count worth_sharing = 128 << 10;
constexpr byte_count cache_line = 64;

byte_count share_of(byte_count count, int part, int parts) { return count * part / parts; }

// A piece without dimensions is cut at multiples of a cache line.
StridedOp slice_of_width(StridedOp op, int part, int parts) {
    const byte_count lines = (op.width + cache_line - 1) / cache_line;
    const byte_count from = share_of(lines, part, parts) * cache_line,
                     to = std::min(share_of(lines, part + 1, parts) * cache_line, op.width);
    op.src += from;
    op.dst += from;
    op.width = std::max<byte_count>(to - from, 0);
    return op;
}

void run_slices(const Program& program, int part, int parts, Bases src, Bases dst) {
    const Kernels& use = kernels();
    for (const StridedOp& op : program.strided) run_strided(slice(op, part, parts), src, dst);
    for (const IndexedOp& op : program.indexed) {
        const IndexedOp mine = slice(op, part, parts);
        use.indexed(dst[op.dst_base] + mine.dst, src[op.src_base] + mine.src, mine);
    }
    for (const RunsOp& op : program.runs) {
        const auto runs = static_cast<byte_count>(op.runs.size()), from = share_of(runs, part, parts);
        use.runs(dst[op.dst_base] + op.dst, src[op.src_base] + op.src, op.runs.data() + from, share_of(runs, part + 1, parts) - from);
    }
}

}  // namespace

StridedOp slice(const StridedOp& op, int part, int parts) {
    const auto longest = std::max_element(op.count.begin(), op.count.begin() + op.dims) - op.count.begin();
    if (op.dims == 0 || op.count[static_cast<std::size_t>(longest)] < parts) return slice_of_width(op, part, parts);
    const auto d = static_cast<std::size_t>(longest);
    StridedOp mine = op;
    const byte_count from = share_of(op.count[d], part, parts);
    mine.count[d] = share_of(op.count[d], part + 1, parts) - from;
    mine.src += from * op.src_stride[d];
    mine.dst += from * op.dst_stride[d];
    return mine;
}

IndexedOp slice(const IndexedOp& op, int part, int parts) {
    IndexedOp mine = op;
    const byte_count from = share_of(op.count, part, parts);
    mine.count = share_of(op.count, part + 1, parts) - from;
    if (op.src_list != nullptr) mine.src_list += from;
    else mine.src += from * op.src_stride;
    if (op.dst_list != nullptr) mine.dst_list += from;
    else mine.dst += from * op.dst_stride;
    return mine;
}

void run_shared(const Plan& plan, const Program& program, Bases src, Bases dst, bool in_turn) {
    if (plan.interpreter != nullptr) return plan.interpreter->run(program, src, dst);
    CopyTeam* team = plan.team.get();
    if (team == nullptr || program.bytes() < worth_sharing) return run(program, src, dst);
    if (!in_turn) return team->share([&](int part) { run_slices(program, part, team->size(), src, dst); });
    for (const StridedOp& op : program.strided) team->share([&](int part) { run_strided(slice(op, part, team->size()), src, dst); });
}

void reduce_own(const Plan& plan, const Program& program, Bases src, Bases dst, Reduction reduction) {
    if (plan.interpreter != nullptr) return plan.interpreter->reduce(program, src, dst, reduction);
    reduce(program, src, dst, reduction);
}

}  // namespace parhelion
