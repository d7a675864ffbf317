// What tests say beyond GoogleTest's macros: cases named by a sentence, values that a failure
// shows, errors by what they say.
#pragma once

#include <gtest/gtest.h>

#include <iostream>
#include <ostream>
#include <string>
#include <string_view>

// CASE("a sentence") { … }: one of the suite that is named like its file, so --gtest_filter=maps.*
// runs those of maps.cpp.
#define CASE(sentence) PARHELION_CASE(sentence, PARHELION_JOINED(case_, __COUNTER__))
#define PARHELION_CASE(sentence, name)                                  \
    static void name();                                                 \
    [[maybe_unused]] static const bool PARHELION_JOINED(known_, name) = \
        test_cases::add(sentence, __FILE__, __LINE__, name);            \
    static void name()
#define PARHELION_JOINED(one, other) PARHELION_PASTED(one, other)
#define PARHELION_PASTED(one, other) one##other

// Failures in this scope show the value as it is then. Nothing is allocated before: tests that
// count allocations say what they do, too.
#define CAPTURE(...) PARHELION_CAPTURE(PARHELION_JOINED(captured_, __LINE__), __VA_ARGS__)
#define PARHELION_CAPTURE(name, ...)                                       \
    const test_cases::Shown name([&](std::ostream& out) {                  \
        out << #__VA_ARGS__ " is " << testing::PrintToString(__VA_ARGS__); \
    })

// The expression throws a Type that says `text` somewhere.
#define EXPECT_ERROR(Type, text, ...) \
    EXPECT_TRUE(test_cases::throws<Type>(text, [&] { static_cast<void>(__VA_ARGS__); }))

namespace test_cases {

bool add(const char* sentence, const char* file, int line, void (*body)());

// Runs the cases; 0: all are right. A filter that none of them passes is a mistake, too.
int run();

// One of this thread's values to be shown, in the order of scopes.
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

// One line for each value that is to be shown now.
std::string shown();

template <class Error, class Call>
testing::AssertionResult throws(std::string_view text, Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        if (std::string_view(error.what()).find(text) != std::string_view::npos)
            return testing::AssertionSuccess();
        return testing::AssertionFailure() << "it says " << testing::PrintToString(error.what())
                                           << ", without '" << text << "'";
    }
    return testing::AssertionFailure() << "nothing was thrown that says '" << text << "'";
}

}  // namespace test_cases

// A line of output, as of what is skipped: of rank 0 alone where there are ranks.
template <class... Parts>
void say(const Parts&... parts) {
    (std::cout << ... << parts) << std::endl;
}
