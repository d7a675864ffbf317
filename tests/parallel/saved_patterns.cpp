// Patterns on disk: what was saved comes back, and nothing else does.
#include <cstring>
#include <limits>
#include <sstream>

#include "parhelion/core/hash.hpp"
#include "parhelion/core/sparse_exchange.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/meshes.hpp"

using namespace test;

namespace {

std::string saved(const Pattern& pattern) {
    std::ostringstream stream;
    save(pattern, stream);
    return stream.str();
}

Pattern loaded(const std::string& bytes, Communicator comm = MPI_COMM_WORLD) {
    std::istringstream stream(bytes);
    return load_pattern(stream, comm);
}

bool equal(const Pattern& a, const Pattern& b) {
    return a.dimensions == b.dimensions && a.blocks == b.blocks && a.halo == b.halo && a.owned == b.owned && a.ghosts == b.ghosts &&
           a.stages == b.stages;
}

constexpr std::size_t header_bytes = 24;  // magic, number of words, checksum

using Words = std::vector<global_index>;

Words words_of(const std::string& bytes) {
    Words words((bytes.size() - header_bytes) / 8);
    std::memcpy(words.data(), bytes.data() + header_bytes, words.size() * 8);
    return words;
}

// As a program that knows the format would write it: the checksum is right.
std::string with_words(std::string bytes, const Words& words) {
    const std::uint64_t numbers[2] = {words.size(), Hash{}.add_range(words).value()};
    bytes.resize(header_bytes + words.size() * 8);
    std::memcpy(bytes.data() + 8, numbers, sizeof numbers);
    std::memcpy(bytes.data() + header_bytes, words.data(), words.size() * 8);
    return bytes;
}

// Small patterns of one rank with its own images, which any rank can play with alone.
struct Samples {
    Communicator self{MPI_COMM_SELF};
    CartesianDomain standard{{3, 2}, {.halo = {2, 1}, .periodic = true, .blocks_per_rank = {1, 2}}, self};
    CartesianDomain staged{{3, 2}, {.halo = 1, .periodic = true, .algorithm = Algorithm::staged}, self};
    Mesh mesh = [] {
        Mesh mesh = Mesh::of_blocks({5});
        mesh.ghosts = {{3, 0, 3, 1, 3}};
        return mesh;
    }();
    IndexedDomain indexed = mesh.domain(SelfGhosts::allowed, self);
    std::vector<Pattern> patterns{build_pattern(standard), build_pattern(staged), build_pattern(indexed)};
};

}  // namespace

CASE("a structured pattern comes back as it was saved, and works") {
    int turn = 0;
    for (const GridCase& each : grid_cases(Communicator(MPI_COMM_WORLD).size())) {
        CAPTURE(each.name);
        const CartesianDomain domain(each.extents, each.options);
        const Pattern pattern = build_pattern(domain), again = loaded(saved(pattern));
        EXPECT_TRUE(equal(pattern, again));
        if (turn++ % 6 != 0) continue;
        verify(again);
        auto fields = make_fields(domain, 2, turn, Memory::ordinary);
        Exchange exchange(again, views(fields), {"mpi"});
        check_forward(exchange, fields, 0);
    }
}

CASE("an indexed pattern comes back as it was saved, and works") {
    for (const MeshCase& each : mesh_cases(Communicator(MPI_COMM_WORLD).size())) {
        CAPTURE(each.name);
        const IndexedDomain domain = each.mesh.domain(each.self);
        const Pattern pattern = build_pattern(domain), again = loaded(saved(pattern));
        EXPECT_TRUE(equal(pattern, again));
        verify(again);
        auto fields = make_fields(domain, each.mesh, 2, 0, Memory::ordinary);
        Exchange exchange(again, views(fields), {"mpi"});
        check_forward(exchange, fields, 0);
    }
}

CASE("a pattern describes itself") {
    const Samples samples;
    EXPECT_TRUE(holds(describe(samples.patterns[0]), "Cartesian pattern of rank 0 of 1"));
    EXPECT_TRUE(holds(describe(samples.patterns[1]), "stage 1"));
    EXPECT_TRUE(holds(describe(samples.patterns[2]), "5 owned cells, 5 ghosts"));
}

CASE("a part of another rank or of another number of ranks is refused") {
    const Communicator comm(MPI_COMM_WORLD);
    const CartesianDomain domain({12, 12}, {.periodic = true});
    const std::string mine = saved(build_pattern(domain));
    if (comm.size() == 1) return;
    EXPECT_TRUE(holds(error_of([&] { loaded(mine, MPI_COMM_SELF); }), "it is the part of rank"));
    Parcel parcel{(comm.rank() + 1) % comm.size(), {}};
    parcel.append(mine.data(), mine.size());
    const auto letters = sparse_exchange(comm, {parcel}).at(0).values<char>();
    EXPECT_TRUE(holds(error_of([&] { loaded({letters.begin(), letters.end()}); }), "it is the part of rank"));
}

CASE("parts that do not belong together are noticed by every rank") {
    const Communicator comm(MPI_COMM_WORLD);
    if (comm.size() == 1) return;
    const int size = comm.size();
    const CartesianDomain one({3 * size, 4}, {.process_grid = {size, 1}}), other({3 * size, 5}, {.process_grid = {size, 1}});
    const std::string parts[2] = {saved(build_pattern(one)), saved(build_pattern(other))};
    const Pattern mixed = loaded(parts[comm.rank() == size - 1]);
    EXPECT_TRUE(holds(error_of([&] { verify(mixed); }), "broken pattern"));
}

CASE("something else, another version and a truncated file are refused") {
    const Samples samples;
    for (const Pattern& pattern : samples.patterns) {
        const std::string good = saved(pattern);
        EXPECT_TRUE(equal(loaded(good, samples.self), pattern));
        EXPECT_TRUE(holds(error_of([&] { loaded("", samples.self); }), "not a pattern"));
        EXPECT_TRUE(holds(error_of([&] { loaded(std::string(500, 'x'), samples.self); }), "not a pattern"));
        std::string newer = good;
        newer[7] = '9';
        EXPECT_TRUE(holds(error_of([&] { loaded(newer, samples.self); }), "another version"));
        for (std::size_t length = 0; length < good.size(); ++length)
            EXPECT_NE(error_of([&] { loaded(good.substr(0, length), samples.self); }), "");
    }
}

CASE("whatever byte is damaged, the pattern is refused") {
    if (Communicator(MPI_COMM_WORLD).rank() != 0) return;
    const Samples samples;
    for (const Pattern& pattern : samples.patterns) {
        const std::string good = saved(pattern);
        for (std::size_t at = 0; at < good.size(); ++at)
            for (const int flip : {0x01, 0x80, 0xFF}) {
                std::string bad = good;
                bad[at] = static_cast<char>(bad[at] ^ flip);
                EXPECT_NE(error_of([&] { loaded(bad, samples.self); }), "");
            }
    }
}

CASE("two damaged sign bits are noticed too") {
    if (Communicator(MPI_COMM_WORLD).rank() != 0) return;
    const Samples samples;
    const std::string good = saved(samples.patterns[0]);
    for (std::size_t at = header_bytes + 7; at + 8 < good.size(); at += 8) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 0x80);
        bad[at + 8] = static_cast<char>(bad[at + 8] ^ 0x80);
        EXPECT_TRUE(holds(error_of([&] { loaded(bad, samples.self); }), "checksum"));
    }
}

namespace {

// Patterns that pass are run: what they accept must not write outside of the arrays that they were made for.
template <class FieldKind>
void run_if_accepted(const std::string& bytes, const Pattern& original, const Communicator& self, std::vector<FieldKind>& fields) {
    Pattern pattern = original;
    if (!error_of([&] { pattern = loaded(bytes, self); }).empty()) return;
    if (pattern.dimensions != original.dimensions || pattern.blocks != original.blocks || pattern.owned != original.owned ||
        pattern.ghosts != original.ghosts || !(pattern.halo == original.halo))
        return;  // of other arrays
    static_cast<void>(error_of([&] {
        Exchange exchange(pattern, views(fields), {"mpi"});
        exchange();
        exchange.reverse(Reduction::replace);
    }));
    for (const FieldKind& field : fields) EXPECT_TRUE(field.canaries_intact());
}

template <class FieldKind>
void mutate(const Pattern& pattern, const Communicator& self, std::vector<FieldKind> fields) {
    for (auto& field : fields) field.fill(Values::bits);
    const std::string good = saved(pattern);
    const Words words = words_of(good);
    constexpr global_index most = std::numeric_limits<global_index>::max();
    for (std::size_t at = 0; at < words.size(); ++at) {
        for (const global_index value : {words[at] + 1, words[at] - 1, -words[at], global_index{0}, global_index{-1}, global_index{1} << 31,
                                         global_index{1} << 48, most, -most - 1}) {
            CAPTURE(at);
            CAPTURE(value);
            Words bad = words;
            bad[at] = value;
            run_if_accepted(with_words(good, bad), pattern, self, fields);
        }
        Words shorter = words;
        shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(at));
        run_if_accepted(with_words(good, shorter), pattern, self, fields);
    }
}

}  // namespace

CASE("a pattern with any number changed and a right checksum is refused or harmless") {
    if (Communicator(MPI_COMM_WORLD).rank() != 0) return;
    const Samples samples;
    mutate(samples.patterns[0], samples.self, make_fields(samples.standard, 2, 0, Memory::ordinary));
    mutate(samples.patterns[1], samples.self, make_fields(samples.staged, 2, 0, Memory::ordinary));
    mutate(samples.patterns[2], samples.self, make_fields(samples.indexed, samples.mesh, 2, 0, Memory::ordinary));
}
