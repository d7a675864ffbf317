#include "parhelion/domain/indexed_domain.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/concat.hpp"
#include "domain/directory.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

constexpr global_index largest_id = global_index{1} << 62;
constexpr global_index most_local = std::numeric_limits<local_index>::max();

std::vector<local_index> ascending_order(std::span<const global_index> ids) {
    std::vector<local_index> order(ids.size());
    std::iota(order.begin(), order.end(), 0);
    if (!std::is_sorted(ids.begin(), ids.end()))
        std::stable_sort(order.begin(), order.end(),
                         [&](local_index a, local_index b) { return ids[a] < ids[b]; });
    return order;
}

void check_counts(global_index owned, std::size_t ghosts) {
    if (owned < 0) throw Error(concat("a rank cannot own ", owned, " cells: pass 0 or more"));
    if (owned > most_local || owned + static_cast<global_index>(ghosts) > most_local)
        throw Error(concat(owned, " owned cells and ", ghosts,
                           " ghosts exceed 2147483647 cells on one rank: use more ranks"));
}

std::string ghost_text(global_index id, std::size_t position) {
    return concat("ghost ", position, " has global id ", id);
}

}  // namespace

IndexedDomain::IndexedDomain(global_index owned, std::vector<global_index> ghosts,
                             Communicator comm, SelfGhosts self)
    : comm_(comm) {
    collectively(comm_, "IndexedDomain", [&] {
        check_counts(owned, ghosts.size());
        owned_ = static_cast<local_index>(owned);
        ghost_ids_ = std::move(ghosts);
        const auto add = [](std::int64_t before, std::int64_t mine) { return before + mine; };
        id_limit_ = global_size_ = total(comm_, {owned}).front();
        first_ = before_this_rank(comm_, owned, 0, add);
        finish(self);
    });
}

IndexedDomain IndexedDomain::with_owned_ids(std::vector<global_index> owned_ids,
                                            std::vector<global_index> ghosts, Communicator comm,
                                            SelfGhosts self) {
    return collectively(comm, "IndexedDomain", [&] {
        IndexedDomain domain{comm};
        check_counts(static_cast<global_index>(owned_ids.size()), ghosts.size());
        global_index limit = 0;
        for (global_index id : owned_ids) {
            if (id < 0) throw Error(concat("owned global id ", id, " is negative: ids start at 0"));
            if (id >= largest_id)
                throw Error(concat("owned global id ", id, " is too large: use ids below 2^62"));
            limit = std::max(limit, id + 1);
        }
        domain.arbitrary_ = true;
        domain.owned_ = static_cast<local_index>(owned_ids.size());
        domain.owned_ids_ = std::move(owned_ids);
        domain.ghost_ids_ = std::move(ghosts);
        domain.global_size_ = total(comm, {domain.owned_}).front();
        domain.id_limit_ = largest(comm, {limit}).front();
        domain.finish(self);
        return domain;
    });
}

void IndexedDomain::finish(SelfGhosts self) {
    by_id_ = ascending_order(ghost_ids_);
    number();
    check_ghosts(self);
    std::vector<global_index> unique;
    unique.reserve(by_id_.size());
    for (local_index position : by_id_)
        if (unique.empty() || unique.back() != ghost_ids_[position])
            unique.push_back(ghost_ids_[position]);
    const auto owners =
        find_owners(comm_, {id_limit_, first_, owned_, owned_ids_, arbitrary_}, unique);
    for (std::size_t i = 0; i < owners.size();
         ++i)  // in a block domain, ids in range have an owner
        if (owners[i] < 0)
            throw Error(concat("nobody owns the ghost with global id ", unique[i],
                               ": every ghost needs an owner"));
    ghost_owners_.resize(ghost_ids_.size());
    std::size_t slot = 0;
    for (local_index position : by_id_) {
        if (unique[slot] != ghost_ids_[position]) ++slot;
        ghost_owners_[position] = owners[slot];
    }
}

void IndexedDomain::check_ghosts(SelfGhosts self) const {
    for (std::size_t i = 0; i < ghost_ids_.size(); ++i) {
        const global_index id = ghost_ids_[i];
        if (id < 0 || id >= id_limit_)
            throw Error(concat(ghost_text(id, i), ", outside of 0 … ", id_limit_ - 1,
                               ": ids start at 0 and end below the number of cells"));
        if (self == SelfGhosts::refused && owned_of(id) >= 0)
            throw Error(ghost_text(id, i) +
                        ", which this rank owns: ghosts are cells of other ranks "
                        "(or allow self ghosts)");
    }
}

global_index IndexedDomain::global_of(local_index cell) const {
    if (cell < 0 || cell >= size())
        throw Error(concat("local cell ", cell, " does not exist: this rank has ", size()));
    if (cell >= owned_) return ghost_ids_[cell - owned_];
    return arbitrary_ ? owned_ids_[cell] : first_ + cell;
}

global_index IndexedDomain::id_of(local_index cell) const {
    return cell < owned_ ? owned_ids_[cell] : ghost_ids_[cell - owned_];
}

void IndexedDomain::number() {
    table_.reserve(owned_ids_.size() + ghost_ids_.size());
    const auto ids = [this](local_index cell) { return id_of(cell); };
    for (local_index cell = arbitrary_ ? 0 : owned_; cell < size(); ++cell)
        table_.insert(cell, ids);
}

local_index IndexedDomain::owned_of(global_index id) const {
    if (!arbitrary_)
        return id >= first_ && id < first_ + owned_ ? static_cast<local_index>(id - first_) : -1;
    const local_index cell = table_.find(id, [this](local_index each) { return id_of(each); });
    return cell < owned_ ? cell : -1;
}

local_index IndexedDomain::local_of(global_index id) const {
    if (!arbitrary_ && id >= first_ && id < first_ + owned_)
        return static_cast<local_index>(id - first_);
    return table_.find(id, [this](local_index each) { return id_of(each); });
}

void IndexedDomain::local_of(std::span<const global_index> ids,
                             std::span<local_index> cells) const {
    if (ids.size() != cells.size())
        throw Error(concat(ids.size(), " ids and places for ", cells.size(),
                           " local numbers: pass as many"));
    for (std::size_t i = 0; i < ids.size(); ++i) cells[i] = local_of(ids[i]);
}

std::vector<int> IndexedDomain::owners_of(std::span<const global_index> ids) const {
    return collectively(comm_, "owners", [&] {
        for (global_index id : ids)
            if (id < 0 || id >= id_limit_) throw Error(concat("global id ", id, " does not exist"));
        const std::vector<local_index> order = ascending_order(ids);
        std::vector<global_index> sorted;
        for (local_index i : order) sorted.push_back(ids[i]);
        const auto found =
            find_owners(comm_, {id_limit_, first_, owned_, owned_ids_, arbitrary_}, sorted);
        std::vector<int> owners(ids.size());
        for (std::size_t i = 0; i < order.size(); ++i) owners[order[i]] = found[i];
        for (std::size_t i = 0; i < owners.size(); ++i)
            if (owners[i] < 0) throw Error(concat("nobody owns global id ", ids[i]));
        return owners;
    });
}

}  // namespace parhelion
