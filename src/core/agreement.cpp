#include "parhelion/core/agreement.hpp"

#include <climits>
#include <utility>
#include <vector>

#include "core/patient_wait.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/hash.hpp"

namespace parhelion {
namespace {

class Fingerprint final : public Properties {
public:
    void add(std::string_view, std::int64_t value, std::initializer_list<int>) override { hash_.add(value); }
    void add(std::string_view, std::string_view value, std::initializer_list<int>) override { hash_.add_range(value); }
    std::uint64_t value() const { return hash_.value(); }

private:
    Hash hash_;
};

struct Property {
    std::string name, value;
    friend bool operator==(const Property&, const Property&) = default;
};

std::string with_numbers(std::string_view name, std::initializer_list<int> numbers) {
    std::string text;
    auto next = numbers.begin();
    for (char letter : name) {
        if (letter == '%' && next != numbers.end()) text += std::to_string(*next++);
        else text += letter;
    }
    return text;
}

class InWords final : public Properties {
public:
    void add(std::string_view name, std::int64_t value, std::initializer_list<int> numbers) override {
        all.push_back({with_numbers(name, numbers), std::to_string(value)});
    }
    void add(std::string_view name, std::string_view value, std::initializer_list<int> numbers) override {
        all.push_back({with_numbers(name, numbers), std::string(value)});
    }
    std::vector<Property> all;
};

std::string broadcast(const Communicator& comm, std::string text, int source) {
    int size = static_cast<int>(text.size());
    check_mpi(MPI_Bcast(&size, 1, MPI_INT, source, comm.handle()), "MPI_Bcast");
    text.resize(static_cast<std::size_t>(size));
    check_mpi(MPI_Bcast(text.data(), size, MPI_CHAR, source, comm.handle()), "MPI_Bcast");
    return text;
}

std::string joined(const std::vector<Property>& properties) {
    std::string text;
    for (const Property& each : properties) text.append(each.name).append(1, '\0').append(each.value).append(1, '\0');
    return text;
}

std::string next_word(std::string_view& text) {
    const auto end = text.find('\0');
    const std::string word(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    return word;
}

std::vector<Property> separated(std::string_view text) {
    std::vector<Property> properties;
    while (!text.empty()) {
        std::string name = next_word(text);
        properties.push_back({std::move(name), next_word(text)});
    }
    return properties;
}

// The first property that is not as rank 0 has it; empty when all are.
std::string difference(const std::vector<Property>& first, const std::vector<Property>& mine, int rank) {
    std::size_t i = 0;
    while (i < first.size() && i < mine.size() && first[i] == mine[i]) ++i;
    if (i == first.size() && i == mine.size()) return {};
    const auto told = [i](const std::vector<Property>& all) { return i < all.size() ? all[i] : Property{"nothing", "nothing more"}; };
    const Property there = told(first), here = told(mine);
    return there.name + " is " + there.value + " on rank 0 and " + (here.name == there.name ? "" : here.name + " is ") + here.value +
           " on rank " + std::to_string(rank);
}

[[noreturn]] void complain(const Communicator& comm, const std::string& what, const TellProperties& tell, const std::string& remedy) {
    InWords mine;
    tell(mine);
    const std::string first = broadcast(comm, comm.rank() == 0 ? joined(mine.all) : "", 0);
    const std::string differs = comm.rank() == 0 ? "" : difference(separated(first), mine.all, comm.rank());
    const int differ = !differs.empty(), own = differ ? comm.rank() : INT_MAX;
    int lowest = 0, count = 0;
    allreduce(comm, &own, &lowest, 1, MPI_INT, MPI_MIN);
    allreduce(comm, &differ, &count, 1, MPI_INT, MPI_SUM);
    std::string text = what + " differ between ranks: ";
    if (count > 0) text += broadcast(comm, differs, lowest);
    if (count > 1)
        text += " (" + std::to_string(count) + " of the " + std::to_string(comm.size() - 1) + " other ranks differ from rank 0)";
    throw Error(text + "; " + remedy);
}

}  // namespace

void require_equal(const Communicator& comm, const std::string& what, const TellProperties& tell, const std::string& remedy) {
    Fingerprint print;
    tell(print);
    const std::uint64_t mine[2] = {print.value(), ~print.value()};  // equal everywhere if and only if max(x) = ~max(~x)
    std::uint64_t most[2];
    allreduce(comm, mine, most, 2, MPI_UINT64_T, MPI_MAX);
    if (most[0] != ~most[1]) complain(comm, what, tell, remedy);
}

}  // namespace parhelion
