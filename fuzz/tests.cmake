# Tests of the fuzz targets.

pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

add_executable(test_mutator test_mutator.c gzip.c mutator.c pieces.c)
target_include_directories(test_mutator PRIVATE ${PROJECT_SOURCE_DIR}/validator/src)
target_link_libraries(test_mutator PRIVATE PkgConfig::CMOCKA PkgConfig::ZLIB)
add_test(NAME fuzz.test_mutator COMMAND test_mutator WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(fuzz.test_mutator PROPERTIES LABELS fuzz)
