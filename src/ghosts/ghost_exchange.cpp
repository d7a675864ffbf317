#include "parhelion/ghosts/ghost_exchange.hpp"

#include <optional>

#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "plan/packed_cells.hpp"

namespace parhelion {

struct GhostExchange::Impl final : Operation {
    struct Hook {
        std::function<void()> arrive, depart;
    };
    std::vector<GhostRows> arrays;
    ExchangeOptions options;
    std::vector<std::uint64_t> generations;
    std::unique_ptr<Exchange> forward;
    std::optional<Exchange> reverse;  // only where padded sizes must stay at home
    std::vector<Hook> hooks;
    std::optional<SavedGhosts> saved;  // ghosts, while their contributions travel transformed
    Direction direction = Direction::forward;

    const GhostMap& map() const { return arrays.front().map(); }

    Exchange make(Direction way) const {
        std::vector<Field> fields;
        for (const GhostRows& array : arrays)
            for (Field& field : array.fields(way)) fields.push_back(std::move(field));
        return Exchange(map().pattern(), std::move(fields), options);
    }
    // Where it fails, on all ranks, the exchange is what it was before.
    void refresh() {
        auto made = collectively(
            map().communicator(), "the refresh of an exchange of rows", options.timeout_s, [&] {
                if (under_way())
                    throw Error("this exchange is under way: end it before it is refreshed");
                refresh_sizes(map(), arrays);
                generations.resize(arrays.size());
                in_use.reserve(arrays.size());
                return std::make_unique<Exchange>(make(Direction::forward));
            });
        reverse.reset();
        forward = std::move(made);
        for (std::size_t i = 0; i < arrays.size(); ++i) generations[i] = arrays[i].generation();
    }
    // The first array for which it holds, or how many there are.
    template <class Condition>
    std::size_t first(Condition&& condition) const {
        std::size_t i = 0;
        while (i < arrays.size() && !condition(i)) ++i;
        return i;
    }
    std::size_t first_changed() const {
        return first([&](std::size_t i) { return arrays[i].generation() != generations[i]; });
    }
    std::size_t first_edited() const {
        return first([&](std::size_t i) { return arrays[i].editing(); });
    }
    // That an array has changed is known to every rank; that it is being edited, to this one alone.
    void require_fresh(Direction way, Reduction reduction = Reduction::replace) {
        if (under_way())
            throw Error(
                "this exchange is under way: end it before it begins again, or make a second one");
        if (const std::size_t i = first_changed(); i < arrays.size())
            throw Error("array " + std::to_string(i) +
                        " has moved or changed its row sizes since this exchange was made: call "
                        "refresh, on every rank");
        if (const std::size_t i = first_edited(); i < arrays.size()) {
            keep_neighbors_going(way, reduction);
            throw Error("array " + std::to_string(i) +
                        " is being edited: compress it, then refresh the exchange");
        }
    }
    // They may have begun already and would wait for ever. The rows as they were before the editing
    // are still there.
    void keep_neighbors_going(Direction way, Reduction reduction) {
        if (way == Direction::forward) (*forward)();
        else for_reverse().reverse(reduction);
    }
    Exchange& for_reverse() {
        for (const GhostRows& array : arrays)
            if (array.layout().kind == RowKind::padded) {
                if (!reverse) reverse.emplace(make(Direction::reverse));
                return *reverse;
            }
        return *forward;
    }
    void depart() {
        if (hooks.empty()) return;
        for (const Hook& hook : hooks)
            if (!hook.depart)
                throw Error(
                    "a hook transforms ghosts on arrival and none was given for the way back: "
                    "register it with its transpose");
        saved.emplace(forward->plan());
        for (auto hook = hooks.rbegin(); hook != hooks.rend(); ++hook) hook->depart();
    }
    void finished() {
        if (direction == Direction::forward)
            for (const Hook& hook : hooks) hook.arrive();
        if (saved) saved->restore();
        saved.reset();
    }
    bool test() override { return inner->test(); }
    void end() override {
        if (!under_way()) throw Error("no exchange is under way: call begin first");
        ended();
        in_use.clear();
        inner->end();
        if (!hooks.empty()) finished();
    }
    void begin() {
        require_fresh(Direction::forward);
        begin_without_step(*forward, Direction::forward, Reduction::replace);
    }
    void begin_reverse(Reduction reduction) {
        require_fresh(Direction::reverse, reduction);
        Exchange& exchange = for_reverse();
        try {
            depart();
            begin_without_step(exchange, Direction::reverse, reduction);
        } catch (...) {
            if (saved) saved->restore();
            saved.reset();
            throw;
        }
    }
    // The inner step is this object's to end, and ragged rows may not move meanwhile.
    std::optional<Step> inner;
    std::vector<std::shared_ptr<std::byte>> in_use;
    void begin_without_step(Exchange& exchange, Direction way, Reduction reduction) {
        inner.reset();
        inner.emplace(way == Direction::forward ? exchange.begin()
                                                : exchange.begin_reverse(reduction));
        for (const GhostRows& array : arrays)
            if (array.layout().kind == RowKind::ragged) in_use.push_back(array.memory().start);
        direction = way;
        begun();
    }
};

namespace {

void check_arrays(const std::vector<GhostRows>& arrays) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (!(arrays[i].map() == arrays.front().map()))
            throw Error("array " + std::to_string(i) +
                        " has another map than array 0: exchange arrays of one map together, and "
                        "those of another by an exchange of their own");
        for (std::size_t j = 0; j < i; ++j)
            if (arrays[i] == arrays[j])
                throw Error("array " + std::to_string(i) + " is array " + std::to_string(j) +
                            " once more: name every array once (a "
                            "reverse exchange would count its ghosts twice)");
        if (arrays[i].editing())
            throw Error("array " + std::to_string(i) +
                        " is being edited: compress it before it is exchanged");
    }
}

}  // namespace

GhostExchange::GhostExchange(std::vector<GhostRows> arrays, ExchangeOptions options)
    : impl_(std::make_shared<Impl>()) {
    if (arrays.empty()) throw Error("an exchange of no arrays: name those whose ghosts it fills");
    const Communicator comm = arrays.front().map().communicator();
    collectively(comm, "GhostExchange", options.timeout_s, [&] {
        check_arrays(arrays);
        impl_->arrays = std::move(arrays);
        impl_->options = std::move(options);
        impl_->refresh();
    });
}
GhostExchange::~GhostExchange() = default;
GhostExchange::GhostExchange(GhostExchange&&) noexcept = default;
GhostExchange& GhostExchange::operator=(GhostExchange&&) noexcept = default;

Step GhostExchange::begin() {
    impl_->begin();
    return Step(impl_);
}

void GhostExchange::operator()() {
    impl_->require_fresh(Direction::forward);
    (*impl_->forward)();
    if (impl_->hooks.empty()) return;
    impl_->direction = Direction::forward;
    impl_->finished();
}

Step GhostExchange::begin_reverse(Reduction reduction) {
    impl_->begin_reverse(reduction);
    return Step(impl_);
}

void GhostExchange::end() { impl_->end(); }
bool GhostExchange::under_way() const { return impl_->under_way(); }
void GhostExchange::refresh() { impl_->refresh(); }
bool GhostExchange::stale() const { return impl_->first_changed() < impl_->arrays.size(); }
void GhostExchange::on_arrival(std::function<void()> arrive, std::function<void()> depart) {
    impl_->hooks.push_back({std::move(arrive), std::move(depart)});
}
const std::vector<GhostRows>& GhostExchange::arrays() const { return impl_->arrays; }
const Exchange& GhostExchange::exchange() const { return *impl_->forward; }

void fill_ghosts(std::vector<GhostRows> arrays) {
    GhostExchange exchange(std::move(arrays), {.transport = "mpi"});
    exchange();
}

}  // namespace parhelion
