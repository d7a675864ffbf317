# `find_package(parhelion COMPONENTS Fortran)` and `pkg-config parhelion-fortran`.
install(TARGETS parhelion_fortran EXPORT parhelionFortran
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_BINARY_DIR}/fortran/modules/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/parhelion/modules)
install(EXPORT parhelionFortran NAMESPACE parhelion:: FILE parhelionFortranTargets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/parhelion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/parhelion-fortran.pc.in ${PROJECT_BINARY_DIR}/parhelion-fortran.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/parhelion-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
