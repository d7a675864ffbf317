// All stages of an exchange with one choice of transports.
#pragma once

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "exchange/background.hpp"
#include "exchange/parts_given.hpp"
#include "exchange/stage_exchange.hpp"

namespace parhelion {

/// Runs stages one after another; a reverse exchange from the last to the first. Between begin and end, any thread of this
/// process that waits in another exchange gets this one on, too.
class Stages final : BackgroundWork {
public:
    /// Collective.
    Stages(const Plan& plan, const Choice& choice, const Trial& trial = {});
    /// Collective: makes what a trial left out.
    void complete();
    ~Stages() override;
    Stages(const Stages&) = delete;
    Stages& operator=(const Stages&) = delete;

    void begin(Direction direction, Reduction reduction = Reduction::replace);
    /// After begin: the caller does something else before it ends the exchange.
    void leave();
    /// Forward, part by part.
    void begin_parts();
    /// The part's cells have their values. By any thread, several at once. False when the part was given before.
    bool put_part(int part);
    /// Waits for the neighbors; each wait of a stage at most `timeout_s`. After an error the exchange cannot be used again.
    void end(double timeout_s);
    bool calls_mpi() const { return calls_mpi_; }
    /// Whether some transport sends what is ready before the rest is.
    bool takes_parts() const { return !stages_.empty() && stages_.front().takes_parts(); }

private:
    class Hold;
    bool advance() override;
    bool may_work_here() const;
    void prepare(Direction direction, Reduction reduction);
    void close_parts();
    void put_what_is_left();
    Poll poll();
    void finish(double timeout_s);
    [[noreturn]] void give_up();
    int lost_rank() const;
    StageExchange& at(std::size_t number) {
        return stages_[direction_ == Direction::forward ? number : stages_.size() - 1 - number];
    }

    std::vector<StageExchange> stages_;
    bool calls_mpi_ = false;
    std::atomic<bool> busy_{false};  // some thread is at it; guards what follows
    std::atomic<bool> under_way_{false};
    PartsGiven parts_;
    Direction direction_ = Direction::forward;
    Reduction reduction_ = Reduction::replace;
    std::size_t stage_ = 0;
    std::thread::id begun_by_;
    std::exception_ptr failure_;
    NodeContext* watched_;  // null: nobody can be watched
};

}  // namespace parhelion
