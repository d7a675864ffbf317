// A list with inline storage for small sizes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <vector>

namespace parhelion {

/// Stores up to N elements inline, more in a vector.
template <class T, std::size_t N>
class ShortList {
 public:
  ShortList() = default;
  ShortList(std::initializer_list<T> all) { append(all); }
  ShortList(const std::vector<T>& all) { append(all); }  // NOLINT: implicit

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return size_ <= N ? few_.data() : many_.data(); }
  const T* begin() const { return size_ <= N ? few_.data() : many_.data(); }
  T* end() { return begin() + size_; }
  const T* end() const { return begin() + size_; }
  /// Unchecked.
  T& operator[](std::size_t i) { return begin()[i]; }
  const T& operator[](std::size_t i) const { return begin()[i]; }
  T& front() { return *begin(); }
  const T& front() const { return *begin(); }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }
  /// Throws std::out_of_range.
  const T& at(std::size_t i) const {
    if (i >= size_) throw std::out_of_range("ShortList::at");
    return (*this)[i];
  }

  /// Beyond N, moves all elements to a vector.
  void push_back(T value) {
    if (size_ == N) many_.assign(few_.begin(), few_.end());
    if (size_ >= N) many_.push_back(std::move(value));
    else few_[size_] = std::move(value);
    ++size_;
  }
  /// New elements are value-initialized.
  void resize(std::size_t count) {
    std::vector<T> all(begin(), begin() + std::min(count, size_));
    all.resize(count);
    clear();
    append(all);
  }
  void clear() {
    few_ = {};
    many_.clear();
    size_ = 0;
  }
  friend bool operator==(const ShortList& a, const ShortList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  template <class List>
  void append(const List& all) {
    for (const T& each : all) push_back(each);
  }
  std::array<T, N> few_{};
  std::vector<T> many_;  // all elements if size_ > N
  std::size_t size_ = 0;
};

}  // namespace parhelion
