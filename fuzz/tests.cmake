# Tests of the fuzz targets: the mutator, and each target on all its files. A file of finds/ is a test of its own; those of corpus/ and
# corpora/, ten thousand for all targets, are too many for a process each: replay.c reports each of them by its name.

if(NOT LIB_FUZZING_ENGINE)
  file(GLOB_RECURSE dumps RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/corpus/*.hprof)
  get_property(targets DIRECTORY PROPERTY FUZZ_TARGETS)
  foreach(target IN LISTS targets)
    string(REPLACE "fuzz_" "fuzz." name ${target})
    get_target_property(takes_dumps ${target} TAKES_DUMPS)
    file(GLOB inputs RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS corpora/${target}/*)
    if(takes_dumps)
      list(APPEND inputs ${dumps})
    endif()
    if(inputs)
      add_test(NAME ${name} COMMAND ${target} ${inputs} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      list(APPEND tests ${name})
    endif()
    file(GLOB finds RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS finds/${target}/*)
    foreach(find IN LISTS finds)
      get_filename_component(file ${find} NAME)
      add_test(NAME ${name}.${file} COMMAND ${target} ${find} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      list(APPEND tests ${name}.${file})
    endforeach()
  endforeach()
endif()
file(GLOB inputs RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS corpora/fuzz_text/* finds/fuzz_text/*)
if(inputs AND NOT no_pytest)
  add_test(NAME fuzz.text COMMAND ${HPROF_PYTHON} fuzz/fuzz_text ${inputs} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  list(APPEND tests fuzz.text)
endif()

# Structured damage: mutants of the corpus, the same ones each time; HPROF_MUTANTS=1000000 for a long run. test_oracle.py runs those
# of fuzz_oracle, and counts how many break each rule.
if(NOT LIB_FUZZING_ENGINE)
  add_test(NAME fuzz.paths-mutants COMMAND fuzz_paths-mutants 1000 ${dumps} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  add_test(NAME fuzz.paths-small-mutants COMMAND fuzz_paths-small-mutants 1000 ${dumps} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  add_test(NAME fuzz.oracle-small-mutants COMMAND fuzz_oracle-small-mutants 30000 ${dumps} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  list(APPEND tests fuzz.paths-mutants fuzz.paths-small-mutants fuzz.oracle-small-mutants)
endif()

add_executable(test_mutator test_mutator.c $<TARGET_OBJECTS:fuzz-mutator>)
target_link_libraries(test_mutator PRIVATE fuzz-harness fuzz-mutator PkgConfig::CMOCKA)
add_test(NAME fuzz.test_mutator COMMAND test_mutator WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})

list(APPEND tests fuzz.test_mutator)
if(HPROF_GENERATOR)
  add_executable(test_faults test_faults.c test_faults_copy.c)
  target_link_libraries(test_faults PRIVATE fuzz-made-dump fuzz-harness hprof PkgConfig::CMOCKA)
  target_link_options(test_faults PRIVATE -Wl,--wrap=read,--wrap=pread64)
  add_test(NAME fuzz.test_faults COMMAND test_faults WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  list(APPEND tests fuzz.test_faults)
endif()
if(NOT no_pytest)
  add_test(NAME fuzz.test_campaign COMMAND ${HPROF_PYTHON} -m pytest -q -p no:cacheprovider fuzz/test_campaign.py
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  list(APPEND tests fuzz.test_campaign)
endif()

if(NOT LIB_FUZZING_ENGINE AND HPROF_GENERATOR AND NOT no_pytest)
  add_test(NAME fuzz.test_large COMMAND ${HPROF_PYTHON} -m pytest -q -p no:cacheprovider fuzz/test_large.py
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  list(APPEND tests fuzz.test_large)
endif()

set_tests_properties(${tests} PROPERTIES LABELS fuzz ENVIRONMENT "${test_environment}")
if(NOT no_pytest)
  set_property(TEST fuzz.test_campaign APPEND PROPERTY LABELS once)
endif()

if(NOT LIB_FUZZING_ENGINE AND HPROF_GENERATOR AND NOT no_pytest)
  set_property(TEST fuzz.test_large APPEND PROPERTY ENVIRONMENT
    "HPROF_GEN=$<TARGET_FILE:hprof-gen>;HPROF_FUZZ_LARGE=${CMAKE_CURRENT_BINARY_DIR}")
endif()

# What mutants.c leaves of a crash, and what replay.c does after one.
if(NOT LIB_FUZZING_ENGINE AND NOT no_pytest)
  add_executable(test_crash-mutants test_crash.c $<TARGET_OBJECTS:fuzz-mutants> $<TARGET_OBJECTS:fuzz-mutator>)
  target_link_libraries(test_crash-mutants PRIVATE fuzz-harness fuzz-mutator)
  add_executable(test_crash-replay test_crash.c replay.c)
  set_property(TEST fuzz.test_campaign APPEND PROPERTY ENVIRONMENT
    "HPROF_CRASHING_MUTANTS=$<TARGET_FILE:test_crash-mutants>;HPROF_CRASHING_REPLAY=$<TARGET_FILE:test_crash-replay>")
endif()

# fuzz_oracle against a library in which a rule is patched, and against the one that is tested.
if(NOT LIB_FUZZING_ENGINE AND NOT no_pytest)
  set(patched_source ${CMAKE_CURRENT_BINARY_DIR}/patched_findings.c)
  add_custom_command(OUTPUT ${patched_source}
    COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR}/validator/src/findings/findings.c -DTO=${patched_source}
      -P ${CMAKE_CURRENT_SOURCE_DIR}/patch_rules.cmake
    DEPENDS ${PROJECT_SOURCE_DIR}/validator/src/findings/findings.c patch_rules.cmake VERBATIM)
  foreach(name IN ITEMS test_oracle_tested test_oracle_patched)
    add_executable(${name} fuzz_oracle.c allocator.c ${oracle} sizes.c target.c replay.c)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/validator/include ${PROJECT_SOURCE_DIR}/validator/src)
    target_link_libraries(${name} PRIVATE PkgConfig::ISAL Threads::Threads)
  endforeach()
  target_sources(test_oracle_tested PRIVATE $<TARGET_OBJECTS:hprof> $<TARGET_OBJECTS:hprof-format>)
  target_sources(test_oracle_patched PRIVATE ${patched_source} $<TARGET_OBJECTS:hprof-format> $<FILTER:$<TARGET_OBJECTS:hprof>,EXCLUDE,/findings/findings\\.c>)
  add_test(NAME fuzz.test_oracle COMMAND ${HPROF_PYTHON} -m pytest -q -rP -p no:cacheprovider fuzz/test_oracle.py
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(fuzz.test_oracle PROPERTIES LABELS fuzz TIMEOUT 3600 ENVIRONMENT
    "HPROF_VALIDATE=$<TARGET_FILE:hprof-validate>;HPROF_FUZZ_ORACLE=$<TARGET_FILE:test_oracle_tested>;HPROF_FUZZ_ORACLE_MUTANTS=$<TARGET_FILE:fuzz_oracle-mutants>;HPROF_FUZZ_ORACLE_PATCHED=$<TARGET_FILE:test_oracle_patched>;PYTHONPYCACHEPREFIX=${PROJECT_SOURCE_DIR}/build/pycache")
endif()
