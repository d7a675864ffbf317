// UCX, loaded on first use, after MPI. If it were linked, it would decide which UCX the MPI in this
// process gets: all are named libucp.so.0, and the first one loaded serves all.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

namespace parhelion {

#define PARHELION_UCP_FUNCTIONS(X) \
  X(get_version) \
  X(init_version) \
  X(cleanup) \
  X(worker_create) \
  X(worker_destroy) \
  X(worker_get_address) \
  X(worker_release_address) \
  X(worker_progress) \
  X(ep_create) \
  X(ep_close_nbx) \
  X(ep_flush_nbx) \
  X(tag_send_nbx) \
  X(tag_recv_nbx) \
  X(request_cancel) \
  X(request_check_status) \
  X(request_free)

struct UcxLibrary {
#define PARHELION_DECLARE(name) decltype(&ucp_##name) name;
  PARHELION_UCP_FUNCTIONS(PARHELION_DECLARE)
#undef PARHELION_DECLARE
  decltype(&ucs_status_string) status_string;

  std::string file;  ///< path
};

/// Loads it on the first call. Throws Error if there is none. Local.
const UcxLibrary& ucx_library();

/// Throws Error when a UCX call failed.
void check_ucx(ucs_status_t status, const char* call);

}  // namespace parhelion
