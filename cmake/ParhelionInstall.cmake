# Installs headers, library, phl-bench, CMake package and pkg-config files, all relocatable.
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Libraries below the prefix")
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/parhelion)

install(TARGETS parhelion EXPORT parhelion LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/parhelion ${PROJECT_BINARY_DIR}/include/parhelion
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} PATTERN README.md EXCLUDE)
if(TARGET phl-bench)
  install(TARGETS phl-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(EXPORT parhelion NAMESPACE parhelion:: FILE parhelionTargets.cmake DESTINATION ${cmake_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/parhelionConfig.cmake.in
  ${PROJECT_BINARY_DIR}/parhelionConfig.cmake INSTALL_DESTINATION ${cmake_dir} PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/parhelionConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/parhelionConfig.cmake ${PROJECT_BINARY_DIR}/parhelionConfigVersion.cmake
  DESTINATION ${cmake_dir})

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  OUTPUT_VARIABLE prefix_from_pkgconfig)
# For compilers other than MPI's wrapper: include folders, and MPI's library without C++ bindings.
list(TRANSFORM MPI_CXX_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE mpi_cflags)
if(PARHELION_MPI_SONAME MATCHES "^libmpi_abi")
  list(APPEND mpi_cflags -DMPI_ABI)
endif()
list(JOIN mpi_cflags " " mpi_cflags)
list(FILTER MPI_CXX_LIBRARIES EXCLUDE REGEX "/lib(mpi|mpich)_?(cxx|fort)\\.[^/]*$")
list(GET MPI_CXX_LIBRARIES 0 mpi_library)
set(static_libs "")
if(PARHELION_STATIC)
  set(static_libs " -lstdc++ -lm -ldl -lpthread")  # a shared library records these itself
endif()
set(pc_files parhelion parhelion-cxx)
if(TARGET parhelion_fortran)
  install(TARGETS parhelion_fortran EXPORT parhelionFortran
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/fortran/modules/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/parhelion/modules)
  install(EXPORT parhelionFortran NAMESPACE parhelion:: FILE parhelionFortranTargets.cmake DESTINATION ${cmake_dir})
  list(APPEND pc_files parhelion-fortran)
endif()
foreach(name IN LISTS pc_files)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
