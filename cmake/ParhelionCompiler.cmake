# Compiler settings of all targets, in one interface target; only the language standard is global.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(SKBUILD)
  set(CMAKE_CXX_FLAGS_RELEASE "-O3")  # no -g: the installation strips binaries
elseif(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1")
endif()

add_library(parhelion_compile_options INTERFACE)
target_compile_options(parhelion_compile_options INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positives in std::string: operator+ (GCC bug 105651), destructors of temporaries.
  target_compile_options(parhelion_compile_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow)
endif()
# Links only needed libraries: drops the wrapper's extra ones (Fortran, C++ bindings).
target_link_options(parhelion_compile_options INTERFACE -Wl,--as-needed)
if(PARHELION_WARNINGS_AS_ERRORS)
  target_compile_options(parhelion_compile_options INTERFACE -Werror)
endif()

# Binaries run on any x86-64 processor of the last fifteen years; kernels check for newer
# instructions at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(parhelion_compile_options INTERFACE -march=x86-64-v2)
endif()

if(PARHELION_SANITIZE)
  string(REPLACE ";" "," sanitizers "${PARHELION_SANITIZE}")
  add_compile_options(-fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all -O1)
  add_link_options(-fsanitize=${sanitizers})
  if("thread" IN_LIST PARHELION_SANITIZE)  # TSan ignores fences; ours order processes, not threads
    add_compile_options(-Wno-tsan)
  endif()
endif()
