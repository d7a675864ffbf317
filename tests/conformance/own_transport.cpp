// A transport that a program brings, and what a plan's programs mean, told by a second interpreter of them. The same for arrays in memory
// that the library cannot touch: addresses that mean nothing to the host stand in for a device's.
#include <algorithm>

#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/interpreter.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/meshes.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// Byte by byte, and slow: nothing of the library's own loops.
void move_bytes(std::byte* to, const std::byte* from, byte_count bytes) {
    for (byte_count i = 0; i < bytes; ++i) to[i] = from[i];
}
void interpret(const StridedOp& op, const std::byte* from, std::byte* to, int d = 0) {
    if (d == op.dims) return move_bytes(to, from, op.width);
    for (byte_count i = 0; i < op.count[static_cast<std::size_t>(d)]; ++i)
        interpret(op, from + i * op.src_stride[static_cast<std::size_t>(d)], to + i * op.dst_stride[static_cast<std::size_t>(d)], d + 1);
}
void interpret(const Program& program, Bases from, Bases to) {
    for (const StridedOp& op : program.strided) interpret(op, from[op.src_base] + op.src, to[op.dst_base] + op.dst);
    for (const IndexedOp& op : program.indexed)
        for (byte_count k = 0; k < op.count; ++k)
            move_bytes(to[op.dst_base] + op.dst + (op.dst_list ? op.dst_list[k] : k) * op.dst_stride,
                       from[op.src_base] + op.src + (op.src_list ? op.src_list[k] : k) * op.src_stride, op.width);
    for (const RunsOp& op : program.runs)
        for (const Run& run : op.runs) move_bytes(to[op.dst_base] + op.dst + run.dst, from[op.src_base] + op.src + run.src, run.bytes);
}

constexpr std::uintptr_t beyond_host = std::uintptr_t{1} << 47;

std::byte* on_device(std::byte* host) { return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(host) + beyond_host); }

// Messages lie in the host's memory, arrays on the device.
class DeviceCopies final : public Interpreter {
public:
    void run(const Program& program, Bases src, Bases dst) const override {
        ++made;
        interpret(program, reached(program, src, true).data(), reached(program, dst, false).data());
    }
    void reduce(const Program& program, Bases src, Bases dst, Reduction reduction) const override {
        parhelion::reduce(program, reached(program, src, true).data(), reached(program, dst, false).data(), reduction);
    }
    static inline int made = 0;

private:
    static std::vector<std::byte*> reached(const Program& program, Bases bases, bool of_source) {
        int last = -1;
        const auto look = [&](const auto& ops) {
            for (const auto& op : ops) last = std::max(last, of_source ? op.src_base : op.dst_base);
        };
        look(program.strided), look(program.indexed), look(program.runs);
        std::vector<std::byte*> here(bases, bases + last + 1);
        for (std::byte*& base : here)
            if (const auto address = reinterpret_cast<std::uintptr_t>(base); address >= beyond_host)
                base = reinterpret_cast<std::byte*>(address - beyond_host);
        return here;
    }
};

class Plain final : public Transport {
public:
    explicit Plain(const TransportContext& context) : context_(context), comm_(context.plan.communicator().handle()) {
        for (const LinkPlan* link : context.links) {
            auto& [out, in] = buffers_.emplace_back();
            out.resize(static_cast<std::size_t>(context.way(*link).send_bytes));
            in.resize(static_cast<std::size_t>(context.way(*link).receive_bytes));
        }
        requests_.resize(2 * buffers_.size(), MPI_REQUEST_NULL);
    }
    void begin() override {
        ++made;
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
            auto& [out, in] = buffers_[i];
            const int rank = context_.links[i]->rank;
            std::byte* const message[1] = {out.data()};
            copy(context_.way(*context_.links[i]).pack, context_.arrays.bases(), message);
            if (!in.empty()) MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_BYTE, rank, context_.tag, comm_, &requests_[i]);
            if (!out.empty())
                MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_BYTE, rank, context_.tag, comm_, &requests_[buffers_.size() + i]);
        }
    }
    int ready() override {
        int index = MPI_UNDEFINED, flag = 0;
        MPI_Testany(static_cast<int>(buffers_.size()), requests_.data(), &index, &flag, MPI_STATUS_IGNORE);
        return flag && index != MPI_UNDEFINED ? index : -1;
    }
    void deliver(int slot, Reduction reduction) override {
        const LinkPlan& link = *context_.links[static_cast<std::size_t>(slot)];
        std::byte* const message[1] = {buffers_[static_cast<std::size_t>(slot)].second.data()};
        const Bases arrays = context_.arrays.bases();
        if (!context_.forward() && context_.plan.interpreter != nullptr)
            return context_.plan.interpreter->reduce(link.reverse.unpack, message, arrays, reduction);
        if (!context_.forward()) return reduce(link.reverse.unpack, message, arrays, reduction);
        copy(link.forward.unpack, message, arrays);
        copy(link.repeat, arrays, arrays);
    }
    bool finished() override {
        int flag = 0;
        MPI_Testall(static_cast<int>(buffers_.size()), requests_.data() + buffers_.size(), &flag, MPI_STATUSES_IGNORE);
        return flag != 0;
    }
    int expected() const override {
        return static_cast<int>(std::count_if(buffers_.begin(), buffers_.end(), [](const auto& each) { return !each.second.empty(); }));
    }
    std::string state(int) const override { return {}; }

    static inline int made = 0;  // exchanges

private:
    void copy(const Program& program, Bases from, Bases to) const {
        context_.plan.interpreter != nullptr ? context_.plan.interpreter->run(program, from, to) : interpret(program, from, to);
    }

    const TransportContext context_;
    MPI_Comm comm_;
    std::vector<std::pair<std::vector<std::byte>, std::vector<std::byte>>> buffers_;
    std::vector<MPI_Request> requests_;
};

// Known from here on in this process, so to the other tests, too.
const std::string& registered() {
    static const std::string name = [] {
        register_transport({"test_plain", "for tests", Scope::anywhere, nullptr,
                            [](const TransportContext& context) { return std::make_unique<Plain>(context); }});
        return std::string("test_plain");
    }();
    return name;
}

template <class Fields>
void check(const Pattern& pattern, Fields fields, bool staged) {
    Exchange exchange(pattern, views(fields), {registered()});
    EXPECT_EQ(exchange.transport(), "test_plain");
    check_forward(exchange, fields, 0);
    check_reverse(exchange, fields, Reduction::replace, staged, 1);
    exchange.begin().end();
}

// Of every grid and mesh: its pattern, `count` fields, and whether ghosts may change on their way back.
template <class Check>
void with_all_cases(int ranks, int count, Check&& check_case) {
    int turn = 0;
    for (const GridCase& each : grid_cases(ranks)) {
        CAPTURE(each.name);
        const CartesianDomain domain(each.extents, each.options);
        check_case(build_pattern(domain), make_fields(domain, count, turn++, Memory::ordinary), domain.algorithm() == Algorithm::staged);
    }
    for (const MeshCase& each : mesh_cases(ranks)) {
        CAPTURE(each.name);
        const IndexedDomain domain = each.mesh.domain(each.self);
        check_case(build_pattern(domain), make_fields(domain, each.mesh, count, turn++, Memory::ordinary), false);
    }
}

}  // namespace

CASE("a transport that was registered from outside moves grids and index maps as any other does") {
    const int ranks = Communicator(MPI_COMM_WORLD).size();
    const int before = Plain::made;
    with_all_cases(ranks, 3, [](const Pattern& pattern, auto fields, bool staged) { check(pattern, std::move(fields), staged); });
    EXPECT_GT(Plain::made, before);
}

namespace {

template <class Fields>
std::vector<Field> device_views(const Fields& fields) {
    std::vector<Field> result = views(fields);
    for (Field& field : result) {
        field.space = MemorySpace::device;
        for (BlockView& block : field.blocks)
            if (block.first != nullptr) block.first = on_device(block.first);
    }
    return result;
}

template <class Fields>
void check_on_device(const Pattern& pattern, Fields fields, bool staged) {
    ExchangeOptions checked{"test_device"};
    checked.check = true;  // what it looks at, the interpreter brings to the host
    Exchange exchange(pattern, device_views(fields), {"test_device"}), watched(pattern, device_views(fields), checked);
    check_forward(exchange, fields, 0);
    check_forward(watched, fields, 3);
    check_reverse(watched, fields, Reduction::replace, staged, 4);
    if (!fields.empty()) EXPECT_TRUE(holds(error_of([&] { static_cast<void>(watched.stale()); }), "device memory cannot be compared"));
    check_reverse(exchange, fields, Reduction::replace, staged, 1);
    check_forward(exchange, fields, 2);
    exchange(device_views(fields));
    if (!fields.empty()) exchange.only({.fields = {0}}).begin().end();
}

}  // namespace

CASE("arrays on a device are served by a transport and an interpreter that are registered for them, and by nothing else") {
    const int ranks = Communicator(MPI_COMM_WORLD).size();
    const CartesianDomain domain({4 * ranks, 6}, {.halo = 1, .periodic = true, .process_grid = {ranks, 1}});
    const Pattern pattern = build_pattern(domain);
    std::vector<double> u(8 * 6 * 8), v(u.size());
    Field device = view(domain, u.data()), host = view(domain, v.data());
    device.space = MemorySpace::device;
    device.blocks[0].first = on_device(device.blocks[0].first);
    const auto refused = [&](std::vector<Field> fields, const std::string& transport = "auto") {
        return error_of([&] { Exchange(pattern, std::move(fields), {transport}); });
    };
    EXPECT_TRUE(holds(refused({device}), "nothing here copies between arrays in device memory"));
    EXPECT_TRUE(holds(error_of([] { register_interpreter(MemorySpace::host, std::make_unique<DeviceCopies>()); }),
                      "host memory has an interpreter already"));
    register_interpreter(MemorySpace::device, std::make_unique<DeviceCopies>());
    EXPECT_TRUE(
        holds(error_of([] { register_interpreter(MemorySpace::device, std::make_unique<DeviceCopies>()); }), "has an interpreter already"));

    EXPECT_TRUE(holds(refused({device, host}), "an exchange of fields in device and in host memory: make one for each"));
    for (const Route& route : all_routes())
        if (route.transport != "auto" && !route.transport.starts_with("loopback")) {
            CAPTURE(route.transport);
            EXPECT_TRUE(holds(refused({device}, route.transport), "field 0 is in device memory, which it does not reach"));
        }
    if (ranks > 1) EXPECT_TRUE(holds(refused({device}), "no transport reaches arrays in device memory"));
    if (ranks > 1) EXPECT_TRUE(holds(refused({Communicator(MPI_COMM_WORLD).rank() == 0 ? device : host}), "the memory space of field 0"));

    static bool serves = true;  // other tests know nothing of it
    register_transport({"test_device",
                        "for tests",
                        Scope::anywhere,
                        [] { return std::string(serves ? "" : "only in its test"); },
                        [](const TransportContext& context) { return std::make_unique<Plain>(context); },
                        {.spaces = {MemorySpace::device}}});
    EXPECT_TRUE(holds(refused({host}, "test_device"), "field 0 is in host memory"));
    Exchange exchange(pattern, {device});
    if (ranks > 1) EXPECT_EQ(exchange.transport(), "test_device");
    EXPECT_TRUE(
        holds(error_of([&] { exchange(host); }), "array 0 has its values in host memory and the exchange was made for device memory"));

    ExchangeOptions checked{"test_device"};
    checked.check = true;
    Exchange watched(pattern, {device}, checked);
    auto step = watched.begin();
    std::fill(u.begin(), u.end(), 7.5);
    EXPECT_EQ(holds(error_of([&] { step.end(); }), "was written between begin and end"), true);

    const int before = DeviceCopies::made;
    with_all_cases(ranks, 2, [](const Pattern& all, auto fields, bool staged) { check_on_device(all, std::move(fields), staged); });
    EXPECT_GT(DeviceCopies::made, before);
    serves = false;
}

CASE("names that are taken or mean something else are refused") {
    const auto refused = [](const std::string& name, auto make) {
        return error_of([&] { register_transport({name, "", Scope::anywhere, nullptr, make}); });
    };
    const auto make = [](const TransportContext& context) -> std::unique_ptr<Transport> { return std::make_unique<Plain>(context); };
    EXPECT_TRUE(holds(refused("shared", make), "there is a transport shared already"));
    EXPECT_TRUE(holds(refused("mpi", make), "already"));
    EXPECT_TRUE(holds(refused("a+b", make), "cannot be called"));
    EXPECT_TRUE(holds(refused("auto", make), "cannot be called"));
    EXPECT_TRUE(
        holds(refused("nothing", std::function<std::unique_ptr<Transport>(const TransportContext&)>()), "no function that makes it"));
}
