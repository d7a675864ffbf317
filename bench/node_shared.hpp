#pragma once

#include <vector>

#include "memory.hpp"
#include "parhelion/core/node_memory.hpp"

namespace parhelion::bench {

/// Blocks in the library's node-shared memory.
class NodeSharedMemory : public Memory {
public:
    NodeSharedMemory(int blocks, std::size_t bytes) {
        for (int i = 0; i < blocks; ++i)
            blocks_.push_back(allocate_node_shared(static_cast<byte_count>(bytes)));
    }
    std::byte* block(int index) const override {
        return blocks_[static_cast<std::size_t>(index)].get();
    }

private:
    std::vector<std::shared_ptr<std::byte>> blocks_;
};

/// A value that is made when it is first asked for, and then shared by all who ask.
template <class T>
class MadeOnce {
public:
    template <class Make>
    std::shared_ptr<T> get(Make&& make) {
        if (!value_) value_ = make();
        return value_;
    }

private:
    std::shared_ptr<T> value_;
};

}  // namespace parhelion::bench
