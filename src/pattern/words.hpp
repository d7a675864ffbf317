// Patterns as 64-bit words, for neighbors.
#pragma once

#include <vector>

#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

using Words = std::vector<global_index>;

template <class Range>
void put_list(Words& words, const Range& list) {
  words.push_back(list.size());
  words.insert(words.end(), list.begin(), list.end());
}
void put_box(Words& words, const Box& box);
void put_selection(Words& words, const Selection& side);

/// Reads words in order. Throws Error past their end: the neighbor runs another version.
class WordReader {
 public:
  explicit WordReader(const Words& words) : words_(words) {}
  template <class T = global_index>
  T next() {
    if (at_end()) refuse();
    return static_cast<T>(words_[at_++]);
  }
  template <class T = local_index>
  std::vector<T> list() {
    std::vector<T> all;
    for (auto count = next(); count > 0; --count) all.push_back(next<T>());
    return all;
  }
  Box box();
  Selection selection();
  bool at_end() const { return at_ == words_.size(); }

 private:
  [[noreturn]] static void refuse();

  const Words& words_;
  std::size_t at_ = 0;
};

}  // namespace parhelion
