#pragma once

#include "apps/application.hpp"
#include "node_shared.hpp"

namespace parhelion::bench {

/// What the contenders of an application start from.
struct ApplicationSetup {
    MPI_Comm comm = MPI_COMM_WORLD;
    MakeApplication make = {};
    std::shared_ptr<MadeOnce<Application>> reference = std::make_shared<MadeOnce<Application>>();
};

/// The library over `auto`, or over a transport that is named; hand-written ways.
std::vector<Entry> application_contenders(const ApplicationSetup& setup);

}  // namespace parhelion::bench
