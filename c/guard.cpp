#include "guard.hpp"

#include <new>

#include "parhelion/phl.h"
#include "parhelion/version.hpp"

namespace parhelion::c {
namespace {

thread_local std::string last_error;

int keep(const char* message, int status) noexcept {
    try {
        last_error = message;
    } catch (...) {  // no memory for the message: the status tells enough
        last_error.clear();
    }
    return status;
}

}  // namespace

int report_exception() noexcept {
    try {
        throw;
    } catch (const Error& error) {
        return keep(error.what(), static_cast<int>(error.kind()));
    } catch (const HandleError& error) {
        return keep(error.what(), PHL_ERROR_HANDLE);
    } catch (const std::bad_alloc&) {
        return keep("out of memory: use more ranks or a smaller problem", PHL_ERROR_SYSTEM);
    } catch (const std::exception& error) {
        return keep(error.what(), PHL_ERROR_INTERNAL);
    } catch (...) {
        return keep("an exception that is not from the library", PHL_ERROR_INTERNAL);
    }
}

void require_array(const void* pointer, std::int64_t count, const char* name) {
    if (count < 0) throw Error(std::string(name) + " has " + std::to_string(count) + " entries: pass 0 or more");
    if (count > 0 && pointer == nullptr)
        throw Error(std::string(name) + " is a null pointer: pass an array of " + std::to_string(count) + " entries");
}

void require_output(const void* pointer, const char* name) {
    if (pointer == nullptr) throw Error(std::string(name) + " is a null pointer: pass the address of the result");
}

}  // namespace parhelion::c

extern "C" const char* phl_last_error(void) { return parhelion::c::last_error.c_str(); }
extern "C" const char* phl_version(void) { return PARHELION_VERSION; }
