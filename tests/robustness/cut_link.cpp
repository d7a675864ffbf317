// cut_link DIRECTORY TRANSPORT SECONDS: two ranks on two hosts exchange; rank 0 takes the link
// down, then up again. DIRECTORY/r gets each rank's seconds since the cut, kind of error and
// message.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "parhelion/parhelion.hpp"

using namespace parhelion;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void write(const std::filesystem::path& file, const std::string& text) {
  const auto hidden = file.string() + ".part";
  std::ofstream(hidden) << text;
  std::filesystem::rename(hidden, file);
}

void set_link(const char* state) {
  if (std::system(
          (std::string("PATH=$PATH:/usr/sbin:/sbin ip link set cable1 ") + state).c_str()) != 0)
    _exit(4);
}

// Cuts the link during an exchange: rank 0 has begun, rank 1 begins afterwards.
void exchange_until_cut(const std::filesystem::path& directory, const Communicator& comm,
    const ExchangeOptions& options) {
  const CartesianDomain domain(
      {16 * comm.size(), 64, 64}, {.halo = 1, .process_grid = {comm.size(), 1, 1}}, comm);
  auto u = make_array<double>(domain);
  Exchange exchange(build_pattern(domain), {view(u)}, options);
  for (int i = 0; i < 20; ++i) exchange();
  if (comm.rank() == 0) {
    auto step = exchange.begin();
    set_link("down");
    write(directory / "cut", std::to_string(now()));
    step.end();
  }
  while (!std::filesystem::exists(directory / "cut"))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int i = 0; i < 20; ++i) exchange();  // messages sent before the cut may have arrived
}

double cut_time(const std::filesystem::path& directory) {
  double time = now();
  std::ifstream(directory / "cut") >> time;
  return time;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) return 2;
  const std::filesystem::path directory = argv[1];
  const Communicator comm(MPI_COMM_WORLD);
  std::string told = "0\n0\nnothing";
  try {
    exchange_until_cut(directory, comm, {.transport = argv[2], .timeout_s = std::atof(argv[3])});
  } catch (const Error& error) {
    told = std::to_string(now() - cut_time(directory)) + "\n" +
           std::to_string(static_cast<int>(error.kind())) + "\n" + error.what();
  }
  write(directory / std::to_string(comm.rank()), told);
  for (int tenths = 0;
      tenths < 300 && !std::filesystem::exists(directory / std::to_string(1 - comm.rank()));
      ++tenths)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (comm.rank() == 0) set_link("up");
  _exit(0);
}
