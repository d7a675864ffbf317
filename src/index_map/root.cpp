#include "index_map/root.hpp"

#include <string>

#include "parhelion/core/error.hpp"
#include "parhelion/core/hash.hpp"

namespace parhelion {

void require_root(int root, const Communicator& comm) {
    validate_together(comm, [&] {
        if (root < 0 || root >= comm.size())
            throw Error("root " + std::to_string(root) + " does not exist: use 0 … " + std::to_string(comm.size() - 1));
    });
    require_equal(comm, static_cast<std::uint64_t>(root), "the root differs between ranks: name the same one everywhere");
}

}  // namespace parhelion
