// The choice by measuring: what it is told, what it remembers, what it leaves out. Which way wins is nowhere asked.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>

#include "exchange/wisdom.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/transports.hpp"
#include "support/world.hpp"

using namespace test;

namespace {

// As the user would have set it before the start.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
    ~Variable() { unsetenv(name_); }

private:
    const char* name_;
};

// A communicator of its own remembers nothing.
class Fresh {
public:
    Fresh() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
    ~Fresh() { MPI_Comm_free(&comm_); }
    operator MPI_Comm() const { return comm_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

// Makes an exchange over `comm`, checks its values, also of begin and end, and tells what it says of itself.
std::string made_on(MPI_Comm comm, ExchangeOptions options = {}, int count = 2) {
    options.transport = "auto";
    const CartesianDomain domain({6 * ranks(), 9}, {.halo = 2, .periodic = true, .process_grid = {ranks(), 1}}, comm);
    std::vector<GridField> fields;
    for (int f = 0; f < count; ++f) fields.emplace_back(domain, GridSpec{{Scalar::float64, 8}, 1, domain.halo()}, f, Memory::node_shared);
    Exchange exchange(build_pattern(domain), views(fields), options);
    check_forward(exchange, fields, 0);
    for (auto& field : fields) field.fill(Values::bits, 1), field.expect_forward();
    exchange.begin().end();
    for (const auto& field : fields) EXPECT_EQ(field.difference(), "");
    check_reverse(exchange, fields, Reduction::sum, false, count);
    return exchange.explain();
}
std::string made(const ExchangeOptions& options = {}) { return made_on(Fresh(), options); }

std::ptrdiff_t threads() { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); }

// A file of rank 0's that all ranks name alike; gone at the end.
struct SharedFile {
    std::string path;
    SharedFile() {
        char name[] = "/tmp/parhelion-wisdom-XXXXXX";
        if (rank() == 0) close(mkstemp(name));
        MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
        path = name;
    }
    ~SharedFile() {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank() == 0) unlink(path.c_str());
    }
    // Under another name, which nobody has read yet.
    void rename() {
        const std::string next = path + "+";
        MPI_Barrier(MPI_COMM_WORLD);  // all have read it
        if (rank() == 0) std::rename(path.c_str(), next.c_str());
        path = next;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    std::vector<WisdomEntry> entries() const {
        std::ifstream file(path);
        std::string complaint;
        return read_wisdom(std::string(std::istreambuf_iterator<char>(file), {}), complaint);
    }
    void write(const std::string& text) const {
        if (rank() == 0) std::ofstream(path) << text;
        MPI_Barrier(MPI_COMM_WORLD);
    }
};

}  // namespace

CASE("auto tries what can serve, tells what it measured, and remembers it") {
    const Fresh comm;
    const std::string first = made_on(comm), second = made_on(comm);
    if (ranks() == 1) {
        EXPECT_TRUE(holds(first, "transport loopback, the only way"));
        return;
    }
    for (const char* part : {"the fastest when", "staged_shared", "shared", "mpi"}) EXPECT_TRUE(holds(first, part));
    EXPECT_TRUE(holds(second, "as measured for a plan like it before"));
}

CASE("one race serves exchanges that send about as much the same way, and no others") {
    if (ranks() == 1) return;
    const Fresh comm;
    EXPECT_TRUE(holds(made_on(comm, {}, 4), "the fastest when"));
    EXPECT_TRUE(holds(made_on(comm, {}, 3), "as measured for a plan like it before"));
    EXPECT_TRUE(holds(made_on(comm, {}, 2), "the fastest when"));
    EXPECT_TRUE(holds(made_on(comm, {}, 8), "the fastest when"));
    EXPECT_TRUE(holds(made_on(comm, {}, 7), "as measured for a plan like it before"));
}

CASE("users add transports to the race and leave others out") {
    if (ranks() == 1) return;
    const Variable list("PARHELION_AUTO", "-shared,+mpi_neighbor");
    const std::string told = made();
    for (const char* part : {" mpi_neighbor ", " staged_shared "}) EXPECT_TRUE(holds(told, part));
    EXPECT_FALSE(holds(told, " shared "));
    EXPECT_FALSE(holds(told, "shared|"));
}

CASE("a list that is wrong, or not the same on all ranks, is refused on all of them") {
    {
        const Variable list("PARHELION_AUTO", "+wheel");
        EXPECT_TRUE(holds(error_of([] { made(); }), "no transport 'wheel': use some of loopback"));
    }
    if (ranks() == 1) return;
    const Variable list("PARHELION_AUTO", last() ? "-shared" : "+mpi_neighbor");
    const std::string error = error_of([] { made(); });
    EXPECT_TRUE(holds(error, "PARHELION_AUTO is +mpi_neighbor on rank 0 and -shared on rank "));
    EXPECT_TRUE(holds(error_of([] {
                          std::string all;
                          for (const TransportInfo& info : transports()) all += (all.empty() ? "-" : ",-") + info.name;
                          const Variable nothing("PARHELION_AUTO", all);
                          made();
                      }),
                      "leave fewer out in PARHELION_AUTO"));
}

CASE("an exchange that will overlap with work is measured so, and the ranks have to agree on that") {
    const std::string told = made({.overlap = true, .work_s = 20e-6});
    const Variable by_environment("PARHELION_OVERLAP", "1");
    const std::string again = made();
    made({.work_s = 5e-6});
    if (ranks() > 1) {
        EXPECT_TRUE(holds(told, "in begin and end"));
        EXPECT_TRUE(holds(again, "in begin and end"));
        EXPECT_TRUE(holds(error_of([] { made({.work_s = last() ? 1e-3 : 0}); }), "the work in seconds is 0.000000 on rank 0 and 0.001000"));
    }
    for (const double wrong : {-1e-6, 2.0, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_TRUE(holds(error_of([&] { made({.work_s = wrong}); }), "s of work"));
}

CASE("how an exchange is used makes it another one to remember") {
    if (ranks() == 1) return;
    const Fresh comm;
    EXPECT_TRUE(holds(made_on(comm), "the fastest when"));
    EXPECT_TRUE(holds(made_on(comm, {.overlap = true}), "the fastest when"));
    EXPECT_TRUE(holds(made_on(comm), "as measured for a plan like it before"));
}

// Two rows of ranks, so that each has diagonal neighbors.
std::string made_in_rows(MPI_Comm comm, ExchangeOptions options, const std::function<void(Exchange&)>& also = {}) {
    const int rows = ranks() % 2 == 0 ? 2 : 1;
    const CartesianDomain domain({12, 6 * ranks()}, {.halo = 2, .periodic = true, .process_grid = {rows, ranks() / rows}}, comm);
    std::vector<GridField> fields;
    fields.emplace_back(domain, GridSpec{{Scalar::float64, 8}, 1, domain.halo()}, 0, Memory::node_shared);
    Exchange exchange(build_pattern(domain), views(fields), options);
    check_forward(exchange, fields, 0);
    check_reverse(exchange, fields, Reduction::sum, false, 1);
    if (also) also(exchange);
    return exchange.explain();
}

// What an exchange says that is made again, when wisdom has it that another way was the fastest.
template <class Make>
std::string told_where_wisdom_says(const std::string& choice, Make&& make) {
    SharedFile file;
    const auto wise = [&] {
        const Variable wisdom("PARHELION_WISDOM", file.path);
        return make();
    };
    wise();
    MPI_Barrier(MPI_COMM_WORLD);
    auto entries = file.entries();
    EXPECT_EQ(entries.size(), 1);
    entries.at(0).choice = choice;
    file.rename();
    file.write(write_wisdom(entries));
    return wise();
}

// What `auto` says when wisdom has it that stages are the fastest: it takes that only where they are among its ways.
std::string told_of_stages(const ExchangeOptions& options) {
    return told_where_wisdom_says("staged:staged_shared", [&] { return made_in_rows(Fresh(), options); });
}

CASE("an exchange that is only called at once may go dimension by dimension, one that may be begun does not") {
    if (ranks() < 4 || ranks() % 2 != 0) return;
    const ExchangeOptions at_once{.transport = "auto", .at_once = true}, any{.transport = "auto"};
    const char* taken = "transport staged:staged_shared, as measured in another run";
    const std::string told = told_of_stages(at_once);
    EXPECT_TRUE(holds(told, taken));
    EXPECT_TRUE(holds(told, ranks() == 4 ? "; 2 messages" : "; 3 messages"));
    EXPECT_FALSE(holds(told_of_stages(any), "staged:"));
    EXPECT_FALSE(holds(told_of_stages({.transport = "auto", .overlap = true}), "staged:"));
    {
        const Variable list("PARHELION_AUTO", "-staged");
        EXPECT_FALSE(holds(told_of_stages(at_once), "staged:"));
    }
    {
        const Variable list("PARHELION_AUTO", "+staged");
        EXPECT_TRUE(holds(told_of_stages(any), taken));
    }
    const Variable overlap("PARHELION_OVERLAP", "1");  // the promise stands
    EXPECT_TRUE(holds(told_of_stages(at_once), taken));
}

CASE("what is made to be called at once cannot be begun") {
    if (ranks() == 1) return;
    made_in_rows(Fresh(), {.transport = "auto", .at_once = true}, [](Exchange& exchange) {
        EXPECT_TRUE(holds(error_of([&] { exchange.begin().end(); }), "called at once only"));
        EXPECT_TRUE(holds(error_of([&] { exchange.begin_reverse().end(); }), "called at once only"));
    });
    EXPECT_TRUE(holds(error_of([] { made_in_rows(Fresh(), {.overlap = true, .at_once = true}); }), "use one of at_once and overlap"));
    EXPECT_TRUE(holds(error_of([] { made_in_rows(Fresh(), {.at_once = last()}); }), "whether the exchange is only called at once"));
}

CASE("stages asked for by name are refused where they save nothing") {
    for (const char* name : {"staged:mpi", "staged_far:mpi"})
        EXPECT_TRUE(holds(error_of([&] {
                              const CartesianDomain row({6 * ranks(), 9}, {.halo = 2, .process_grid = {ranks(), 1}});
                              std::vector<double> cells(static_cast<std::size_t>((6 + 4) * (9 + 4)));
                              Exchange{build_pattern(row), {view(row, cells.data())}, {.transport = name}};
                          }),
                          "use the transport alone"));
}

CASE("what one run has learnt another one knows") {
    if (ranks() == 1) return;
    SharedFile file;
    const auto wise = [&] {
        const Variable wisdom("PARHELION_WISDOM", rank() == 0 ? file.path : "");  // rank 0 reads for all
        return made();
    };
    EXPECT_TRUE(holds(wise(), "the fastest when"));
    EXPECT_TRUE(holds(wise(), "as measured in another run"));
    MPI_Barrier(MPI_COMM_WORLD);
    const auto entries = file.entries();
    ASSERT_EQ(entries.size(), 1);
    EXPECT_GT(entries[0].seconds, 0);

    file.rename();
    EXPECT_TRUE(holds(wise(), "as measured in another run"));
    // A way that this plan does not have, and a file that is broken, are as if nothing was known.
    for (const char* choice : {"wheel", "loopback", "shared+ucx"}) {
        file.rename();
        WisdomEntry changed = entries[0];
        changed.choice = choice;
        file.write(write_wisdom({changed}));
        EXPECT_TRUE(holds(wise(), "the fastest when"));
    }
    file.rename();
    file.write("neither wise\nnor whole\n");
    EXPECT_TRUE(holds(wise(), "the fastest when"));
    if (rank() == 0) unlink(file.path.c_str());
}

// UCX finds no network of that name, in the library that is there.
CASE("a UCX that makes no worker is left out with its reason, though it was chosen before") {
    if (ranks() == 1 || !is_usable("ucx")) return;
    const Variable no_network("UCX_TLS", "none_such"), quiet("UCX_LOG_LEVEL", "fatal"), list("PARHELION_AUTO", "+ucx");
    const std::string told = made();
    EXPECT_TRUE(holds(told, "ucx left out: "));
    EXPECT_TRUE(holds(told, "transport ucx cannot be used here: ucp_"));
    EXPECT_TRUE(holds(told_where_wisdom_says("ucx", [] { return made(); }), "ucx left out: "));
}

CASE("what lost leaves no thread behind") {
    const std::ptrdiff_t before = threads();
    made();
    EXPECT_EQ(threads(), before);
    if (ranks() == 1 || !is_usable("ucx")) return;
    const Variable list("PARHELION_AUTO", "+ucx");
    const std::string told = made();
    EXPECT_TRUE(holds(told, " ucx "));  // its time, or why it was left out
    if (!holds(told, "transport ucx")) EXPECT_EQ(threads(), before);
}
