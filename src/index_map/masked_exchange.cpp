#include "index_map/masked_exchange.hpp"

#include "core/orphans.hpp"
#include "exchange/waiter.hpp"
#include "plan/layout.hpp"
#include "transport/message_type.hpp"
#include "transport/messenger.hpp"
#include "transport/node/node_context.hpp"

namespace parhelion {

MaskedExchange::MaskedExchange(const MaskedCells& cells, const std::vector<local_index>* places,
    CellArrays arrays, const ExchangeOptions& options)
    : CellsOperation(arrays), cells_(cells),
      timeout_s_(time_limit(options.timeout_s, options.check)),
      node_(cells.communicator().shared_state<Watch>().node()), numbers_(arrays.size()),
      bases_(arrays.size()), tag_(cells.communicator().next_tag()) {
  require_equal(
      cells.communicator(), "the arrays of an exchange of a subset",
      [&](Properties& told) {
        told.add("the number of arrays", arrays.size());
        for (std::size_t f = 0; f < arrays.size(); ++f)
          told.add("the bytes per cell of array %", arrays[f].width(), {static_cast<int>(f)});
      },
      "pass arrays of the same elements and components, in one order, on every rank");
  std::size_t copies = 0;
  for (std::size_t f = 0; f < arrays.size(); ++f) {
    copies += arrays[f].components;
    if (places != nullptr) numbers_[f].emplace(Numbers{PlacedCells(*places)});
  }
  program_.indexed.reserve(copies);
  byte_count all = 0;
  for (std::size_t k = 0; k < cells.neighbors().size(); ++k) {
    const Neighbor& neighbor = cells.neighbors()[k];
    slots_.push_back({all});
    all += bytes(std::max(neighbor.sent.most, neighbor.received.most));
    for (RequestSet* set : {&sends_, &receives_}) set->add(neighbor.rank);
  }
  const auto executor = make_executor(MemorySpace::host);
  out_ = executor->allocate(all), in_ = executor->allocate(all);
}

MaskedExchange::~MaskedExchange() {
  const bool settled = receives_.settle() & sends_.settle();
  if (!settled) orphan(std::move(out_)), orphan(std::move(in_));  // MPI may still use them
  if (!settled || receives_.cancelled()) tag_.keep();
}

// Of a message, in which each array starts at an aligned byte.
byte_count MaskedExchange::bytes(std::size_t cells) const {
  byte_count all = 0;
  for (const CellValues& array : made_for_)
    all += aligned(static_cast<byte_count>(cells) * array.width());
  return all;
}

void MaskedExchange::look_at(std::size_t f) {
  if (!numbers_[f]) return;
  auto& [placed, sent, received, version] = *numbers_[f];
  if (!placed.look_at(given_[f]) && version == cells_.version()) return;
  version = cells_.version();
  sent.resize(cells_.sent().size()), received.resize(cells_.received().size());
  const auto fill = [&](const Part& part, const std::vector<local_index>& cells,
                        std::vector<local_index>& numbers) {
    for (std::size_t i = part.first; i < part.first + part.count; ++i)
      numbers[i] = placed.number(cells[i]);
  };
  for (const Neighbor& neighbor : cells_.neighbors())
    fill(neighbor.sent, cells_.sent(), sent), fill(neighbor.received, cells_.received(), received);
}

void MaskedExchange::copies(const Neighbor& neighbor, bool packing) {
  const bool owned = packing == sends_owned();
  const Part& cells = part(neighbor, owned);
  const auto count = static_cast<byte_count>(cells.count);
  program_.indexed.clear();
  byte_count begin = 0;
  for (std::size_t f = 0; f < given_.size(); ++f) {
    const CellValues& array = given_[f];
    const auto& numbers = numbers_[f];
    const CellArray side = numbers ? numbers->placed.in(array) : owned ? array.owned : array.ghosts;
    const auto& list = numbers ? owned ? numbers->sent : numbers->received
                       : owned ? cells_.sent()
                               : cells_.received();
    const byte_count start = numbers || owned ? 0 : -byte_count{cells_.owned()} * side.stride,
                     width = array.is_joined() ? array.width() : array.element.size;
    const int base = f;
    bases_[f] = side.first;
    for (byte_count c = 0; c * width < array.width(); ++c) {
      const byte_count here = start + c * array.component_stride, there = begin + c * width;
      const local_index* const from = list.data() + cells.first;
      program_.add_plain(packing ? IndexedOp{base, 0, here, there, width, count, side.stride,
                                       array.width(), from, nullptr, array.element.scalar}
                                 : IndexedOp{0, base, there, here, width, count, array.width(),
                                       side.stride, nullptr, from, array.element.scalar});
    }
    begin += aligned(count * array.width());
  }
}

void MaskedExchange::require_good() const {
  if (failure_)
    throw Error(
        "an exchange of this subset failed before, and its neighbors may be in another one: "
        "make a new subset",
        ErrorKind::communication);
}

void MaskedExchange::begin(CellArrays arrays, MapCall call, Reduction reduction) {
  require_good();
  take(arrays, call);
  reduction_ = reduction;
  for (std::size_t f = 0; f < given_.size(); ++f) look_at(f);
  try {
    start();
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
  begun();
}

void MaskedExchange::start() {
  const MPI_Comm comm = cells_.communicator().handle();
  const int own = cells_.communicator().rank();
  const auto& neighbors = cells_.neighbors();
  for (std::size_t k = 0; k < neighbors.size(); ++k) {
    const int rank = neighbors[k].rank;
    const MessageType type(bytes(part(neighbors[k], !sends_owned()).count));
    slots_[k].missing = rank != own && type.count() > 0;
    if (slots_[k].missing)
      check_reached(MPI_Irecv(in_.get() + slots_[k].first, type.count(), type.type(), rank, tag_,
                        comm, &receives_[k]),
          rank, "MPI_Irecv");
  }
  for (std::size_t k = 0; k < neighbors.size(); ++k) {
    const int rank = neighbors[k].rank;
    std::byte* const message = (rank == own ? in_ : out_).get() + slots_[k].first;
    copies(neighbors[k], true);
    parhelion::run(program_, bases_.data(), &message);
    const MessageType type(bytes(part(neighbors[k], sends_owned()).count));
    if (rank != own && type.count() > 0)
      check_reached(MPI_Isend(message, type.count(), type.type(), rank, tag_, comm, &sends_[k]),
          rank, "MPI_Isend");
  }
}

bool MaskedExchange::has_arrived(std::size_t k) {
  for (int i; slots_[k].missing && (i = receives_.test_any()) >= 0;) slots_[i].missing = false;
  return !slots_[k].missing;
}

bool MaskedExchange::test() try {
  for (std::size_t k = 0; k < slots_.size(); ++k)
    if (!has_arrived(k)) return false;
  return sends_.test_all();
} catch (...) {
  failure_ = std::current_exception();  // `end` rethrows it
  return true;
}

void MaskedExchange::unpack(std::size_t k) {
  std::byte* const message = in_.get() + slots_[k].first;
  copies(cells_.neighbors()[k], false);
  reduce(program_, &message, bases_.data(), *reduction_);
}

// Unpacks in ascending order of rank, for reproducible sums.
void MaskedExchange::finish() {
  Waiter waiter(node_, false, true, timeout_s_);
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    const Neighbor& neighbor = cells_.neighbors()[k];
    while (!has_arrived(k))
      waiter.pause([&] {
        return waiting_text(bytes(part(neighbor, !sends_owned()).count), neighbor.rank, number());
      });
    waiter.reset();
    unpack(k);
  }
  while (!sends_.test_all())
    waiter.pause([] { return std::string("waiting for a neighbor to take its message"); });
}

void MaskedExchange::end() {
  ended();
  try {
    if (failure_) std::rethrow_exception(failure_);
    cells_.communicator().handle();  // throws if MPI has ended
    finish();
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
}

}  // namespace parhelion
