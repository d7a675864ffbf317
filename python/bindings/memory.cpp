#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>

#include "bindings.hpp"
#include "parhelion/core/node_memory.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

using Bytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>, nb::c_contig>;

// The array's base holds the memory: it lives as long as any view of it.
Bytes allocate(byte_count bytes) {
    std::shared_ptr<std::byte> memory;
    {
        nb::gil_scoped_release unlocked;
        memory = allocate_node_shared(bytes);
    }
    auto* holder = new std::shared_ptr<std::byte>(std::move(memory));
    nb::capsule owner(holder, [](void* pointer) noexcept { delete static_cast<std::shared_ptr<std::byte>*>(pointer); });
    return Bytes(holder->get(), {static_cast<std::size_t>(bytes)}, owner);
}

}  // namespace

void bind_memory(nb::module_& module) {
    module.def("allocate_node_shared", &allocate, "bytes"_a,
               "Zeroed bytes in memory that the ranks of this node can map, aligned to 64. Local.");
    module.def(
        "is_node_shared", [](std::uintptr_t address) { return find_node_shared(reinterpret_cast<const void*>(address)).has_value(); },
        "address"_a, "Whether allocate_node_shared gave the memory at this address. Local.");
}

}  // namespace parhelion::python
