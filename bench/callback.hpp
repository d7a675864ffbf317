// phl-bench's measurement protocol for exchanges of a program in another language.
#pragma once

#include <cstdint>

extern "C" {

/// Callbacks of the measured program. Every rank asks the same questions in the same order, in
/// JSON: `{"what": "variants"}`, "case", "make", "refresh", "count_wrong", "traffic", "explain",
/// "step_held", "exchange_lines", "free". An answer is `{"told": …}`, `{"skipped": reason}` or
/// `{"error": text}`, valid until the next question.
struct phl_measured {
  const char* (*answer)(const char* question);
  /// Exchanges `times` times. Returns 0 or fails; the question "failure" then gives the reason.
  int (*exchange)(int variant, std::int64_t times);
};

/// Collective over MPI_COMM_WORLD; needs MPI initialized. Takes phl-bench's options and returns
/// its exit status.
__attribute__((visibility("default"))) int phl_measure(
    int count, const char* const* options, const phl_measured* measured);
}
