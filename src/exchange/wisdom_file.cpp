#include <mpi.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>

#include "exchange/wisdom.hpp"

namespace parhelion {
namespace {

constexpr off_t largest_file = off_t{8} << 20;

std::mutex mutex;  // all files'; each is read once, and written after a measurement

// One line, without what separates the file's fields.
std::string in_one_line(std::string text) {
    for (char& letter : text)
        if (static_cast<unsigned char>(letter) < ' ' || letter == 0x7f) letter = ' ';
    text.erase(text.find_last_not_of(' ') + 1);
    constexpr std::size_t enough = 200;
    return text.empty() ? "unknown" : text.substr(0, enough);
}

std::string processor() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.starts_with("model name")) return line.substr(std::min(line.find(':') + 2, line.size()));
    return "unknown processor";
}

// What the file holds; nothing where there is none. Or why it cannot be a file of wisdom.
std::string text_of(const std::string& path, std::string& text) {
    struct stat status{};
    if (stat(path.c_str(), &status) != 0) return errno == ENOENT ? "" : std::strerror(errno);
    if (!S_ISREG(status.st_mode)) return "it is no regular file";
    if (status.st_size > largest_file) return "it has more than 8 MiB";
    std::ifstream file(path, std::ios::binary);
    text.resize(static_cast<std::size_t>(status.st_size));
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    return file ? "" : "it cannot be read";
}

bool write_all(const std::string& text, int file) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t now = write(file, text.data() + done, text.size() - done);
        if (now < 0 && errno != EINTR) return false;
        if (now > 0) done += static_cast<std::size_t>(now);
    }
    return true;
}

// Readers find the old file or the new one, never half of one.
std::string replace_file(const std::string& path, const std::string& text) {
    std::string draft = path + ".XXXXXX";
    const int file = mkstemp(draft.data());
    if (file < 0) return std::strerror(errno);
    const bool written = write_all(text, file) && fchmod(file, 0644) == 0;
    const bool closed = close(file) == 0;
    if (written && closed && std::rename(draft.c_str(), path.c_str()) == 0) return {};
    const std::string why = std::strerror(errno);
    unlink(draft.c_str());
    return why;
}

}  // namespace

std::optional<std::string> WisdomFile::find(const WisdomKey& key) {
    const std::lock_guard lock(mutex);
    if (!read_) read();
    for (const WisdomEntry& entry : entries_)
        if (entry.key == key) return entry.choice;
    return std::nullopt;
}

// Others may have written meanwhile: what they know is kept.
void WisdomFile::learn(const WisdomEntry& entry) {
    const std::lock_guard lock(mutex);
    read();
    std::erase_if(entries_, [&](const WisdomEntry& known) { return known.key == entry.key; });
    entries_.push_back(entry);
    if (foreign_) return;
    if (const std::string why = replace_file(path_, write_wisdom(entries_)); !why.empty()) say("it cannot be written: " + why);
}

void WisdomFile::read() {
    read_ = true;
    std::string text, complaint = text_of(path_, text);
    foreign_ = !complaint.empty();
    std::vector<WisdomEntry> found;
    if (!foreign_) found = read_wisdom(text, complaint);
    foreign_ = foreign_ || is_foreign(text);
    if (!complaint.empty()) say(complaint + (foreign_ ? "; it stays as it is" : "; the rest of it is used"));
    for (const WisdomEntry& known : entries_)
        if (std::none_of(found.begin(), found.end(), [&](const WisdomEntry& each) { return each.key == known.key; }))
            found.push_back(known);
    entries_ = std::move(found);
}

void WisdomFile::say(const std::string& what) {
    if (said_) return;
    said_ = true;
    std::fprintf(stderr, "parhelion: PARHELION_WISDOM, file %s: %s\n", path_.c_str(), what.c_str());
}

WisdomFile* wisdom_file() {
    const char* path = std::getenv("PARHELION_WISDOM");
    if (path == nullptr || *path == '\0') return nullptr;
    static std::map<std::string, WisdomFile> files;
    const std::lock_guard lock(mutex);
    return &files.try_emplace(path, path).first->second;
}

std::string wisdom_machine() {
    utsname system{};
    uname(&system);
    return in_one_line(processor() + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " cores, " + system.sysname + " " +
                       system.machine);
}

std::string wisdom_mpi() {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(version, &length);
    std::string text(version, static_cast<std::size_t>(length));
    return in_one_line(text.substr(0, text.find('\n')));
}

}  // namespace parhelion
