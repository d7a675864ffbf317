#include "parhelion/core/element.hpp"

#include "core/concat.hpp"

namespace parhelion {
namespace {

struct Named {
  std::string_view name;
  Element element;
};

#define PARHELION_NAMED(name, NAME, bytes, ...) {#name, {Scalar::name, bytes}},
constexpr Named known[] = {PHL_SCALARS(PARHELION_NAMED)};
#undef PARHELION_NAMED

// An integer of 1 to 8 digits, else 0.
int number_in(std::string_view text) {
  const bool digits = !text.empty() && text.size() < 9 &&
                      text.find_first_not_of("0123456789") == std::string_view::npos;
  return digits ? std::stoi(std::string(text)) : 0;
}

}  // namespace

std::int32_t size_of(Scalar scalar) {
  for (const auto& [name, value] : known)
    if (value.scalar == scalar) return value.size;
  return 1;
}

std::string to_string(Element element) {
  for (const auto& [name, value] : known)
    if (value.scalar == element.scalar && element.size > 0 && element.size % value.size == 0)
      return std::string(name) +
             (element.size == value.size ? "" : concat("x", element.size / value.size));
  return concat("bytes", element.size);
}

Element parse_element(const std::string& name) {
  const std::size_t times = name.find('x', name.starts_with("complex") ? 7 : 0);
  const int count =
      times == std::string::npos ? 1 : number_in(std::string_view(name).substr(times + 1));
  for (const auto& [known_name, value] : known)
    if (known_name == std::string_view(name).substr(0, times) && count > 0 &&
        count <= (1 << 30) / value.size)
      return {value.scalar, value.size * count};
  if (const int bytes = name.starts_with("bytes") ? number_in(std::string_view(name).substr(5)) : 0;
      bytes > 0)
    return {Scalar::bytes, bytes};
  throw Error("unknown element type '" + name +
                  "': use int8 … int64, uint8 … uint64, float32, float64, "
                  "complex64, complex128, several of one as float64x3, or bytesN",
      ErrorKind::type);
}

}  // namespace parhelion
