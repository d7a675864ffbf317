#include "transport/ucx/library.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <vector>

#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

constexpr const char* soname = "libucp.so.0";

std::string directory_of(const void* symbol) {
    Dl_info info{};
    if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return ".";
    const std::string file = info.dli_fname;
    return file.substr(0, file.rfind('/'));
}

// What MPI may load later comes before what it would not: it must not find another one in its
// place. Last is that of the wheel libucx, seen from an installed package and from a checkout's
// virtual environment.
std::vector<std::string> places() {
    const std::string mpi = directory_of(reinterpret_cast<const void*>(&MPI_Get_library_version));
    std::vector<std::string> files;
    for (const char* below : {"/", "/mpich/", "/openmpi/"}) files.push_back(mpi + below + soname);
    files.push_back(soname);
    const std::string own = directory_of(reinterpret_cast<const void*>(&places));
    for (const char* wheel : {"/../../../libucx/lib/", PARHELION_UCX_WHEEL})
        files.push_back(own + wheel + soname);
    return files;
}

void* open_library(std::string& why_not) {
    if (void* loaded = dlopen(soname, RTLD_NOW | RTLD_NOLOAD)) return loaded;
    for (const std::string& file : places()) {
        if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
        if (file == soname) why_not = dlerror();
    }
    return nullptr;
}

// Looks functions up by name; the first that is missing is remembered.
class Finder {
public:
    explicit Finder(void* handle) : handle_(handle) {}
    template <class Function>
    void find(const char* name, Function*& function) {
        function = reinterpret_cast<Function*>(dlsym(handle_, name));
        if (function == nullptr && missing_.empty()) missing_ = name;
    }
    const std::string& missing() const { return missing_; }

private:
    void* handle_;
    std::string missing_;
};

void for_memory(Finder& finder, UcxLibrary& ucx) {
    finder.find("ucp_mem_map", ucx.mem_map);
    finder.find("ucp_mem_query", ucx.mem_query);
    finder.find("ucp_mem_unmap", ucx.mem_unmap);
    finder.find("ucp_rkey_pack", ucx.rkey_pack);
    finder.find("ucp_rkey_buffer_release", ucx.rkey_buffer_release);
    finder.find("ucp_ep_rkey_unpack", ucx.ep_rkey_unpack);
    finder.find("ucp_rkey_ptr", ucx.rkey_ptr);
    finder.find("ucp_rkey_destroy", ucx.rkey_destroy);
}

std::string find_all(void* handle, UcxLibrary& ucx) {
    Finder finder(handle);
    finder.find("ucp_get_version", ucx.get_version);
    finder.find("ucp_init_version", ucx.init_version);
    finder.find("ucp_config_read", ucx.config_read);
    finder.find("ucp_config_modify", ucx.config_modify);
    finder.find("ucp_config_release", ucx.config_release);
    finder.find("ucp_cleanup", ucx.cleanup);
    finder.find("ucp_worker_create", ucx.worker_create);
    finder.find("ucp_worker_destroy", ucx.worker_destroy);
    finder.find("ucp_worker_get_address", ucx.worker_get_address);
    finder.find("ucp_worker_release_address", ucx.worker_release_address);
    finder.find("ucp_worker_progress", ucx.worker_progress);
    finder.find("ucp_worker_fence", ucx.worker_fence);
    finder.find("ucp_ep_create", ucx.ep_create);
    finder.find("ucp_ep_close_nbx", ucx.ep_close_nbx);
    finder.find("ucp_ep_flush_nbx", ucx.ep_flush_nbx);
    for_memory(finder, ucx);
    finder.find("ucp_tag_send_nbx", ucx.tag_send_nbx);
    finder.find("ucp_tag_recv_nbx", ucx.tag_recv_nbx);
    finder.find("ucp_request_cancel", ucx.request_cancel);
    finder.find("ucp_request_check_status", ucx.request_check_status);
    finder.find("ucp_request_free", ucx.request_free);
    finder.find("ucs_status_string", ucx.status_string);
    return finder.missing();
}

struct Loaded {
    UcxLibrary ucx{};
    std::string why_not;

    Loaded() {
        void* handle = open_library(why_not);
        if (handle == nullptr) {
            why_not = "UCX's library was not found (" + why_not +
                      "): install libucx0, or the wheel libucx-cu12";
            return;
        }
        const std::string missing = find_all(handle, ucx);
        ucx.file =
            ucx.get_version == nullptr
                ? soname
                : directory_of(reinterpret_cast<const void*>(ucx.get_version)) + "/" + soname;
        why_not = missing.empty()
                      ? ""
                      : ucx.file + " has no " + missing + ": UCX 1.13 or newer is needed";
    }
};

const Loaded& loaded() {
    static const Loaded once;  // stays for the life of the process, as UCX asks for
    return once;
}

}  // namespace

const UcxLibrary& ucx_library() {
    if (!loaded().why_not.empty())
        throw Error("transport ucx cannot be used here: " + loaded().why_not, ErrorKind::system);
    return loaded().ucx;
}

std::string ucx_missing() { return loaded().why_not; }

void check_ucx(ucs_status_t status, const char* call) {
    if (status == UCS_OK) return;
    throw Error(std::string(call) + " failed: " + ucx_library().status_string(status) + " (" +
                    ucx_library().file + "; UCX_LOG_LEVEL=info tells more)",
                ErrorKind::communication);
}

}  // namespace parhelion
