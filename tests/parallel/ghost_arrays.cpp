// Row arrays in C++: every layout, pulled and pushed, forward and reverse, once and again.
#include <array>
#include <functional>

#include "parhelion/core/error.hpp"
#include "support/cases.hpp"
#include "support/world.hpp"

using namespace parhelion;

namespace {

using Matrix = std::array<std::array<double, 2>, 2>;
struct Particle {
    std::int64_t id;
    float charge;
    friend bool operator==(const Particle&, const Particle&) = default;
};

constexpr local_index block = 5;

global_index wrapped(global_index id) { return (id + block * ranks()) % (block * ranks()); }

// The row before the own ones, the one behind, the one before again, and one of its own.
GhostMap ring() {
    const global_index first = block * rank();
    return GhostMap::pull(
        block, {wrapped(first - 1), wrapped(first + block), wrapped(first - 1), first + 2});
}

// The same ghosts, in the order of those who push: the first row to the left, the last one twice to
// the right, one to oneself.
GhostMap pushed() {
    const int left = (rank() + ranks() - 1) % ranks(), right = (rank() + 1) % ranks();
    return GhostMap::push(block, std::array<local_index, 4>{0, block - 1, block - 1, 2},
                          std::array<int, 4>{left, right, right, rank()});
}

std::vector<GhostMap> maps() { return {ring(), pushed()}; }

Matrix matrix_of(global_index id) {
    const auto x = static_cast<double>(id);
    return {{{x, x + 0.25}, {x + 0.5, x + 0.75}}};
}
Particle particle_of(global_index id) { return {id * 3, static_cast<float>(id) / 2}; }
local_index entries_of(global_index id) { return static_cast<local_index>(id % 4); }

template <class Array, class Value>
void fill_owned(Array& array, Value&& value) {
    for (local_index row = 0; row < array.owned(); ++row)
        for (std::size_t k = 0; k < array[row].size(); ++k)
            array[row][k] = value(array.map().domain().global_of(row), k);
}

template <class Array, class Value>
bool all_equal(Array& array, Value&& value) {
    bool equal = true;
    for (local_index row = 0; row < array.size(); ++row)
        for (std::size_t k = 0; k < array[row].size(); ++k)
            equal &= array[row][k] == value(array.map().domain().global_of(row), k);
    return equal;
}

std::string refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

}  // namespace

CASE("a pushed map has the ghosts that were pushed, in the order of the ranks that pushed them") {
    const GhostMap map = pushed();
    ASSERT_EQ(map.ghosts(), 4);
    std::vector<global_index> expected;
    for (int sender = 0; sender < ranks(); ++sender) {
        const auto first = global_index{block} * sender;
        if ((sender + ranks() - 1) % ranks() == rank()) expected.push_back(first);
        if ((sender + 1) % ranks() == rank()) expected.insert(expected.end(), 2, first + block - 1);
        if (sender == rank()) expected.push_back(first + 2);
    }
    EXPECT_EQ(
        std::vector<global_index>(map.domain().ghost_ids().begin(), map.domain().ghost_ids().end()),
        expected);
}

CASE("rows fixed at compile time and rows of one size hold their owners' values") {
    for (const GhostMap& map : maps()) {
        GhostArray<Matrix, FixedRows<3>> fixed{map};
        GhostArray<Particle> uniform{map, {2}, 64};
        const auto matrix = [](global_index id, std::size_t k) {
            return matrix_of(id + static_cast<global_index>(100 * k));
        };
        const auto particle = [](global_index id, std::size_t k) {
            return particle_of(id + static_cast<global_index>(100 * k));
        };
        fill_owned(fixed, matrix);
        fill_owned(uniform, particle);
        static_assert(decltype(fixed)::Row::extent == 3);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(uniform[1].data()) % 64, 0);
        fill_ghosts({fixed});
        EXPECT_TRUE(all_equal(fixed, matrix));
        GhostExchange exchange{{fixed, uniform}};
        for (int turn = 0; turn < 3; ++turn) exchange();
        EXPECT_TRUE(all_equal(fixed, matrix));
        EXPECT_TRUE(all_equal(uniform, particle));
    }
}

CASE("sizes of padded rows travel with them") {
    for (const GhostMap& map : maps()) {
        GhostArray<int, PaddedRows> rows{map, {3}};
        const auto value = [](global_index id, std::size_t k) {
            return static_cast<int>(10 * id) + static_cast<int>(k);
        };
        for (local_index row = 0; row < rows.owned(); ++row)
            rows.resize(row, entries_of(map.domain().global_of(row)) % 4);
        fill_owned(rows, value);
        GhostExchange exchange{{rows}};
        auto step = exchange.begin();
        step.end();
        EXPECT_TRUE(all_equal(rows, value));
        for (local_index row = 0; row < rows.size(); ++row)
            EXPECT_EQ(rows.row_size(row), entries_of(map.domain().global_of(row)));
        const local_index before = rows.row_size(0);
        for (const global_index entries :
             {global_index{4}, global_index{-1}, (global_index{1} << 32) + 2})
            EXPECT_NE(refusal([&] { rows.resize(0, entries); }).find("from 0 to 3"),
                      std::string::npos);
        EXPECT_NE(refusal([&] { rows.resize(rows.size(), 1); }).find("does not exist"),
                  std::string::npos);
        EXPECT_EQ(rows.row_size(0), before);
    }
}

CASE("ragged rows are edited, compressed and refreshed") {
    for (const GhostMap& map : maps()) {
        GhostArray<std::int64_t, RaggedRows> rows{map};
        GhostExchange exchange{{rows}};
        const auto value = [](global_index id, std::size_t k) {
            return 1000 * id + static_cast<global_index>(k);
        };
        for (int turn = 0; turn < 3; ++turn) {
            const auto size_of = [&](global_index id) { return entries_of(id + turn); };
            rows.edit();
            for (local_index row = 0; row < rows.owned(); ++row)
                rows.resize(row, size_of(map.domain().global_of(row)));
            EXPECT_NE(refusal([&] { exchange(); }).find("being edited"), std::string::npos);
            rows.compress();
            fill_owned(rows, value);
            EXPECT_TRUE(exchange.stale());
            EXPECT_NE(refusal([&] { exchange(); }).find("call refresh"), std::string::npos);
            exchange.refresh();
            exchange();
            EXPECT_TRUE(all_equal(rows, value));
            for (local_index row = 0; row < rows.size(); ++row)
                EXPECT_EQ(rows.row_size(row), size_of(map.domain().global_of(row)));
        }
    }
}

CASE("contributions of every ghost arrive at its owner, in rows of any size") {
    for (const GhostMap& map : maps()) {
        GhostArray<int, FixedRows<2>> fixed{map};
        GhostArray<int, RaggedRows> ragged{map};
        ragged.edit();
        for (local_index row = 0; row < map.owned(); ++row)
            ragged.resize(row, entries_of(map.domain().global_of(row)));
        ragged.compress();
        GhostExchange exchange{{fixed, ragged}};
        for (local_index row = map.owned(); row < map.size(); ++row) {
            for (int& x : fixed[row]) x = 1;
            for (int& x : ragged[row]) x = 1;
        }
        exchange.reverse();
        const std::array<int, block> expected{1, 0, 1, 0, 2};  // how many ghosts show each row
        for (local_index row = 0; row < block; ++row) {
            for (int x : fixed[row]) EXPECT_EQ(x, expected[static_cast<std::size_t>(row)]);
            for (int x : ragged[row]) EXPECT_EQ(x, expected[static_cast<std::size_t>(row)]);
        }
    }
}

CASE("a hook turns vectors on arrival, and its transpose turns contributions back") {
    const GhostMap map = ring();
    GhostArray<double, FixedRows<2>> vector{map};
    fill_owned(vector, [](global_index id, std::size_t k) {
        return static_cast<double>(id * 2) + static_cast<double>(k);
    });
    GhostExchange exchange{{vector}};
    const auto quarter_turn = [vector](double sign) {
        return [=]() mutable {
            const auto v = vector[block];
            const double first = v[0];
            v[0] = -sign * v[1], v[1] = sign * first;
        };
    };
    exchange.on_arrival(quarter_turn(1), quarter_turn(-1));
    exchange();
    const auto id = static_cast<double>(map.domain().ghost_ids()[0]);
    EXPECT_EQ(vector[block][0], -(id * 2 + 1));
    EXPECT_EQ(vector[block][1], id * 2);
    EXPECT_EQ(vector[block + 2][0], id * 2);  // the same row, not turned
    const double before = vector[block][0];
    exchange.reverse();
    EXPECT_EQ(vector[block][0], before);
}

CASE("memory of the caller may move when everybody says so") {
    const GhostMap map = ring();
    std::vector<double> owned(block, rank()), ghosts(4), son(4);
    const auto memory = [](std::vector<double>& values) {
        return RowMemory{reinterpret_cast<std::byte*>(values.data()), sizeof(double)};
    };
    GhostRows rows{map, {RowKind::uniform, element_of<double>()}, memory(owned), memory(ghosts)};
    GhostExchange exchange{{rows}};
    exchange();
    EXPECT_EQ(ghosts[0], (rank() + ranks() - 1) % ranks());
    rows.rebind(memory(owned), memory(son));
    EXPECT_NE(refusal([&] { exchange(); }).find("call refresh"), std::string::npos);
    exchange.refresh();
    exchange();
    EXPECT_EQ(son, ghosts);
}

CASE("a mistake of one rank is thrown by every rank") {
    const bool last = rank() == ranks() - 1;
    const std::vector<local_index> row{last ? block : 0};
    const std::vector<int> to{0};
    EXPECT_NE(refusal([&] { GhostMap::push(block, row, to); }).find("not owned"),
              std::string::npos);
    GhostArray<int, RaggedRows> rows{ring()};
    if (last) rows.edit();
    EXPECT_NE(refusal([&] { GhostExchange{{rows}}; }).find("being edited"), std::string::npos);
    EXPECT_NE(refusal([&] {
                  GhostExchange{{GhostArray<int>{ring()}, GhostArray<int>{ring()}}};
              }).find("another map"),
              std::string::npos);
}
