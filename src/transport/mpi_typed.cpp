// Messages that MPI gathers and scatters itself, from boxes described by datatypes (MPI-4.1 §5.1): no buffer, no copy of ours.
//
// A type holds absolute addresses (MPI_BOTTOM), for one message takes what lies in several arrays. So there is a set of requests for
// each of the last few sets of arrays; others are made when they are first seen. Lists of cells, falling strides, for which MPIs have
// been seen to move other bytes, and messages whose parts an int may not count are packed instead, by all ranks.
#include <algorithm>
#include <list>

#include "core/patient_wait.hpp"
#include "parhelion/core/communicator.hpp"
#include "transport/factories.hpp"
#include "transport/left_behind.hpp"
#include "transport/message_type.hpp"
#include "transport/messenger.hpp"
#include "transport/program_type.hpp"
#include "transport/request_set.hpp"

namespace parhelion {
namespace {

class Typed final : public Transport {
public:
    Typed(const TransportContext& context, int unit)
        : context_(context), arrays_(context.arrays), made_with_(arrays_.bases(), arrays_.bases() + arrays_.size()), unit_(unit), missing_(context.links.size()) {
        use_requests();
    }
    ~Typed() override {
        bool over = true;
        for (Requests& each : known_) over = (each.receives.settle() & each.sends.settle()) && over;
        if (!over) leave_arrays_behind(arrays_);
    }

    std::string refusal() override {
        for (std::size_t b = 0; b < arrays_.size(); ++b)
            if ((arrays_.bases()[b] - made_with_[b]) % unit_ != 0)
                return "an array is not aligned as that was with which the exchange was made, to " + std::to_string(unit_) +
                       " bytes: align it, or use transport mpi_persistent";
        return {};
    }
    void begin() override {
        if (version_ != arrays_.version()) use_requests();
        ++number_;
        for (std::size_t i = 0; i < missing_.size(); ++i) missing_[i] = context_.links[i]->forward.receive_bytes > 0;
        Requests& now = known_.front();
        for (int i = 0; i < now.receives.size(); ++i) now.receives.start(i);
        for (int i = 0; i < now.sends.size(); ++i) now.sends.start(i);
    }
    int ready() override {
        const int done = known_.front().receives.test_any();
        if (done < 0) return -1;
        const int slot = known_.front().receives.channel(done);
        missing_[static_cast<std::size_t>(slot)] = false;
        return slot;
    }
    void deliver(int slot, Reduction) override {
        run(context_.links[static_cast<std::size_t>(slot)]->repeat, arrays_.bases(), arrays_.bases());
    }
    bool finished() override { return known_.front().sends.test_all(); }
    int expected() const override {
        return static_cast<int>(std::count_if(context_.links.begin(), context_.links.end(),
                                              [](const LinkPlan* link) { return link->forward.receive_bytes > 0; }));
    }
    std::string state(int slot) const override {
        const LinkPlan& link = *context_.links[static_cast<std::size_t>(slot)];
        if (!missing_[static_cast<std::size_t>(slot)]) return {};
        return waiting_text(link.forward.receive_bytes, link.rank, number_);
    }

private:
    static constexpr std::size_t most_known = 4;  // time levels

    struct Requests {
        std::vector<std::byte*> bases;
        RequestSet sends{RequestSet::Kind::sends}, receives{RequestSet::Kind::receives};
        explicit Requests(std::vector<std::byte*> bases) : bases(std::move(bases)) {}
    };

    // The front is for the arrays that are bound now.
    void use_requests() {
        const Bases bases = arrays_.bases();
        const auto known = std::find_if(known_.begin(), known_.end(),
                                        [&](const Requests& each) { return std::equal(each.bases.begin(), each.bases.end(), bases); });
        if (known != known_.end()) {
            known_.splice(known_.begin(), known_, known);
        } else {
            known_.emplace_front(std::vector<std::byte*>(bases, bases + arrays_.size()));
            add_requests(known_.front());
            if (known_.size() > most_known) known_.pop_back();
        }
        version_ = arrays_.version();
    }
    void add_requests(Requests& to) const {
        for (int i = 0; i < static_cast<int>(context_.links.size()); ++i) {
            const LinkPlan& link = *context_.links[static_cast<std::size_t>(i)];
            if (link.forward.send_bytes > 0) add(link, Side::source, to.sends.add(i, link.rank));
            if (link.forward.receive_bytes > 0) add(link, Side::destination, to.receives.add(i, link.rank));
        }
    }
    void add(const LinkPlan& link, Side side, MPI_Request& request) const {
        const MPI_Comm comm = context_.plan.communicator().handle();
        const Program& program = side == Side::source ? link.forward.pack : link.forward.unpack;
        MPI_Datatype type = program_type(program, arrays_.bases(), side, unit_);
        if (side == Side::source)
            check_mpi(MPI_Send_init(MPI_BOTTOM, 1, type, link.rank, context_.tag, comm, &request), "MPI_Send_init");
        else
            check_mpi(MPI_Recv_init(MPI_BOTTOM, 1, type, link.rank, context_.tag, comm, &request), "MPI_Recv_init");
        MPI_Type_free(&type);  // the request keeps it
    }

    const TransportContext context_;
    const BoundArrays& arrays_;
    const std::vector<std::byte*> made_with_;
    int unit_;
    std::vector<bool> missing_;
    std::list<Requests> known_;
    std::uint64_t version_ = 0, number_ = 0;
};

bool rising_strides(const Plan& plan) {
    bool rising = true;
    for (std::size_t f = 0; f < plan.fields.size(); ++f)
        for (std::size_t b = 0; b < plan.fields[f].blocks.size(); ++b) {
            const Field& field = plan.fields[f];
            rising = rising && (field.components == 1 || field.stride_of_components(b) > 0);
            for (int d = 0; !field.indexed && d < plan.pattern_of(static_cast<int>(f)).dimensions; ++d) rising = rising && field.blocks[b].strides[d] > 0;
        }
    return rising;
}

bool is_boxes(const Program& program) { return program.indexed.empty() && program.runs.empty(); }

// The widest numbers that suit all ranks; 0 where some rank has to pack.
int unit_of_all_ranks(const TransportContext& context) {
    const Plan& plan = context.plan;
    int mine = rising_strides(plan) ? 8 : 0, all = 0;
    for (const LinkPlan* link : context.links) {
        const auto& [send_bytes, receive_bytes, pack, unpack] = link->forward;
        if (std::max(send_bytes, receive_bytes) > largest_count() || !is_boxes(pack) || !is_boxes(unpack)) mine = 0;
        if (mine == 0) break;
        const Bases bases = context.arrays.bases();
        mine = std::min({mine, widest_unit(pack, bases, Side::source), widest_unit(unpack, bases, Side::destination)});
    }
    allreduce(plan.communicator(), &mine, &all, 1, MPI_INT, MPI_MIN);
    return all;
}

}  // namespace

std::unique_ptr<Transport> make_mpi_typed(const TransportContext& context) {
    const int unit = context.forward() ? unit_of_all_ranks(context) : 0;
    return unit == 0 ? make_mpi_persistent(context) : std::make_unique<Typed>(context, unit);
}

}  // namespace parhelion
