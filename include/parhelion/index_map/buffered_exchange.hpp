// Exchange through buffers of its own, for arrays that come and go.
#pragma once

#include <memory>
#include <vector>

#include "parhelion/exchange/exchange.hpp"
#include "parhelion/plan/program.hpp"

namespace parhelion {

/// Cells `stride` bytes apart.
struct CellArray {
    std::byte* first = nullptr;
    byte_count stride = 0;
    friend bool operator==(const CellArray&, const CellArray&) = default;
};

/// Moves `width` bytes per cell of any array whose address is known only when the exchange begins or ends.
///
/// Values to be sent lie in the buffer in the order of the messages, so that what moves them copies whole pieces. The
/// buffers are node-shared. Construction is collective; begin and end wait for neighbors only and allocate nothing unless
/// the distance between cells differs from the call before.
class BufferedExchange {
public:
    BufferedExchange(const Pattern& pattern, byte_count width);

    /// Owner → ghost, at once or in two halves. After begin the owned values may change; end writes the ghosts.
    void forward(CellArray owned, CellArray ghosts);
    void begin_forward(CellArray owned);
    void end_forward(CellArray ghosts);
    /// Ghost → owner, likewise.
    void reverse(CellArray ghosts, CellArray owned, Scalar scalar, Reduction reduction);
    void begin_reverse(CellArray ghosts);
    /// Combines in the order of the pattern's links and entries.
    void end_reverse(CellArray owned, Scalar scalar, Reduction reduction);

    bool under_way() const { return step_ != nullptr; }
    const Exchange& exchange() const { return *exchange_; }

private:
    /// A compiled copy between the buffer and an array, good for one distance between cells.
    struct Copy {
        byte_count stride = -1;
        Program program;
    };
    const Program& pack(Copy& copy, const std::vector<local_index>& cells, byte_count stride);
    const Program& unpack(Copy& copy, const std::vector<local_index>& cells, byte_count stride);
    void pack_forward(CellArray owned);
    void unpack_forward(CellArray ghosts);
    void pack_reverse(CellArray ghosts);
    void combine_reverse(CellArray owned, Scalar scalar, Reduction reduction);
    void end_step();

    byte_count width_;
    std::vector<local_index> sent_, received_;  ///< owned cells; ghosts counted from 0: in the order of the buffers
    std::shared_ptr<std::byte> memory_;
    std::byte* sent_values_;
    std::byte* received_values_;
    std::unique_ptr<Exchange> exchange_;
    std::unique_ptr<Exchange::Step> step_;
    Copy pack_owned_, unpack_ghosts_, pack_ghosts_;
    Program combine_;
};

}  // namespace parhelion
