// Exchanges of arrays.
#include <algorithm>

#include "fields.hpp"
#include "parhelion/core/collective.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

std::byte* array_of(const phl_field& field, int pointer) {
    if (pointer == MadeField::ghosts) return static_cast<std::byte*>(field.ghosts);
    return static_cast<std::byte*>(field.blocks != nullptr ? field.blocks[pointer] : field.cells);
}

// Of an index map ghosts may lie behind the owned cells.
MadeField made_from(const phl_field& field, const Field& view) {
    MadeField made{field, {}};
    for (int b = 0; b < static_cast<int>(view.blocks.size()); ++b) {
        const int pointer = !view.indexed ? b : b == 1 && field.ghosts != nullptr ? MadeField::ghosts : 0;
        std::byte* const start = array_of(field, pointer);
        made.arrays.push_back({pointer, start == nullptr ? 0 : view.blocks[static_cast<std::size_t>(b)].first - start});
    }
    return made;
}

Group group_of(const Source& source, const phl_group& given, std::vector<MadeField>& made) {
    std::vector<Field> fields;
    require_array(given.field, given.fields, "field");
    for (int f = 0; f < given.fields; ++f) {
        fields.push_back(source.view(given.field[f]));
        made.push_back(made_from(given.field[f], fields.back()));
    }
    return source.group(std::move(fields));
}

// `own_halo` without widths is easily said by mistake, and would move nothing.
void require_some_halo(const std::vector<Group>& groups) {
    for (const Group& group : groups) {
        const Pattern& pattern = group.patterns.front();
        if (pattern.indexed() || pattern.halo == HaloWidth(0) || group.fields.empty()) return;
        for (const Field& field : group.fields)
            if (field.halo != HaloWidth(0) || field.stagger != Stagger{})
                return;  // the point that the next block owns travels at any depth
    }
    throw Error(
        "no field has a halo, though its domain has one: nothing would be exchanged. Leave own_halo 0 for the domain's halo, or give "
        "halo_lower and halo_upper");
}

void add(Exchange exchange, std::vector<MadeField> made, std::vector<ArrayShape> shapes, phl_exchange& handle) {
    ExchangeObject object{std::move(exchange), std::move(made), {}, {}, std::move(shapes), {}, {}, {}, {}};
    object.transport = object.exchange.transport();
    object.places.reserve(object.exchange.plan().bases.size());
    object.given.resize(object.made.size());
    keep(std::move(object), handle);
}

void create(int count, const phl_group* given, const phl_exchange_options* options, phl_exchange* exchange) {
    if (count < 1) throw Error("an exchange needs at least one group: pass a domain or map with its fields");
    require_array(given, count, "group");
    const Source first(given[0], 0);
    std::vector<Group> groups;
    std::vector<MadeField> made;
    collectively(first.communicator(), "phl_exchange_create", options != nullptr ? options->timeout_s : 0, [&] {
        validate_together(first.communicator(), [&] {
            require_output(exchange, "exchange");
            for (int g = 0; g < count; ++g)
                groups.push_back(group_of(g == 0 ? first : later_source("group " + std::to_string(g), given[g], g), given[g], made));
            require_some_halo(groups);
        });
        add(Exchange(std::move(groups), options_from(options)), std::move(made), {}, *exchange);
    });
}

Only only_from(const phl_only& given) {
    Only only;
    require_array(given.fields, given.field_count, "fields");
    for (int i = 0; i < given.field_count; ++i) only.fields.push_back(given.fields[i]);
    for (std::size_t d = 0; given.own_depth && d < PHL_MAX_DIMENSIONS; ++d) {
        only.depth.lower[d] = given.depth_lower[d];
        only.depth.upper[d] = given.depth_upper[d];
    }
    return only;
}

int components_of(const phl_field& field) { return std::max(field.element.components, 1); }

bool equal_widths(bool one, const int32_t* lower, const int32_t* upper, bool other, const int32_t* others_lower,
                  const int32_t* others_upper) {
    if (!one || !other) return one == other;
    return std::equal(lower, lower + PHL_MAX_DIMENSIONS, others_lower) && std::equal(upper, upper + PHL_MAX_DIMENSIONS, others_upper);
}

bool equal_halo(const phl_field& a, const phl_field& b) {
    return equal_widths(a.own_halo != 0, a.halo_lower, a.halo_upper, b.own_halo != 0, b.halo_lower, b.halo_upper) &&
           equal_widths(a.own_depth != 0, a.depth_lower, a.depth_upper, b.own_depth != 0, b.depth_lower, b.depth_upper);
}

void require_like(const phl_field& given, const phl_field& made, int f) {
    const auto refuse = [f](const char* what) {
        throw Error("field " + std::to_string(f) + " has another " + what +
                    " than the exchange was made for: pass arrays of the layouts "
                    "that it was made with, or make another one, on every rank");
    };
    if (!(element_from(given.element) == element_from(made.element))) refuse("element type");
    if (components_of(given) != components_of(made)) refuse("number of components");
    if (given.order != made.order) refuse("order");
    if (given.space != made.space) refuse("memory space");
    if (!equal_halo(given, made)) refuse("halo or depth");
    if (!std::equal(given.stagger, given.stagger + PHL_MAX_DIMENSIONS, made.stagger)) refuse("stagger");
    if ((given.blocks == nullptr ? 1 : given.block_count) != (made.blocks == nullptr ? 1 : made.block_count)) refuse("number of blocks");
    if ((given.ghosts == nullptr) != (made.ghosts == nullptr)) refuse("place for its ghosts (behind the owned cells, or apart)");
}

ArrayList arrays_of(ExchangeObject& object, const phl_field* fields, int count) {
    require_array(fields, count, "fields");
    if (count == 0) return {};
    if (count != static_cast<int>(object.made.size()))
        throw Error(std::to_string(count) + " fields were passed and the exchange was made for " + std::to_string(object.made.size()) +
                    ": pass one for each, in that order, or none for those that it was made with");
    object.places.clear();
    for (int f = 0; f < count; ++f) {
        const MadeField& made = object.made[static_cast<std::size_t>(f)];
        require_like(fields[f], made.field, f);
        for (const auto& [pointer, offset] : made.arrays) {
            std::byte* const start = array_of(fields[f], pointer);
            object.places.push_back(start == nullptr ? nullptr : start + offset);
        }
    }
    return ArrayList(object.places);
}

void end(ExchangeObject& object) {
    if (!object.step) throw Error("no exchange is under way: call begin first");
    Exchange::Step step = std::move(*object.step);
    object.step.reset();
    step.end();
}

phl_stale_ghost stale_from(const StaleGhost& found) {
    phl_stale_ghost ghost{found.field, found.owner, found.component, static_cast<int32_t>(found.cell.size()), {}, {}, {}};
    std::copy(found.cell.begin(), found.cell.end(), ghost.cell);
    found.here.copy(ghost.here, sizeof ghost.here - 1);
    found.there.copy(ghost.there, sizeof ghost.there - 1);
    return ghost;
}

// Of the arrays that Fortran has passed, those of some fields: ghosts and further blocks come behind the first array of their field.
std::vector<ArrayShape> shapes_of(const std::vector<ArrayShape>& all, const ShortList<int, 16>& fields) {
    std::vector<ArrayShape> some;
    for (const int field : fields) {
        int f = -1;
        for (const ArrayShape& each : all)
            if ((f += !each.goes_on) == field) some.push_back(each);
    }
    return some;
}

template <class Work>
int with_arrays(phl_exchange exchange, const phl_field* fields, int count, Work&& work) {
    return with(exchange, [&](const auto& object) { work(*object, arrays_of(*object, fields, count)); });
}

}  // namespace

void parhelion::c::make_subset(phl_exchange whole, const Only& only, phl_exchange& subset) {
    const auto object = get(whole);
    const Only full = resolve(object->exchange.plan(), only);
    std::vector<MadeField> made;
    for (const int f : full.fields) made.push_back(object->made[static_cast<std::size_t>(f)]);
    add(object->exchange.only(only), std::move(made), shapes_of(object->shapes, full.fields), subset);
}

extern "C" {

int phl_exchange_only(phl_exchange exchange, const phl_only* only, phl_exchange* subset) {
    return guarded([&] {
        require_output(only, "only");
        require_output(subset, "subset");
        make_subset(exchange, only_from(*only), *subset);
    });
}

int phl_exchange_prepare(phl_exchange subset, const phl_field* fields, int count) {
    return with_arrays(subset, fields, count, [](ExchangeObject& each, const ArrayList& all) { each.exchange.prepare(all); });
}

int phl_exchange_create_cartesian(phl_cartesian domain, int fields, const phl_field* field, const phl_exchange_options* options,
                                  phl_exchange* exchange) {
    return guarded([&] {
        get(domain);  // null is an error, not another kind of group
        const phl_group group{domain, nullptr, field, fields};
        create(1, &group, options, exchange);
    });
}

int phl_exchange_create_index_map(phl_index_map map, int fields, const phl_field* field, const phl_exchange_options* options,
                                  phl_exchange* exchange) {
    return guarded([&] {
        get(map);
        const phl_group group{nullptr, map, field, fields};
        create(1, &group, options, exchange);
    });
}

int phl_exchange_create_groups(int groups, const phl_group* group, const phl_exchange_options* options, phl_exchange* exchange) {
    return guarded([&] { create(groups, group, options, exchange); });
}

int phl_exchange_free(phl_exchange* exchange) {
    return free_handle(exchange, "exchange", "the exchange is under way: end it before it is freed",
                       [](const ExchangeObject& each) { return each.step.has_value(); });
}

int phl_exchange_begin(phl_exchange exchange, const phl_field* fields, int count) {
    return with_arrays(exchange, fields, count,
                       [](ExchangeObject& each, const ArrayList& all) { each.step.emplace(each.exchange.begin(all)); });
}

int phl_exchange_begin_reverse(phl_exchange exchange, int reduction, const phl_field* fields, int count) {
    return with_arrays(exchange, fields, count, [&](ExchangeObject& each, const ArrayList& all) {
        each.step.emplace(each.exchange.begin_reverse(reduction_from(reduction), all));
    });
}

int phl_exchange_test(phl_exchange exchange, int* done) {
    return guarded([&] {
        require_output(done, "done");
        const auto object = get(exchange);
        *done = !object->step || object->step->test();
    });
}

int phl_exchange_end(phl_exchange exchange) {
    return guarded([&] { end(*get(exchange)); });
}

int phl_exchange_stale(phl_exchange exchange, const phl_field* fields, int count, int64_t* counts, int32_t capacity, phl_stale_ghost* first,
                       int32_t* told) {
    return with(exchange, [&](const auto& object) {
        const StaleGhosts found = object->exchange.stale(arrays_of(*object, fields, count));
        const auto few = first == nullptr ? 0 : std::min(found.first.size(), static_cast<std::size_t>(std::max(capacity, 0)));
        std::transform(found.first.begin(), found.first.begin() + static_cast<std::ptrdiff_t>(few), first, stale_from);
        if (counts != nullptr) std::copy(found.count.begin(), found.count.end(), counts);
        if (told != nullptr) *told = static_cast<int32_t>(few);
    });
}

int phl_exchange_check(phl_exchange exchange, const phl_field* fields, int count) {
    return with_arrays(exchange, fields, count, [](ExchangeObject& each, const ArrayList& all) { each.exchange.check(all); });
}

int phl_exchange_forward(phl_exchange exchange, const phl_field* fields, int count) {
    return with_arrays(exchange, fields, count, [](ExchangeObject& each, const ArrayList& all) { each.exchange(all); });
}

int phl_exchange_reverse(phl_exchange exchange, int reduction, const phl_field* fields, int count) {
    return with_arrays(exchange, fields, count,
                       [&](ExchangeObject& each, const ArrayList& all) { each.exchange.reverse(reduction_from(reduction), all); });
}

int phl_exchange_under_way(phl_exchange exchange, int* under_way) {
    return guarded([&] {
        require_output(under_way, "under_way");
        *under_way = get(exchange)->exchange.under_way();
    });
}

int phl_exchange_traffic(phl_exchange exchange, int direction, int64_t* bytes, int32_t* messages) {
    return with(exchange, [&](const auto& object) {
        const Plan& plan = object->exchange.plan();
        if (bytes != nullptr) *bytes = plan.bytes_sent(direction_from(direction));
        if (messages != nullptr) *messages = plan.messages_sent(direction_from(direction));
    });
}

int phl_exchange_transport(phl_exchange exchange, const char** name) {
    return guarded([&] {
        require_output(name, "name");
        *name = get(exchange)->transport.c_str();
    });
}

int phl_exchange_explain(phl_exchange exchange, const char** text) {
    return guarded([&] {
        require_output(text, "text");
        const auto object = get(exchange);
        if (object->explanation.empty()) object->explanation = object->exchange.explain();
        *text = object->explanation.c_str();
    });
}

}  // extern "C"
