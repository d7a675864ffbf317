// Test macros beyond GoogleTest's: cases named by a sentence, values shown on failure, errors by
// message.
#pragma once

#include <gtest/gtest.h>

#include <iostream>
#include <ostream>
#include <string>
#include <string_view>

// CASE("a sentence") { … }: the suite has the file's name: --gtest_filter=maps.* runs maps.cpp.
#define CASE(sentence) PARHELION_CASE(sentence, PARHELION_JOINED(case_, __COUNTER__))
#define PARHELION_CASE(sentence, name) \
  static void name(); \
  [[maybe_unused]] static const bool PARHELION_JOINED(known_, name) = \
      test_cases::add(sentence, __FILE__, __LINE__, name); \
  static void name()
#define PARHELION_JOINED(one, other) PARHELION_PASTED(one, other)
#define PARHELION_PASTED(one, other) one##other

// Failures in this scope show the current value. Allocates on failure only, for tests that count
// allocations.
#define CAPTURE(...) PARHELION_CAPTURE(PARHELION_JOINED(captured_, __LINE__), __VA_ARGS__)
#define PARHELION_CAPTURE(name, ...) \
  const test_cases::Shown name([&](std::ostream& out) { \
    out << #__VA_ARGS__ " is " << testing::PrintToString(__VA_ARGS__); \
  })

// The expression throws a Type with `text` in its message.
#define EXPECT_ERROR(Type, text, ...) \
  EXPECT_TRUE(test_cases::throws<Type>(text, [&] { static_cast<void>(__VA_ARGS__); }))

namespace test_cases {

bool add(const char* sentence, const char* file, int line, void (*body)());

// Runs the cases; 0: all pass. A filter without matches fails too.
int run();

// A captured value of this thread; values form a stack of scopes.
class Showable {
 public:
  Showable(const Showable&) = delete;
  virtual void print(std::ostream& out) const = 0;
  const Showable* outer() const { return outer_; }
  static const Showable* innermost() { return innermost_; }

 protected:
  Showable() : outer_(innermost_) { innermost_ = this; }
  ~Showable() { innermost_ = outer_; }

 private:
  static thread_local const Showable* innermost_;
  const Showable* outer_;
};

template <class Print>
class Shown final : public Showable {
 public:
  explicit Shown(Print print) : print_(print) {}
  void print(std::ostream& out) const override { print_(out); }

 private:
  Print print_;
};

// One line per captured value.
std::string shown();

template <class Error, class Call>
testing::AssertionResult throws(std::string_view text, Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(text) != std::string_view::npos)
      return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "it says " << testing::PrintToString(error.what()) << ", without '" << text << "'";
  }
  return testing::AssertionFailure() << "nothing was thrown that says '" << text << "'";
}

}  // namespace test_cases

// Prints a line, such as a reason for skipping; on rank 0 only.
template <class... Parts>
void say(const Parts&... parts) {
  (std::cout << ... << parts) << std::endl;
}
