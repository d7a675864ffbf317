// Partitioned communication (MPI-4.1 §4.2): a message leaves in partitions, each as soon as the threads that fill it are done.
//
// Found by trying, and worked around here: MPICH 5.0.2 refuses these requests in MPI_Testall, Open MPI 5.0 starts only the first of
// several in MPI_Startall; each request is started and tested by itself. Open MPI connects with the first message, by a
// duplicate of MPI_COMM_WORLD, and forgets to take back what it posted for requests that were never started: the first
// exchange, of nothing but buffers, is made here. And it delivered old values, or nothing, when it was called between MPI_Start and
// the last MPI_Pready: there all of this is told at once, when the last part is ready. Where other threads may call MPI at any time, that
// is no cure (1 of 18 runs of robustness/threads.cpp failed), and the transport is not there.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

#include "core/left_behind.hpp"
#include "core/mpi_threads.hpp"
#include "core/patient_wait.hpp"
#include "parhelion/core/aligned.hpp"
#include "parhelion/core/communicator.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/plan/part.hpp"
#include "plan/shared_run.hpp"
#include "transport/factories.hpp"
#include "transport/partitions.hpp"

namespace parhelion {

#ifndef PARHELION_WITH_PARTITIONED

std::string partitioned_missing() { return "the MPI that this build is for has no partitioned communication (MPI 4)"; }
std::unique_ptr<Transport> make_mpi_partitioned(const TransportContext&) { throw Error(partitioned_missing()); }

#else

// A library that is built for an ABI meets MPIs of that ABI that lack it: null then, which is asked before it is called.
#pragma weak MPI_Psend_init
#pragma weak MPI_Precv_init
#pragma weak MPI_Pready
#pragma weak MPI_Pready_range
#pragma weak MPI_Parrived

namespace {

using Clock = std::chrono::steady_clock;

bool is_complete(MPI_Request& request) {
    int flag = 0;
    check_mpi(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    return flag != 0;
}

// What was given up half-way cannot be cancelled (MPI-4.1 §4.2): then MPI keeps the buffer for ever, as it does when it has ended.
void give_back(MPI_Request& request, AlignedBytes& buffer) {
    int idle = 0;
    if (request == MPI_REQUEST_NULL) return;
    if (!mpi_has_ended() && MPI_Test(&request, &idle, MPI_STATUS_IGNORE) == MPI_SUCCESS && idle) MPI_Request_free(&request);
    else leave_behind(std::shared_ptr<std::byte[]>(std::move(buffer)));
}

bool must_tell_at_once() {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    return std::string_view(version).find("Open MPI v5.0.") != std::string_view::npos;
}

bool mpi_runs() {
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun && !ended;
}

// What is unpacked as soon as all partitions up to one have come.
struct Piece {
    int last;
    Program program;
};

// Copies in the order in which their sources end in the message.
std::vector<Piece> pieces_of(const Program& unpack, const Partitions& partitions) {
    std::vector<Piece> pieces;
    const auto last = [&](const auto& op) { return partitions.holding(span_of(op, true).last - 1); };
    for (const StridedOp& op : unpack.strided) pieces.push_back({last(op), {{op}, {}, {}}});
    for (const IndexedOp& op : unpack.indexed) pieces.push_back({last(op), {{}, {op}, {}}});
    for (const RunsOp& op : unpack.runs) pieces.push_back({last(op), {{}, {}, {op}}});
    std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.last < b.last; });
    return pieces;
}

class Sender {
public:
    Sender(const TransportContext& context, const LinkPlan& link)
        : plan_(context.plan), arrays_(context.arrays), partitions_(link.forward.send_bytes, plan_),
          buffer_(allocate_aligned(partitions_.padded())) {
        if (plan_.parts == 1) programs_.push_back(link.forward.pack);
        for (int part = 0; plan_.parts > 1 && part < plan_.parts; ++part) programs_.push_back(pack_part(plan_, link.links, part));
        counts_.emplace(partitions_, programs_);
        waiting_ = std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(partitions_.count));
        check_mpi(MPI_Psend_init(buffer_.get(), partitions_.count, partitions_.size, MPI_BYTE, link.rank, context.tag,
                                 plan_.communicator().handle(), MPI_INFO_NULL, &request_),
                  "MPI_Psend_init");
    }
    ~Sender() { give_back(request_, buffer_); }
    Sender(const Sender&) = delete;

    void open() { counts_->reset(); }
    void start() { check_mpi(MPI_Start(&request_), "MPI_Start"); }
    void put(int part, bool may_call_mpi) {
        std::byte* const message[1] = {buffer_.get()};
        const Program& program = programs_[static_cast<std::size_t>(part)];
        if (plan_.parts == 1) run_shared(plan_, program, arrays_.bases(), message);
        else run(program, arrays_.bases(), message);  // the team serves one caller at a time
        counts_->filled(part, [&](int partition) {
            if (may_call_mpi) return tell(partition);
            waiting_[static_cast<std::size_t>(partition)].store(true, std::memory_order_release);
            any_waits_.store(true, std::memory_order_release);
        });
    }
    // Partitions that threads have filled that may not call MPI.
    void tell_what_waits() {
        if (!any_waits_.exchange(false, std::memory_order_acquire)) return;
        for (int p = 0; p < partitions_.count; ++p)
            if (waiting_[static_cast<std::size_t>(p)].exchange(false, std::memory_order_acq_rel)) tell(p);
    }
    void tell_all() { check_mpi(MPI_Pready_range(0, partitions_.count - 1, request_), "MPI_Pready_range"); }
    bool complete() { return is_complete(request_); }

private:
    void tell(int partition) { check_mpi(MPI_Pready(partition, request_), "MPI_Pready"); }

    const Plan& plan_;
    const BoundArrays& arrays_;
    Partitions partitions_;
    AlignedBytes buffer_;
    std::vector<Program> programs_;  // by part
    std::optional<PartitionCounts> counts_;
    std::unique_ptr<std::atomic<bool>[]> waiting_;
    std::atomic<bool> any_waits_{false};
    MPI_Request request_ = MPI_REQUEST_NULL;
};

class Receiver {
public:
    Receiver(const TransportContext& context, const LinkPlan& link)
        : plan_(context.plan), arrays_(context.arrays), partitions_(link.forward.receive_bytes, plan_),
          buffer_(allocate_aligned(partitions_.padded())), pieces_(pieces_of(link.forward.unpack, partitions_)) {
        check_mpi(MPI_Precv_init(buffer_.get(), partitions_.count, partitions_.size, MPI_BYTE, link.rank, context.tag,
                                 plan_.communicator().handle(), MPI_INFO_NULL, &request_),
                  "MPI_Precv_init");
    }
    ~Receiver() { give_back(request_, buffer_); }
    Receiver(const Receiver&) = delete;

    void start() {
        check_mpi(MPI_Start(&request_), "MPI_Start");
        arrived_ = 0;
        unpacked_ = 0;
        complete_ = false;
    }
    bool complete() { return complete_ = complete_ || is_complete(request_); }
    // Unpacks what is there; whether that is all.
    bool unpack() {
        if (complete()) arrived_ = partitions_.count;
        else if (partitions_.count > 1) count_arrived();
        std::byte* const message[1] = {buffer_.get()};
        for (; unpacked_ < pieces_.size() && pieces_[unpacked_].last < arrived_; ++unpacked_)
            run_shared(plan_, pieces_[unpacked_].program, message, arrays_.bases());
        return complete_;
    }

private:
    void count_arrived() {
        for (int flag = 1; arrived_ < partitions_.count; ++arrived_) {
            check_mpi(MPI_Parrived(request_, arrived_, &flag), "MPI_Parrived");
            if (!flag) return;
        }
    }

    const Plan& plan_;
    const BoundArrays& arrays_;
    Partitions partitions_;
    AlignedBytes buffer_;
    std::vector<Piece> pieces_;
    MPI_Request request_ = MPI_REQUEST_NULL;
    int arrived_ = 0;
    std::size_t unpacked_ = 0;
    bool complete_ = true;
};

// MPIs that have the functions may still not serve them everywhere. A message to the rank itself tells, on all ranks at once.
class Trial {
public:
    explicit Trial(const Communicator& comm) {
        if (comm.size() == 1) return;
        validate_together(comm, [&] {
            auto message = std::make_shared<Message>();
            if (message->arrives()) return;
            leave_behind(std::move(message));
            throw Error(
                "transport mpi_partitioned cannot be used here: this MPI did not deliver a partitioned message of the rank to "
                "itself within 10 s (Open MPI needs all ranks of MPI_COMM_WORLD to take part): use mpi_persistent",
                ErrorKind::system);
        });
    }

private:
    struct Message {
        char sent[64] = {}, received[64] = {};
        MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;

        bool arrives() {
            constexpr int tag = 1;
            check_mpi(MPI_Psend_init(sent, 1, sizeof sent, MPI_BYTE, 0, tag, MPI_COMM_SELF, MPI_INFO_NULL, &send), "MPI_Psend_init");
            check_mpi(MPI_Precv_init(received, 1, sizeof sent, MPI_BYTE, 0, tag, MPI_COMM_SELF, MPI_INFO_NULL, &receive), "MPI_Precv_init");
            check_mpi(MPI_Start(&receive), "MPI_Start");
            check_mpi(MPI_Start(&send), "MPI_Start");
            check_mpi(MPI_Pready(0, send), "MPI_Pready");
            const auto limit = Clock::now() + std::chrono::seconds(10);
            for (Patience patience; !is_complete(receive) || !is_complete(send); patience.wait())
                if (Clock::now() > limit) return false;
            MPI_Request_free(&send);
            MPI_Request_free(&receive);
            return true;
        }
    };
};

class PartitionedTransport final : public Transport {
public:
    explicit PartitionedTransport(const TransportContext& context)
        : plan_(context.plan), arrays_(context.arrays), links_(context.links), tag_(context.tag) {
        for (const LinkPlan* link : links_) {
            senders_.push_back(link->forward.send_bytes > 0 ? std::make_unique<Sender>(context, *link) : nullptr);
            receivers_.push_back(link->forward.receive_bytes > 0 ? std::make_unique<Receiver>(context, *link) : nullptr);
            reported_.push_back(true);
        }
        connect();
    }

    bool takes_parts() const override { return true; }
    void open_parts() override {
        ++number_;
        all_sent_ = false;
        for (std::size_t i = 0; i < links_.size(); ++i) {
            reported_[i] = receivers_[i] == nullptr;
            if (senders_[i]) senders_[i]->open();
        }
        if (!at_once_) start_all();
    }
    void put_part(int part, bool may_call_mpi) override {
        const bool tell = may_call_mpi && !at_once_;
        for (auto& sender : senders_)
            if (sender) sender->put(part, tell);
        if (tell) progress();
    }
    void close_parts() override {
        if (at_once_) start_all();
        tell_what_waits();
    }

    void begin() override {
        open_parts();
        for (int part = 0; part < plan_.parts; ++part)
            for (auto& sender : senders_)
                if (sender) sender->put(part, !at_once_);
        close_parts();
    }
    int ready() override {
        tell_what_waits();
        for (std::size_t i = 0; i < links_.size(); ++i) {
            if (reported_[i] || !receivers_[i]->unpack()) continue;
            reported_[i] = true;
            return static_cast<int>(i);
        }
        return -1;
    }
    void deliver(int slot, Reduction) override { run(links_[static_cast<std::size_t>(slot)]->repeat, arrays_.bases(), arrays_.bases()); }
    bool finished() override {
        if (all_sent_) return true;
        tell_what_waits();
        all_sent_ = true;
        for (auto& sender : senders_) all_sent_ = (!sender || sender->complete()) && all_sent_;
        return all_sent_;
    }
    int expected() const override {
        return static_cast<int>(std::count_if(receivers_.begin(), receivers_.end(), [](const auto& r) { return r != nullptr; }));
    }
    std::string state(int slot) const override {
        const LinkPlan& link = *links_[static_cast<std::size_t>(slot)];
        if (reported_[static_cast<std::size_t>(slot)]) return {};
        return waiting_text(link.forward.receive_bytes, link.rank, number_);
    }

private:
    void start_all() {
        for (auto& receiver : receivers_)
            if (receiver) receiver->start();
        for (auto& sender : senders_)
            if (sender) sender->start();
    }
    void tell_what_waits() {
        for (auto& sender : senders_)
            if (sender) sender->tell_what_waits();
    }
    // Nothing ever comes with this tag on this communicator; MPI looks for all that does, or refuses where a rank was lost.
    void progress() {
        int flag = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, tag_, plan_.communicator().handle(), &flag, MPI_STATUS_IGNORE);
    }
    void connect() {
        start_all();
        for (auto& sender : senders_)
            if (sender) sender->tell_all();
        PatientWait patience(plan_.communicator());
        for (std::size_t i = 0; i < links_.size(); ++i) {
            while (receivers_[i] && !receivers_[i]->complete()) patience.wait();
            while (senders_[i] && !senders_[i]->complete()) patience.wait();
        }
    }

    const Plan& plan_;
    const BoundArrays& arrays_;
    std::vector<const LinkPlan*> links_;
    int tag_;
    const bool at_once_ = must_tell_at_once();
    std::vector<std::unique_ptr<Sender>> senders_;  // by slot; null where nothing is sent
    std::vector<std::unique_ptr<Receiver>> receivers_;
    std::vector<bool> reported_;
    bool all_sent_ = true;
    std::uint64_t number_ = 0;
};

}  // namespace

// Whether it works is tried with all ranks; how many threads there may be is known when MPI runs.
std::string partitioned_missing() {
    if (MPI_Psend_init == nullptr) return "the MPI that is loaded has no partitioned communication (MPI 4)";
    if (!mpi_runs() || !mpi_serves_all_threads() || !must_tell_at_once()) return {};
    return "Open MPI 5.0 loses partitioned messages where several threads may call MPI: start MPI with MPI_THREAD_SERIALIZED or less "
           "(Python: mpi4py.rc.thread_level = 'serialized' before MPI is imported), or use mpi_persistent";
}

std::unique_ptr<Transport> make_mpi_partitioned(const TransportContext& context) {
    if (!context.forward()) return make_mpi_persistent(context);
    context.plan.communicator().shared_state<Trial>();
    return std::make_unique<PartitionedTransport>(context);
}

#endif

}  // namespace parhelion
