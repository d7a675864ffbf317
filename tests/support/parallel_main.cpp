// Every rank runs every case; the job fails if any rank fails. Ranks report failures immediately,
// because others may then hang until the time limit.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "support/cases.hpp"
#include "support/slow_memory.hpp"

namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

struct RankReporter : testing::EmptyTestEventListener {
  std::string current;

  void OnTestStart(const testing::TestInfo& test) override {
    current = std::string(test.test_suite_name()) + ": " + test.name();
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const bool thrown =
        std::string(result.message()).find("thrown in the test body") != std::string::npos;
    const std::string place =
        result.file_name() == nullptr
            ? ""
            : result.file_name() + (":" + std::to_string(result.line_number()));
    const std::string all = "[rank " + std::to_string(world_rank()) + "] " + current + "\n    " +
                            place + ": " + result.message() + test_cases::shown() + "\n";
    std::fwrite(all.data(), 1, all.size(), stderr);
    std::fflush(stderr);
    // After an exception this rank is out of step: the others would hang.
    if (thrown) MPI_Abort(MPI_COMM_WORLD, 3);
  }
};

// Rank 0 prints the output of cases; all ranks print failures.
void tell_once(testing::TestEventListeners& listeners) {
  if (world_rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    std::cout.setstate(std::ios::badbit);
  }
  listeners.Append(new RankReporter);
}

}  // namespace

// PARHELION_TEST_THREADS=funneled: MPI for the main thread only. PARHELION_TEST_SLOW: slow
// executors also copy host memory, and routes include slow arrays.
int main(int argc, char** argv) {
  const char* threads = std::getenv("PARHELION_TEST_THREADS");
  const bool funneled = threads != nullptr && std::string(threads) == "funneled";
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, &provided);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  testing::InitGoogleTest(&argc, argv);
  tell_once(testing::UnitTest::GetInstance()->listeners());
  test::register_slow_executors(std::getenv("PARHELION_TEST_SLOW") != nullptr);
  const int failed = test_cases::run();

  int failed_anywhere = 0;
  MPI_Allreduce(&failed, &failed_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (world_rank() == 0)
    std::cout << size << " ranks: " << (failed_anywhere ? "FAILED" : "passed") << std::endl;
  MPI_Finalize();
  return failed_anywhere;
}
