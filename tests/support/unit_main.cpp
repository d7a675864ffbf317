// Runs the cases in one process.
#include <cstdio>

#include "support/cases.hpp"

namespace {

struct Shower : testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) std::printf("%s\n", test_cases::shown().c_str());
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new Shower);
  return test_cases::run();
}
