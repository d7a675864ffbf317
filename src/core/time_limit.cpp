#include "core/time_limit.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "core/environment.hpp"

namespace parhelion {

bool checks_by_environment() { return is_on("PARHELION_CHECK"); }

double time_limit(double from_options, bool checked) {
    constexpr double where_checked_s = 30;
    if (from_options > 0) return from_options;
    const char* text = std::getenv("PARHELION_TIMEOUT");
    const double told = text == nullptr ? 0 : std::atof(text);
    if (told > 0) return told;
    return checked || checks_by_environment() ? where_checked_s : 0;
}

double setup_time_limit(double from_options, bool checked) {
    constexpr double least_s = 5;
    return time_limit(from_options > 0 ? std::max(from_options, least_s) : 0, checked);
}

std::string seconds_text(double seconds) {
    char text[32];
    return std::string(text, std::to_chars(text, text + sizeof text, seconds).ptr) + " s";
}

}  // namespace parhelion
