// GHEX's exchange of one block per rank, as in its benchmarks: one pattern, one communication
// object, all fields in one call. Variant "direct" exchanges with all neighbors at once, "staged"
// dimension by dimension.
#include <array>
#include <memory>
#include <stdexcept>
#include <vector>

#include <ghex/communication_object.hpp>
#include <ghex/context.hpp>
#include <ghex/structured/field_utils.hpp>
#include <ghex/structured/pattern.hpp>
#include <ghex/structured/regular/domain_descriptor.hpp>
#include <ghex/structured/regular/field_descriptor.hpp>
#include <ghex/structured/regular/halo_generator.hpp>
#include <ghex/structured/regular/make_pattern.hpp>

#include "adapter_functions.hpp"

namespace {

using Int3 = std::array<int, 3>;
using Domain = ghex::structured::regular::domain_descriptor<int, std::integral_constant<int, 3>>;
using HaloGenerator =
    ghex::structured::regular::halo_generator<int, std::integral_constant<int, 3>>;
using FirstFastest = ::gridtools::layout_map<2, 1, 0>;

Int3 triple(const int* values) { return {values[0], values[1], values[2]}; }

// Rank of the block at an offset, for GHEX's staged pattern.
struct Neighbors {
  phl_adapter_halo halo;

  struct Neighbor {
    int number;
    int rank() const noexcept { return number; }
    int id() const noexcept { return number; }
  };
  Neighbor operator()(int, const Int3& offset) const noexcept {
    int number = halo.rank_of_block;
    for (int d = 0; d < 3; ++d) {
      const int there =
          (halo.position[d] + offset[static_cast<std::size_t>(d)] + halo.grid[d]) % halo.grid[d];
      number += (there - halo.position[d]) * halo.rank_stride[d];
    }
    return {number};
  }
};

class Adapter {
 public:
  virtual ~Adapter() = default;
  virtual void exchange() = 0;
};

struct Geometry {
  Int3 first, last, whole_first{0, 0, 0}, whole_last, offsets, extents;
  std::array<int, 6> halos;
  std::array<bool, 3> periodic;
  Domain domain;

  explicit Geometry(const phl_adapter_halo& halo)
      : first(triple(halo.first)), domain(0, first, first) {
    for (std::size_t d = 0; d < 3; ++d) {
      last[d] = first[d] + halo.extent[d] - 1;
      whole_last[d] = halo.grid[d] * halo.extent[d] - 1;
      offsets[d] = halo.halo;
      extents[d] = halo.extent[d] + 2 * halo.halo;
      halos[2 * d] = halos[2 * d + 1] = halo.halo;
      periodic[d] = halo.periodic[d] != 0;
    }
    domain = Domain(halo.rank_of_block, first, last);
  }
};

// T stands for any element of its size, because GHEX only copies values.
template <class T>
class Fields {
 public:
  using Field = ghex::structured::regular::field_descriptor<T, ghex::cpu, Domain, FirstFastest>;
  Fields(const phl_adapter_halo& halo, const Geometry& geometry) {
    fields_.reserve(static_cast<std::size_t>(halo.fields));
    for (int f = 0; f < halo.fields; ++f)
      fields_.push_back(ghex::wrap_field<ghex::cpu, FirstFastest>(
          geometry.domain, static_cast<T*>(halo.arrays[f]), geometry.offsets, geometry.extents));
  }
  template <class Pattern>
  auto on(Pattern& pattern) {
    std::vector<decltype(pattern(fields_.front()))> all;
    for (Field& field : fields_) all.push_back(pattern(field));
    return all;
  }

 private:
  std::vector<Field> fields_;
};

template <class T>
class Direct final : public Adapter {
 public:
  explicit Direct(const phl_adapter_halo& halo)
      : geometry_(halo), context_(halo.comm, false), fields_(halo, geometry_),
        pattern_(ghex::make_pattern<ghex::structured::grid>(context_,
            HaloGenerator(
                geometry_.whole_first, geometry_.whole_last, geometry_.halos, geometry_.periodic),
            std::vector<Domain>{geometry_.domain})),
        communication_(ghex::make_communication_object<decltype(pattern_)>(context_)),
        buffers_(fields_.on(pattern_)) {}
  void exchange() override { communication_.exchange(buffers_.begin(), buffers_.end()).wait(); }

 private:
  using Pattern =
      decltype(ghex::make_pattern<ghex::structured::grid>(std::declval<ghex::context&>(),
          std::declval<HaloGenerator>(), std::declval<std::vector<Domain>>()));
  Geometry geometry_;
  ghex::context context_;
  Fields<T> fields_;
  Pattern pattern_;
  decltype(ghex::make_communication_object<Pattern>(context_)) communication_;
  decltype(fields_.on(pattern_)) buffers_;
};

template <class T>
class Staged final : public Adapter {
 public:
  explicit Staged(const phl_adapter_halo& halo)
      : geometry_(halo), context_(halo.comm, false), fields_(halo, geometry_),
        domains_{geometry_.domain}, patterns_(make(context_, domains_, Neighbors{halo}, geometry_)),
        communication_(ghex::make_communication_object<Pattern>(context_)) {
    for (auto& pattern : patterns_) buffers_.push_back(fields_.on(*pattern));
  }
  void exchange() override {
    for (auto& stage : buffers_) communication_.exchange(stage.begin(), stage.end()).wait();
  }

 private:
  static auto make(ghex::context& context, std::vector<Domain>& domains, Neighbors neighbors,
      const Geometry& g) {
    return ghex::structured::regular::make_staged_pattern(
        context, domains, neighbors, g.whole_first, g.whole_last, g.halos, g.periodic);
  }
  using Patterns =
      decltype(make(std::declval<ghex::context&>(), std::declval<std::vector<Domain>&>(),
          std::declval<Neighbors>(), std::declval<const Geometry&>()));
  using Pattern = typename Patterns::value_type::element_type;
  Geometry geometry_;
  ghex::context context_;
  Fields<T> fields_;
  std::vector<Domain> domains_;
  Patterns patterns_;
  decltype(ghex::make_communication_object<Pattern>(context_)) communication_;
  std::vector<decltype(fields_.on(std::declval<Pattern&>()))> buffers_;
};

template <class T>
Adapter* make_of(const phl_adapter_halo& halo, const std::string& variant) {
  if (variant == "staged") return new Staged<T>(halo);
  return new Direct<T>(halo);
}

Adapter* make(const phl_adapter_halo& halo, const char* variant) {
  if (halo.element_bytes == 4) return make_of<float>(halo, variant);
  if (halo.element_bytes == 8) return make_of<double>(halo, variant);
  throw std::invalid_argument("this plug-in supports elements of 4 and 8 bytes");
}

}  // namespace

PHL_EXPORT phl_halo_adapter = PhlAdapter<phl_adapter_halo, make>::functions;
