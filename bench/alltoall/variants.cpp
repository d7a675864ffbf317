#include "alltoall/case.hpp"
#include "mpi_handles.hpp"
#include "variant.hpp"

namespace parhelion::bench {

namespace {

class OnBuffers : public Variant {
 public:
  explicit OnBuffers(const AlltoallSetup& setup) : comm_(setup.comm), buffers_(setup.buffers) {}

  Values& values() override { return *buffers_; }
  Traffic traffic() const override {
    const std::int64_t others = ranks() - 1;
    return {others * static_cast<std::int64_t>(block_bytes()), others};
  }

 protected:
  MPI_Comm comm() const { return comm_; }
  int rank() const { return buffers_->rank(); }
  int ranks() const { return buffers_->ranks(); }
  std::size_t block_bytes() const { return buffers_->block_bytes(); }
  int count() const { return static_cast<int>(block_bytes()); }  // at most INT_MAX
  std::byte* send(int to) const { return buffers_->send(to); }
  std::byte* receive(int from) const { return buffers_->receive(from); }

 private:
  MPI_Comm comm_;
  std::shared_ptr<AlltoallBuffers> buffers_;
};

/// Collective. Adds the constructor's time to `times.plan`.
template <class Baseline>
VariantPointer make_plain(const AlltoallSetup& setup, SetupTimes& times) {
  return timed(times.plan, [&] { return std::make_unique<Baseline>(setup); });
}

class MpiAlltoall : public OnBuffers {
 public:
  using OnBuffers::OnBuffers;
  void exchange() override {
    MPI_Alltoall(send(0), count(), MPI_BYTE, receive(0), count(), MPI_BYTE, comm());
  }
};

class MpiIalltoall : public OnBuffers {
 public:
  using OnBuffers::OnBuffers;
  void exchange() override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoall(send(0), count(), MPI_BYTE, receive(0), count(), MPI_BYTE, comm(), &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
};

#ifdef PARHELION_HAS_PERSISTENT_COLLECTIVES
class MpiAlltoallInit : public OnBuffers {
 public:
  explicit MpiAlltoallInit(const AlltoallSetup& setup) : OnBuffers(setup) {
    MPI_Alltoall_init(send(0), count(), MPI_BYTE, receive(0), count(), MPI_BYTE, comm(),
        MPI_INFO_NULL, &request_);
  }
  ~MpiAlltoallInit() override { MPI_Request_free(&request_); }
  MpiAlltoallInit(const MpiAlltoallInit&) = delete;
  MpiAlltoallInit& operator=(const MpiAlltoallInit&) = delete;
  void exchange() override {
    MPI_Start(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};
#endif

/// Step i: rank r sends to r + i and receives from r - i, or exchanges with r xor i if the ranks
/// are a power of two (Thakur, Rabenseifner & Gropp, IJHPCA 2005, section 4.4).
class Pairwise : public OnBuffers {
 public:
  using OnBuffers::OnBuffers;

  void exchange() override {
    std::memcpy(receive(rank()), send(rank()), block_bytes());
    const bool power_of_two = (ranks() & (ranks() - 1)) == 0;
    for (int step = 1; step < ranks(); ++step) {
      if (power_of_two) exchange_with(rank() ^ step, rank() ^ step);
      else exchange_with((rank() + step) % ranks(), (rank() - step + ranks()) % ranks());
    }
  }

 private:
  static constexpr int tag = 41;
  void exchange_with(int to, int from) {
    MPI_Sendrecv(send(to), count(), MPI_BYTE, to, tag, receive(from), count(), MPI_BYTE, from, tag,
        comm(), MPI_STATUS_IGNORE);
  }
};

VariantPointer make_mpi_alltoall_init(const AlltoallSetup& setup, SetupTimes& times) {
#ifdef PARHELION_HAS_PERSISTENT_COLLECTIVES
  if (MPI_Alltoall_init != nullptr) return make_plain<MpiAlltoallInit>(setup, times);
#endif
  static_cast<void>(setup), static_cast<void>(times);
  throw CannotRun("persistent collectives need MPI 4");
}

// The baseline is MPI_Alltoall, because programs call it.
constexpr TableRow<AlltoallSetup> variants[] = {
    {"mpi_alltoall", "baseline", make_plain<MpiAlltoall>},
    {"mpi_alltoall_init", "library", make_mpi_alltoall_init},
    {"mpi_ialltoall", "library", make_plain<MpiIalltoall>},
    {"pairwise", "own", make_plain<Pairwise>},
};

}  // namespace

std::vector<Entry> alltoall_variants(const AlltoallSetup& setup) {
  std::vector<Entry> entries;
  add_rows(entries, variants, setup);
  entries.push_back(planted_fault(
      setup.comm, [=](SetupTimes& times) { return make_plain<Pairwise>(setup, times); },
      [buffers = setup.buffers](Variant&) { return buffers->receive(0); }));
  return entries;
}

}  // namespace parhelion::bench
