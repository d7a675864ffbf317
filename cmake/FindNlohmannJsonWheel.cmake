# Finds nlohmann/json on the system, else in the wheel of requirements/build.txt.
find_package(nlohmann_json 3.11 QUIET)
if(NOT nlohmann_json_FOUND)
  find_package(Python COMPONENTS Interpreter REQUIRED)
  execute_process(COMMAND ${Python_EXECUTABLE} -c
      "import nlohmann_json, pathlib; print(pathlib.Path(nlohmann_json.__file__).parent / 'include')"
    OUTPUT_VARIABLE nlohmann_json_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT EXISTS ${nlohmann_json_dir}/nlohmann/json.hpp)
    message(FATAL_ERROR "nlohmann/json is missing: ${Python_EXECUTABLE} -m pip install nlohmann-json==3.12.0, "
      "or install the package nlohmann-json3-dev")
  endif()
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
  target_include_directories(nlohmann_json::nlohmann_json INTERFACE ${nlohmann_json_dir})
endif()
set(NlohmannJsonWheel_FOUND TRUE)
