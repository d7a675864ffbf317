// A transport that a program brings, and what a plan's programs mean, told by a second interpreter of them.
#include <doctest/doctest.h>

#include <algorithm>

#include "parhelion/core/aligned.hpp"
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
            interpret(context_.way(*context_.links[i]).pack, context_.arrays.bases(), message);
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
        if (!context_.forward()) return reduce(link.reverse.unpack, message, arrays, reduction);
        interpret(link.forward.unpack, message, arrays);
        interpret(link.repeat, arrays, arrays);
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
    CHECK_EQ(exchange.transport(), "test_plain");
    check_forward(exchange, fields, 0);
    check_reverse(exchange, fields, Reduction::replace, staged, 1);
    exchange.begin().end();
}

}  // namespace

TEST_CASE("a transport that was registered from outside moves grids and index maps as any other does") {
    const int ranks = Communicator(MPI_COMM_WORLD).size();
    const int before = Plain::made;
    int turn = 0;
    for (const GridCase& each : grid_cases(ranks)) {
        CAPTURE(each.name);
        const CartesianDomain domain(each.extents, each.options);
        check(build_pattern(domain), make_fields(domain, 3, turn++, Memory::ordinary), domain.algorithm() == Algorithm::staged);
    }
    for (const MeshCase& each : mesh_cases(ranks)) {
        CAPTURE(each.name);
        const IndexedDomain domain = each.mesh.domain(each.self);
        check(build_pattern(domain), make_fields(domain, each.mesh, 3, turn++, Memory::ordinary), false);
    }
    CHECK(Plain::made > before);
}

TEST_CASE("names that are taken or mean something else are refused") {
    const auto refused = [](const std::string& name, auto make) {
        return error_of([&] { register_transport({name, "", Scope::anywhere, nullptr, make}); });
    };
    const auto make = [](const TransportContext& context) -> std::unique_ptr<Transport> { return std::make_unique<Plain>(context); };
    CHECK(holds(refused("shared", make), "there is a transport shared already"));
    CHECK(holds(refused("mpi", make), "already"));
    CHECK(holds(refused("a+b", make), "cannot be called"));
    CHECK(holds(refused("auto", make), "cannot be called"));
    CHECK(holds(refused("nothing", std::function<std::unique_ptr<Transport>(const TransportContext&)>()), "no function that makes it"));
}
