// Helpers for tests over structured and unstructured fields.
#pragma once

#include <string>
#include <vector>

#include "parhelion/parhelion.hpp"
#include "support/cases.hpp"
#include "support/values.hpp"

namespace test {

template <class FieldKind>
std::vector<Field> views(const std::vector<FieldKind>& fields) {
  std::vector<Field> result;
  for (const auto& field : fields) result.push_back(field.view());
  return result;
}

/// Exchanges forward twice: all ghosts are correct, nothing else changed.
template <class FieldKind>
void check_forward(Exchange& exchange, std::vector<FieldKind>& fields, int round) {
  for (auto& field : fields) field.fill(Values::bits, round), field.expect_forward();
  for (int time = 0; time < 2; ++time) {  // the second exchange changes nothing
    exchange();
    for (const auto& field : fields) EXPECT_EQ(field.difference(), "");
  }
}

/// Every owner gets the reduction of its own and its ghosts' values. The elements must support it.
template <class FieldKind>
void check_reverse(Exchange& exchange, std::vector<FieldKind>& fields, Reduction reduction,
    bool staged, int round) {
  for (auto& field : fields) {
    field.fill(Values::whole, round);
    field.fill_ghosts(reduction);
    field.expect_reverse(reduction);
  }
  exchange.reverse(reduction);
  for (auto& field : fields) {
    if constexpr (requires { field.accept_ghosts(); })
      if (staged) field.accept_ghosts();
    EXPECT_EQ(field.difference(), "");
  }
}

/// The message of the Error that `call` throws, or "".
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace test
