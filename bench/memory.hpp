#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace parhelion::bench {

/// Memory for the arrays of a case; whoever holds it may use its blocks.
class Memory {
public:
    virtual ~Memory() = default;
    virtual std::byte* block(int index) const = 0;
    /// Bytes around the blocks that somebody wrote to. Zero where nothing surrounds them.
    virtual std::int64_t count_damaged_guards() const { return 0; }
};

/// Blocks of this process alone, each allocated by itself as a solver would, with guard bytes
/// before and behind.
class PrivateMemory : public Memory {
public:
    PrivateMemory(int blocks, std::size_t bytes);
    std::byte* block(int index) const override;
    std::int64_t count_damaged_guards() const override;

private:
    struct Free {
        void operator()(std::byte* p) const;
    };
    std::size_t bytes_;
    std::vector<std::unique_ptr<std::byte, Free>> blocks_;
};

}  // namespace parhelion::bench
