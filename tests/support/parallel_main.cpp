// Every rank runs every test case; the job fails when any rank does. Each rank reports a failure at once, since a rank that
// fails may keep others waiting until the time limit ends the job.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

namespace {

int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

// Failures as lines that begin with the rank.
struct RankReporter : doctest::IReporter {
    const doctest::TestCaseData* current = nullptr;
    explicit RankReporter(const doctest::ContextOptions&) {}

    void print(const std::string& text) const {
        std::ostringstream contexts;
        for (int i = 0; i < get_num_active_contexts(); ++i) {
            contexts << "\n    ";
            get_active_contexts()[i]->stringify(&contexts);
        }
        const std::string all = "[rank " + std::to_string(world_rank()) + "] " + (current ? current->m_name : "") + "\n    " +
                                text + contexts.str() + "\n";
        std::fwrite(all.data(), 1, all.size(), stderr);
        std::fflush(stderr);
    }
    // An exception leaves this rank out of step with the others: they would wait for ever.
    void test_case_exception(const doctest::TestCaseException& exception) override {
        print(std::string("threw: ") + exception.error_string.c_str());
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    void log_assert(const doctest::AssertData& assertion) override {
        if (!assertion.m_failed) return;
        std::ostringstream text;
        text << assertion.m_file << ":" << assertion.m_line << ": " << assertion.m_expr << "\n    is "
             << assertion.m_decomp.c_str() << " " << assertion.m_exception.c_str();
        print(text.str());
    }
    void log_message(const doctest::MessageData&) override {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
    void test_case_start(const doctest::TestCaseData& data) override { current = &data; }
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override { current = nullptr; }
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("rank", 1, RankReporter);

}  // namespace

// PARHELION_TEST_THREADS=funneled: MPI for the main thread only.
int main(int argc, char** argv) {
    const char* threads = std::getenv("PARHELION_TEST_THREADS");
    const bool funneled = threads != nullptr && std::string(threads) == "funneled";
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, &provided);
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    doctest::Context context(argc, argv);
    context.setOption("no-colors", true);
    std::ostringstream summary;  // rank 0's is shown
    context.setCout(&summary);
    const int failed = context.run();

    int failed_anywhere = 0;
    MPI_Allreduce(&failed, &failed_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (world_rank() == 0)
        std::cout << summary.str() << size << " ranks: " << (failed_anywhere ? "FAILED" : "passed") << std::endl;
    MPI_Finalize();
    return failed_anywhere;
}
