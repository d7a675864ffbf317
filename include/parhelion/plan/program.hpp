// Compiled copies: what the hot loop runs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parhelion/core/element.hpp"
#include "parhelion/core/reduction.hpp"
#include "parhelion/core/types.hpp"

namespace parhelion {

/// Copies `width` contiguous bytes at every point of a strided box. Outermost dimension first.
struct StridedOp {
    static constexpr int most_dims =
        max_dimensions + 1;  // components may be a dimension of their own
    int src_base = 0, dst_base = 0;
    byte_count src = 0, dst = 0;  ///< offsets from the bases
    byte_count width = 0;
    int dims = 0;
    std::array<byte_count, most_dims> count{}, src_stride{}, dst_stride{};
    Scalar scalar = Scalar::bytes;
    bool negated = false;  ///< the values change sign on the way

    byte_count bytes() const;
};

/// Copies `width` contiguous bytes per cell between places given by lists; a null list means 0, 1,
/// 2, … The lists belong to the pattern.
struct IndexedOp {
    int src_base = 0, dst_base = 0;
    byte_count src = 0, dst = 0;
    byte_count width = 0;
    byte_count count = 0;
    byte_count src_stride = 0, dst_stride = 0;  ///< per index
    const local_index* src_list = nullptr;
    const local_index* dst_list = nullptr;
    Scalar scalar = Scalar::bytes;
};

/// Cells that follow each other on both sides. Bytes from the bases.
struct Run {
    byte_count src, dst, bytes;
};

/// A list of runs. Copies of it are the same list: fields of equal layout share theirs.
class Runs {
public:
    const Run* data() const { return list_ ? list_->data() : nullptr; }
    std::size_t size() const { return list_ ? list_->size() : 0; }
    bool empty() const { return size() == 0; }
    const Run* begin() const { return data(); }
    const Run* end() const { return data() + size(); }
    /// Room for so many runs. Before it is copied.
    void reserve(std::size_t count) { own().reserve(count); }
    /// Appends a run, or prolongs the last one where both sides continue it. Before it is copied.
    void add(const Run& next);

private:
    std::vector<Run>& own() {
        if (!list_) list_ = std::make_shared<std::vector<Run>>();
        return *list_;
    }
    std::shared_ptr<std::vector<Run>> list_;
};

/// Copies runs; used where lists turn out to be mostly contiguous.
struct RunsOp {
    int src_base = 0, dst_base = 0;
    Runs runs;  ///< from `src` and `dst` on
    Scalar scalar = Scalar::bytes;
    byte_count src = 0, dst = 0;

    /// As Runs::add.
    void add(const Run& next) { runs.add(next); }
};

/// What the ops of a program have to do with each other.
enum class Dependence : std::uint8_t {
    none,         ///< they write different bytes, which none of them reads
    destination,  ///< they may combine into the same bytes, one after the other
    chain  ///< and read what others before them have written: sources and destinations are the same
           ///< arrays
};

/// Copies from one set of bases (arrays, or a message) to another. Ops of an equal kind keep their
/// order.
struct Program {
    std::vector<StridedOp> strided;
    std::vector<IndexedOp> indexed;
    std::vector<RunsOp> runs;
    Dependence dependence = Dependence::none;
    std::shared_ptr<const void> compiled = {};  ///< what the plan's executor made of it

    /// Mean number of bytes that lie together on the destination side; 0 for an empty program.
    byte_count mean_piece() const;
    bool empty() const { return strided.empty() && indexed.empty() && runs.empty(); }
    byte_count bytes() const;

    /// Appends an op, unless it is empty.
    void add(const StridedOp& op);
    /// Takes the op as runs or as one strided copy where that is faster. `lists` must outlive the
    /// program.
    void add(const IndexedOp& op);
    void add(RunsOp op) {
        if (!op.runs.empty()) runs.push_back(std::move(op));
    }
    /// Keeps it one op: for reductions, whose order is part of the result.
    void add_plain(const IndexedOp& op);
};

/// First bytes of what ops count from: arrays, or one message.
using Bases = std::byte* const*;

/// The program that copies back: destinations and sources exchanged. Not compiled.
Program inverse(const Program& program);

/// Runs the copies. Local, allocates nothing. Source and destination must not overlap.
void run(const Program& program, Bases src, Bases dst);

/// Combines instead of copying: destination = destination ⊕ source, op after op, in order. Of
/// strided and plain indexed ops of scalars for which `supports` holds.
void reduce(const Program& program, Bases src, Bases dst, Reduction reduction);

/// Whether the library combines values of this scalar so (opaque bytes only replace, complex
/// numbers have no order).
bool supports(Reduction reduction, Scalar scalar);
/// Throws Error where such elements cannot be combined so: the library does not, or what the
/// program defines is for others.
void require_reducible(const Element& element, Reduction reduction);
/// "sum", …
std::string to_string(Reduction reduction);

/// The program is one contiguous piece on its source (destination) side: offset from its base, or
/// −1.
struct Contiguous {
    int base = -1;
    byte_count offset = 0, bytes = 0;
};
/// Local, O(1).
Contiguous contiguous_source(const Program& program);
Contiguous contiguous_destination(const Program& program);

/// Name of the vector instruction set that was chosen at run time: "avx512", "avx2", "baseline".
const char* copy_kernels_name();

}  // namespace parhelion
