# Debian packages by `cpack -G DEB`: hprof has the tools, and libhprof-dev has the library.

set(CPACK_PACKAGE_NAME hprof)
set(CPACK_PACKAGE_CONTACT "hprof maintainers <maintainers@hprof.invalid>" CACHE STRING "Who answers for the packages")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL tools development)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME hprof)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS python3) # hprof-ascii
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libhprof-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "hprof (= ${PROJECT_VERSION}), libisal-dev") # the CMake package names the tool
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
  "checks and makes HPROF heap dumps of Java programs\n\
hprof-validate checks a heap dump against a specification of the format, rule\n\
by rule, and says what is wrong, where, and why. hprof-gen makes heap dumps of\n\
any size, valid ones and ones with a chosen fault, and hprof-serve sends them\n\
to a client as the HPROF agent does. hprof-diff compares two\n\
dumps of the same heap, hprof-reduce makes the smallest heap dump for which a\n\
command ends in the same way, and hprof-ascii checks the text output of the\n\
HPROF agent. hprof runs each of them by a short name: hprof check, hprof diff.\n\
The HPROF agent itself, for JDK 11 and later, is in /usr/lib/hprof.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "library that checks HPROF heap dumps of Java programs\n\
The static library behind hprof-validate, with its header and its packages for\n\
CMake and pkg-config.")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_BINARY_DIR}/debian-files.cmake)
configure_file(cmake/debian-files.cmake.in debian-files.cmake @ONLY)
include(CPack)
