#include "transport/ucx/library.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <type_traits>
#include <vector>

#include "transport/factories.hpp"

namespace parhelion {
namespace {

constexpr const char* soname = "libucp.so.0";

std::string directory_of(const void* symbol) {
  Dl_info info{};
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return ".";
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/'));
}

// Libraries that MPI may load later come first, so that both use the same one; last the wheel
// libucx, seen from an installed package and from a checkout's virtual environment.
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

// The first missing function, else empty.
std::string find_all(void* handle, UcxLibrary& ucx) {
  std::string missing;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
#define PARHELION_FIND(name) find("ucp_" #name, ucx.name);
  PARHELION_UCP_FUNCTIONS(PARHELION_FIND)
#undef PARHELION_FIND
  find("ucs_status_string", ucx.status_string);
  return missing;
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
    ucx.file = ucx.get_version == nullptr
                   ? soname
                   : directory_of(reinterpret_cast<const void*>(ucx.get_version)) + "/" + soname;
    why_not =
        missing.empty() ? "" : ucx.file + " has no " + missing + ": UCX 1.13 or newer is needed";
  }
};

const Loaded& loaded() {
  static const Loaded once;  // never unloaded, as UCX requires
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
                  ucx_library().file + "; UCX_LOG_LEVEL=info prints more)",
      ErrorKind::communication);
}

}  // namespace parhelion
