#include "verified.hpp"

#include "values.hpp"

namespace parhelion::bench {

namespace {

// Calls `body` with a value of the element's scalar type; a complex number has two of them.
template <class Body>
decltype(auto) with_lane_type(Element element, Body&& body) {
  switch (element.scalar) {
    case Scalar::int8: return body(std::int8_t{});
    case Scalar::int16: return body(std::int16_t{});
    case Scalar::int32: return body(std::int32_t{});
    case Scalar::int64: return body(std::int64_t{});
    case Scalar::uint16: return body(std::uint16_t{});
    case Scalar::uint32: return body(std::uint32_t{});
    case Scalar::uint64: return body(std::uint64_t{});
    case Scalar::float32:
    case Scalar::complex64: return body(float{});
    case Scalar::float64:
    case Scalar::complex128: return body(double{});
    case Scalar::uint8:
    case Scalar::bytes: break;
  }
  return body(std::uint8_t{});
}

int lanes_per_element(Element element) {
  return with_lane_type(
      element, [&](auto lane) { return element.size / static_cast<int>(sizeof lane); });
}

}  // namespace

template <class Body>
void VerifiedArrays::for_each_values(unsigned round, Body&& body) const {
  with_lane_type(element_, [&]<class T>(T) {
    int field = -1;
    std::vector<std::uint64_t> keys;
    for_each_run([&](const Run& run) {
      if (run.field != field)
        keys = lane_keys(field = run.field, components_ * lanes_per_element(element_), round);
      body(reinterpret_cast<T*>(run.start), run, keys);
    });
  });
}

void VerifiedArrays::refresh(unsigned round) {
  for_each_values(round, [](auto* values, const Run& run, const auto& keys) {
    if (run.expect == Expect::owned) write_values(values, run.cells, run.first_id, keys);
    else write_poison(values, run.cells * std::ssize(keys));
  });
}

std::int64_t VerifiedArrays::count_wrong(unsigned round) const {
  std::int64_t wrong = memory_->count_damaged_guards();
  for_each_values(round, [&](const auto* values, const Run& run, const auto& keys) {
    wrong += run.expect == Expect::untouched
                 ? count_not_poison(values, run.cells * std::ssize(keys))
                 : count_wrong_values(values, run.cells, run.first_id, keys);
  });
  return wrong;
}

}  // namespace parhelion::bench
