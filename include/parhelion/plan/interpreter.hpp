// Who runs programs where arrays lie in memory that the host's loops do not reach.
#pragma once

#include <memory>

#include "parhelion/plan/field.hpp"
#include "parhelion/plan/program.hpp"

namespace parhelion {

/// Runs the plan's programs for arrays of one memory space: a rank's own periodic images, ghosts that repeat others, and the copies of
/// transports made for that space. Between two arrays, or an array and a message in the host's memory. Calls return when the copies are made.
class Interpreter {
public:
    virtual ~Interpreter() = default;
    /// Op after op, in order: later ones may read what earlier ones have written.
    virtual void run(const Program& program, Bases src, Bases dst) const = 0;
    /// destination = destination ⊕ source, in order, so that sums repeat bit for bit.
    virtual void reduce(const Program& program, Bases src, Bases dst, Reduction reduction) const = 0;
};

/// From now on plans whose fields lie in `space` are run by this one; every rank registers it. Local. Throws Error for the host's memory,
/// and for a space that has one.
void register_interpreter(MemorySpace space, std::unique_ptr<const Interpreter> interpreter);

/// Null for the host, whose loops are the library's own. Throws Error where a space has none.
const Interpreter* interpreter_of(MemorySpace space);

}  // namespace parhelion
