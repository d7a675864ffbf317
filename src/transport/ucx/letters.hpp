// Bytes in letters between neighbors.
#pragma once

#include <cstring>
#include <string>

#include "pattern/words.hpp"

namespace parhelion {

inline void put_text(Words& words, const std::string& text) {
    words.push_back(static_cast<global_index>(text.size()));
    const std::size_t at = words.size();
    words.resize(at + (text.size() + sizeof(global_index) - 1) / sizeof(global_index), 0);
    std::memcpy(words.data() + at, text.data(), text.size());
}

inline std::string get_text(WordReader& letter) {
    std::string text(letter.next_in<std::size_t>(0, 1 << 20), '\0');
    for (std::size_t at = 0; at < text.size(); at += sizeof(global_index)) {
        const global_index word = letter.next();
        std::memcpy(text.data() + at, &word, std::min(sizeof word, text.size() - at));
    }
    return text;
}

}  // namespace parhelion
