// UCX, loaded when it is first needed.
//
// Linking it would decide which UCX the MPI in this process gets: both bear the same name
// (libucp.so.0), and the first one loaded serves all. So it is looked for after MPI is there, and
// what MPI brought is taken.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

namespace parhelion {

/// UCP's functions, of the library that was found.
struct UcxLibrary {
    decltype(&ucp_get_version) get_version;
    decltype(&ucp_init_version) init_version;
    decltype(&ucp_config_read) config_read;
    decltype(&ucp_config_modify) config_modify;
    decltype(&ucp_config_release) config_release;
    decltype(&ucp_cleanup) cleanup;
    decltype(&ucp_worker_create) worker_create;
    decltype(&ucp_worker_destroy) worker_destroy;
    decltype(&ucp_worker_get_address) worker_get_address;
    decltype(&ucp_worker_release_address) worker_release_address;
    decltype(&ucp_worker_progress) worker_progress;
    decltype(&ucp_worker_fence) worker_fence;
    decltype(&ucp_ep_create) ep_create;
    decltype(&ucp_ep_close_nbx) ep_close_nbx;
    decltype(&ucp_ep_flush_nbx) ep_flush_nbx;
    decltype(&ucp_mem_map) mem_map;
    decltype(&ucp_mem_query) mem_query;
    decltype(&ucp_mem_unmap) mem_unmap;
    decltype(&ucp_rkey_pack) rkey_pack;
    decltype(&ucp_rkey_buffer_release) rkey_buffer_release;
    decltype(&ucp_ep_rkey_unpack) ep_rkey_unpack;
    decltype(&ucp_rkey_ptr) rkey_ptr;
    decltype(&ucp_rkey_destroy) rkey_destroy;
    decltype(&ucp_tag_send_nbx) tag_send_nbx;
    decltype(&ucp_tag_recv_nbx) tag_recv_nbx;
    decltype(&ucp_request_cancel) request_cancel;
    decltype(&ucp_request_check_status) request_check_status;
    decltype(&ucp_request_free) request_free;
    decltype(&ucs_status_string) status_string;

    std::string file;  ///< where it was loaded from
};

/// Loads it the first time. Throws Error with the reason when there is none. Local.
const UcxLibrary& ucx_library();

/// Empty when it can be loaded, else why not. Local.
std::string ucx_missing();

/// Throws Error when a call of UCX did not succeed.
void check_ucx(ucs_status_t status, const char* call);

}  // namespace parhelion
