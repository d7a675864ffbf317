// hwloc is used through opaque pointers only: it exports XML, which is parsed like a file. So no header of it is
// needed, and every version that writes XML to memory will do.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "parhelion/placement/node_topology.hpp"

namespace parhelion::placement {
namespace {

class Hwloc {
public:
    explicit Hwloc(void* library) : library_(library) {}

    /// Empty when any step fails.
    std::string xml() const {
        using Topology = void*;
        const auto init = symbol<int (*)(Topology*)>("hwloc_topology_init");
        const auto load = symbol<int (*)(Topology)>("hwloc_topology_load");
        const auto destroy = symbol<void (*)(Topology)>("hwloc_topology_destroy");
        const auto release = symbol<void (*)(Topology, char*)>("hwloc_free_xmlbuffer");
        Topology topology = nullptr;
        if (!init || !load || !destroy || !release || init(&topology) != 0) return "";
        std::string text;
        char* buffer = nullptr;
        int length = 0;
        if (load(topology) == 0 && export_xml(topology, &buffer, &length)) {
            text.assign(buffer, strnlen(buffer, static_cast<std::size_t>(length)));
            release(topology, buffer);
        }
        destroy(topology);
        return text;
    }

    std::string version() const {
        const auto get = symbol<unsigned (*)()>("hwloc_get_api_version");
        if (!get) return "hwloc";
        const unsigned v = get();
        return "hwloc " + std::to_string(v >> 16) + "." + std::to_string(v >> 8 & 0xff);
    }

private:
    // Version 2 added a flags argument; version 1's function has three.
    bool export_xml(void* topology, char** buffer, int* length) const {
        const auto get = symbol<unsigned (*)()>("hwloc_get_api_version");
        if (get && get() >= 0x20000) {
            const auto write = symbol<int (*)(void*, char**, int*, unsigned long)>("hwloc_topology_export_xmlbuffer");
            return write && write(topology, buffer, length, 0) == 0;
        }
        const auto write = symbol<int (*)(void*, char**, int*)>("hwloc_topology_export_xmlbuffer");
        return write && write(topology, buffer, length) == 0;
    }

    template <class Function>
    Function symbol(const char* name) const {
        return reinterpret_cast<Function>(dlsym(library_, name));
    }

    void* library_;
};

// An hwloc that is loaded already (MPI libraries bring one) is used as it is.
void* open_hwloc() {
    const char* chosen = std::getenv("PARHELION_HWLOC");
    if (chosen && std::strcmp(chosen, "none") == 0) return nullptr;
    if (chosen) return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    for (const char* name : {"libhwloc.so.15", "libhwloc.so.5", "libhwloc.so"})
        if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    return nullptr;
}

}  // namespace

NodeTopology detect_node_topology() {
    if (void* library = open_hwloc()) {
        const Hwloc hwloc(library);
        if (const auto text = hwloc.xml(); !text.empty()) return parse_hwloc_xml(text, hwloc.version());
    }
    NodeTopology topology = read_sysfs();
    topology.note = "hwloc is not installed: levels are read from Linux' /sys";
    if (topology.levels.empty()) topology.note = "neither hwloc nor /sys describes this machine: only nodes are told apart";
    return topology;
}

}  // namespace parhelion::placement
