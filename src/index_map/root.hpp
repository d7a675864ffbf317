// Shared by operations with a root.
#pragma once

#include <string>

#include "core/concat.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {

/// Collective. Throws Error on every rank unless all pass the same, existing root.
inline void require_root(int root, const Communicator& comm) {
    require_equal(
        comm, "the arguments", [root](Properties& told) { told.add("the root", root); },
        "name the same root everywhere",
        [&] {
            if (root < 0 || root >= comm.size())
                throw Error(concat("root ", root, " does not exist: use 0 … ", comm.size() - 1));
        });
}

}  // namespace parhelion
