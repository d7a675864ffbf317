// Views for inner loops access the same elements as checked access.
#include "parhelion/core/error.hpp"
#include "parhelion/plan/array.hpp"
#include "support/cases.hpp"
#include "support/world.hpp"

using namespace parhelion;

namespace {

CartesianDomain domain_of_blocks() {
  return {{4 * ranks(), 5, 6}, {.halo = {1, 2, 1},
                                   .periodic = true,
                                   .process_grid = {ranks(), 1, 1},
                                   .blocks_per_rank = {1, 1, 2}}};
}

template <Contiguity Along>
void check_layout(ArrayLayout layout) {
  const CartesianDomain domain = domain_of_blocks();
  auto u = make_array<double>(domain, layout);
  for (int block = 0; block < 2; ++block) {
    const Box all = domain.extended(block), owned = domain.owned(block);
    const auto local = u.values<4, Along>(block), global = u.global_values<4, Along>(block);
    EXPECT_EQ(local.extent(2), 3);
    EXPECT_EQ(local.extent(3), layout.components);
    EXPECT_EQ(global.origin(0), owned.lo[0]);
    double next = 0;
    for (auto i = all.lo[0]; i < all.hi[0]; ++i)
      for (auto j = all.lo[1]; j < all.hi[1]; ++j)
        for (auto k = all.lo[2]; k < all.hi[2]; ++k)
          for (int c = 0; c < layout.components; ++c) {
            global(i, j, k, c) = ++next;
            ASSERT_EQ(u.at({i, j, k}, c, block), next);
            ASSERT_EQ(&local(i - owned.lo[0], j - owned.lo[1], k - owned.lo[2], c),
                &u.at({i, j, k}, c, block));
          }
  }
}

}  // namespace

CASE("views of grids reach owned cells, ghosts and components of every block and layout") {
  check_layout<Contiguity::last>({Order::c, 3});
  check_layout<Contiguity::none>({Order::c, 3});
  check_layout<Contiguity::first>({Order::fortran, 2});
  check_layout<Contiguity::none>({Order::fortran, 2});
}

CASE("a view of cells alone is one of the first component") {
  auto u = make_array<float>(domain_of_blocks());
  const Box owned = domain_of_blocks().owned(1);
  EXPECT_EQ(
      &u.values<3>(1)(-1, 2, -1), &u.at({owned.lo[0] - 1, owned.lo[1] + 2, owned.lo[2] - 1}, 0, 1));
  EXPECT_EQ(u.values<3>(1).data_handle(), &u.at(owned.lo, 0, 1));
}

CASE("views that an array does not have are refused") {
  auto u = make_array<float>(domain_of_blocks(), {Order::c, 2});
  EXPECT_ERROR(Error, "3 dimensions has no values<2>", u.values<2>());
  EXPECT_ERROR(Error, "2 apart in dimension 2", u.values<3>());
  EXPECT_ERROR(Error, "apart in dimension 0", u.values<4, Contiguity::first>());
  EXPECT_NO_THROW(static_cast<void>(u.values<3, Contiguity::none>()));
}
