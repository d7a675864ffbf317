#include "parhelion/index_map/point_sums.hpp"

#include <exception>
#include <optional>

#include "core/concat.hpp"
#include "index_map/bounce_buffer.hpp"
#include "index_map/grid_points.hpp"
#include "index_map/shared_reduction.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/core/node_memory.hpp"
#include "pattern/piece_lists.hpp"
#include "plan/array_block.hpp"

namespace parhelion {

// Over seams: exchanges of depth 0, which apply signs and turned components, send values to the
// first holder and the sum back.
class ThereAndBack {
public:
    ThereAndBack(const CartesianDomain& domain, const std::vector<Field>& fields,
                 const ExchangeOptions& options)
        : domain_(domain), options_(options), fields_(without_layers(fields)),
          exchange_({group_of(domain, fields_)}, options) {}

    void begin(Reduction how, std::span<const Field> named) {
        how_ = how;
        arrays_ = named.empty() ? fields_ : without_layers(named);
        half_.emplace(there(how).begin_reverse(how, arrays_));
        is_back_ = false, failure_ = nullptr;
    }
    // If a user's reduction fails on one rank, all must learn it: only `end` continues.
    bool test() {
        if (!is_back_ && half_->test() && how_.by() == nullptr) turn();
        return !half_ || half_->test();
    }
    void end() {
        if (!is_back_) turn();
        if (failure_) std::rethrow_exception(failure_);
        if (half_) half_->end();
    }
    std::string explain() const { return "over seams, there and back\n" + exchange_.explain(); }

private:
    static std::vector<Field> without_layers(std::span<const Field> fields) {
        std::vector<Field> all(fields.begin(), fields.end());
        for (Field& field : all) field.halo = 0;
        return all;
    }
    // The first holder sums points that a land block would own.
    static Group group_of(const CartesianDomain& domain, const std::vector<Field>& fields) {
        Group group(domain, fields);
        for (Pattern& each : group.patterns)
            if (!domain.wet_places().empty())
                each.stages = {
                    stage_with_seams(domain.staggered(each.stagger), Reads::held_points)};
        return group;
    }
    // Collective when it first replaces: ranks below that of the first holder then send no values,
    // so that the highest rank's remains.
    Exchange& there(Reduction how) {
        if (how != Reduction::replace) return exchange_;
        if (highest_) return *highest_;
        Group group = group_of(domain_, fields_);
        for (Pattern& each : group.patterns)
            for (Link& link : each.stages.front()) {
                const int here = domain_.communicator().rank();
                if (link.rank < here)
                    link.send = {}, link.send_unique = 0, link.send_duplicate_of.clear();
                if (link.rank > here)
                    link.receive = {}, link.receive_unique = 0, link.receive_duplicate_of.clear();
            }
        return highest_.emplace(std::vector<Group>{std::move(group)}, options_);
    }
    void turn() {
        is_back_ = true;
        try {
            half_->end();
            half_.reset();
            if (all_are_sums()) half_.emplace(exchange_.begin(arrays_));
        } catch (...) {
            failure_ = std::current_exception();
        }
    }
    // The failing rank rethrows its own, more precise error.
    bool all_are_sums() const {
        if (how_.by() == nullptr) return true;
        const bool failed = how_.by()->has_failed();
        try {
            collectively(domain_.communicator(), "sums of points", [&] {
                if (failed) throw Error("the reduction failed: what it raised there tells why");
            });
        } catch (const Error&) {
            if (!failed) throw;
        }
        return !failed;
    }

    const CartesianDomain& domain_;
    ExchangeOptions options_;
    std::vector<Field> fields_, arrays_;  // of the constructor, of a call
    Exchange exchange_;
    std::optional<Exchange> highest_;
    Reduction how_ = Reduction::sum;
    std::optional<Step> half_;
    bool is_back_ = false;
    std::exception_ptr failure_;
};

struct PointSums::State final : Operation {
    CartesianDomain domain;
    std::vector<Field> fields;
    PointLayout layout;
    std::vector<std::vector<CellValues>> arrays;  // per block
    std::vector<CellValues> made, given;
    std::optional<GridPoints> points;
    const std::shared_ptr<Executor> executor = make_executor(MemorySpace::host);
    const std::shared_ptr<Queue> queue = executor->make_queue();
    std::vector<BounceBuffer> collected;  // per array: points of several blocks
    std::vector<Program> twice_in,
        twice_back;  // per array: between both places of points held twice
    std::optional<SharedReduction> sums;
    std::optional<ThereAndBack> over_seams;  // with seams, replaces all of these
    Reduction reduction = Reduction::sum;

    State(const CartesianDomain& of, std::vector<Field> with, const ExchangeOptions& options)
        : domain(of), fields(std::move(with)) {
        if (fields.empty())
            throw Error("no fields were passed: name those whose points are summed");
        for (const Field& field : fields) require_on_host(field);
        if (!domain.seams().empty()) {
            for (const Field& field : fields) require_points(domain, field);
            over_seams.emplace(domain, fields, options);
            return;
        }
        layout = point_layout(domain, fields.front());
        arrays.resize(domain.blocks().size());
        take(fields);
        made = arrays.front();
        points = find_grid_points(domain, layout);
        if (!points->blocks.empty()) collect();
        compile_twice();
        const bool twice =
            total(domain.communicator(), {static_cast<std::int64_t>(points->first.size())})[0] > 0;
        sums.emplace(points->shared, points->shared.pattern.owned, made, options,
                     twice ? Tells::failures : Tells::nothing);
    }

    void collect() {
        for (CellValues& values : made) {
            std::vector<BounceBuffer::Cells> cells;
            for (std::size_t b = 0; b < points->blocks.size(); ++b) {
                const BlockPoints& of = points->blocks[b];
                cells.push_back({static_cast<int>(b), static_cast<byte_count>(of.places.size()),
                                 of.places.data(), of.numbers.data()});
            }
            BounceBuffer& each = collected.emplace_back(
                executor, values.width(), points->shared.pattern.owned, std::move(cells));
            each.reserve(true);
            values.owned = values.ghosts = {each.first(), values.width()};
        }
    }
    void copy_in() {
        for (std::size_t k = 0; k < collected.size(); ++k) {
            std::vector<CellArray> blocks;
            for (const auto& block : arrays) blocks.push_back(block[k].owned);
            collected[k].stand_in_for(blocks, true);
            collected[k].copy_in(*queue);
        }
    }

    void take(std::span<const Field> fields) {
        for (auto& block : arrays) block.clear();
        for (std::size_t f = 0; f < fields.size(); ++f) {
            if (point_layout(domain, fields[f]) != layout)
                throw Error(concat(
                    "field ", f,
                    " has another stagger or layout than the first one was made with: pass arrays "
                    "of one stagger, "
                    "equal extents and one order; sums of another one are an object of their own"));
            for (std::size_t b = 0; b < arrays.size(); ++b)
                append_values(domain, fields[f], static_cast<int>(b), arrays[b]);
        }
        if (sums && !sums->fits(arrays.front()))
            throw Error(
                "the arrays have other elements or components than these sums were made for: pass "
                "one for each field, in that order");
        given = collected.empty() ? arrays.front() : made;
    }
    // Points held twice: combines the later place into the first; copies the sum back.
    void compile_twice() {
        for (const CellValues& array : made) {
            const auto add = [&](std::vector<Program>& to, const auto& from, const auto& into) {
                Program& program = to.emplace_back();
                program.dependence = Dependence::destination;
                program.add_plain({0, 0, 0, 0, array.width(), static_cast<byte_count>(from.size()),
                                   array.width(), array.width(), from.data(), into.data(),
                                   array.element.scalar});
                executor->compile(program);
            };
            add(twice_in, points->again, points->first);
            add(twice_back, points->first, points->again);
        }
    }
    void run_twice(const std::vector<Program>& programs, Reduction how) {
        for (std::size_t k = 0; k < given.size(); ++k)
            queue->enqueue(programs[k], &given[k].owned.first, &given[k].owned.first, how);
    }
    // Others receive this rank's partial sums: sends failures of a user's reduction, too.
    void start(Reduction how, std::span<const Field> named) {
        require_mpi_not_ended();  // in a forked child, before shared memory changes
        if (sums->under_way()) throw Error("these sums are under way: end them first");
        take(named.empty() ? std::span<const Field>(fields) : named);
        for (const CellValues& array : given) require_reducible(array.element, how);
        reduction = how;
        copy_in();
        run_twice(twice_in, how);
        queue->wait();
        sums->tell_failure(how.by() != nullptr && how.by()->has_failed());
    }
    void finish() {
        run_twice(twice_back, Reduction::replace);
        for (BounceBuffer& each : collected) each.copy_out(*queue);
        queue->wait();
    }
    void begin(Reduction how, std::span<const Field> named) {
        if (under_way()) throw Error("these sums are under way: end them first");
        if (over_seams) over_seams->begin(how, named);
        else start(how, named), sums->begin(given, how);
        begun();
    }
    void run(Reduction how, std::span<const Field> named) {
        if (over_seams) {
            begin(how, named), end();
            return;
        }
        start(how, named);
        sums->run(given, how);
        finish();
    }
    bool test() override { return over_seams ? over_seams->test() : sums->test(); }
    void end() override {
        if (!under_way()) throw Error("no sums are under way: call begin first");
        ended();
        if (over_seams) over_seams->end();
        else sums->end(), finish();
    }
};

PointSums::PointSums(const CartesianDomain& domain, std::vector<Field> fields,
                     ExchangeOptions options)
    : state_(collectively(
          domain.communicator(), "the construction of sums of points", setup_limit(options),
          [&] { return std::make_shared<State>(domain, std::move(fields), options); })) {}
PointSums::~PointSums() = default;
PointSums::PointSums(PointSums&&) noexcept = default;
PointSums& PointSums::operator=(PointSums&&) noexcept = default;

void PointSums::reduce(Reduction reduction, std::span<const Field> arrays) {
    state_->run(reduction, arrays);
}

Step PointSums::begin(Reduction reduction, std::span<const Field> arrays) {
    state_->begin(reduction, arrays);
    return Step(state_);
}

void PointSums::end() { state_->end(); }
bool PointSums::under_way() const { return state_->under_way(); }

std::string PointSums::explain() const {
    if (state_->over_seams) return state_->over_seams->explain();
    const SharedPoints& shared = state_->points->shared;
    return concat(shared.points.size(), " points of this rank are shared, by up to ",
                  shared.most_holders, " ranks; ", state_->points->first.size(), " it has twice\n",
                  state_->sums->exchange().explain());
}

}  // namespace parhelion
