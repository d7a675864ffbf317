// Every rank runs every test case; the job fails when any rank does. Passing ranks other than 0 keep
// silent, so that the output reads like that of one process.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <iostream>
#include <mpi.h>
#include <sstream>
#include <string>

namespace {

int run_captured(doctest::Context& context, std::ostringstream& output) {
    context.setCout(&output);
    return context.run();
}

void print_with_rank(const std::string& text, int rank) {
    std::istringstream lines(text);
    std::string all;
    for (std::string line; std::getline(lines, line);)
        all += "[rank " + std::to_string(rank) + "] " + line + "\n";
    std::fwrite(all.data(), 1, all.size(), stderr);
}

}  // namespace

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    doctest::Context context(argc, argv);
    context.setOption("no-colors", true);
    std::ostringstream output;
    const int failed = run_captured(context, output);
    if (failed)
        print_with_rank(output.str(), rank);

    int failed_anywhere = 0;
    MPI_Allreduce(&failed, &failed_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        if (!failed_anywhere)
            std::cout << output.str();
        std::cout << size << " ranks: " << (failed_anywhere ? "FAILED" : "passed") << std::endl;
    }
    MPI_Finalize();
    return failed_anywhere;
}
