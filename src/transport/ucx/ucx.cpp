// UCX: no MPI on the way of the data.
//
// A neighbor whose memory UCX can map gets its messages packed straight into it, through the rings
// of staged_shared.cpp; measured beside that, tagged messages inside a node take twice as long, for
// the kernel copies them once more. All others get tagged messages.
#include <algorithm>
#include <cstring>
#include <random>

#include "core/collective_step.hpp"
#include "transport/factories.hpp"
#include "transport/node/handshake.hpp"
#include "transport/node/node_context.hpp"
#include "transport/split.hpp"
#include "transport/ucx/handles.hpp"

namespace parhelion {
namespace {

// What the last exchange on a communicator has learnt of its neighbors: the way back needs it once
// more.
struct LastMeeting {
    explicit LastMeeting(const Communicator&) {}
    struct Met {
        int rank;
        std::weak_ptr<UcxEndpoint> endpoint;
        bool mapped;
    };
    std::vector<Met> all;
};

class Meeting {
public:
    Meeting(const TransportContext& context, UcxWorker& worker)
        : context_(context), comm_(context.plan.communicator()), worker_(worker),
          records_(context.links.size()), mapped_(context.links.size()) {
        if (met_before()) return;
        neighbors_.clear();
        exchange_records();
        connect();
        wait_for_connections();
        agree_on_mapped();
        remember();
    }

    const UcxNeighbors& neighbors() const { return neighbors_; }
    /// Slots of the links whose two ends can, or cannot, map each other's memory.
    std::vector<int> slots(bool mapped) const {
        std::vector<int> which;
        for (int i = 0; i < static_cast<int>(mapped_.size()); ++i)
            if (mapped_[i] == mapped) which.push_back(i);
        return which;
    }

private:
    // What a neighbor says of itself.
    struct Record {
        std::string address, key;
        std::uint64_t sample = 0, value = 0;
    };

    // All ranks, or none.
    bool met_before() { return largest(comm_, {!remembered()}).front() == 0; }
    bool remembered() {
        const auto& met = comm_.shared_state<LastMeeting>().all;
        if (context_.forward() || met.size() != context_.links.size()) return false;
        for (std::size_t i = 0; i < met.size(); ++i) {
            const auto endpoint = met[i].endpoint.lock();
            if (met[i].rank != context_.links[i]->rank || !endpoint || endpoint->closed ||
                endpoint->failure != UCS_OK)
                return false;
            neighbors_[met[i].rank] = endpoint;
            mapped_[i] = met[i].mapped;
        }
        return true;
    }
    void remember() {
        auto& met = comm_.shared_state<LastMeeting>().all;
        met.clear();
        for (std::size_t i = 0; i < context_.links.size(); ++i)
            met.push_back(
                {context_.links[i]->rank, neighbors_.at(context_.links[i]->rank), mapped_[i]});
    }

    void exchange_records() {
        const auto write = [&] {
            const std::uint64_t value = std::random_device{}() | 1;
            sample_ = worker_.allocate(sizeof value);
            std::memcpy(sample_.get(), &value, sizeof value);
            Words header;
            put_text(header, worker_.address());
            put_text(header, worker_.key(sample_.get()));
            header.push_back(reinterpret_cast<global_index>(sample_.get()));
            header.push_back(static_cast<global_index>(value));
            return std::vector<Words>(context_.links.size(), header);
        };
        exchange_headers(context_, write, [&](std::size_t i, WordReader& header) {
            Record& record = records_[i];
            record.address = get_text(header);
            record.key = get_text(header);
            record.sample = static_cast<std::uint64_t>(header.next());
            record.value = static_cast<std::uint64_t>(header.next());
        });
    }

    void connect() {
        std::vector<Words> headers;
        for (const Record& record : records_)
            headers.push_back({worker_.connection_to_use(record.address)});
        comm_.node();
        exchange_headers(
            context_, [&] { return headers; },
            [&](std::size_t i, WordReader& header) {
                const std::int64_t here = headers[i][0], there = header.next();
                const int rank = context_.links[i]->rank;
                const Record& record = records_[i];
                const auto endpoint = neighbors_[rank] =
                    worker_.connect(record.address, std::max(here, there));
                mapped_[i] = comm_.node_rank(rank) >= 0 &&
                             holds(worker_.map(endpoint, record.key, record.sample), record.value);
            });
    }

    static bool holds(const std::shared_ptr<std::byte>& memory, std::uint64_t value) {
        return memory && std::memcmp(memory.get(), &value, sizeof value) == 0;
    }

    // Every rank answers until all ranks have all their connections.
    void wait_for_connections() {
        std::vector<UcxOperation> flushes(neighbors_.size());
        std::size_t i = 0;
        for (auto& [rank, endpoint] : neighbors_) worker_.flush(*endpoint, flushes[i++]);
        try {
            wait_for(flushes);
        } catch (...) {
            i = 0;
            for (auto& [rank, endpoint] : neighbors_)
                if (UcxOperation& flush = flushes[i++]; !flush.done)
                    worker_.give_up(endpoint, flush);
            throw;
        }
    }

    void wait_for(const std::vector<UcxOperation>& flushes) {
        PatientWait patience(comm_);
        for (const UcxOperation& flush : flushes)
            for (; !flush.done; patience.wait()) worker_.progress();
        begin_agreement(comm_);
        for (; !agreement_is_over(comm_); patience.wait()) worker_.progress();
        end_agreement(comm_);
    }

    void agree_on_mapped() {
        std::vector<Words> headers;
        for (const bool mapped : mapped_) headers.push_back({mapped});
        exchange_headers(
            context_, [&] { return headers; },
            [&](std::size_t i, WordReader& header) {
                const bool there = header.next() != 0;
                mapped_[i] = mapped_[i] && there;
            });
    }

    const TransportContext& context_;
    const Communicator& comm_;
    UcxWorker& worker_;
    std::shared_ptr<std::byte> sample_;  // that others try to map
    std::vector<Record> records_;
    UcxNeighbors neighbors_;
    std::vector<bool> mapped_;
};

TransportContext part_of(const TransportContext& context, const std::vector<int>& slots) {
    std::vector<const LinkPlan*> links;
    for (const int slot : slots) links.push_back(context.links[slot]);
    return context.with(std::move(links));
}

// A library that loads need not find anything to work with. That is no fault of a neighbor: others
// can move the data.
std::shared_ptr<UcxWorker> open_ucx() {
    try {
        return ucx_worker();
    } catch (const Error& error) {
        throw Error(std::string("transport ucx cannot be used here: ") + error.what(),
                    ErrorKind::system);
    }
}

// Collective.
std::shared_ptr<UcxWorker> worker_of(const TransportContext& context) {
    std::shared_ptr<UcxWorker> worker;
    validate_together(context.plan.communicator(), [&] { worker = open_ucx(); });
    if (!context.forward())
        keep_until_finalize(worker);  // trials make the forward direction only: it is there to stay
    return worker;
}

}  // namespace

std::unique_ptr<Messenger> make_ucx_messenger(const TransportContext& context,
                                              std::vector<Channel> channels) {
    const std::shared_ptr<UcxWorker> worker = worker_of(context);
    return make_ucx_channels(context, channels, worker, Meeting(context, *worker).neighbors());
}

std::unique_ptr<Transport> make_ucx(const TransportContext& context) {
    const std::shared_ptr<UcxWorker> worker = worker_of(context);
    const Meeting meeting(context, *worker);
    const auto near = meeting.slots(true), far = meeting.slots(false);
    auto rings = make_staged(part_of(context, near), make_ucx_memory(worker, meeting.neighbors()));
    auto messages = make_ucx_messages(part_of(context, far), worker, meeting.neighbors());
    auto transport = std::make_unique<Split>();  // what has no links is not even polled
    if (!near.empty()) transport->add(std::move(rings), near);
    if (!far.empty()) transport->add(std::move(messages), far);
    return transport;
}

}  // namespace parhelion
