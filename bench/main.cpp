// phl-bench BENCHMARK [OPTIONS], under any launcher: see docs/architecture.md, "Measuring".
// Exit status: 0; 1 if a value was wrong; 2 for bad input.

#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "alltoall/case.hpp"
#include "program.hpp"
#include "variant.hpp"

using namespace parhelion;
using namespace parhelion::bench;

namespace {

// Without a network for UCX, Open MPI 5 prints "OSC UCX component priority set inside component
// query failed" per rank and window, though another component works. Silences UCX components only.
void silence_false_alarm() { setenv("OMPI_MCA_opal_common_ucx_verbose", "-1", 0); }

int write(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return all_right;
  std::perror("phl-bench: cannot write standard output");
  return bad_input;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words.back() == "--help" || words.back() == "-h")
    return write(help_text(words.size() > 1 ? words[0] : ""));
  if (words.size() == 1 && words[0] == "--list") return write(list_variants().dump(1) + "\n");
  const Request asked = read_words(words);
  silence_false_alarm();
  std::signal(SIGXFSZ, SIG_IGN);  // at a file-size limit, writes then fail with EFBIG
  const double start = now();
  int thread_level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &thread_level);
  Beginning beginning{now() - start, nullptr, nullptr};
  if (asked.cold_bytes) beginning.cold_alltoall = call_while_cold(asked.cold_bytes);
  const int status = measure(asked, beginning, plan_cases);
  MPI_Finalize();
  return status;
}
