#include "parhelion/index_map/point_sums.hpp"

#include <optional>

#include "index_map/grid_points.hpp"
#include "index_map/shared_reduction.hpp"
#include "parhelion/core/doing.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/core/totals.hpp"

namespace parhelion {

struct PointSums::State final : Operation {
    // Values of the points of several blocks, one after the other, and how they get there and back.
    struct Collected {
        std::shared_ptr<std::byte> memory;
        Program bring, give_back;
    };

    CartesianDomain domain;
    std::vector<Field> fields;
    PointLayout layout;
    std::vector<std::vector<CellValues>> arrays;  // of each block
    std::vector<CellValues> made, given;
    std::optional<GridPoints> points;
    std::vector<Collected> collected;  // where the rank has several blocks
    std::optional<SharedReduction> sums;
    Reduction reduction = Reduction::sum;

    State(const CartesianDomain& of, std::vector<Field> with, const ExchangeOptions& options) : domain(of), fields(std::move(with)) {
        const Doing doing(domain.communicator(), "the construction of sums of points", options.timeout_s);
        validate_together(domain.communicator(), [&] {
            if (fields.empty()) throw Error("no fields were passed: name those whose points are summed");
            layout = point_layout(domain, fields.front());
            arrays.resize(domain.blocks().size());
            take(fields);
            made = arrays.front();
        });
        points = find_grid_points(domain, layout);
        if (!points->blocks.empty()) validate_together(domain.communicator(), [&] { collect(); });
        const bool twice = total(domain.communicator(), {static_cast<std::int64_t>(points->first.size())})[0] > 0;
        sums.emplace(points->shared, points->shared.pattern.owned, made, options, twice ? Tells::failures : Tells::nothing);
    }

    void collect() {
        for (CellValues& values : made) {
            const byte_count width = values.width(), bytes = points->shared.pattern.owned * width;
            Collected& each = collected.emplace_back();
            if (bytes > 0) each.memory = allocate_node_shared(bytes);
            for (std::size_t b = 0; b < points->blocks.size(); ++b) {
                const BlockPoints& of = points->blocks[b];
                each.bring.add(IndexedOp{static_cast<int>(b), 0, 0, 0, width, static_cast<byte_count>(of.places.size()), width, width,
                                         of.places.data(), of.numbers.data()});
            }
            each.give_back = inverse(each.bring);
            values.owned = values.ghosts = {each.memory.get(), width};
        }
    }
    void copy(Program Collected::* program, bool back) {
        for (std::size_t k = 0; k < collected.size(); ++k) {
            std::vector<std::byte*> blocks;
            for (const auto& block : arrays) blocks.push_back(block[k].owned.first);
            std::byte* const here = collected[k].memory.get();
            parhelion::run(collected[k].*program, back ? &here : blocks.data(), back ? blocks.data() : &here);
        }
    }

    void take(std::span<const Field> fields) {
        for (auto& block : arrays) block.clear();
        for (std::size_t f = 0; f < fields.size(); ++f) {
            if (point_layout(domain, fields[f]) != layout)
                throw Error("field " + std::to_string(f) +
                            " has another stagger or layout than the first one was made with: pass arrays of one stagger, "
                            "equal extents and one order; sums of another one are an object of their own");
            for (std::size_t b = 0; b < arrays.size(); ++b) append_values(domain, fields[f], static_cast<int>(b), arrays[b]);
        }
        if (sums && !sums->fits(arrays.front()))
            throw Error(
                "the arrays have other elements or components than these sums were made for: pass one for each field, in that order");
        given = collected.empty() ? arrays.front() : made;
    }
    // Points that this rank has twice: values of the later place into the first one, or the sum back.
    void run_twice(bool back) {
        for (const CellValues& array : given) {
            const byte_count width = array.width();
            Program program;
            program.add_plain({0, 0, 0, 0, width, static_cast<byte_count>(points->first.size()), width, width,
                               (back ? points->first : points->again).data(), (back ? points->again : points->first).data(),
                               array.element.scalar});
            parhelion::reduce(program, &array.owned.first, &array.owned.first, back ? Reduction::replace : reduction);
        }
    }
    // What this rank has added up goes to others: they have to know where it could not.
    void start(Reduction how, std::span<const Field> named) {
        if (sums->under_way()) throw Error("these sums are under way: end them first");
        take(named.empty() ? std::span<const Field>(fields) : named);
        for (const CellValues& array : given) require_reducible(array.element, how);
        reduction = how;
        copy(&Collected::bring, false);
        run_twice(false);
        sums->tell_failure(how.by() != nullptr && how.by()->has_failed());
    }
    void finish() {
        run_twice(true);
        copy(&Collected::give_back, true);
    }
    void begin(Reduction how, std::span<const Field> named) {
        start(how, named);
        sums->begin(given, how);
        begun();
    }
    bool test() override { return sums->test(); }
    void end() override {
        if (!under_way()) throw Error("no sums are under way: call begin first");
        ended();
        sums->end();
        finish();
    }
};

PointSums::PointSums(const CartesianDomain& domain, std::vector<Field> fields, ExchangeOptions options)
    : state_(std::make_shared<State>(domain, std::move(fields), options)) {}
PointSums::~PointSums() = default;
PointSums::PointSums(PointSums&&) noexcept = default;
PointSums& PointSums::operator=(PointSums&&) noexcept = default;

void PointSums::reduce(Reduction reduction, std::span<const Field> arrays) {
    state_->start(reduction, arrays);
    state_->sums->run(state_->given, reduction);
    state_->finish();
}

Step PointSums::begin(Reduction reduction, std::span<const Field> arrays) {
    state_->begin(reduction, arrays);
    return Step(state_);
}

void PointSums::end() { state_->end(); }
bool PointSums::under_way() const { return state_->under_way(); }

std::string PointSums::explain() const {
    const SharedPoints& shared = state_->points->shared;
    return std::to_string(shared.points.size()) + " points of this rank are shared, by up to " + std::to_string(shared.most_holders) +
           " ranks; " + std::to_string(state_->points->first.size()) + " it has twice\n" + state_->sums->exchange().explain();
}

}  // namespace parhelion
