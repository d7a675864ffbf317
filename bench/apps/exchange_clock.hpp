#pragma once

#include <functional>

#include "clock.hpp"

namespace parhelion::bench {

/// What an application's exchanges take, and what it took to set them up.
struct ExchangeClock {
    const std::function<void()>* hold = nullptr;  // brings ranks together before each exchange, which is then timed
    double held_s = 0, setup_s = 0;

    void begin() {
        if (!hold) return;
        (*hold)();
        begun_ = now();
    }
    void end() {
        if (hold) held_s += now() - begun_;
    }
    template <class Work>
    void exchange(Work&& work) {
        begin();
        work();
        end();
    }
    template <class Work>
    decltype(auto) set_up(Work&& work) {
        return timed(setup_s, work);
    }

private:
    double begun_ = 0;
};

}  // namespace parhelion::bench
