# Parsing common headers takes longer than compiling a small file, so they are precompiled. A build
# without precompiled headers finds missing includes.
option(PARHELION_PRECOMPILE "Precompile the headers of the standard library and of MPI" ${PROJECT_IS_TOP_LEVEL})

set(parhelion_common_headers <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <mutex>
  <numeric> <optional> <span> <sstream> <string> <string_view> <utility> <vector> <mpi.h>)

function(parhelion_precompile target)
  if(PARHELION_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${parhelion_common_headers} ${ARGN})
  endif()
endfunction()

# For targets with the same options as `owner`.
function(parhelion_precompile_as owner target)
  if(PARHELION_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# Compiling twelve files of a directory as one is faster. The files of a directory therefore need
# different names also in unnamed namespaces. clang-tidy needs it off.
option(PARHELION_UNITY "Compile a directory's sources together" ${PROJECT_IS_TOP_LEVEL})

# Excludes kernels, which target other processors, and `ARGN`, whose names would clash.
function(parhelion_unite target)
  if(NOT PARHELION_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/plan/kernels_")
  if(ARGN)
    list(REMOVE_ITEM sources ${ARGN})
  endif()
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH directory)
    cmake_path(GET directory FILENAME name)
    math(EXPR members_${name} "${members_${name}} + 1")
    math(EXPR group "${members_${name}} / 12")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
  endforeach()
endfunction()
