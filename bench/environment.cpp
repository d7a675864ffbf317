#include "environment.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <regex>
#include <sstream>
#include <vector>

#include "environment_names.hpp"

namespace parhelion::bench {

namespace {

std::vector<std::string> lines_of(const char* text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (!line.empty() && line[0] != '#') lines.push_back(line);
    return lines;
}

std::vector<std::string> words_of(const char* text) {
    std::vector<std::string> words;
    for (const std::string& line : lines_of(text)) {
        std::istringstream stream(line);
        for (std::string word; stream >> word;) words.push_back(word);
    }
    return words;
}

bool is_like(const std::string& name, const std::string& pattern) {
    return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                  : name == pattern;
}

bool known(const std::string& name) {
    static const std::vector<std::string> words = words_of(variable_names);
    const auto any = [](const std::string& of) {
        return std::any_of(words.begin(), words.end(),
                           [&](const std::string& word) { return is_like(of, word); });
    };
    return any(name) && !any("!" + name);
}

std::vector<std::regex> patterns(const std::string& kind) {
    std::vector<std::regex> found;
    for (const std::string& line : lines_of(secret_patterns))
        if (line.rfind(kind + " ", 0) == 0)
            found.emplace_back(line.substr(kind.size() + 1),
                               std::regex::ECMAScript | std::regex::icase);
    return found;
}

bool any_matches(const std::vector<std::regex>& patterns, const std::string& text) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::regex& p) { return std::regex_search(text, p); });
}

}  // namespace

bool smells_of_a_secret(const std::string& name, const std::string& value) {
    static const std::vector<std::regex> names = patterns("name"), values = patterns("value");
    return any_matches(names, name) || any_matches(values, value);
}

nlohmann::json known_variables() {
    nlohmann::json found = nlohmann::json::object();
    for (char** entry = environ; *entry; ++entry) {
        const std::string text = *entry;
        const auto equals = text.find('=');
        if (equals == std::string::npos) continue;
        const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
        if (known(name) && !smells_of_a_secret(name, value)) found[name] = value;
    }
    return found;
}

namespace {

using nlohmann::json;

constexpr int longest = 4096;

struct Variable {
    std::string name;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int bound_to = MPI_T_BIND_NO_OBJECT;
};

bool of_interest(std::string name) {
    static const std::array<const char*, 6> words{"alltoall",           "eager",  "rndv",
                                                  "device_collectives", "netmod", "fabrics"};
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return std::any_of(words.begin(), words.end(),
                       [&](const char* w) { return name.find(w) != std::string::npos; });
}

bool describe(int index, Variable& variable) {
    std::array<char, longest> name{}, text{};
    int name_length = longest, text_length = longest, verbosity = 0, scope = 0;
    MPI_T_enum values{};
    if (MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &variable.type, &values,
                            text.data(), &text_length, &variable.bound_to, &scope) != MPI_SUCCESS)
        return false;
    variable.name = name.data();
    return true;
}

template <class T>
json first_of(const std::array<char, longest>& bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

json decoded(MPI_Datatype type, const std::array<char, longest>& bytes) {
    if (type == MPI_CHAR) return std::string(bytes.data(), strnlen(bytes.data(), bytes.size()));
    if (type == MPI_INT) return first_of<int>(bytes);
    if (type == MPI_UNSIGNED) return first_of<unsigned>(bytes);
    if (type == MPI_UNSIGNED_LONG) return first_of<unsigned long>(bytes);
    if (type == MPI_UNSIGNED_LONG_LONG) return first_of<unsigned long long>(bytes);
    if (type == MPI_DOUBLE) return first_of<double>(bytes);
    return nullptr;
}

json variable_value(int index, const Variable& variable) {
    MPI_T_cvar_handle handle{};
    int count = 0;
    if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return nullptr;
    std::array<char, longest> bytes{};
    const bool fits = count > 0 && count < longest / 8;
    const bool known = fits && MPI_T_cvar_read(handle, bytes.data()) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return known ? decoded(variable.type, bytes) : json(nullptr);
}

json all_of_interest() {
    json found = json::object();
    int count = 0;
    if (MPI_T_cvar_get_num(&count) != MPI_SUCCESS) return found;
    for (int index = 0; index < count; ++index) {
        Variable variable;
        if (!describe(index, variable) || variable.bound_to != MPI_T_BIND_NO_OBJECT ||
            !of_interest(variable.name))
            continue;
        const json value = variable_value(index, variable);
        const std::string text = value.is_string() ? value.get<std::string>() : "";
        if (!value.is_null() && !smells_of_a_secret(variable.name, text))
            found[variable.name] = value;
    }
    return found;
}

}  // namespace

json mpi_control_variables() {
    int provided = MPI_THREAD_SINGLE;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return json::object();
    json found = all_of_interest();
    MPI_T_finalize();
    return found;
}

}  // namespace parhelion::bench
