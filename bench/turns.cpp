#include "turns.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace parhelion::bench {

namespace {

// With O_RDWR opening does not block and writing raises no SIGPIPE.
int pipe_of(const std::filesystem::path& side, int rank, int how) {
  const std::string path = side.string() + "." + std::to_string(rank);
  const int pipe = open(path.c_str(), how | O_CLOEXEC);
  if (pipe < 0) throw std::system_error(errno, std::generic_category(), path);
  return pipe;
}

}  // namespace

Turns::Turns(const std::string& told, int rank) {
  if (told.empty()) return;
  const std::filesystem::path own = told;
  const bool first = own.filename() == "first";
  // Read end only: without writers read() returns 0, which means that the other program ended.
  mine_ = pipe_of(own, rank, O_RDONLY | O_NONBLOCK);
  fcntl(mine_, F_SETFL, O_RDONLY);
  theirs_ = pipe_of(own.parent_path() / (first ? "second" : "first"), rank, O_RDWR);
  if (!first) give();  // the first program begins
  wait();
}

Turns::~Turns() {
  give();
  if (mine_ >= 0) close(mine_);
  if (theirs_ >= 0) close(theirs_);
}

void Turns::hand_over() {
  if (theirs_ < 0) return;
  give();
  wait();
}

void Turns::give() {
  if (theirs_ >= 0 && write(theirs_, "", 1) != 1) close(std::exchange(theirs_, -1));
}

void Turns::wait() {
  char token;
  ssize_t taken;
  while ((taken = read(mine_, &token, 1)) < 0 && errno == EINTR) continue;
  if (taken != 1 && theirs_ >= 0) close(std::exchange(theirs_, -1));
}

}  // namespace parhelion::bench
