// The end of after.cpp in docs/from-your-loop.md: checks each of its variants.

// Sets each owned cell to its global number.
void fill(const CartesianDomain& domain, int halo, Values& u, bool columns) {
  const Box all = domain.extended(), own = domain.owned();
  u.assign(static_cast<std::size_t>(all.cells()), -1);
  for (auto i = own.lo[0]; i < own.hi[0]; ++i)
    for (auto j = own.lo[1]; j < own.hi[1]; ++j) {
      const auto a = i - own.lo[0] + halo, b = j - own.lo[1] + halo;
      u[columns ? b * all.extent(0) + a : a * all.extent(1) + b] = static_cast<double>(32 * i + j);
    }
}

int filled(const Values& u) {
  int count = 0;
  for (double value : u) count += value >= 0;
  return count;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {  // destroys exchanges before MPI_Finalize
    Values u;
    CartesianDomain domain = grid(1), wide = grid(2);
    fill(domain, 1, u, false), Solver(domain, u).step(u);
    const bool packed = filled(u) == domain.extended().cells();
    fill(domain, 1, u, true), of_columns(domain, u)();
    const bool typed = filled(u) == domain.extended().cells();
    fill(wide, 2, u, false), of_one_layer(wide, u)();
    const bool thin = filled(u) == domain.extended().cells();
    fill(domain, 1, u, false);
    const auto row = domain.extended().extent(1);
    const Field handmade = with_strides(&u[static_cast<std::size_t>(row + 1)], row * 8);
    Exchange{build_pattern(domain), {handmade}}();
    const bool strided = filled(u) == domain.extended().cells();
    const bool cart = cart_has_the_same_coordinates(), neighbors = ring();
    if (domain.communicator().rank() == 0)
      std::printf("right: %d %d %d %d %d %d\n", packed, typed, thin, strided, cart, neighbors);
  }
  MPI_Finalize();
}
