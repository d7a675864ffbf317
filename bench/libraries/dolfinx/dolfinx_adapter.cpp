// DOLFINx's Scatterer with persistent buffers, as its vectors use it: pack, neighborhood
// collective, unpack.
#include <dolfinx/common/IndexMap.h>
#include <dolfinx/common/Scatterer.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "adapter_functions.hpp"
#include "dolfinx_vector.hpp"

namespace {

class Adapter {
 public:
  virtual ~Adapter() = default;
  virtual void exchange() = 0;
};

template <class T>
class Scatter final : public Adapter {
 public:
  explicit Scatter(const phl_adapter_cells& gather)
      : map_(gather.comm, gather.owned,
            std::span(gather.ghost_ids, static_cast<std::size_t>(gather.ghosts)),
            std::span(gather.ghost_owners, static_cast<std::size_t>(gather.ghosts))),
        scatterer_(map_, gather.components),
        cells_(static_cast<const T*>(gather.cells),
            static_cast<std::size_t>(gather.owned) * components(gather)),
        ghosts_(static_cast<T*>(gather.ghost_values),
            static_cast<std::size_t>(gather.ghosts) * components(gather)),
        sent_(static_cast<std::size_t>(scatterer_.local_buffer_size())),
        received_(static_cast<std::size_t>(scatterer_.remote_buffer_size())) {}

  void exchange() override {
    MPI_Request request = MPI_REQUEST_NULL;
    scatterer_.template scatter_fwd_begin<T>(cells_, sent_, received_, pack, request);
    scatterer_.template scatter_fwd_end<T>(std::span<const T>(received_), ghosts_, unpack, request);
  }

 private:
  static std::size_t components(const phl_adapter_cells& gather) {
    return static_cast<std::size_t>(gather.components);
  }
  static constexpr auto pack = [](const auto& in, const auto& places, auto& out) {
    for (std::size_t i = 0; i < places.size(); ++i)
      out[i] = in[static_cast<std::size_t>(places[i])];
  };
  static constexpr auto unpack = [](const auto& in, const auto& places, auto& out, auto) {
    for (std::size_t i = 0; i < places.size(); ++i)
      out[static_cast<std::size_t>(places[i])] = in[i];
  };

  dolfinx::common::IndexMap map_;
  dolfinx::common::Scatterer scatterer_;
  std::span<const T> cells_;
  std::span<T> ghosts_;
  std::vector<T> sent_, received_;
};

Adapter* make(const phl_adapter_cells& gather, const char*) {
  const std::string element = gather.element;
  if (element == "int32") return new Scatter<std::int32_t>(gather);
  if (element == "int64") return new Scatter<std::int64_t>(gather);
  if (element == "float32") return new Scatter<float>(gather);
  if (element == "float64") return new Scatter<double>(gather);
  throw std::runtime_error("this plug-in supports int32, int64, float32 and float64");
}

}  // namespace

PHL_EXPORT phl_gather_adapter = PhlAdapter<phl_adapter_cells, make>::functions;
PHL_EXPORT phl_vector_adapter = phl_vector_functions<DolfinxVector>();
