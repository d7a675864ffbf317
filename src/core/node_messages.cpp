#include "core/node_messages.hpp"

#include <algorithm>
#include <cstdlib>

namespace parhelion {
namespace {

// What one rank packs and sends while others do the same. Smaller messages cost more by their number than they gain.
constexpr byte_count worth_a_message = 64 << 10;

std::int64_t most_messages() {
    static const std::int64_t limit = [] {
        const char* text = std::getenv("PARHELION_NODE_MESSAGES");
        return text == nullptr ? std::int64_t{0} : std::max<std::int64_t>(std::atoll(text), 1);
    }();
    return limit;
}

}  // namespace

std::int64_t node_messages(byte_count bytes, std::int64_t contributors) {
    const std::int64_t wanted = most_messages() > 0 ? most_messages() : std::max<byte_count>(bytes / worth_a_message, 1);
    return std::min(wanted, contributors);
}

}  // namespace parhelion
