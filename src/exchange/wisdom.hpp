// What was learnt by measuring, kept between runs.
//
// A file of lines: the first says what it is, each of the others holds a plan's fingerprint, the choice, what it took, machine, MPI and a
// checksum, separated by tabs. People may read it and delete lines of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

/// What a choice depends on.
struct WisdomKey {
    std::uint64_t plan = 0;
    std::string machine, mpi;
    friend bool operator==(const WisdomKey&, const WisdomKey&) = default;
};

struct WisdomEntry {
    WisdomKey key;
    std::string choice;  ///< as parse_choice takes it
    double seconds = 0;  ///< that an exchange took
};

/// The entries of a file's text that are whole; `complaint` tells what else is in it, empty where nothing is.
std::vector<WisdomEntry> read_wisdom(std::string_view text, std::string& complaint);
/// Whether the text is something else than a file of wisdom. An empty one is none.
bool is_foreign(std::string_view text);
std::string write_wisdom(const std::vector<WisdomEntry>& entries);

/// Rank 0's view of the file. Never throws for what is in the file, or for a file that cannot be read or written: it says so once, on
/// stderr. Safe for threads.
class WisdomFile {
public:
    explicit WisdomFile(std::string path) : path_(std::move(path)) {}
    std::optional<std::string> find(const WisdomKey& key);
    /// Writes it down beside what the file holds by now; the file is replaced in one step. A file that is something else stays as it is.
    void learn(const WisdomEntry& entry);

private:
    void read();
    void say(const std::string& what);
    std::string path_;
    std::vector<WisdomEntry> entries_;
    bool read_ = false, said_ = false, foreign_ = false;
};

/// The file that PARHELION_WISDOM names; null where it names none. The same one for equal names, for the life of the process.
WisdomFile* wisdom_file();

/// What this process runs on: the processor's name, its cores, the system; and the MPI's version. In one line each.
std::string wisdom_machine();
std::string wisdom_mpi();

}  // namespace parhelion
