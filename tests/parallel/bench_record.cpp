// If a record cannot be written, the error names the file and the reason.

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/cases.hpp"

#include "parhelion/core/collective.hpp"
#include "record.hpp"

using namespace parhelion;
using namespace parhelion::bench;

namespace {

std::string complaint_of_writing(const std::string& path, const Communicator& comm) {
  Record record(path, comm, Job{});
  try {
    record.launch({{"filler", std::string(100000, 'x')}});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Limits the file size (RLIMIT_FSIZE); the destructor restores the limit.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

CASE("a record on a full disk names the file and the cause") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string said = complaint_of_writing("/dev/full", comm);
  EXPECT_EQ(said.empty(), (comm.rank() != 0));
  if (comm.rank() == 0) {
    CAPTURE(said);
    EXPECT_TRUE(says(said, "cannot write to the record /dev/full: No space left on device ("));
    EXPECT_TRUE(says(said, "KiB free on that disk)"));
  }
}

CASE("a record that meets the limit on the size of files names the file and the cause") {
  const Communicator comm(MPI_COMM_WORLD);
  const auto path =
      std::filesystem::temp_directory_path() / ("bench_record-" + std::to_string(getpid()));
  std::string said;
  {
    const FileLimit limit(50000);
    said = complaint_of_writing(path.string(), comm);
  }
  std::filesystem::remove(path);
  if (comm.rank() == 0) {
    CAPTURE(said);
    EXPECT_TRUE(says(said, "cannot write to the record " + path.string() + ": File too large"));
  }
}
