# WebAssembly for browsers, by zig's C compiler and C library: the package ziglang of PyPI. ci/wasm uses this.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
find_program(HPROF_ZIG zig REQUIRED DOC "zig, the compiler for WebAssembly")
set(CMAKE_C_COMPILER ${HPROF_ZIG} cc)
set(CMAKE_C_ARCHIVE_CREATE "${HPROF_ZIG} ar qc <TARGET> <OBJECTS>")
set(CMAKE_C_ARCHIVE_FINISH "${HPROF_ZIG} ranlib <TARGET>")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HPROF_ZIG)
set(CMAKE_EXECUTABLE_SUFFIX_C .wasm)

set(emulated "-D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_GETPID")
set(CMAKE_C_FLAGS_INIT "-target wasm32-wasi ${emulated} -include ${CMAKE_CURRENT_LIST_DIR}/../validator/wasm/posix.h")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-s -lwasi-emulated-signal -lwasi-emulated-mman -lwasi-emulated-getpid")
