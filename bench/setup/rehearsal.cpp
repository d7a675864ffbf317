#include "setup/rehearsal.hpp"

#include "clock.hpp"
#include "halo/own_halo.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion::bench {

Rehearsal::Rehearsal(const SetupCase& which, Ground ground)
    : which_(which), ground_(ground), setup_(make_halo_setup(which.params, ground.comm)), arrays_(setup_.arrays) {
    if (which.way.node_shared) validate_together(ground.comm, [&] { arrays_ = node_shared_arrays(setup_); });
}

// The ranks begin a stage together, so that none pays for the others' lateness in the stage before.
template <class Work>
decltype(auto) Rehearsal::stage(const char* name, Work&& work) {
    ground_.start_line.wait();
    return timed(seconds_[name].emplace_back(0.0), std::forward<Work>(work));
}

void Rehearsal::once() {
    MPI_Comm fresh = MPI_COMM_NULL;
    stage("mpi_comm_dup", [&] { MPI_Comm_dup(MPI_COMM_WORLD, &fresh); });
    with(fresh);
    MPI_Comm_free(&fresh);
}

void Rehearsal::with(MPI_Comm fresh) {
    setup_.comm = fresh;
    stage("communicator", [&] { Communicator(fresh).node(); });
    Pattern pattern = stage("pattern", [&] { return build_pattern(make_domain(setup_)); });
    Exchange exchange =
        stage("plan", [&] { return Exchange{std::move(pattern), fields_on(setup_, *arrays_), {.transport = which_.way.transport}}; });
    arrays_->refresh(++round_);
    stage("first_exchange", [&] { exchange(); });
    wrong_ += arrays_->count_wrong(round_);
    constexpr int more = 10;
    for (int i = 0; i < more; ++i) exchange();
    stage("later_exchange", [&] { exchange(); });
    wrong_ += arrays_->count_wrong(round_);
}

}  // namespace parhelion::bench
