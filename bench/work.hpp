#pragma once

#include "clock.hpp"

namespace parhelion::bench {

/// What ranks do between the beginning and the end of an exchange: they spin, and touch no array.
struct Work {
    double seconds = 0;  // on the average rank; 0: exchanges are called at once
    double uneven = 0;  // the first rank works so much less than the average, as a share of it, the
                        // last so much more, the others between
    bool any() const { return seconds > 0; }
    double of_rank(int rank, int ranks) const {
        return seconds * (1 + uneven * (ranks > 1 ? 2.0 * rank / (ranks - 1) - 1 : 0));
    }
};

inline void spin(double seconds) {
    for (const double end = now() + seconds; now() < end;) {
    }
}

}  // namespace parhelion::bench
