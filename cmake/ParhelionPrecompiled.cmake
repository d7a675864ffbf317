# What most files include first is read once: for a small file, reading takes longer than compiling. A build without shows what a file
# forgot to include.
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
