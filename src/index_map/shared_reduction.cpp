#include "index_map/shared_reduction.hpp"

#include <algorithm>

#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/node_memory.hpp"

namespace parhelion {
namespace {

std::shared_ptr<std::byte> node_shared(byte_count bytes) {
    return bytes == 0 ? nullptr : allocate_node_shared(bytes);
}

bool follow_each_other(const std::vector<local_index>& list) {
    return std::adjacent_find(list.begin(), list.end(), [](local_index a, local_index b) {
               return b != a + 1;
           }) == list.end();
}

// Kept in the list's order: what is combined is in the order of ranks.
IndexedOp between(int src_base, const std::vector<local_index>& src, int dst_base,
                  const std::vector<local_index>& dst, const CellValues& values) {
    const byte_count width = values.width();
    IndexedOp op{src_base,
                 dst_base,
                 0,
                 0,
                 width,
                 static_cast<byte_count>(src.size()),
                 width,
                 width,
                 src.data(),
                 dst.data(),
                 values.element.scalar};
    if (!src.empty() && follow_each_other(src)) op.src = src.front() * width, op.src_list = nullptr;
    return op;
}

}  // namespace

SharedReduction::SharedReduction(const SharedPoints& points, local_index owned, CellArrays arrays,
                                 const ExchangeOptions& options, Tells tells)
    : points_(points), owned_(owned), made_for_(arrays.begin(), arrays.end()), given_(made_for_),
      places_(2 * arrays.size()) {
    for (local_index point : points.points)
        point < owned ? shared_owned_.push_back(point) : shared_ghosts_.push_back(point - owned);
    const Pattern& pattern = points.pattern;
    validate_together(pattern.communicator, [&] {
        for (const CellValues& values : made_for_) {
            std::vector<BounceBuffer::Cells> exchanged{
                {0, static_cast<byte_count>(shared_owned_.size()), shared_owned_.data(),
                 shared_owned_.data()},
                {1, static_cast<byte_count>(shared_ghosts_.size()), shared_ghosts_.data(),
                 shared_ghosts_.data(), owned_}};
            arrays_.push_back(
                {values.width(), {executor_, values.width(), pattern.owned, std::move(exchanged)}});
            make(arrays_.back(), values);
            represent(arrays_.size() - 1, false);
        }
        if (tells == Tells::failures)
            failures_ = node_shared(1 + static_cast<byte_count>(pattern.stages[0].size()));
    });
    std::vector<Field> fields;
    for (std::size_t f = 0; f < arrays_.size(); ++f)
        fields.push_back(view_cells(places_[2 * f], pattern.owned, places_[2 * f + 1],
                                    pattern.ghosts, made_for_[f].element,
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
    Field field =
        view_cells(failures_.get(), 1, failures_.get() + 1, neighbors, {Scalar::uint8, 1}, {});
    return {std::move(pattern), {std::move(field)}};
}

// Whose own reduction it was knows more.
void SharedReduction::refuse_failures(Reduction reduction) const {
    if (!failures_ || (reduction.by() != nullptr && reduction.by()->has_failed())) return;
    const auto& links = points_.pattern.stages[0];
    for (std::size_t k = 0; k < links.size(); ++k)
        if (failures_.get()[1 + k] != std::byte{})
            throw Error("the reduction has failed on rank " + std::to_string(links[k].rank) +
                        ", where it combined points that the rank has twice: what it raised there "
                        "says why; points that this rank "
                        "shares with it have no value of use");
}

void SharedReduction::make(Array& array, const CellValues& values) {
    for (const Holder& turn : points_.holders) {
        Program& program = array.turns.emplace_back();
        program.dependence = Dependence::chain;
        const bool own = turn.rank == points_.pattern.communicator.rank();
        program.add_plain(between(1, turn.slots, 0, turn.points, values));
        program.add_plain(between(own ? 0 : 1, turn.from, 1, turn.into_slots, values));
    }
    array.give.add_plain(between(1, points_.gathered, 0, points_.given, values));
    for (Program& program : array.turns) executor_->compile(program);
    executor_->compile(array.give);
    array.slots = node_shared(points_.pattern.ghosts * array.width);
    array.buffer.reserve(false);
}

bool SharedReduction::fits(CellArrays arrays) const {
    return std::equal(arrays.begin(), arrays.end(), made_for_.begin(), made_for_.end(),
                      [](const CellValues& a, const CellValues& b) {
                          return a.element == b.element && a.components == b.components;
                      });
}

bool SharedReduction::combines(CellArrays arrays) const {
    return under_way() && std::equal(arrays.begin(), arrays.end(), given_.begin(), given_.end(),
                                     [](const CellValues& a, const CellValues& b) {
                                         return a.owned == b.owned && a.ghosts == b.ghosts &&
                                                a.width() == b.width();
                                     });
}

// Where owned cells and ghosts are one array whose cells lie next to each other, it is exchanged in
// place.
void SharedReduction::represent(std::size_t f, bool always) {
    Array& array = arrays_[f];
    const CellValues& values = given_[f];
    const bool no_owned = owned_ == 0, no_ghosts = points_.pattern.owned == owned_;
    const bool dense = (values.owned.stride == array.width || owned_ <= 1) &&
                       (values.ghosts.stride == array.width || points_.pattern.owned - owned_ <= 1);
    const bool joined =
        no_owned || no_ghosts || values.ghosts.first == values.owned.first + owned_ * array.width;
    const CellArray parts[2] = {values.owned, values.ghosts};
    array.buffer.stand_in_for(parts, always || !dense || !joined);
    places_[2 * f] = array.buffer.stands_in() ? array.buffer.first()
                     : no_owned               ? values.ghosts.first
                                              : values.owned.first;
    places_[2 * f + 1] = array.slots.get();
}

void SharedReduction::represent() {
    for (std::size_t f = 0; f < arrays_.size(); ++f) represent(f, false);
    if (exchange_->refusal(Direction::forward, ArrayList(places_)).empty()) return;
    for (std::size_t f = 0; f < arrays_.size(); ++f) represent(f, true);
}

void SharedReduction::start(CellArrays arrays) {
    std::copy(arrays.begin(), arrays.end(), given_.begin());
    represent();
    for (Array& array : arrays_) array.buffer.copy_in(*queue_);
}

void SharedReduction::run(CellArrays arrays, Reduction reduction) {
    start(arrays);
    (*exchange_)(*queue_, places_);
    combine(reduction);
}

void SharedReduction::begin(CellArrays arrays, Reduction reduction) {
    start(arrays);
    reduction_ = reduction;
    queue_->wait();
    step_.emplace(exchange_->begin(places_));
    begun();
}

void SharedReduction::end() {
    ended();
    step_->end();
    combine(*reduction_);
}

void SharedReduction::combine(Reduction reduction) {
    if (failures_) queue_->wait();  // they are looked at here
    refuse_failures(reduction);
    for (std::size_t f = 0; f < arrays_.size(); ++f) {
        Bases bases = &places_[2 * f];
        for (const Program& turn : arrays_[f].turns) queue_->enqueue(turn, bases, bases, reduction);
        queue_->enqueue(arrays_[f].give, bases, bases);
        arrays_[f].buffer.copy_out(*queue_);
    }
    queue_->wait();
}

}  // namespace parhelion
