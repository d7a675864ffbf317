#pragma once

#include "clock.hpp"
#include "contender.hpp"
#include "errors.hpp"
#include "parhelion/core/error.hpp"
#include "plug_in.hpp"

namespace parhelion::bench {

/// Another library's exchange, of a plug-in that has `Functions` (peers/halo_peer.h,
/// peers/gather_peer.h).
template <class Functions>
class PlugInPeer final : public Contender {
public:
    /// Makes it of what the plug-in is told. Throws CannotRun where it cannot do the case.
    template <class Told>
    PlugInPeer(const Functions& functions, const std::string& variant, const Told& told,
               std::shared_ptr<Values> values, Traffic traffic)
        : functions_(functions), values_(std::move(values)), traffic_(std::move(traffic)) {
        char error[500] = "";
        peer_ = functions_.make(&told, variant.c_str(), error, sizeof error);
        if (peer_ == nullptr) throw CannotRun(error);
    }
    ~PlugInPeer() override { functions_.free(peer_); }
    PlugInPeer(const PlugInPeer&) = delete;
    PlugInPeer& operator=(const PlugInPeer&) = delete;

    void exchange() override {
        if (functions_.exchange(peer_) != 0)
            throw Error("the peer's exchange failed", ErrorKind::communication);
    }
    Values& values() override { return *values_; }
    Traffic traffic() const override { return traffic_; }
    nlohmann::json explain() const override { return functions_.version; }

private:
    const Functions& functions_;
    std::shared_ptr<Values> values_;
    Traffic traffic_;
    void* peer_ = nullptr;
};

/// The functions of the plug-in `libphl_peer_LIBRARY.so` beside this program. Throws CannotRun
/// where there is none.
template <class Functions>
const Functions& peer_functions(const std::string& library, const char* symbol) {
    return *static_cast<const Functions*>(
        plug_in_symbol("peer_" + library, symbol, "`make peers` builds one"));
}

}  // namespace parhelion::bench
