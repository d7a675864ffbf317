#pragma once

#include "datatypes.hpp"
#include "halo/messages.hpp"

namespace parhelion::bench {

/// A datatype of all regions of a message at their absolute addresses, for use with MPI_BOTTOM. The caller commits and frees it.
MPI_Datatype message_type(const Message& message);

inline void add_message_types(const std::vector<Message>& messages, Datatypes& types) {
    for (const Message& message : messages) types.add(message_type(message));
}

}  // namespace parhelion::bench
