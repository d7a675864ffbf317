// What a program in another language measures by the protocol of phl-bench: it answers questions,
// and exchanges.
#pragma once

#include <cstdint>

extern "C" {

/// Questions and answers are JSON. `{"what": "variants"}`, "case", "make", "refresh",
/// "count_wrong", "traffic", "explain", "step_held", "exchange_lines" and "free" are asked on every
/// rank in the same order; the answer is `{"told": …}`, `{"skipped": reason}` or
/// `{"error": text}`, and stays valid until the next question.
struct phl_measured {
    const char* (*answer)(const char* question);
    /// So many exchanges of a variant, by its number. 0; else the answer to "failure" says why.
    int (*exchange)(int variant, std::int64_t times);
};

/// Collective over MPI_COMM_WORLD, which is initialized. Options are those of phl-bench; returns
/// its exit status.
__attribute__((visibility("default"))) int phl_measure(int count, const char* const* options,
                                                       const phl_measured* measured);
}
