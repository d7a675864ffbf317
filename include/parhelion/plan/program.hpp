// Compiled copies, the hot loop of an exchange.
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
  static constexpr int most_dims = max_dimensions + 1;  // components may add a dimension
  int src_base = 0, dst_base = 0;
  byte_count src = 0, dst = 0;  ///< offsets from the bases
  byte_count width = 0;
  int dims = 0;
  std::array<byte_count, most_dims> count{}, src_stride{}, dst_stride{};
  Scalar scalar = Scalar::bytes;
  bool negated = false;  ///< values change sign

  byte_count bytes() const;
};

/// Copies `width` contiguous bytes per cell between indexed locations; null list: 0, 1, 2, … The
/// pattern owns the lists.
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

/// Bytes contiguous on both sides. Offsets from the bases.
struct Run {
  byte_count src, dst, bytes;
};

/// Copies share the list, as fields of equal layout do.
class Runs {
 public:
  const Run* data() const { return list_->data(); }
  std::size_t size() const { return list_->size(); }
  const Run* begin() const { return data(); }
  const Run* end() const { return data() + size(); }
  /// Reserves memory. Call before copying the list.
  void reserve(std::size_t count) { list_->reserve(count); }
  /// Appends a run, or extends the last one if contiguous on both sides. Call before copying the
  /// list.
  void add(const Run& next);

 private:
  std::shared_ptr<std::vector<Run>> list_ = std::make_shared<std::vector<Run>>();
};

/// Copies runs; for index lists that are mostly contiguous.
struct RunsOp {
  int src_base = 0, dst_base = 0;
  Runs runs;  ///< offsets relative to `src` and `dst`
  Scalar scalar = Scalar::bytes;
  byte_count src = 0, dst = 0;
};

/// Data dependence between the ops of a program.
enum class Dependence : std::uint8_t {
  none,         ///< they write distinct bytes, which none of them reads
  destination,  ///< they may combine into the same bytes, in order
  chain         ///< and read bytes that earlier ops wrote: both sides are the same arrays
};

/// Copies from one set of bases (arrays, or a message) to another. Ops of one kind run in order.
struct Program {
  std::vector<StridedOp> strided;
  std::vector<IndexedOp> indexed;
  std::vector<RunsOp> runs;
  Dependence dependence = Dependence::none;
  std::shared_ptr<const void> compiled = {};  ///< result of Executor::compile

  /// Mean bytes of a contiguous piece on the destination side; 0 for an empty program.
  byte_count mean_piece() const;
  bool empty() const { return strided.empty() && indexed.empty() && runs.empty(); }
  byte_count bytes() const;

  /// Appends an op unless it is empty.
  void add(const StridedOp& op);
  /// Appends the op, converted to runs or one strided copy if faster. Its lists must outlive the
  /// program.
  void add(const IndexedOp& op);
  /// Appends the op as it is: for reductions, whose order affects the result.
  void add_plain(const IndexedOp& op);
};

/// Base addresses of the ops: arrays, or one message.
using Bases = std::byte* const*;

/// Returns the program with sources and destinations swapped. Not compiled.
Program inverse(const Program& program);

/// Runs the copies. Local, allocates nothing. Source and destination must not overlap.
void run(const Program& program, Bases src, Bases dst);

/// Computes destination = destination ⊕ source, op after op, in order. Requires strided and plain
/// indexed ops of scalars for which `supports` holds.
void reduce(const Program& program, Bases src, Bases dst, Reduction reduction);

/// Whether the library combines this scalar so (opaque bytes can only be replaced; complex numbers
/// have no order).
bool supports(Reduction reduction, Scalar scalar);
/// Throws Error if the reduction does not support the element: neither the library nor the user's
/// definition.
void require_reducible(const Element& element, Reduction reduction);
/// "sum", …
std::string to_string(Reduction reduction);

/// The single contiguous piece on one side of a program: base (−1: none) and offset from it.
struct Contiguous {
  int base = -1;
  byte_count offset = 0, bytes = 0;
};
/// Local, O(1).
Contiguous contiguous_source(const Program& program);
Contiguous contiguous_destination(const Program& program);

/// Instruction set selected at run time: "avx512", "avx2", "baseline".
const char* copy_kernels_name();

}  // namespace parhelion
