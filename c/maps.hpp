// What C and Fortran do with index maps, which all ranks do together.
#pragma once

#include "objects.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/domain/partition_files.hpp"

namespace parhelion::c {

/// Runs `check`, then `work`, whose result it returns. All ranks are told what either throws. Collective.
template <class Check, class Work>
decltype(auto) collective(const Communicator& comm, const char* call, double timeout_s, Check&& check, Work&& work) {
    return collectively(comm, call, timeout_s, [&]() -> decltype(auto) {
        check();
        return work();
    });
}

/// The same of a map.
template <class Check, class Work>
int collective(phl_index_map map, const char* call, Check&& check, Work&& work) {
    return with(map, [&](const auto& object) {
        collective(object->map.communicator(), call, 0, [&] { check(object->map); }, [&] { work(object->map); });
    });
}

/// A map of the cells that `make` gives. The communicator is MPI_Comm or FortranComm.
template <class Comm, class Check, class Make>
int make_map(Comm handle, const char* call, const phl_exchange_options* options, phl_index_map* map, Check&& check, Make&& make) {
    return guarded([&] {
        const Communicator comm(handle);
        const auto read = [&] {
            require_output(map, "map");
            check(comm);
        };
        collective(comm, call, 0, read, [&] { keep(make(comm), options_from(options), map); });
    });
}

/// Every rank's part of a partition on disk.
template <class Comm>
int read_map(Comm handle, const char* path, const phl_exchange_options* options, phl_index_map* map) {
    return make_map(
        handle, "phl_index_map_read", options, map, [&](const Communicator&) { require_output(path, "path"); },
        [&](const Communicator& comm) {
            PartitionPart part = read_partition(path, comm);
            return IndexedDomain(part.owned, std::move(part.ghosts), comm);
        });
}

/// A map that comes from another one, with its options.
template <class Check, class Make>
int derive_map(phl_index_map from, const char* call, phl_index_map* map, Check&& check, Make&& make) {
    return with(from, [&](const auto& base) {
        const auto read = [&] {
            require_output(map, "map");
            check(base->map);
        };
        collective(base->map.communicator(), call, 0, read, [&] { keep(make(base->map), base->options, map); });
    });
}

/// The map gets the cells that `make` gives in the place of its own, unless an exchange is under way.
template <class Check, class Make>
int change_map(phl_index_map map, const char* call, Check&& check, Make&& make) {
    return with(map, [&](const auto& object) {
        const auto read = [&] {
            check(object->map.domain());
            if (object->map.under_way()) throw Error("an exchange of the map is under way: end it before the map gets further ghosts");
        };
        object->map =
            collective(object->map.communicator(), call, 0, read, [&] { return IndexMap(make(object->map.domain()), object->options); });
    });
}

}  // namespace parhelion::c
