// Patterns as 64-bit words, for neighbors that compare their sides.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "parhelion/core/error.hpp"
#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

using Words = std::vector<global_index>;

template <class Range>
void put_list(Words& words, const Range& list) {
    words.push_back(static_cast<global_index>(list.size()));
    words.insert(words.end(), list.begin(), list.end());
}
void put_box(Words& words, const Box& box);
void put_selection(Words& words, const Selection& side);

/// Reads words in order, never past the end, nor lists longer than the rest. Throws Error with
/// `what`.
class WordReader {
public:
    WordReader(const Words& words, std::string what) : words_(words), what_(std::move(what)) {}
    [[noreturn]] void refuse(const std::string& why) const;
    global_index next();
    template <class T>
    T next_in(global_index lo, global_index hi) {
        const global_index value = next();
        if (value < lo || value > hi)
            refuse("the number " + std::to_string(value) + " is out of range");
        return static_cast<T>(value);
    }
    /// Length of a list whose entries take `words_each` words.
    std::size_t count(std::size_t words_each);
    std::vector<local_index> list();
    Box box();
    Selection selection();
    bool at_end() const { return at_ == words_.size(); }

private:
    const Words& words_;
    std::string what_;
    std::size_t at_ = 0;
};

}  // namespace parhelion
