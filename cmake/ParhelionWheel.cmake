# A wheel holds one flavor inside the package. Its MPI is a wheel too, installed beside it: five
# directories up from parhelion/_flavors/<flavor> is the lib of the environment.
set(to_lib ../../../../..)
set(destination parhelion/_flavors/${PARHELION_FLAVOR})
parhelion_write_flavor(${PROJECT_BINARY_DIR}/wheel/flavor.json ${to_lib}/.. ${to_lib}/../bin/mpiexec ${to_lib})

foreach(target IN ITEMS parhelion phl-bench _core)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/${to_lib}")
    install(TARGETS ${target} LIBRARY DESTINATION ${destination} RUNTIME DESTINATION ${destination})
  endif()
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/wheel/flavor.json DESTINATION ${destination})
install(FILES ${PARHELION_FLAVOR_DIR}/_core.pyi DESTINATION ${destination} OPTIONAL)
