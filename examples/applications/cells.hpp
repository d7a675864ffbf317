#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace applications {

/// The cells of a rank, before any exchange is set up. Global ids are contiguous in rank order.
struct Cells {
  MPI_Comm comm = MPI_COMM_WORLD;
  std::int64_t first = 0;  // global id of the first owned cell
  int owned = 0;
  std::vector<std::int64_t> ghosts =
      {};                        // global ids, ascending; local numbers follow the owned cells
  std::vector<int> owners = {};  // rank of each ghost

  std::size_t size() const { return static_cast<std::size_t>(owned) + ghosts.size(); }
  bool owns(std::int64_t id) const { return id >= first && id < first + owned; }
  /// Local number of an owned cell or a ghost.
  int local_of(std::int64_t id) const {
    if (owns(id)) return static_cast<int>(id - first);
    return owned +
           static_cast<int>(std::lower_bound(ghosts.begin(), ghosts.end(), id) - ghosts.begin());
  }

  /// Sets the ghosts: `ids` without owned ones and duplicates, ascending. `owner_of(id)` returns
  /// the owner's rank.
  template <class OwnerOf>
  void find_ghosts(std::vector<std::int64_t> ids, OwnerOf&& owner_of) {
    std::erase_if(ids, [&](std::int64_t id) { return owns(id); });
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (std::int64_t id : ids) owners.push_back(owner_of(id));
    ghosts = std::move(ids);
  }
};

}  // namespace applications
