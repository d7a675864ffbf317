#include "support/cell_field.hpp"

#include <numeric>

namespace test {

Mesh Mesh::of_blocks(const std::vector<global_index>& sizes) {
  Mesh mesh;
  global_index next = 0;
  for (global_index size : sizes) {
    auto& ids = mesh.owned.emplace_back(static_cast<std::size_t>(size));
    std::iota(ids.begin(), ids.end(), next);
    next += size;
  }
  mesh.ghosts.resize(sizes.size());
  return mesh;
}

global_index Mesh::cells() const {
  global_index total = 0;
  for (const auto& ids : owned) total += static_cast<global_index>(ids.size());
  return total;
}

IndexedDomain Mesh::domain(SelfGhosts self, Communicator comm) const {
  const auto rank = static_cast<std::size_t>(comm.rank());
  if (!blocks) return IndexedDomain::with_owned_ids(owned[rank], ghosts[rank], comm, self);
  return {static_cast<global_index>(owned[rank].size()), ghosts[rank], comm, self};
}

CellField::CellField(
    const IndexedDomain& domain, const Mesh& mesh, const CellSpec& spec, int number, Memory memory)
    : domain_(domain), mesh_(mesh), spec_(spec), number_(number) {
  make_view(memory);
  if (memory == Memory::slow) view_ = as_slow(std::move(view_));
}

void CellField::make_view(Memory memory) {
  const byte_count cell = byte_count{spec_.element.size} * spec_.components;
  if (spec_.layout == CellLayout::apart) {
    const byte_count stride = cell + 5;
    owned_.emplace(domain_.owned() * stride, memory);
    ghosts_.emplace(domain_.ghosts() * stride, memory);
    view_ = {spec_.element, spec_.components, spec_.element.size, 0, true,
        {{owned_->data(), {stride}}, {ghosts_->data(), {stride}}}};
    return;
  }
  owned_.emplace(domain_.size() * cell, memory);
  const bool rows = spec_.layout == CellLayout::rows;
  std::byte* ghosts = owned_->data() + domain_.owned() * (rows ? spec_.element.size : cell);
  view_ = view_cells(owned_->data(), domain_.owned(), ghosts, domain_.ghosts(), spec_.element,
      {rows ? Order::fortran : Order::c, spec_.components});
}

std::byte* CellField::at(local_index cell, int component) {
  const byte_count size = spec_.element.size, number = cell;
  if (spec_.layout == CellLayout::rows)
    return owned_->data() + (component * byte_count{domain_.size()} + number) * size;
  if (spec_.layout == CellLayout::joined)
    return owned_->data() + (number * spec_.components + component) * size;
  const byte_count stride = size * spec_.components + 5;
  if (cell < domain_.owned()) return owned_->data() + number * stride + component * size;
  return ghosts_->data() + (number - domain_.owned()) * stride + component * size;
}

std::vector<std::byte*> CellField::places(local_index first, local_index end) {
  std::vector<std::byte*> found;
  for (local_index cell = first; cell < end; ++cell)
    for (int c = 0; c < spec_.components; ++c) found.push_back(at(cell, c));
  return found;
}

std::byte* CellField::expected(local_index cell, int component) {
  return (ghosts_ && cell >= domain_.owned() ? ghosts_ : owned_)->expected(at(cell, component));
}

std::uint64_t CellField::key(global_index id, int component) const {
  return mix(static_cast<std::uint64_t>(number_), static_cast<std::uint64_t>(round_),
      static_cast<std::uint64_t>(id), component);
}

std::uint64_t CellField::ghost_key(
    int rank, std::size_t position, global_index id, int component, Reduction reduction) const {
  if (reduction == Reduction::replace) return mix(key(id, component), 12345);
  return mix(key(id, component), static_cast<std::uint64_t>(rank), position);
}

void CellField::fill(Values values, int round) {
  values_ = values;
  round_ = round;
  owned_->wipe();
  if (ghosts_) ghosts_->wipe();
  const auto& ids = mesh_.owned[static_cast<std::size_t>(domain_.communicator().rank())];
  for (local_index cell = 0; cell < domain_.owned(); ++cell)
    for (int c = 0; c < spec_.components; ++c)
      write_value(at(cell, c), spec_.element, key(ids[static_cast<std::size_t>(cell)], c), values);
  owned_->expect_as_is();
  if (ghosts_) ghosts_->expect_as_is();
}

void CellField::fill_ghosts(Reduction reduction) {
  const int rank = domain_.communicator().rank();
  const auto& ids = mesh_.ghosts[static_cast<std::size_t>(rank)];
  for (std::size_t i = 0; i < ids.size(); ++i)
    for (int c = 0; c < spec_.components; ++c)
      write_value(at(domain_.owned() + static_cast<local_index>(i), c), spec_.element,
          ghost_key(rank, i, ids[i], c, reduction), values_);
  owned_->expect_as_is();
  if (ghosts_) ghosts_->expect_as_is();
}

void CellField::expect_forward() {
  const auto& ids = mesh_.ghosts[static_cast<std::size_t>(domain_.communicator().rank())];
  for (std::size_t i = 0; i < ids.size(); ++i)
    for (int c = 0; c < spec_.components; ++c)
      write_value(expected(domain_.owned() + static_cast<local_index>(i), c), spec_.element,
          key(ids[i], c), values_);
}

void CellField::expect_reverse(Reduction reduction) {
  const auto& mine = mesh_.owned[static_cast<std::size_t>(domain_.communicator().rank())];
  std::vector<std::pair<global_index, local_index>> cell_of;
  for (std::size_t i = 0; i < mine.size(); ++i)
    cell_of.emplace_back(mine[i], static_cast<local_index>(i));
  std::sort(cell_of.begin(), cell_of.end());
  for (std::size_t rank = 0; rank < mesh_.ghosts.size(); ++rank)
    for (std::size_t i = 0; i < mesh_.ghosts[rank].size(); ++i) {
      const global_index id = mesh_.ghosts[rank][i];
      const auto found =
          std::lower_bound(cell_of.begin(), cell_of.end(), std::pair{id, local_index{0}});
      if (found == cell_of.end() || found->first != id) continue;
      for (int c = 0; c < spec_.components; ++c) {
        std::byte value[64];
        write_value(
            value, spec_.element, ghost_key(static_cast<int>(rank), i, id, c, reduction), values_);
        combine_value(expected(found->second, c), value, spec_.element, reduction);
      }
    }
}

std::string CellField::difference() const {
  if (owned_->as_expected() && (!ghosts_ || ghosts_->as_expected())) return {};
  auto& self = const_cast<CellField&>(*this);
  const auto size = static_cast<std::size_t>(spec_.element.size);
  for (local_index cell = 0; cell < domain_.size(); ++cell)
    for (int c = 0; c < spec_.components; ++c) {
      const auto& memory = ghosts_ && cell >= domain_.owned() ? ghosts_ : owned_;
      if (memory->as_expected(self.at(cell, c), size)) continue;
      return "field " + std::to_string(number_) + " (" + to_string(view_) + "), cell " +
             std::to_string(cell) + " with global id " + std::to_string(domain_.global_of(cell)) +
             ", component " + std::to_string(c) + (cell < domain_.owned() ? ", owned" : ", ghost");
    }
  return "bytes outside of all cells were written, field " + std::to_string(number_);
}

std::vector<std::byte> CellField::copy() const {
  auto all = owned_->copy();
  if (ghosts_) {
    const auto more = ghosts_->copy();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

void CellField::restore(std::span<const std::byte> copy) {
  owned_->restore(copy);
  if (ghosts_) ghosts_->restore(copy);
}

}  // namespace test
