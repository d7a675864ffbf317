# A plug-in shares its process with the measuring program: both must be bound to one MPI.
function(require_same_mpi library)
  execute_process(COMMAND ldd ${library} OUTPUT_VARIABLE needs)
  file(READ ${PARHELION_FLAVOR_DIR}/flavor.json flavor)
  string(JSON soname GET ${flavor} soname)
  string(JSON directory GET ${flavor} library_dir)
  string(REGEX MATCH "libmpi[a-z]*\\.so\\.[0-9]+ => ([^ \n]+)" found "${needs}")
  get_filename_component(theirs "${CMAKE_MATCH_1}" REALPATH)
  get_filename_component(ours "${directory}/${soname}" REALPATH)
  if(NOT theirs STREQUAL ours)
    message(FATAL_ERROR "${library} is bound to ${theirs}, phl-bench to ${ours}: build it for that MPI "
      "(Debian: make peers MPI=/usr/bin/mpicxx.openmpi)")
  endif()
endfunction()
