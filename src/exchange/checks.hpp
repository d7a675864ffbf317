// The checked mode of an exchange: calls, arrays, ghosts.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exchange/stages.hpp"
#include "parhelion/core/aligned.hpp"
#include "parhelion/core/communicator.hpp"
#include "parhelion/core/element.hpp"
#include "parhelion/exchange/stale.hpp"
#include "parhelion/plan/bound_arrays.hpp"
#include "plan/packed_cells.hpp"

namespace parhelion {

/// Of an exchange and all its subsets together. Each call is told to all neighbors in a few hundred
/// bytes when it begins, which waits for nobody; what a neighbor tells is held against this rank's
/// own call of the same number. There is none where nothing is checked.
///
/// Further checks of a call belong here: what has to be equal on both sides goes into the text that
/// is told.
class CallCheck {
public:
    /// Collective. `neighbors`: other ranks, each once. `timeout_s`: as in ExchangeOptions.
    CallCheck(const Communicator& comm, std::vector<int> neighbors, double timeout_s);
    ~CallCheck();
    CallCheck(const CallCheck&) = delete;
    CallCheck& operator=(const CallCheck&) = delete;

    /// The next call begins. Returns its number. Waits for nobody, and compares nothing: whoever
    /// makes the same calls can end them.
    std::uint64_t tell(const std::string& call);
    /// Waits until these neighbors have told their call of that number, and calls `get_on`
    /// meanwhile. Throws Error where it is another one, after the time limit, when a neighbor is
    /// lost, and as `look` does.
    void await(std::uint64_t number, const std::vector<int>& ranks,
               const std::function<void()>& get_on);
    /// For whoever waits: throws Error where other ranks have found calls that differ. They tell
    /// their neighbors, which tell theirs.
    void look();
    const std::vector<int>& neighbors() const { return neighbors_; }

private:
    struct Record {
        std::uint64_t number = 0,
                      print =
                          0;  // number 0: calls of that other number differ, and the text says how
        std::array<char, 400> call{};  // as much as there is room for
    };
    struct Sent {
        Record record;
        std::vector<MPI_Request> requests;
    };
    using AllSent = std::deque<Sent>;

    static Record record_of(std::uint64_t number, std::uint64_t print, const std::string& text);
    static bool is_over(Sent& sent);
    void take();
    /// Whether no record can come any more. Local.
    bool has_taken_all() noexcept;
    void send(const Record& record);
    void compare(int rank, const Record& theirs);
    void pass_on(const Record& difference);
    void refuse_difference() const;
    bool all_told(std::uint64_t number, const std::vector<int>& ranks) const;
    void forget_old();

    Communicator comm_;
    std::vector<int> neighbors_;
    double timeout_s_;
    Tag tag_;
    NodeContext* watched_;
    std::uint64_t told_ = 0;
    std::shared_ptr<AllSent> sent_;
    std::deque<Record> mine_;                  // those that some neighbor has not told yet
    std::map<int, std::deque<Record>> early_;  // by rank: of calls that this rank has not made yet
    std::map<int, std::uint64_t> heard_;       // by rank: the last one
    Record difference_;                        // that some rank has found
};

/// Fills `bytes` bytes with elements: signalling NaNs for floating-point and complex numbers, bytes
/// of 0xdb for all else.
void fill_poison(std::byte* first, byte_count bytes, const Element& element);

/// Of one exchange, or subset of one. While a forward exchange is under way its ghosts hold what no
/// program means (fill_poison), until values come, so that who reads them early notices; values
/// that a rank has given away are kept, and held against its arrays at the end. Of a plan of
/// several stages, whose later ones send what the earlier ones have brought, those that the program
/// has put there are.
class ArrayCheck {
public:
    /// Local. The plan must outlive it.
    explicit ArrayCheck(const Plan& plan);

    /// Before anything of an exchange moves: a neighbor may write ghosts from then on.
    void begin(const BoundArrays& arrays, Direction direction);
    /// At the end, before anything moves: what the program has written meanwhile that it should not
    /// have, with a remedy; empty where nothing.
    std::string written(const BoundArrays& arrays);

private:
    bool kept(const PackedCells& cells) const;
    std::vector<PackedCells>& given() {
        return direction_ == Direction::forward ? owned_ : ghosts_;
    }
    std::string compare(const BoundArrays& arrays, const PackedCells& cells);
    std::string complaint(const PackedCells& cells, byte_count at) const;

    const Plan& plan_;
    std::vector<PackedCells> owned_, ghosts_;
    std::shared_ptr<std::byte> now_;
    Direction direction_ = Direction::forward;
};

/// Memory of the same layout as the arrays of an exchange, whose ghosts are filled over MPI. The
/// arrays themselves are read only.
class StaleCheck {
public:
    /// Collective: takes memory and sets up transports. Throws Error for arrays that are not in the
    /// host's memory.
    explicit StaleCheck(const Plan& plan);

    /// Collective.
    StaleGhosts find(const BoundArrays& arrays, double timeout_s);

private:
    void allocate();
    void compare(const PackedCells& cells, Bases arrays, StaleGhosts& found);

    Plan plan_;  // of that memory
    std::vector<AlignedBytes> memory_;
    std::unique_ptr<BoundArrays> arrays_;
    std::unique_ptr<Stages> stages_;
    std::vector<PackedCells> owned_, ghosts_;
    AlignedBytes here_;
};

}  // namespace parhelion
