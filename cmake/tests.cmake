# One ctest test for each file of tests: cmocka programs (label unit) and pytest files (label pytest).

find_package(ZLIB REQUIRED) # to make gzip files with, and as a second opinion on them

# Exit statuses that no test can take for one of ours.
set(test_environment ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=print_stacktrace=1:exitcode=99 LSAN_OPTIONS=exitcode=99)

# A unit test sees the inner headers and the objects of the library: a shared one shows only what hprof.h declares.
function(add_unit_tests part objects)
  file(GLOB sources CONFIGURE_DEPENDS ${part}/tests/test_*.c)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source} ${objects})
    target_include_directories(${name} PRIVATE validator/include validator/src)
    target_link_libraries(${name} PRIVATE
      ${ARGN} hprof-cli PkgConfig::CMOCKA PkgConfig::ZLIB PkgConfig::ISAL ZLIB::ZLIB Threads::Threads)
    add_test(NAME ${part}.${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${part}.${name} PROPERTIES
      LABELS unit TIMEOUT 1800 ENVIRONMENT "${test_environment}")
  endforeach()
endfunction()

add_unit_tests(validator "$<TARGET_OBJECTS:hprof>;$<TARGET_OBJECTS:hprof-format>")

# Windows and pages of IDs again, with small sizes (base/sizes.h): more windows move, more buffers are full.
foreach(name IN ITEMS test_id_page test_id_directory test_id_windows)
  add_executable(${name}_small validator/tests/${name}.c validator/src/base/memory.c validator/src/state/id_directory.c
    validator/src/state/id_page.c validator/src/state/id_set.c validator/src/state/id_windows.c)
  target_compile_definitions(${name}_small PRIVATE HPROF_SMALL)
  target_include_directories(${name}_small PRIVATE validator/include validator/src)
  target_link_libraries(${name}_small PRIVATE PkgConfig::CMOCKA Threads::Threads)
  add_test(NAME validator.${name}_small COMMAND ${name}_small)
  set_tests_properties(validator.${name}_small PROPERTIES LABELS unit TIMEOUT 1800 ENVIRONMENT "${test_environment}")
endforeach()

if(HPROF_GENERATOR)
  add_unit_tests(generator "$<TARGET_OBJECTS:hprof>;$<TARGET_OBJECTS:hprof-format>;$<TARGET_OBJECTS:hprof-gen-layers>;$<TARGET_OBJECTS:hprof-agent-parts>"
    hprof-gen-layers m)
endif()

find_program(HPROF_PYTHON python3 REQUIRED DOC "Python 3 with what ci/requirements.txt lists")
execute_process(COMMAND ${HPROF_PYTHON} -c "import hypothesis, jsonschema, numpy, pytest, scikit_build_core" RESULT_VARIABLE no_pytest OUTPUT_QUIET ERROR_QUIET)
if(no_pytest)
  message(WARNING "${HPROF_PYTHON} lacks what ci/requirements.txt lists: the pytest files will not run")
  return()
endif()

list(APPEND test_environment
  HPROF_VALIDATE=$<TARGET_FILE:hprof-validate>
  HPROF_OBJECTS=$<JOIN:$<TARGET_OBJECTS:hprof>,:>
  HPROF_DIFF=$<TARGET_FILE:hprof-diff>
  HPROF_FRONT=$<TARGET_FILE:hprof-front>
  HPROF_REDUCE=$<TARGET_FILE:hprof-reduce>
  HPROF_BUILD=${PROJECT_BINARY_DIR}
  "HPROF_C_FLAGS=${CMAKE_C_FLAGS}"
  CC=${CMAKE_C_COMPILER}
  PYTHONPATH=${PROJECT_SOURCE_DIR}/ci:${PROJECT_SOURCE_DIR}/generator/python:${PROJECT_SOURCE_DIR}/conformance
  PYTHONPYCACHEPREFIX=${PROJECT_SOURCE_DIR}/build/pycache
  PYTHONDONTWRITEBYTECODE=
  PYTEST_DISABLE_PLUGIN_AUTOLOAD=1) # hypothesis works without its own, whose import takes a third of the start of pytest
if(CMAKE_C_FLAGS MATCHES "-fsanitize")
  list(APPEND test_environment HPROF_SANITIZED=1) # takes memory of its own
endif()
if(CMAKE_C_FLAGS MATCHES "-fsanitize|--coverage")
  list(APPEND test_environment HPROF_SLOW=1) # what takes long is tried in part
endif()
set(pytest_folders validator/tests generator/python/tests corpus/tests validator/reduce/tests)
if(HPROF_GENERATOR)
  list(APPEND test_environment HPROF_GEN=$<TARGET_FILE:hprof-gen> HPROF_SERVE=$<TARGET_FILE:hprof-serve>
    HPROF_LAYERS=$<JOIN:$<TARGET_OBJECTS:hprof-gen-layers>,:>)
  if(TARGET hprof-agent)
    list(APPEND test_environment HPROF_AGENT=$<TARGET_FILE:hprof-agent>)
  endif()
  list(APPEND pytest_folders generator/tests validator/python/tests conformance/tests)
endif()
list(TRANSFORM pytest_folders APPEND /test_*.py)
file(GLOB pytest_files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${pytest_folders})
# Of texts, packages and linking, of Python alone, and of the matrix: the same in every build.
set(of_texts "test_(front|layers|install|manual|readme|samples|circles|gen_manual)")
set(in_one_build "^(generator|validator)/python/|^conformance/|/${of_texts}\\.py$|/test_(spec|scripts)\\.py$")
# Of the others ci/test runs a part of the tests (ci/parts.py), and fewer of the slowest, of which no one counts lines. In builds with
# sanitizers, where lines are counted, that is so of the slowest alone. Of slow ones, and there of almost all, a part of the cases of
# each test (ci/some_cases.py): there each wrong option of hprof-gen, and each kind of damage, reaches lines that no other does.
set(slowest "test_(agent|agent_live|reduce)$")
set(with_all_cases "test_(damage|gen_cli)$")
set(with_some_cases
  answers ascii both causes corpus_validator damage diff_content digests disassembler field field_causes field_rows fit hostile like
  losses manifest parts quirks read redacted repair repair_losses reports serve stand_ins stats third_party threads twin)
list(JOIN with_some_cases "|" with_some_cases)
set(with_some_cases "^conformance\\.|\\.test_(${with_some_cases})$")
set(in_parts ".")
set(slowest_one_in 2)
if("HPROF_SLOW=1" IN_LIST test_environment)
  set(with_some_cases ".")
  set(in_parts ${slowest})
  set(slowest_one_in 1)
else()
  set(with_all_cases "^$")
endif()
foreach(file IN LISTS pytest_files)
  string(REGEX REPLACE "^([a-z]+)/.*/(test_[a-z0-9_]+)\\.py$" "\\1.\\2" name ${file})
  set(plugins no:cacheprovider)
  set(environment ${test_environment})
  if(name MATCHES ${slowest})
    list(APPEND environment HPROF_ONE_IN=${slowest_one_in})
  elseif(name MATCHES ${with_some_cases} AND NOT name MATCHES ${with_all_cases})
    list(APPEND plugins -p some_cases)
  endif()
  if(name MATCHES ${in_parts} AND NOT file MATCHES ${in_one_build})
    list(APPEND plugins -p parts)
  endif()
  add_test(NAME ${name} COMMAND ${HPROF_PYTHON} -m pytest -q -rs -p ${plugins} ${file}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS pytest TIMEOUT 1800 ENVIRONMENT "${environment}")
endforeach()

# Of the runner and the adapters of the matrix: the same in every build, too, and the slowest ones; ci/test has a step for them.
set(conformance_tests ${pytest_files})
list(FILTER conformance_tests INCLUDE REGEX "^conformance/")
list(TRANSFORM conformance_tests REPLACE "^([a-z]+)/.*/(test_[a-z0-9_]+)\\.py$" "\\1.\\2")
set_property(TEST ${conformance_tests} APPEND PROPERTY LABELS conformance)

# Tests of Python and of texts alone: the same in every build.
set(python_tests ${pytest_files})
list(FILTER python_tests INCLUDE REGEX "^generator/python/|^validator/python/|/test_(spec|scripts)\\.py$")
list(FILTER python_tests EXCLUDE REGEX "/test_corpus_validator\\.py$") # runs hprof-validate
list(TRANSFORM python_tests REPLACE "^([a-z]+)/.*/(test_[a-z0-9_]+)\\.py$" "\\1.\\2")
set_property(TEST ${python_tests} APPEND PROPERTY LABELS python)

# Of texts, packages and linking: sanitizers show nothing more in them.
set(text_tests ${pytest_files})
list(FILTER text_tests INCLUDE REGEX "/${of_texts}\\.py$")
list(TRANSFORM text_tests REPLACE "^([a-z]+)/.*/(test_[a-z0-9_]+)\\.py$" "\\1.\\2")
set_property(TEST ${text_tests} APPEND PROPERTY LABELS once)

# Under the sanitizers in ci/full alone: these take long there, and reach the same lines as others, measure what sanitizers change, or
# mostly wait for Python and Java.
set_property(TEST generator.test_corpus_validator validator.test_causes validator.test_directories validator.test_field
  validator.test_field_causes validator.test_field_rows validator.test_hostile validator.test_losses validator.test_repair_losses
  validator.test_stand_ins APPEND PROPERTY LABELS full)
if(HPROF_GENERATOR)
  set_property(TEST generator.test_agent8 generator.test_agent_listener generator.test_like generator.test_pipe generator.test_read
    generator.test_third_party generator.test_threads APPEND PROPERTY LABELS full)
endif()

# Those that take minutes begin first.
set_property(TEST validator.test_hostile validator.test_mutations PROPERTY COST 1000)
if(HPROF_GENERATOR)
  set_property(TEST generator.test_agent generator.test_agent_live PROPERTY COST 1000) # they wait
  set_property(TEST generator.test_violations generator.test_gen_cli generator.test_manifest PROPERTY COST 100)
  set_property(TEST conformance.test_session conformance.test_package PROPERTY COST 1000)
endif()
