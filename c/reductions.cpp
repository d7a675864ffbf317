// Reductions that a program defines, under numbers behind those of enum phl_reduction.
#include "parhelion/core/reduction.hpp"

#include <cstdint>
#include <deque>
#include <mutex>

#include "objects.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

// Where rows begin that may be passed as arrays of any type.
constexpr std::size_t alignment = alignof(std::max_align_t);

bool is_aligned(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at) % alignment == 0; }

class CalledReduction final : public UserReduction {
public:
    CalledReduction(Element element, phl_combine combine, void* context) : UserReduction(element), combine_(combine), context_(context) {}
    bool wants_many() const override { return true; }
    void combine(std::byte* into, const std::byte* from, byte_count bytes) const override {
        const byte_count count = bytes / element().size;
        if (is_aligned(into) && is_aligned(from)) return combine_(into, from, count, context_);
        thread_local std::vector<std::byte> left, right;  // from the heap: aligned
        left.assign(into, into + bytes), right.assign(from, from + bytes);
        combine_(left.data(), right.data(), count, context_);
        std::copy(left.begin(), left.end(), into);
    }

private:
    phl_combine combine_;
    void* context_;
};

struct Kept {
    CalledReduction reduction;
    bool freed = false;
};

constexpr int first_own = 1000;  // far from those of the library, so that a number of chance is none

// Never destroyed, nor what is freed: exchanges may be under way with it.
struct Table {
    std::mutex mutex;
    std::deque<Kept> all;
};
Table& reduction_table() {
    static auto* const one = new Table;
    return *one;
}

Kept& find(int number) {
    auto& all = reduction_table().all;
    const int slot = number - first_own;
    if (slot < 0 || slot >= static_cast<int>(all.size()) || all[static_cast<std::size_t>(slot)].freed)
        throw Error("reduction " + std::to_string(number) +
                    " does not exist: use one of enum phl_reduction, or what phl_reduction_create gave, "
                    "until it is freed");
    return all[static_cast<std::size_t>(slot)];
}

}  // namespace

Reduction parhelion::c::reduction_from(int number) {
    if (number >= 0 && number < Reduction::user) return static_cast<Reduction::Kind>(number);
    const std::lock_guard lock(reduction_table().mutex);
    return find(number).reduction;
}

extern "C" {

int phl_reduction_create(phl_element element, phl_combine combine, void* context, int* reduction) {
    return guarded([&] {
        require_output(reduction, "reduction");
        if (combine == nullptr) throw Error("combine is a null pointer: pass a function");
        const std::lock_guard lock(reduction_table().mutex);
        reduction_table().all.push_back({{element_from(element), combine, context}});
        *reduction = first_own + static_cast<int>(reduction_table().all.size()) - 1;
    });
}

int phl_reduction_free(int* reduction) {
    return guarded([&] {
        require_output(reduction, "reduction");
        const std::lock_guard lock(reduction_table().mutex);
        find(*reduction).freed = true;
        *reduction = PHL_REPLACE;
    });
}

}  // extern "C"
