#include "parhelion/core/agreement.hpp"

#include <array>
#include <climits>
#include <utility>
#include <vector>

#include "core/meeting.hpp"
#include "core/patient_wait.hpp"
#include "parhelion/core/doing.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/hash.hpp"

namespace parhelion {
namespace {

class Fingerprint final : public Properties {
public:
    void add(std::string_view, std::int64_t value, std::initializer_list<int>) override {
        hash_.add(value);
    }
    void add(std::string_view, std::string_view value, std::initializer_list<int>) override {
        hash_.add_range(value);
    }
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
    void add(std::string_view name, std::int64_t value,
             std::initializer_list<int> numbers) override {
        all.push_back({with_numbers(name, numbers), std::to_string(value)});
    }
    void add(std::string_view name, std::string_view value,
             std::initializer_list<int> numbers) override {
        all.push_back({with_numbers(name, numbers), std::string(value)});
    }
    std::vector<Property> all;
};

std::string joined(const std::vector<Property>& properties) {
    std::string text;
    for (const Property& each : properties)
        text.append(each.name).append(1, '\0').append(each.value).append(1, '\0');
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
std::string difference(const std::vector<Property>& first, const std::vector<Property>& mine,
                       int rank) {
    std::size_t i = 0;
    while (i < first.size() && i < mine.size() && first[i] == mine[i]) ++i;
    if (i == first.size() && i == mine.size()) return {};
    const auto told = [i](const std::vector<Property>& all) {
        return i < all.size() ? all[i] : Property{"nothing", "nothing more"};
    };
    const Property there = told(first), here = told(mine);
    return there.name + " is " + there.value + " on rank 0 and " +
           (here.name == there.name ? "" : here.name + " is ") + here.value + " on rank " +
           std::to_string(rank);
}

// What the lowest rank says that differs from rank 0, and how many do; empty where none says
// anything.
std::string lowest_of(const Communicator& comm, const std::string& differs) {
    const int differ = !differs.empty(), own = differ ? comm.rank() : INT_MAX;
    int lowest = 0, count = 0;
    allreduce(comm, &own, &lowest, 1, MPI_INT, MPI_MIN);
    allreduce(comm, &differ, &count, 1, MPI_INT, MPI_SUM);
    if (count == 0) return {};
    const std::string text = broadcast(comm, differs, lowest);
    if (count == 1) return text;
    return text + " (" + std::to_string(count) + " of the " + std::to_string(comm.size() - 1) +
           " other ranks differ from rank 0)";
}

[[noreturn]] void complain(const Communicator& comm, const std::string& what,
                           const TellProperties& tell, const std::string& remedy) {
    InWords mine;
    tell(mine);
    const std::string first = broadcast(comm, comm.rank() == 0 ? joined(mine.all) : "", 0);
    const std::string differs =
        comm.rank() == 0 ? "" : difference(separated(first), mine.all, comm.rank());
    throw Error(what + " differ between ranks: " + lowest_of(comm, differs) + "; " + remedy);
}

std::string own_call() {
    return Doing::now() != nullptr ? Doing::now()->call() : "another collective call";
}

// All ranks are here, in different calls.
[[noreturn]] void tell_calls(const Communicator& comm) {
    const std::string mine = own_call(), first = broadcast(comm, comm.rank() == 0 ? mine : "", 0);
    const std::string differs = mine == first ? ""
                                              : "rank 0 is in " + first + " and rank " +
                                                    std::to_string(comm.rank()) + " in " + mine;
    throw Error("ranks are in different calls: " + lowest_of(comm, differs) +
                    "; make the same set-up calls in the same order on every rank of "
                    "the communicator",
                ErrorKind::communication);
}

}  // namespace

std::string broadcast(const Communicator& comm, std::string text, int source) {
    int size = static_cast<int>(text.size());
    check_mpi(MPI_Bcast(&size, 1, MPI_INT, source, comm.handle()), "MPI_Bcast");
    text.resize(static_cast<std::size_t>(size));
    check_mpi(MPI_Bcast(text.data(), size, MPI_CHAR, source, comm.handle()), "MPI_Bcast");
    return text;
}

Met meet(const Communicator& comm, bool complains, std::uint64_t print) {
    const std::uint64_t complaint =
        complains ? static_cast<std::uint64_t>(comm.size() - comm.rank()) : 0;
    const std::uint64_t call =
        Doing::now() != nullptr ? Hash().add_range(Doing::now()->call()).value() : 0;
    const std::array<std::uint64_t, 5> mine{
        complaint, print, ~print, call,
        ~call};  // equal everywhere if and only if max(x) = ~max(~x)
    std::array<std::uint64_t, 5> most{};
    allreduce(comm, mine.data(), most.data(), static_cast<int>(most.size()), MPI_UINT64_T, MPI_MAX);
    if (most[3] != ~most[4]) tell_calls(comm);
    return {most[0] == 0 ? -1 : comm.size() - static_cast<int>(most[0]), most[1] == ~most[2]};
}

void require_equal(const Communicator& comm, const std::string& what, const TellProperties& tell,
                   const std::string& remedy, const std::function<void()>& check) {
    Fingerprint print;
    const Complaint complaint = complaint_of([&] {
        if (check) check();
        tell(print);
    });
    const Met met = meet(comm, !complaint.text.empty(), print.value());
    if (met.complainer >= 0) throw_complaint(comm, complaint, met.complainer);
    if (!met.equal) complain(comm, what, tell, remedy);
}

}  // namespace parhelion
