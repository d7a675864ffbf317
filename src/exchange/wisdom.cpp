#include "exchange/wisdom.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "parhelion/core/hash.hpp"

namespace parhelion {
namespace {

constexpr std::string_view title = "parhelion wisdom 1";
constexpr std::size_t longest_text = 500;  // of a field
constexpr std::size_t most_entries = 10000;

std::string in_hex(std::uint64_t number) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    return text;
}

std::optional<std::uint64_t> from_hex(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    if (wrong != std::errc() || end != text.data() + text.size() || text.size() != 16) return std::nullopt;
    return number;
}

std::string checksum(std::string_view text) { return in_hex(Hash().add_range(text).value()); }

bool is_printable(std::string_view text) {
    return !text.empty() && text.size() <= longest_text &&
           std::all_of(text.begin(), text.end(), [](unsigned char letter) { return letter >= ' ' && letter != 0x7f; });
}

std::vector<std::string_view> separated(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t tab; (tab = line.find('\t')) != line.npos; line.remove_prefix(tab + 1)) words.push_back(line.substr(0, tab));
    words.push_back(line);
    return words;
}

std::optional<WisdomEntry> entry_of(std::string_view line) {
    const auto words = separated(line);
    if (words.size() != 6) return std::nullopt;
    if (words[5] != checksum(line.substr(0, line.size() - words[5].size()))) return std::nullopt;
    const auto plan = from_hex(words[0]);
    double nanoseconds = 0;
    const auto [end, wrong] = std::from_chars(words[2].data(), words[2].data() + words[2].size(), nanoseconds);
    const bool number = wrong == std::errc() && end == words[2].data() + words[2].size() && std::isfinite(nanoseconds) && nanoseconds >= 0;
    if (!plan || !number || !is_printable(words[1]) || !is_printable(words[3]) || !is_printable(words[4])) return std::nullopt;
    return WisdomEntry{{*plan, std::string(words[3]), std::string(words[4])}, std::string(words[1]), nanoseconds * 1e-9};
}

std::string line_of(const WisdomEntry& entry) {
    char nanoseconds[32];
    std::snprintf(nanoseconds, sizeof nanoseconds, "%.0f", entry.seconds * 1e9);
    const std::string text =
        in_hex(entry.key.plan) + "\t" + entry.choice + "\t" + nanoseconds + "\t" + entry.key.machine + "\t" + entry.key.mpi + "\t";
    return text + checksum(text) + "\n";
}

}  // namespace

std::vector<WisdomEntry> read_wisdom(std::string_view text, std::string& complaint) {
    std::vector<WisdomEntry> entries;
    complaint.clear();
    if (is_foreign(text)) {
        complaint = "it does not begin with '" + std::string(title) + "'";
        return {};
    }
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (++number == 1) continue;
        if (auto entry = entry_of(line); entry && entries.size() < most_entries) entries.push_back(std::move(*entry));
        else if (complaint.empty()) complaint = "line " + std::to_string(number) + " is damaged";
    }
    return entries;
}

bool is_foreign(std::string_view text) { return !text.empty() && text.substr(0, text.find('\n')) != title; }

std::string write_wisdom(const std::vector<WisdomEntry>& entries) {
    std::string text = std::string(title) + "\n";
    for (const WisdomEntry& entry : entries) text += line_of(entry);
    return text;
}

}  // namespace parhelion
