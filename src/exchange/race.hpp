// Finding the fastest of several ways by trying them: decisions alone, made from times. What is timed, and how, is the Track's.
#pragma once

#include <string>
#include <vector>

#include "exchange/candidates.hpp"

namespace parhelion {

/// Exchanges of one contestant: `warming` ones that do not count, then `samples` of `each` exchanges, timed one by one.
struct Turn {
    int contestant = 0;
    int warming = 0;
    int samples = 1;
    int each = 1;
};

/// Where the race is run. Everything that it tells is equal on all ranks, so that all of them decide alike.
class Track {
public:
    virtual ~Track() = default;
    /// Sets the contestant up. Empty, or why it cannot be.
    virtual std::string make(int contestant) = 0;
    /// One after the other. Of each turn the seconds per exchange: the median of its samples.
    virtual std::vector<double> take(const std::vector<Turn>& turns) = 0;
    /// Seconds that all turns so far have taken together.
    virtual double spent() const = 0;
    /// Seconds since the race began: what it took to set contestants up is in it.
    virtual double elapsed() const = 0;
};

/// The lower of the two in the middle of an even number.
double median(std::vector<double> values);

struct Standing {
    std::string refusal = {};        ///< why it could not be made
    bool made = false;               ///< false: refused, or not tried
    double early = unknown;          ///< the best of its first turns: seconds per exchange
    std::vector<double> turns = {};  ///< in the final

    static constexpr double unknown = 1e300;
    /// What counts: the median of the final's turns, of those that came into it.
    double seconds() const;
};

struct RaceResult {
    int winner = -1;  ///< −1: none could be made
    std::vector<Standing> standings;
};

/// Every contestant is tried for some exchanges; who is far behind the fastest gets one more look when all have been tried, for that may
/// have been the machine's fault. The others take turns, one after the other, until the fastest stands out or the budget is
/// used up: some 45 exchanges of the fastest, trials before the final included. The median of the turns decides, so that a disturbed
/// turn does not, times the contestant's handicap. Where ranks wait for cores, or for the network, no further contestant is made
/// after 0.15 s, and no further turn is taken after 0.15 s of turns.
RaceResult run_race(const std::vector<Candidate>& contestants, Track& track);

}  // namespace parhelion
