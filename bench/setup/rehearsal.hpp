#pragma once

#include <map>

#include "halo/case.hpp"
#include "setup/case.hpp"

namespace parhelion::bench {

/// Sets an exchange up from nothing, again and again, and keeps what each stage took on this rank. Collective.
class Rehearsal {
public:
    Rehearsal(const SetupCase& which, Ground ground);

    void once();

    const std::vector<double>& seconds(const std::string& stage) const { return seconds_.at(stage); }
    /// Elements that were wrong after an exchange, on this rank and over all times.
    std::int64_t wrong() const { return wrong_; }

private:
    template <class Work>
    decltype(auto) stage(const char* name, Work&& work);
    void with(MPI_Comm fresh);

    SetupCase which_;
    Ground ground_;
    HaloSetup setup_;
    std::shared_ptr<HaloArrays> arrays_;
    std::map<std::string, std::vector<double>> seconds_;
    std::int64_t wrong_ = 0;
    unsigned round_ = 0;
};

}  // namespace parhelion::bench
