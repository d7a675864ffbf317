#include "transport/message_type.hpp"

#include <climits>
#include <cstdlib>

namespace parhelion {
namespace {

byte_count read_limit() {
    const char* text = std::getenv("PARHELION_LARGEST_COUNT");
    if (text == nullptr || *text == '\0') return INT_MAX;
    char* end = nullptr;
    const long long limit = std::strtoll(text, &end, 10);
    if (*end != '\0' || limit < 1 || limit > INT_MAX)
        throw Error(std::string("PARHELION_LARGEST_COUNT is '") + text +
                    "': use a number of bytes from 1 to 2147483647");
    return limit;
}

}  // namespace

byte_count largest_count() {
    static const byte_count limit = read_limit();
    return limit;
}

}  // namespace parhelion
