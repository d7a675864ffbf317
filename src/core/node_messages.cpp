#include "core/node_messages.hpp"

#include <algorithm>

#include "core/environment.hpp"

namespace parhelion {
namespace {

// One rank's share of packing. Smaller messages cost more by number than parallel packing gains.
constexpr byte_count worth_a_message = 64 << 10;

std::int64_t most_messages() {
    static const std::int64_t limit = [] {
        const auto told = number_told("PARHELION_NODE_MESSAGES");
        return told ? std::max<std::int64_t>(*told, 1) : 0;
    }();
    return limit;
}

}  // namespace

std::int64_t node_messages(byte_count bytes, std::int64_t contributors) {
    const std::int64_t wanted =
        most_messages() > 0 ? most_messages() : std::max<byte_count>(bytes / worth_a_message, 1);
    return std::min(wanted, contributors);
}

}  // namespace parhelion
