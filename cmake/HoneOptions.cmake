# Language, warnings and sanitizers: everything that holds for every target of the tree.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
include(GNUInstallDirs)

option(HONE_BUILD_TESTS "build the tests" ON)
option(HONE_BUILD_FUZZERS "build the fuzzers (clang only)" OFF)
option(HONE_RUNNER_ONLY "build hone-runner and nothing else" OFF)
option(HONE_WERROR "treat warnings as errors" OFF)
option(HONE_ASSERTS "keep asserts in an optimised build" OFF)
set(HONE_SANITIZE "" CACHE STRING "sanitizers for -fsanitize=, e.g. address,undefined")
# Lines are enough for sanitizers and profilers, and variables cost a seventh of the time of a build.
set(HONE_DEBUG_INFO 1 CACHE STRING "what debuggers know: 1 lines, 2 variables as well")
set(release_flags "-O2 -g${HONE_DEBUG_INFO} -DNDEBUG")
if(HONE_ASSERTS)
    set(release_flags "-O2 -g${HONE_DEBUG_INFO}")
endif()
set(CMAKE_C_FLAGS_RELEASE "${release_flags}" CACHE STRING "" FORCE)
set(CMAKE_C_FLAGS_DEBUG "-O1 -g${HONE_DEBUG_INFO} -fno-omit-frame-pointer" CACHE STRING "" FORCE)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# POSIX and Linux interfaces are asked for here, once; sources never define feature macros.
add_compile_definitions(_GNU_SOURCE)
add_compile_options(
    -Wall -Wextra -pedantic -Wshadow -Wvla -Wundef -Wcast-qual -Wwrite-strings -Wformat=2
    -Wstrict-prototypes -Wmissing-prototypes)
# gcc does not see that an out-parameter is set whenever the status is HONE_OK.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)
endif()
if(HONE_WERROR)
    add_compile_options(-Werror)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    # Without asserts some names are used by nobody; the Debug presets check for those.
    add_compile_options(-Wno-unused-variable -Wno-unused-but-set-variable -Wno-unused-parameter
                        -Wno-unused-function)
endif()
# __FILE__ shows up in error trails: keep it relative to the repository.
add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)

# An address, a time or a directory order must not change results; neither may a contracted FMA in
# the reference arithmetic of the interpreter.
add_compile_options(-ffp-contract=off)

if(HONE_SANITIZE)
    add_compile_options(-fsanitize=${HONE_SANITIZE} -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${HONE_SANITIZE})
endif()

# Of 250 programs each links most rooms: gold takes half the time of binutils' other linker.
include(CheckLinkerFlag)
check_linker_flag(C -fuse-ld=gold HONE_HAS_GOLD)
if(HONE_HAS_GOLD)
    add_link_options(-fuse-ld=gold)
endif()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
