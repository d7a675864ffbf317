// −Δu = 4 on the unit disk by linear finite elements and conjugate gradients:
// docs/tutorial-mesh.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <parhelion/parhelion.hpp>
#include <vector>

using parhelion::global_index;
using Vector = std::vector<double>;
using Point = std::array<double, 2>;

struct Part {  // one rank's part of disk.txt
  global_index first = 0, owned = 0;
  std::vector<Point> places;
  std::vector<std::array<global_index, 3>> corners;
};

Part read(const char* name, int rank) {
  std::ifstream file(name);
  global_index parts, nodes, triangles, ahead = 0, mine = 0, n, t;
  file >> parts >> nodes >> triangles;
  Part part;
  for (int r = 0; r < parts; ++r) {
    file >> n >> t;
    if (r < rank) part.first += n, ahead += t;
    if (r == rank) part.owned = n, mine = t;
  }
  Point place;
  for (global_index i = 0; i < nodes && file >> place[0] >> place[1]; ++i)
    if (i >= part.first && i < part.first + part.owned) part.places.push_back(place);
  std::array<global_index, 3> corner;
  for (global_index i = 0; i < triangles && file >> corner[0] >> corner[1] >> corner[2]; ++i)
    if (i >= ahead && i < ahead + mine) part.corners.push_back(corner);
  return part;
}

double dot(const Vector& a, const Vector& b, std::size_t owned) {
  double sum = 0;
  for (std::size_t i = 0; i < owned; ++i) sum += a[i] * b[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

void solve() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Part part = read("disk.txt", rank);
  const auto owned = static_cast<std::size_t>(part.owned);

  std::vector<global_index> ghosts;
  for (const auto& corners : part.corners)
    for (global_index id : corners)
      if (id < part.first || id >= part.first + part.owned) ghosts.push_back(id);
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  // nodes of this part, then nodes of others that its triangles touch
  parhelion::IndexedDomain domain{part.owned, ghosts};
  const auto size = static_cast<std::size_t>(domain.size());
  for (auto& corners : part.corners)
    for (global_index& id : corners) id = domain.local_of(id);

  part.places.resize(size);
  const parhelion::Pattern pattern = build_pattern(domain);
  parhelion::Exchange{
      pattern, {view(domain, part.places.data()->data(), 2)}}();  // coordinates of ghosts
  Vector u(size), p(size), q(size), r(size), load(size);
  parhelion::Exchange exchange{pattern, {view(domain, p.data())}};

  const auto add_triangles = [&](const Vector& x, Vector& y, Vector* load_of) {
    for (const auto& n : part.corners) {
      double edge[3][2];
      for (int i = 0; i < 3; ++i)
        for (int d = 0; d < 2; ++d)
          edge[i][d] = part.places[n[(i + 2) % 3]][d] - part.places[n[(i + 1) % 3]][d];
      const double area = std::abs(edge[0][0] * edge[1][1] - edge[0][1] * edge[1][0]) / 2;
      for (int i = 0; i < 3; ++i) {
        if (load_of) (*load_of)[n[i]] += 4 * area / 3;  // −Δu = 4
        for (int j = 0; j < 3; ++j)
          y[n[i]] += (edge[i][0] * edge[j][0] + edge[i][1] * edge[j][1]) / (4 * area) * x[n[j]];
      }
    }
  };
  const auto to_owners = [&](Vector& y) {
    exchange.reverse(parhelion::Reduction::sum, view(domain, y.data()));
    for (std::size_t i = 0; i < owned; ++i)
      // the rim stays cold
      if (std::hypot(part.places[i][0], part.places[i][1]) > 1 - 1e-9) y[i] = 0;
  };

  add_triangles(u, q, &load);
  to_owners(load);
  r = p = load;
  double rr = dot(r, r, owned);
  const double start = rr;
  while (rr > 1e-20 * start) {
    exchange(view(domain, p.data()));
    std::fill(q.begin(), q.end(), 0);
    add_triangles(p, q, nullptr);
    to_owners(q);
    const double alpha = rr / dot(p, q, owned);
    for (std::size_t i = 0; i < owned; ++i) u[i] += alpha * p[i], r[i] -= alpha * q[i];
    const double before = rr;
    rr = dot(r, r, owned);
    for (std::size_t i = 0; i < owned; ++i) p[i] = r[i] + rr / before * p[i];
  }

  double error = 0;
  for (std::size_t i = 0; i < owned; ++i) {
    const auto [x, y] = part.places[i];
    error = std::max(error, std::abs(u[i] - (1 - x * x - y * y)));
  }
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) std::printf("converged, largest error %.1e\n", error);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  solve();
  MPI_Finalize();
}
