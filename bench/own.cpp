#include "own.hpp"

#include "clock.hpp"
#include "errors.hpp"

namespace parhelion::bench {

namespace {

class Own : public Contender {
public:
    Own(Exchange exchange, std::shared_ptr<Values> values)
        : exchange_(std::move(exchange)), values_(std::move(values)) {}

    void exchange() override { exchange_(); }
    Values& values() override { return *values_; }
    Traffic traffic() const override { return {exchange_.plan().bytes_sent(), exchange_.plan().messages_sent()}; }
    nlohmann::json explain() const override { return exchange_.explain(); }

private:
    Exchange exchange_;
    std::shared_ptr<Values> values_;
};

std::string reason_against(const OwnWay& way, const Communicator& comm) {
    std::string reason;
    for (const TransportInfo& info : transports()) {
        const bool first_part = way.transport == info.name || way.transport.rfind(info.name + "+", 0) == 0;
        if (first_part) reason += info.unavailable();
        if (way.transport != info.name) continue;
        if (info.scope == Scope::same_node && comm.node().size() < comm.size())
            reason += "it reaches only neighbors on the own node";
        if (info.scope == Scope::own_rank && comm.size() > 1) reason += "it serves a rank's own periodic images only";
    }
    return reason;
}

}  // namespace

std::vector<OwnWay> own_ways() {
    std::vector<OwnWay> ways{{"auto", true}};
    for (const TransportInfo& info : transports()) ways.push_back({info.name, info.scope == Scope::same_node});
    for (const TransportInfo& near : transports())
        for (const TransportInfo& far : transports())
            if (near.scope == Scope::same_node && far.scope == Scope::anywhere)
                ways.push_back({near.name + "+" + far.name, true, true});
    return ways;
}

void require_usable(const OwnWay& way, const Communicator& comm) {
    const std::string mine = reason_against(way, comm);
    std::string agreed;
    try {
        agree(comm, mine);
    } catch (const Error& e) {
        agreed = e.what();
    }
    if (!agreed.empty()) throw CannotRun(agreed);
}

std::unique_ptr<Contender> make_own(const OwnWay& way, const std::function<Pattern()>& pattern,
                                    std::vector<Field> fields, std::shared_ptr<Values> values, SetupTimes& times) {
    Pattern built = timed(times.pattern, pattern);
    return timed(times.plan, [&] {
        Exchange exchange{std::move(built), std::move(fields), {.transport = way.transport}};
        return std::make_unique<Own>(std::move(exchange), std::move(values));
    });
}

}  // namespace parhelion::bench
