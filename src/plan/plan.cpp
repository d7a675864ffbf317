#include "parhelion/plan/plan.hpp"

#include <algorithm>

#include "parhelion/core/checked.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/sparse_exchange.hpp"
#include "plan/compile.hpp"
#include "plan/layout.hpp"
#include "plan/overlap.hpp"
#include "plan/wrap.hpp"
#include "pattern/shape.hpp"

namespace parhelion {
namespace {

void check_halo(const Pattern& pattern, const Field& field, const std::string& name) {
    for (int d = 0; d < pattern.dimensions; ++d) {
        const int lower = field.halo.lower[d], upper = field.halo.upper[d];
        if (lower < 0 || upper < 0) throw Error(name + " has a negative halo width in dimension " + std::to_string(d));
        if (lower > pattern.halo.lower[d] || upper > pattern.halo.upper[d])
            throw Error(name + " has a halo of " + std::to_string(std::max(lower, upper)) + " in dimension " +
                        std::to_string(d) + " and the pattern one of " + std::to_string(lower > pattern.halo.lower[d]
                        ? pattern.halo.lower[d] : pattern.halo.upper[d]) +
                        ": build the pattern from a domain with the widest halo that any field needs");
    }
}

constexpr byte_count largest_cell = byte_count{1} << 30;

bool has_cells(const Pattern& pattern, std::size_t block) {
    if (pattern.indexed()) return (block == 0 ? pattern.owned : pattern.ghosts) > 0;
    return !pattern.blocks[block].empty();
}

void check_rows(const Pattern& pattern, const Field& field, const std::string& name) {
    if (!pattern.indexed()) throw Error(name + " has ragged rows, which Cartesian domains do not have: use an IndexedDomain");
    const byte_count entry = bytes_per_cell(field);
    for (std::size_t b = 0; b < 2; ++b) {
        const auto cells = static_cast<std::size_t>(b == 0 ? pattern.owned : pattern.ghosts);
        if (field.blocks[b].rows == nullptr || field.blocks[b].rows->size() != cells)
            throw Error(name + " does not tell the sizes of " + std::to_string(cells) + (b == 0 ? " owned rows" : " ghost rows") +
                        ": give a RowSpan for each");
        for (const RowSpan& row : *field.blocks[b].rows)
            if (row.first < 0 || row.bytes < 0 || row.bytes % entry != 0)
                throw Error(name + " has a row of " + std::to_string(row.bytes) + " bytes, which is no number of entries of " +
                            std::to_string(entry) + " bytes");
    }
}

void check_field(const Pattern& pattern, const Field& field, std::size_t number) {
    const std::string name = "field " + std::to_string(number) + " (" + to_string(field) + ")";
    if (field.element.size < 1) throw Error(name + " has elements of no size: use element_of<T>() or parse_element", ErrorKind::type);
    if (field.element.scalar != Scalar::bytes && to_string(field.element).starts_with("bytes"))
        throw Error(name + " has elements of " + std::to_string(field.element.size) + " bytes, which its type does not have: "
                    "use element_of<T>() or parse_element", ErrorKind::type);
    if (field.components < 1) throw Error(name + " needs at least 1 component");
    if (bytes_per_cell(field) > largest_cell) throw Error(name + " has cells of more than 1 GiB: use more cells or fields");
    if (field.indexed != pattern.indexed())
        throw Error(name + (field.indexed ? " is indexed and the pattern Cartesian" : " is Cartesian and the pattern indexed") +
                    std::string(": view the array with the domain that the pattern was built from"), ErrorKind::type);
    const std::size_t blocks = pattern.indexed() ? 2 : pattern.blocks.size();
    if (field.blocks.size() != blocks)
        throw Error(name + " has " + std::to_string(field.blocks.size()) + " blocks and the pattern " + std::to_string(blocks));
    check_halo(pattern, field, name);
    if (field.ragged()) check_rows(pattern, field, name);
    for (const Box& block : pattern.blocks)
        checked_product({grow(block, field.halo, pattern.dimensions).cells(), bytes_per_cell(field)}, "the size of a field");
    for (std::size_t b = 0; b < blocks; ++b)
        if (field.blocks[b].first == nullptr && has_cells(pattern, b))
            throw Error(name + " is a null pointer: allocate it before the exchange is made");
}

// Where a field lies in memory is each rank's own affair: neighbors tell each other the order in which they pack.
void tell_field(Properties& told, const Field& field, int f, int dimensions) {
    told.add("the element of field %", to_string(field.element), {f});
    told.add("the number of components of field %", field.components, {f});
    told.add("whether field % has ragged rows", field.ragged() ? "yes" : "no", {f});
    for (int d = 0; d < dimensions; ++d) {
        told.add("the lower halo width of field % in dimension %", field.halo.lower[d], {f, d});
        told.add("the upper halo width of field % in dimension %", field.halo.upper[d], {f, d});
    }
}

void tell_all(Properties& told, const Pattern& pattern, const std::vector<Field>& fields, const TellProperties& options) {
    told.add("the number of dimensions of the domain (0: indexed)", pattern.dimensions);
    told.add("the number of the pattern's stages", pattern.stages.size());
    told.add("the number of fields", fields.size());
    for (std::size_t f = 0; f < fields.size(); ++f) tell_field(told, fields[f], static_cast<int>(f), pattern.dimensions);
    if (options) options(told);
}

void collect_bases(Plan& plan) {
    for (const Field& field : plan.fields) {
        plan.first_base.push_back(static_cast<int>(plan.bases.size()));
        for (const BlockView& block : field.blocks) plan.bases.push_back(block.first);
    }
}

// Writing pieces much shorter than a cache line into a neighbor's memory moves a line for each.
constexpr byte_count thin_piece = 128;

bool receives_thin(const Plan& plan, const Link& link) {
    const byte_count piece = mean_ghost_piece(plan, link);
    return piece > 0 && piece < thin_piece;
}

// What a neighbor must know before it can unpack: per stage the bytes it will get and give, and my packing orders.
Parcel announcement(const Plan& plan, int stage, const Link& link, const std::vector<std::int64_t>& card) {
    const auto sends = message_sizes(plan, link.send, link.send_unique);
    const auto receives = message_sizes(plan, link.receive, link.receive_unique);
    std::vector<std::int64_t> words{stage, sends.forward, sends.reverse, receives.forward, receives.reverse,
                                    receives_thin(plan, link), static_cast<std::int64_t>(shape_of_sends(link).fingerprint),
                                    static_cast<std::int64_t>(shape_of_receives(link).fingerprint)};
    for (const Field& field : plan.fields)
        for (int d : packing_order(field, plan.pattern->dimensions)) words.push_back(d);
    words.insert(words.end(), card.begin(), card.end());
    Parcel parcel{link.rank, {}};
    parcel.append(words.data(), words.size());
    return parcel;
}

void accept_orders_and_card(const Plan& plan, const std::vector<std::int64_t>& words, LinkPlan& link) {
    auto next = words.begin() + 8;
    for (std::size_t f = 0; f < plan.fields.size(); ++f) {
        link.orders.emplace_back(next, next + plan.pattern->dimensions + 1);
        next += plan.pattern->dimensions + 1;
    }
    link.card.assign(next, words.end());
}

LinkPlan* find_link(Plan& plan, std::int64_t stage, int rank) {
    if (stage < 0 || stage >= static_cast<std::int64_t>(plan.stages.size())) return nullptr;
    auto& links = plan.stages[static_cast<std::size_t>(stage)].links;
    const auto found = std::find_if(links.begin(), links.end(), [&](const LinkPlan& link) { return link.rank == rank; });
    return found == links.end() ? nullptr : &*found;
}

void accept(Plan& plan, const Parcel& parcel) {
    const auto words = parcel.values<std::int64_t>();
    const std::string with = "rank " + std::to_string(parcel.rank);
    LinkPlan* link = find_link(plan, words[0], parcel.rank);
    if (link == nullptr)
        throw Error(with + " wants to exchange with this rank, whose pattern does not know it: build the patterns "
                    "together, from one domain");
    const auto sends = message_sizes(plan, link->link->send, link->link->send_unique);
    const auto receives = message_sizes(plan, link->link->receive, link->link->receive_unique);
    const std::int64_t expected[4] = {receives.forward, receives.reverse, sends.forward, sends.reverse};
    for (int i = 0; i < 4; ++i)
        if (words[i + 1] != expected[i])
            throw Error(with + (i < 2 ? " will send " : " expects ") + std::to_string(words[i + 1]) + " bytes and this rank " +
                        (i < 2 ? "expects " : "will send ") + std::to_string(expected[i]) +
                        ": the patterns or fields of the two ranks differ");
    if (words[6] != static_cast<std::int64_t>(shape_of_receives(*link->link).fingerprint) ||
        words[7] != static_cast<std::int64_t>(shape_of_sends(*link->link).fingerprint))
        throw Error(with + " exchanges other cells with this rank than this rank expects: build the patterns together, from "
                    "one domain");
    accept_orders_and_card(plan, words, *link);
    link->thin = words[5] != 0 || receives_thin(plan, *link->link);
}

void shake_hands(Plan& plan, const std::vector<std::int64_t>& card) {
    std::vector<Parcel> announcements;
    std::size_t expected = 0;
    for (std::size_t s = 0; s < plan.stages.size(); ++s)
        for (const LinkPlan& link : plan.stages[s].links) {
            announcements.push_back(announcement(plan, static_cast<int>(s), *link.link, card));
            ++expected;
        }
    const auto received = sparse_exchange(plan.communicator(), std::move(announcements));
    validate_together(plan.communicator(), [&] {
        check_disjoint(plan, plan.bases.data());
        for (const Parcel& parcel : received) accept(plan, parcel);
        if (received.size() != expected)
            throw Error(std::to_string(expected) + " neighbors in the pattern of this rank, " +
                        std::to_string(received.size()) + " ranks know it as theirs: build the patterns together, from one domain");
    });
}

void wrap_images(Plan& plan, std::size_t number) {
    StagePlan& stage = plan.stages[number];
    stage.wrap = compile_wrap(plan, plan.pattern->stages[number]);
    if (stage.wrap.empty()) return;
    for (LinkPlan& link : stage.links) link.repeat = {};
    stage.self->forward = stage.self->repeat = {};
}

}  // namespace

Plan make_plan(Pattern pattern, std::vector<Field> fields, const TellProperties& options, const std::vector<std::int64_t>& card) {
    const Communicator comm = pattern.communicator;
    validate_together(comm, [&] {
        check_local(pattern);
        for (std::size_t f = 0; f < fields.size(); ++f) check_field(pattern, fields[f], f);
    });
    require_equal(comm, "the fields, the domain or the options of the exchange",
                  [&](Properties& told) { tell_all(told, pattern, fields, options); }, "pass the same ones on every rank");
    Plan plan{std::make_shared<const Pattern>(std::move(pattern)), std::move(fields), {}, {}, {}};
    collect_bases(plan);
    for (const Stage& stage : plan.pattern->stages) {
        StagePlan& stage_plan = plan.stages.emplace_back();
        for (const Link& link : stage) {
            if (link.rank == comm.rank()) stage_plan.self = compile_self(plan, link);
            else stage_plan.links.push_back({link.rank, &link, {}, {}, {}, false, {}, {}});
        }
    }
    shake_hands(plan, card);
    for (StagePlan& stage : plan.stages)
        for (LinkPlan& link : stage.links) compile_link(plan, link);
    for (std::size_t s = 0; s < plan.stages.size(); ++s) wrap_images(plan, s);
    return plan;
}

byte_count Plan::bytes_sent(Direction direction) const {
    byte_count total = 0;
    for (const StagePlan& stage : stages)
        for (const LinkPlan& link : stage.links) total += link.way(direction).send_bytes;
    return total;
}

int Plan::messages_sent(Direction direction) const {
    int total = 0;
    for (const StagePlan& stage : stages)
        for (const LinkPlan& link : stage.links) total += link.way(direction).send_bytes > 0;
    return total;
}

}  // namespace parhelion
