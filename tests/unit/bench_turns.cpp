// Two phl-bench processes alternate on the same cores, also after one has ended.
#include "turns.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/cases.hpp"

using parhelion::bench::Turns;

namespace {

// The pipes of two programs; the launcher keeps them open until one ends.
class Pipes {
 public:
  Pipes() {
    std::filesystem::create_directory(folder);
    for (const char* side : {"first", "second"}) {
      const std::string path = (folder / side).string() + ".0";
      EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
      held_.push_back(open(path.c_str(), O_RDWR | O_CLOEXEC));
    }
  }
  ~Pipes() { std::filesystem::remove_all(folder); }
  void let_go() {
    for (int pipe : held_) close(pipe);
  }

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("phl-turns-" + std::to_string(getpid()));

 private:
  std::vector<int> held_;
};

}  // namespace

CASE("two programs take turns, and the one that is left goes on alone") {
  Pipes pipes;
  std::string order;
  const auto measure = [&](const char* side, char name, int times) {
    Turns turns(pipes.folder / side, 0);
    for (int i = 0; i < times; ++i, turns.hand_over()) order += name;
  };
  std::thread second(measure, "second", 'B', 6);
  measure("first", 'A', 3);
  pipes.let_go();
  second.join();
  EXPECT_EQ(order, "ABABABBBB");
}

CASE("a program whose partner never came is not kept waiting") {
  Pipes pipes;
  pipes.let_go();
  Turns turns(pipes.folder / "first", 0);
  turns.hand_over();
}

CASE("a program alone hands over to nobody, and pipes that are not there are an error") {
  Turns alone("", 0);
  alone.hand_over();
  EXPECT_THROW(Turns("/nowhere/first", 0), std::system_error);
}
