#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "core/orphans.hpp"
#include "index_map/masked_exchange.hpp"

namespace parhelion {
namespace {

constexpr std::size_t per_word = 64;
constexpr std::size_t words_of(std::size_t cells) { return (cells + per_word - 1) / per_word; }

// Bit i: whether the number of cell i is not 0. `joined`: the cells' numbers are consecutive.
template <class Number>
void read_bits(
    const CellArray& mask, std::span<const local_index> cells, bool joined, std::uint64_t* words) {
  joined = joined && mask.stride == sizeof(Number);
  for (std::size_t first = 0; first < cells.size(); first += per_word) {
    std::array<std::uint8_t, per_word> set{};
    const std::size_t few = std::min(per_word, cells.size() - first);
    const local_index* numbers = cells.data() + first;
    const auto is_set = [](const std::byte* at) {
      Number number;
      std::memcpy(&number, at, sizeof number);
      return static_cast<std::uint8_t>(number != 0);
    };
    const std::byte* const begin = mask.first + numbers[0] * mask.stride;
    if (joined)
      for (std::size_t i = 0; i < few; ++i) set[i] = is_set(begin + i * sizeof(Number));
    else
      for (std::size_t i = 0; i < few; ++i) set[i] = is_set(mask.first + numbers[i] * mask.stride);
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < per_word; i += 8) {  // packs eight bytes into bits
      std::uint64_t eight;
      std::memcpy(&eight, set.data() + i, sizeof eight);
      word |= (eight * 0x0102040810204080 >> 56) << i;
    }
    *words++ = word;
  }
}

auto reader_of(const Element& element) {
  switch (element.size) {
    case 1: return &read_bits<std::uint8_t>;
    case 2: return &read_bits<std::uint16_t>;
    case 4: return &read_bits<std::uint32_t>;
    default: return &read_bits<std::uint64_t>;
  }
}

void require_mask(const CellValues& mask) {
  const auto size = static_cast<unsigned>(mask.element.size);
  const bool integer =
      mask.element.scalar == Scalar::bytes || mask.element.scalar < Scalar::float32;
  if (mask.components == 1 && integer && std::has_single_bit(size) && size <= 8) return;
  throw Error(concat("a mask of ", to_string(mask.element), " × ", mask.components,
                  " per cell: pass one integer or bool for each"),
      ErrorKind::type);
}

local_index* keep_each(
    const local_index* from, const std::uint64_t* bits, std::size_t count, local_index* to) {
  for (std::size_t first = 0; first < count; first += per_word)
    for (std::uint64_t word = *bits++; word != 0; word &= word - 1)
      *to++ = from[first + std::countr_zero(word)];
  return to;
}

constexpr std::size_t spare = 8;  // entries after each list

#if defined(__x86_64__)
// Of each subset of eight.
constexpr auto members = [] {
  std::array<std::array<local_index, 8>, 256> all{};
  for (std::size_t set = 0; set < all.size(); ++set)
    for (int i = 0, n = 0; i < 8; ++i)
      if (set >> i & 1) all[set][n++] = i;
  return all;
}();

bool keeps_eight() {
  static const bool possible = __builtin_cpu_supports("avx2");
  return possible;
}

// Reads and writes up to `spare` entries beyond the end.
__attribute__((target("avx2,popcnt"))) local_index* keep_eights(
    const local_index* from, const std::uint64_t* bits, std::size_t count, local_index* to) {
  for (std::size_t first = 0; first < count; first += per_word) {
    const std::size_t end = std::min(first + per_word, count);
    std::uint64_t word = *bits++;
    for (std::size_t i = first; i < end; i += 8, word >>= 8) {
      const auto* const set = reinterpret_cast<const __m256i*>(members[word & 255].data());
      const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
          _mm256_permutevar8x32_epi32(eight, _mm256_loadu_si256(set)));
      to += __builtin_popcountll(word & 255);
    }
  }
  return to;
}
#else
constexpr bool keeps_eight() { return false; }
constexpr auto keep_eights = keep_each;
#endif

}  // namespace

void MaskedCells::List::add(const std::vector<local_index>& cells, Part& part) {
  part = {all.size(), cells.size(), bits->size()};
  all.insert(all.end(), cells.begin(), cells.end());
  bits->resize(bits->size() + words_of(cells.size()));
}

void MaskedCells::List::keep(Part& part) {
  const Word* bits = bits_of(part);
  local_index* const first = now.data() + part.first;
  const local_index* const from = all.data() + part.first;
  const local_index* const end = keeps_eight() ? keep_eights(from, bits, part.most, first)
                                               : keep_each(from, bits, part.most, first);
  part.count = end - first;
}

MaskedCells::MaskedCells(const Pattern& pattern, const std::vector<local_index>* places)
    : comm_(pattern.communicator), owned_(pattern.owned) {
  for (const Link& link : pattern.stages.front()) {
    Neighbor& neighbor = neighbors_.emplace_back(Neighbor{link.rank, {}, {}});
    sent_.add(link.send.cells, neighbor.sent);
    received_.add(link.receive.cells, neighbor.received);
  }
  numbers_ = received_.all;
  for (List* list : {&sent_, &received_}) {
    list->all.resize(list->all.size() + spare);
    list->now = list->all, list->saved = *list->bits;
  }
  if (places != nullptr) placed_.emplace(*places);
  else
    for (local_index& number : numbers_) number -= owned_;
  look_at_numbers();
}

void MaskedCells::look_at_numbers() {
  for (Neighbor& neighbor : neighbors_) {
    Part& part = neighbor.received;
    const auto first = numbers_.begin() + static_cast<std::ptrdiff_t>(part.first),
               end = first + static_cast<std::ptrdiff_t>(part.most);
    part.joined = std::adjacent_find(
                      first, end, [](local_index a, local_index b) { return b != a + 1; }) == end;
  }
}

void MaskedCells::look_at(const CellValues& mask) {
  require_mask(mask);
  if (!placed_ || !placed_->look_at(mask)) return;
  placed_->numbers_of(std::span(received_.all).first(numbers_.size()), numbers_);
  look_at_numbers();
}

void MaskedCells::prepare_messages() {
  if (messages_) return;
  messages_ = std::make_unique<Messages>();
  messages_->tag = comm_.next_tag();
  for (std::size_t k = 0; k < neighbors_.size(); ++k)
    for (RequestSet* set : {&messages_->sends, &messages_->receives}) set->add(neighbors_[k].rank);
}

// Ghost holders send bits to owners; empty messages are skipped.
void MaskedCells::start(const CellValues& mask) {
  const MPI_Comm comm = comm_.handle();
  const auto bytes = [](const Part& part) { return words_of(part.most) * sizeof(Word); };
  for (std::size_t k = 0; k < neighbors_.size(); ++k) {
    const auto& [rank, sent, received] = neighbors_[k];
    if (rank != comm_.rank() && sent.most > 0)
      check_reached(MPI_Irecv(sent_.bits_of(sent), bytes(sent), MPI_BYTE, rank, messages_->tag,
                        comm, &messages_->receives[k]),
          rank, "MPI_Irecv");
  }
  const CellArray cells = placed_ ? placed_->in(mask) : mask.ghosts;
  for (std::size_t k = 0; k < neighbors_.size(); ++k) {
    const auto& [rank, sent, received] = neighbors_[k];
    Word* const bits = received_.bits_of(received);
    reader_of(mask.element)(
        cells, std::span(numbers_).subspan(received.first, received.most), received.joined, bits);
    if (rank == comm_.rank()) std::copy_n(bits, words_of(received.most), sent_.bits_of(sent));
    else if (received.most > 0)
      check_reached(MPI_Isend(bits, bytes(received), MPI_BYTE, rank, messages_->tag, comm,
                        &messages_->sends[k]),
          rank, "MPI_Isend");
  }
}

void MaskedCells::update(const CellValues& mask) {
  look_at(mask);
  updating_ = changed_ = true;
  prepare_messages();
  start(mask);
  for (Neighbor& neighbor : neighbors_) received_.keep(neighbor.received);
  for (PatientWait patience(comm_);
      !messages_->receives.test_all() || !messages_->sends.test_all();)
    patience.wait();
  for (Neighbor& neighbor : neighbors_) sent_.keep(neighbor.sent);
  ++version_;
  updating_ = false;
}

void MaskedCells::save() {
  changed_ = false;
  for (List* list : {&sent_, &received_}) list->saved = *list->bits;
}

void MaskedCells::restore() {
  settle();               // on every rank: those that changed take a new tag
  if (!changed_) return;  // another thread's exchange may be reading the lists
  for (List* list : {&sent_, &received_}) *list->bits = list->saved;
  for (Neighbor& neighbor : neighbors_)
    sent_.keep(neighbor.sent), received_.keep(neighbor.received);
  ++version_;
}

// Ends the messages of a failed update.
void MaskedCells::settle() {
  updating_ = false;
  if (!messages_) return;
  if (!(messages_->receives.settle() & messages_->sends.settle()))
    for (List* list : {&sent_, &received_})
      orphan(std::exchange(list->bits, std::make_shared<std::vector<Word>>(*list->bits)));
  messages_->tag.keep();  // another rank may have sent before it saw the error
  messages_.reset();
}

}  // namespace parhelion
