#include "halo/messages.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace parhelion::bench {

namespace {

std::vector<Region> regions_of_all_fields(const HaloArrays& arrays, const Box& box) {
  std::vector<Region> regions;
  for (int f = 0; f < arrays.fields(); ++f)
    regions.push_back(region_of(arrays.geometry(), box, arrays.field(f)));
  return regions;
}

Message message_of(const HaloArrays& arrays, const Box& box, int rank, int tag) {
  Message message{{rank, tag}, regions_of_all_fields(arrays, box)};
  for (const Region& region : message.regions) message.bytes += region.bytes();
  return message;
}

// If a rank is its own neighbor, its ghosts hold its own cells from the opposite side.
Box shifted_by_extent(const HaloGeometry& geometry, const Offset& offset, Box box) {
  for (std::size_t d = 0; d < max_dimensions; ++d)
    box.lo[d] -= offset[d] * geometry.extent[d], box.hi[d] -= offset[d] * geometry.extent[d];
  return box;
}

// Both ranks sort by the sender's offset, so that they agree on the order within a merged message.
std::vector<Message> joined_by_rank(std::vector<Message> messages) {
  std::stable_sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
    return std::pair(a.rank, a.tag) < std::pair(b.rank, b.tag);
  });
  std::vector<Message> joined;
  for (Message& message : messages) {
    if (joined.empty() || joined.back().rank != message.rank)
      joined.push_back({{message.rank}, {}});
    joined.back().bytes += message.bytes;
    auto& regions = joined.back().regions;
    regions.insert(regions.end(), message.regions.begin(), message.regions.end());
  }
  return joined;
}

// Adds the messages with the neighbor at `offset`, or local copies if the rank is its own neighbor.
void add_exchange(const Offset& offset, const Box& owned, const Box& ghosts, Messages& plan) {
  const HaloArrays& arrays = *plan.array;
  const HaloGeometry& geometry = arrays.geometry();
  const int rank = *neighbor_rank(geometry, offset);
  if (rank == geometry.rank) {
    const auto from = regions_of_all_fields(arrays, shifted_by_extent(geometry, offset, ghosts));
    const auto to = regions_of_all_fields(arrays, ghosts);
    for (std::size_t f = 0; f < from.size(); ++f) plan.local.push_back({from[f], to[f]});
  } else {
    plan.sends.push_back(message_of(arrays, owned, rank, offset_number(offset)));
    plan.receives.push_back(message_of(arrays, ghosts, rank, offset_number(opposite(offset))));
  }
}

Offset step_along(int dim, int side) {
  Offset offset{};
  offset[static_cast<std::size_t>(dim)] = side;
  return offset;
}

// Includes ghosts that earlier stages filled: this forwards edges and corners.
Box with_ghosts_below(const HaloGeometry& geometry, int dim, Box box) {
  for (int d = 0; d < dim; ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (neighbor_rank(geometry, step_along(d, -1))) box.lo[i] -= geometry.halo[i];
    if (neighbor_rank(geometry, step_along(d, 1))) box.hi[i] += geometry.halo[i];
  }
  return box;
}

}  // namespace

Messages plan_messages(std::shared_ptr<HaloArrays> arrays, Grouping grouping) {
  const HaloGeometry& geometry = arrays->geometry();
  Messages plan{{}, {}, {}, arrays};
  for (const Offset& offset : neighbor_offsets(geometry))
    add_exchange(offset, send_box(geometry, offset), ghost_box(geometry, offset), plan);
  if (grouping == Grouping::per_rank) {
    plan.sends = joined_by_rank(std::move(plan.sends));
    plan.receives = joined_by_rank(std::move(plan.receives));
  }
  return plan;
}

Messages plan_dimension(std::shared_ptr<HaloArrays> arrays, int dim) {
  const HaloGeometry& geometry = arrays->geometry();
  Messages plan{{}, {}, {}, arrays};
  for (int side : {-1, 1}) {
    const Offset offset = step_along(dim, side);
    if (!neighbor_rank(geometry, offset)) continue;
    add_exchange(offset, with_ghosts_below(geometry, dim, send_box(geometry, offset)),
        with_ghosts_below(geometry, dim, ghost_box(geometry, offset)), plan);
  }
  return plan;
}

}  // namespace parhelion::bench
