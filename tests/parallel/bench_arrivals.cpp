#include "support/cases.hpp"
// The benchmark distinguishes late ranks from slow exchanges.

#include "samples.hpp"

using namespace parhelion;
using namespace parhelion::bench;

namespace {

constexpr double us = 1e-6;

/// Records a batch that begins at `begin`; part `i` ends at `end + i * each`.
void note_batch(Arrivals& arrivals, std::int64_t exchanges, double begin, double end, double each) {
  arrivals.note(begin);
  for (int part = 0; part < Arrivals::parts(exchanges); ++part) arrivals.note(end + part * each);
}

}  // namespace

CASE("the parts of a batch hold all its exchanges") {
  for (std::int64_t exchanges : {1, 2, 15, 16, 17, 1000, 10'000'000}) {
    const int parts = Arrivals::parts(exchanges);
    EXPECT_GE(Arrivals::end_of(0, exchanges), 1);
    EXPECT_EQ(Arrivals::end_of(parts - 1, exchanges), exchanges);
    for (int part = 1; part < parts; ++part)
      EXPECT_GT(Arrivals::end_of(part, exchanges), Arrivals::end_of(part - 1, exchanges));
  }
}

CASE("ranks that stay together have no skew, however long an exchange takes") {
  const Communicator comm(MPI_COMM_WORLD);
  Arrivals arrivals;
  for (int sample = 0; sample < 3; ++sample)
    note_batch(arrivals, 100, sample, sample + 1000 * us, 1000 * us);
  const Skew skew = arrivals.skew(100, comm);
  EXPECT_EQ(skew.seconds.size(), comm.rank() == 0 ? 3 : 0);
  for (double seconds : skew.seconds) EXPECT_NEAR(seconds, 0, 1.2e-5);
}

CASE("a rank that is late in every exchange is skew of every exchange, and named") {
  const Communicator comm(MPI_COMM_WORLD);
  const int late = comm.size() - 1;
  const double delay = comm.rank() == late ? 300 * us : 0;
  Arrivals arrivals;
  note_batch(arrivals, 64, 0, 350 * us + delay, 4 * 350 * us);
  note_batch(arrivals, 64, 1, 1 + 350 * us + delay, 4 * 350 * us);
  const Skew skew = arrivals.skew(64, comm);
  for (double seconds : skew.seconds) EXPECT_NEAR(seconds, comm.size() > 1 ? 300 * us : 0, 1.2e-5);
  for (int rank : skew.last_rank) EXPECT_EQ(rank, late);
}

CASE("a rank that was late once is not taken for one that is late all the time") {
  const Communicator comm(MPI_COMM_WORLD);
  Arrivals arrivals;
  arrivals.note(0);
  for (int part = 0; part < Arrivals::parts(1600); ++part)
    arrivals.note(
        (part + 1) * 100 * us + (part == 0 && comm.rank() + 1 == comm.size() ? 90 * us : 0));
  const Skew skew = arrivals.skew(1600, comm);
  for (double seconds : skew.seconds) EXPECT_LE(seconds * 1600, 1600.001 * us);
}

CASE("a rank that is late at the begin of a batch costs each of its exchanges a share") {
  const Communicator comm(MPI_COMM_WORLD);
  const int late = comm.size() - 1;
  Arrivals arrivals;
  note_batch(arrivals, 10, comm.rank() == late ? 40 * us : 0, 140 * us, 100 * us);
  const Skew skew = arrivals.skew(10, comm);
  if (comm.rank() != 0 || comm.size() == 1) return;
  EXPECT_NEAR(skew.seconds.at(0), 4 * us, 1.2e-5);
  EXPECT_EQ(skew.last_rank.at(0), late);
}
