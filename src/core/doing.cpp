#include "parhelion/core/doing.hpp"

#include <utility>

#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

thread_local const Doing* outermost = nullptr;

struct Calls {
    explicit Calls(const Communicator&) {}
    std::uint64_t made = 0;
};

}  // namespace

Doing::Doing(const Communicator& comm, std::string call, double timeout_s)
    : comm_(comm), call_(std::move(call)), timeout_s_(timeout_s), outermost_(outermost == nullptr) {
    if (!outermost_) return;
    number_ = ++comm_.shared_state<Calls>().made;
#ifndef PARHELION_SIMULATED  // simulated ranks are one thread, and would take each other's for
                             // theirs
    outermost = this;
#endif
}

Doing::~Doing() {
    if (outermost_) outermost = nullptr;
}

void Doing::meet() const {
    if (outermost_) agree(comm_, "");
}

const Doing* Doing::now() noexcept { return outermost; }

}  // namespace parhelion
