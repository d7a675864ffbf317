#include "support/cases.hpp"

#include <filesystem>
#include <sstream>

namespace test_cases {

namespace {

class Case : public testing::Test {
 public:
  explicit Case(void (*body)()) : body_(body) {}
  void TestBody() override { body_(); }

 private:
  void (*body_)();
};

}  // namespace

bool add(const char* sentence, const char* file, int line, void (*body)()) {
  const std::string suite = std::filesystem::path(file).stem().string();
  testing::RegisterTest(
      suite.c_str(), sentence, nullptr, nullptr, file, line, [body] { return new Case(body); });
  return true;
}

int run() {
  const int status = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() > 0) return status;
  std::cerr << "no case has a name that passes --gtest_filter\n";
  return 1;
}

thread_local const Showable* Showable::innermost_ = nullptr;

std::string shown() {
  std::ostringstream text;
  for (const Showable* each = Showable::innermost(); each != nullptr; each = each->outer()) {
    text << "\n    ";
    each->print(text);
  }
  return text.str();
}

}  // namespace test_cases
