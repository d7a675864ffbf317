#include "parhelion/index_map/migration.hpp"

#include "core/concat.hpp"
#include "parhelion/core/hash.hpp"
#include "plan/array_block.hpp"

namespace parhelion {
namespace {

bool alike(const CellValues& a, const CellValues& b) {
  return a.element == b.element && a.components == b.components;
}

std::string name_of(const CellValues& array) {
  return concat(to_string(array.element), " × ", array.components);
}

void require_rows(const CellArrays& arrays, std::size_t needed) {
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    const CellValues& array = arrays[a];
    require_on_host(array.owned.first);
    const std::string name = concat("array ", a);
    if (array.components < 1)
      refuse(name, " has ", array.components, " components per row: pass at least 1");
    if (needed > 0 && array.owned.first == nullptr)
      refuse(name, " is a null pointer: pass an array of ", needed, " rows");
    const auto rows = static_cast<std::size_t>(array.elements / array.components);
    if (array.elements != CellValues::untold && rows < needed)
      refuse(name, " has ", rows, " rows and there are ", needed,
          " to move: pass an array of as many");
  }
}

// Constant widths let the compiler inline the copy.
void copy_row(std::byte* to, const std::byte* from, byte_count width) {
  switch (width) {
    case 4: std::memcpy(to, from, 4); break;
    case 8: std::memcpy(to, from, 8); break;
    case 24: std::memcpy(to, from, 24); break;
    default: std::memcpy(to, from, width);
  }
}

}  // namespace

std::int64_t Migration::send(
    std::span<const int> ranks, const CellArrays& arrays, std::string_view kinds) {
  const Communicator& comm = exchange_.communicator();
  const auto tell = [&](Properties& properties) {
    properties.add("the number of arrays", arrays.size());
    for (std::size_t a = 0; a < arrays.size(); ++a)
      properties.add("array %", name_of(arrays[a]), {static_cast<int>(a)});
    properties.add("the list of elements", kinds);
  };
  try {
    collectively(comm, "a migration", [&] {
      if (arrays.empty()) refuse("no arrays were passed: name at least one");
      require_rows(arrays, ranks.size());
      sort(ranks);
      pack(arrays);
      Hash print;
      print.add_range(kinds);
      for (const CellValues& array : arrays)
        print.add(array.element.scalar).add(array.element.size).add(array.components);
      if (!exchange_.run(print.value()))
        require_equal(comm, "arrays that migrate", tell,
            "pass arrays of the same elements and components, in one order, on "
            "every rank");
    });
  } catch (...) {
    exchange_.start_anew();
    sent_.clear();
    throw;
  }
  received_ = 0;
  for (const auto& part : exchange_.received())
    received_ += static_cast<byte_count>(part.bytes) / width_;
  return received_;
}

// Stable counting sort by destination; `order_` holds row numbers.
void Migration::sort(std::span<const int> ranks) {
  const int size = exchange_.communicator().size();
  destinations_.clear();
  std::size_t last = 0;
  const auto destination = [&](int rank) -> Destination& {
    if (last < destinations_.size() && destinations_[last].rank == rank) return destinations_[last];
    const auto at = std::lower_bound(destinations_.begin(), destinations_.end(), rank,
        [](const Destination& d, int r) { return d.rank < r; });
    last = at - destinations_.begin();
    return at != destinations_.end() && at->rank == rank ? *at
                                                         : *destinations_.insert(at, {rank, 0, 0});
  };
  for (std::size_t row = 0; row < ranks.size(); ++row) {
    if (ranks[row] < dropped || ranks[row] >= size)
      refuse("row ", row, " goes to rank ", ranks[row],
          ", which does not exist: use ranks from 0 to ", size - 1,
          ", or -1 for a row that is dropped");
    if (ranks[row] != dropped) ++destination(ranks[row]).rows;
  }
  std::size_t count = 0;
  for (Destination& each : destinations_) each.next = std::exchange(count, count + each.rows);
  if (order_.size() < count) order_.resize(count);
  for (std::size_t row = 0; row < ranks.size(); ++row)
    if (ranks[row] != dropped) order_[destination(ranks[row]).next++] = row;
}

// A message holds one array after another.
void Migration::pack(const CellArrays& arrays) {
  sent_.assign(arrays.begin(), arrays.end());
  width_ = 0;
  for (const CellValues& array : arrays) width_ += array.width();
  PackedMessages& out = exchange_.outgoing();
  out.parts.clear();
  for (const Destination& each : destinations_) out.add(each.rank, each.rows * width_);
  std::byte* to = out.memory.data();
  for (const Destination& each : destinations_)
    for (const CellValues& array : arrays)
      for (std::size_t k = each.next - each.rows; k < each.next; ++k, to += array.width())
        copy_row(to, array.owned.first + static_cast<byte_count>(order_[k]) * array.owned.stride,
            array.width());
}

void Migration::receive(const CellArrays& arrays) const {
  if (sent_.empty()) refuse("nothing was sent: call send on every rank, then receive");
  if (!std::equal(arrays.begin(), arrays.end(), sent_.begin(), sent_.end(), alike)) {
    std::string names;
    for (const CellValues& each : sent_) names += (names.empty() ? "" : ", ") + name_of(each);
    throw Error("the arrays differ from those sent: pass " + names, ErrorKind::type);
  }
  require_rows(arrays, received_);
  byte_count row = 0;
  for (const auto& part : exchange_.received()) {
    const byte_count rows = static_cast<byte_count>(part.bytes) / width_;
    const std::byte* from = exchange_.bytes_of(part);
    for (const CellValues& array : arrays) {
      const auto& [first, stride] = array.owned;
      if (stride == array.width()) std::memcpy(first + row * stride, from, rows * stride);
      else
        for (byte_count k = 0; k < rows; ++k)
          copy_row(first + (row + k) * stride, from + k * array.width(), array.width());
      from += rows * array.width();
    }
    row += rows;
  }
}

std::vector<int> Migration::sources() const {
  std::vector<int> ranks;
  for (const auto& part : exchange_.received())
    ranks.insert(ranks.end(), part.bytes / width_, part.rank);
  return ranks;
}

}  // namespace parhelion
