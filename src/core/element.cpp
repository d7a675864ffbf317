#include "parhelion/core/element.hpp"

#include <array>
#include <string_view>

#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

struct Named {
    std::string_view name;
    Element element;
};

constexpr std::array<Named, 12> known{{
    {"int8", {Scalar::int8, 1}}, {"int16", {Scalar::int16, 2}}, {"int32", {Scalar::int32, 4}},
    {"int64", {Scalar::int64, 8}}, {"uint8", {Scalar::uint8, 1}}, {"uint16", {Scalar::uint16, 2}},
    {"uint32", {Scalar::uint32, 4}}, {"uint64", {Scalar::uint64, 8}}, {"float32", {Scalar::float32, 4}},
    {"float64", {Scalar::float64, 8}}, {"complex64", {Scalar::complex64, 8}},
    {"complex128", {Scalar::complex128, 16}},
}};

}  // namespace

std::string to_string(Element element) {
    for (const auto& [name, value] : known)
        if (value == element) return std::string(name);
    return "bytes" + std::to_string(element.size);
}

Element parse_element(const std::string& name) {
    for (const auto& [known_name, value] : known)
        if (known_name == name) return value;
    if (name.rfind("bytes", 0) == 0 && name.size() > 5 && name.size() < 14 &&
        name.find_first_not_of("0123456789", 5) == std::string::npos && std::stoi(name.substr(5)) > 0)
        return {Scalar::bytes, std::stoi(name.substr(5))};
    throw Error("unknown element type '" + name + "': use int8 … int64, uint8 … uint64, float32, float64, "
                "complex64, complex128 or bytesN", ErrorKind::type);
}

}  // namespace parhelion
