#include "index_map/shared_reduction.hpp"

#include <algorithm>

#include "parhelion/core/error.hpp"
#include "parhelion/core/node_memory.hpp"

namespace parhelion {
namespace {

std::shared_ptr<std::byte> node_shared(byte_count bytes) { return bytes == 0 ? nullptr : allocate_node_shared(bytes); }

bool follow_each_other(const std::vector<local_index>& list) {
    return std::adjacent_find(list.begin(), list.end(), [](local_index a, local_index b) { return b != a + 1; }) == list.end();
}

// Kept in the list's order: what is combined is in the order of ranks.
IndexedOp between(int src_base, const std::vector<local_index>& src, int dst_base, const std::vector<local_index>& dst,
                  const CellValues& values) {
    const byte_count width = values.width();
    IndexedOp op{
        src_base, dst_base, 0, 0, width, static_cast<byte_count>(src.size()), width, width, src.data(), dst.data(), values.element.scalar};
    if (!src.empty() && follow_each_other(src)) op.src = src.front() * width, op.src_list = nullptr;
    return op;
}

}  // namespace

SharedReduction::SharedReduction(const SharedPoints& points, local_index owned, CellArrays arrays, const ExchangeOptions& options,
                                 Tells tells)
    : points_(points), owned_(owned), made_for_(arrays.begin(), arrays.end()), given_(made_for_), arrays_(arrays.size()),
      places_(2 * arrays.size()) {
    for (local_index point : points.points) point < owned ? shared_owned_.push_back(point) : shared_ghosts_.push_back(point - owned);
    const Pattern& pattern = points.pattern;
    validate_together(pattern.communicator, [&] {
        for (std::size_t f = 0; f < arrays_.size(); ++f) {
            make(arrays_[f], made_for_[f]);
            represent(f, false);
        }
        if (tells == Tells::failures) failures_ = node_shared(1 + static_cast<byte_count>(pattern.stages[0].size()));
    });
    std::vector<Field> fields;
    for (std::size_t f = 0; f < arrays_.size(); ++f)
        fields.push_back(view_cells(places_[2 * f], pattern.owned, places_[2 * f + 1], pattern.ghosts, made_for_[f].element,
                                    {Order::c, made_for_[f].components}));
    std::vector<Group> groups{{pattern, std::move(fields)}};
    if (failures_) {
        groups.push_back(failures_group());
        places_.insert(places_.end(), {failures_.get(), failures_.get() + 1});
    }
    exchange_.emplace(std::move(groups), options);
}

// A byte of this rank to each other holder of its points.
Group SharedReduction::failures_group() {
    const Pattern& of = points_.pattern;
    const auto neighbors = static_cast<local_index>(of.stages[0].size());
    Pattern pattern{of.communicator, 0, {}, {}, 1, neighbors, {}};
    pattern.halo = HaloWidth(0);
    pattern.stages.emplace_back();
    for (local_index k = 0; k < neighbors; ++k) {
        Link& link = pattern.stages[0].emplace_back();
        link.rank = of.stages[0][static_cast<std::size_t>(k)].rank;
        link.send.cells = {0}, link.send_unique = 1;
        link.receive.cells = {1 + k}, link.receive_unique = 1;
    }
    Field field = view_cells(failures_.get(), 1, failures_.get() + 1, neighbors, {Scalar::uint8, 1}, {});
    return {std::move(pattern), {std::move(field)}};
}

void SharedReduction::refuse_failures() {
    if (!failures_) return;
    const auto& links = points_.pattern.stages[0];
    for (std::size_t k = 0; k < links.size(); ++k)
        if (failures_.get()[1 + k] != std::byte{})
            throw Error("the reduction has failed on rank " + std::to_string(links[k].rank) +
                        ", where it combined points that the rank has twice: what it raised there says why; points that this rank "
                        "shares with it have no value of use");
}

void SharedReduction::make(Array& array, const CellValues& values) {
    array.width = values.width();
    for (const Holder& turn : points_.holders) {
        Program& program = array.turns.emplace_back();
        const bool own = turn.rank == points_.pattern.communicator.rank();
        program.add_plain(between(1, turn.slots, 0, turn.points, values));
        program.add_plain(between(own ? 0 : 1, turn.from, 1, turn.into_slots, values));
    }
    array.give.add_plain(between(1, points_.gathered, 0, points_.given, values));
    array.slots = node_shared(points_.pattern.ghosts * array.width);
    if (points_.pattern.owned > 0)
        array.stand_in = {new std::byte[static_cast<std::size_t>(points_.pattern.owned * array.width)], std::default_delete<std::byte[]>()};
}

bool SharedReduction::fits(CellArrays arrays) const {
    return std::equal(arrays.begin(), arrays.end(), made_for_.begin(), made_for_.end(),
                      [](const CellValues& a, const CellValues& b) { return a.element == b.element && a.components == b.components; });
}

bool SharedReduction::combines(CellArrays arrays) const {
    return under_way() &&
           std::equal(arrays.begin(), arrays.end(), given_.begin(), given_.end(), [](const CellValues& a, const CellValues& b) {
               return a.owned == b.owned && a.ghosts == b.ghosts && a.width() == b.width();
           });
}

void SharedReduction::stand_in(Array& array, const CellValues& values) {
    if (array.owned_stride == values.owned.stride && array.ghost_stride == values.ghosts.stride) return;
    array.owned_stride = values.owned.stride, array.ghost_stride = values.ghosts.stride;
    const auto part = [&](int base, const std::vector<local_index>& cells, byte_count stride) {
        return IndexedOp{base,
                         0,
                         0,
                         base * owned_ * array.width,
                         array.width,
                         static_cast<byte_count>(cells.size()),
                         stride,
                         array.width,
                         cells.data(),
                         cells.data()};
    };
    array.bring = {};
    array.bring.add(part(0, shared_owned_, array.owned_stride));
    array.bring.add(part(1, shared_ghosts_, array.ghost_stride));
    array.give_back = inverse(array.bring);
}

// Where owned cells and ghosts are one array whose cells lie next to each other, it is exchanged in place.
void SharedReduction::represent(std::size_t f, bool always) {
    Array& array = arrays_[f];
    const CellValues& values = given_[f];
    const bool no_owned = owned_ == 0, no_ghosts = points_.pattern.owned == owned_;
    const bool dense =
        (values.owned.stride == array.width || owned_ <= 1) && (values.ghosts.stride == array.width || points_.pattern.owned - owned_ <= 1);
    const bool joined = no_owned || no_ghosts || values.ghosts.first == values.owned.first + owned_ * array.width;
    array.stands_in = points_.pattern.owned > 0 && (always || !dense || !joined);
    if (array.stands_in) stand_in(array, values);
    places_[2 * f] = array.stands_in ? array.stand_in.get() : no_owned ? values.ghosts.first : values.owned.first;
    places_[2 * f + 1] = array.slots.get();
}

void SharedReduction::represent() {
    for (std::size_t f = 0; f < arrays_.size(); ++f) represent(f, false);
    if (exchange_->refusal(Direction::forward, ArrayList(places_)).empty()) return;
    for (std::size_t f = 0; f < arrays_.size(); ++f) represent(f, true);
}

void SharedReduction::copy(Program Array::* program, bool to_arrays) {
    for (std::size_t f = 0; f < arrays_.size(); ++f) {
        if (!arrays_[f].stands_in) continue;
        std::byte* const parts[2] = {given_[f].owned.first, given_[f].ghosts.first};
        std::byte* const here = arrays_[f].stand_in.get();
        parhelion::run(arrays_[f].*program, to_arrays ? &here : parts, to_arrays ? parts : &here);
    }
}

void SharedReduction::start(CellArrays arrays) {
    std::copy(arrays.begin(), arrays.end(), given_.begin());
    represent();
    copy(&Array::bring, false);
}

void SharedReduction::run(CellArrays arrays, Reduction reduction) {
    start(arrays);
    (*exchange_)(places_);
    combine(reduction);
}

void SharedReduction::begin(CellArrays arrays, Reduction reduction) {
    start(arrays);
    reduction_ = reduction;
    step_.emplace(exchange_->begin(places_));
    begun();
}

void SharedReduction::end() {
    ended();
    step_->end();
    combine(*reduction_);
}

void SharedReduction::combine(Reduction reduction) {
    refuse_failures();
    for (std::size_t f = 0; f < arrays_.size(); ++f) {
        Bases bases = &places_[2 * f];
        for (const Program& turn : arrays_[f].turns) reduce(turn, bases, bases, reduction);
        parhelion::run(arrays_[f].give, bases, bases);
    }
    copy(&Array::give_back, true);
}

}  // namespace parhelion
