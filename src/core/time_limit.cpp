#include "core/time_limit.hpp"

#include <sched.h>

#include <charconv>
#include <system_error>
#include <thread>

#include "core/environment.hpp"

namespace parhelion {

bool checks_by_environment() { return is_on("PARHELION_CHECK"); }

std::optional<double> told_time_limit() {
  const std::string text = text_told("PARHELION_TIMEOUT");
  if (text.empty()) return 0;
  double seconds = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_limit = wrong == std::errc() && *end == '\0' && seconds >= 0;
  return is_limit ? std::optional(seconds) : std::nullopt;
}

double time_limit(double from_options, bool checked) {
  constexpr double where_checked_s = 30;
  if (from_options > 0) return from_options;
  if (const double told = told_time_limit().value_or(0); told > 0) return told;
  return checked || checks_by_environment() ? where_checked_s : 0;
}

double setup_time_limit(double from_options) {
  constexpr double least_s = 5;
  return time_limit(from_options > 0 ? std::max(from_options, least_s) : 0);
}

void Patience::wait_slowly() {
#ifdef PARHELION_SIMULATED  // a yield advances simulated time
  sched_yield();
#else
  constexpr std::chrono::milliseconds short_wait{2}, longest_sleep{1};
  const auto now = std::chrono::steady_clock::now();
  if (polls_ == eager_polls + 1) since_ = now;
  const auto waited = now - since_;
  if (waited < short_wait) sched_yield();
  else std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(waited / 20, longest_sleep));
#endif
}

std::string seconds_text(double seconds) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, seconds).ptr) + " s";
}

}  // namespace parhelion
