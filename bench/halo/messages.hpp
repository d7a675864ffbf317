#pragma once

#include <memory>
#include <vector>

#include "halo/arrays.hpp"
#include "kinds.hpp"

namespace parhelion::bench {

/// Regions of all fields, in an order on which sender and receiver agree.
struct Message : Envelope {
  std::vector<Region> regions;
};

/// A periodic copy of the rank's own cells, without a message.
struct LocalCopy {
  Region from, to;
  void operator()() const { copy(from, to); }
};

struct Messages {
  std::vector<Message> sends, receives;
  std::vector<LocalCopy> local;
  std::shared_ptr<HaloArrays> array;
  static constexpr bool in_place = false;

  void pack(const Message& message, std::byte* buffer) const {
    for (const Region& region : message.regions) buffer = bench::pack(region, buffer);
  }
  void unpack(const std::byte* buffer, const Message& message) const {
    for (const Region& region : message.regions) buffer = bench::unpack(buffer, region);
  }
  void copy_own_images() const {
    for (const LocalCopy& image : local) image();
  }
};

enum class Grouping { per_direction, per_rank };

Messages plan_messages(std::shared_ptr<HaloArrays> arrays, Grouping grouping);

Messages plan_dimension(std::shared_ptr<HaloArrays> arrays, int dim);

}  // namespace parhelion::bench
