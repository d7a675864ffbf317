// Heat equation on a periodic plane: the serial and the parallel program give bitwise equal
// results.
#include <parhelion/parhelion.hpp>

#include <cstdio>
#include <utility>
#include <vector>

using Index = parhelion::global_index;
constexpr Index rows = 48, columns = 40;
constexpr int steps = 50;

double start(Index x, Index y) { return static_cast<double>((x / 6 + y / 5) % 2); }

// One time step on n × m cells with a halo of width 1.
void step(const double* u, double* after, Index n, Index m) {
  for (Index i = 1; i <= n; ++i)
    for (Index c = i * (m + 2) + 1; c <= i * (m + 2) + m; ++c)
      after[c] = u[c] + 0.1 * (u[c - m - 2] + u[c + m + 2] + u[c - 1] + u[c + 1] - 4 * u[c]);
}

std::vector<double> serial() {
  std::vector<double> u((rows + 2) * (columns + 2)), after = u;
  const auto at = [](Index i, Index j) { return (i + 1) * (columns + 2) + j + 1; };
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) u[at(i, j)] = start(i, j);
  for (int s = 0; s < steps; ++s) {
    for (Index j = 0; j < columns; ++j)
      u[at(-1, j)] = u[at(rows - 1, j)], u[at(rows, j)] = u[at(0, j)];
    for (Index i = 0; i < rows; ++i)
      u[at(i, -1)] = u[at(i, columns - 1)], u[at(i, columns)] = u[at(i, 0)];
    step(u.data(), after.data(), rows, columns);
    std::swap(u, after);
  }
  return u;
}

bool parallel_equals(const std::vector<double>& expected) {
  parhelion::CartesianDomain domain{
      {rows, columns}, {.halo = 1, .periodic = true, .neighbors = parhelion::Neighbors::faces}};
  auto u = make_array<double>(domain), after = make_array<double>(domain);
  parhelion::Exchange fill{build_pattern(domain), {view(u)}};
  const auto [lo, hi] = domain.owned();
  for (Index i = lo[0]; i < hi[0]; ++i)
    for (Index j = lo[1]; j < hi[1]; ++j) u(i, j) = start(i, j);
  for (int s = 0; s < steps; ++s, std::swap(u, after)) {
    fill(view(u));
    step(u.data(), after.data(), hi[0] - lo[0], hi[1] - lo[1]);
  }
  int same = 1;
  for (Index i = lo[0]; i < hi[0]; ++i)
    for (Index j = lo[1]; j < hi[1]; ++j)
      same &= u(i, j) == expected[(i + 1) * (columns + 2) + j + 1];
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return same;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool same = parallel_equals(serial());
  if (parhelion::Communicator(MPI_COMM_WORLD).rank() == 0)
    std::printf("%s the serial result\n", same ? "equal to" : "DIFFERENT FROM");
  MPI_Finalize();
  return same ? 0 : 1;
}
