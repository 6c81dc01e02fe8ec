# hone_module, hone_tool, hone_test, hone_fuzzer: the only ways to make a target.

# Stops unless every dependency was declared before: rooms are declared in floor order.
function(hone_check_deps name)
    foreach(dep IN LISTS ARGN)
        if(TARGET hone_${dep})
            continue()
        endif()
        # A room of the plan that is not written yet is no error: its headers are all there is.
        if(NOT (dep IN_LIST HONE_ROOMS AND NOT EXISTS ${CMAKE_SOURCE_DIR}/${dep}/CMakeLists.txt))
            message(FATAL_ERROR "${name} wants ${dep}, which is not in a layer below it")
        endif()
    endforeach()
endfunction()

function(hone_link_deps target)
    foreach(dep IN LISTS ARGN)
        if(TARGET hone_${dep})
            target_link_libraries(${target} PUBLIC hone_${dep})
        endif()
    endforeach()

endfunction()

# hone_pkg(NAME pkg-config-name): the imported target PkgConfig::NAME, looked up by the one room
# that uses it.
macro(hone_pkg name module)
    if(NOT TARGET PkgConfig::${name})
        pkg_check_modules(${name} REQUIRED IMPORTED_TARGET GLOBAL ${module})
    endif()
endmacro()

# hone_module(NAME ir SRCS expr.c … DEPS support … [LIBS third-party-target …])
# Makes the static library hone_<NAME>. Includes are spelled from the repository root: "ir/core/expr.h".
# Generated headers go to ${CMAKE_BINARY_DIR}/gen, which is on the include path as well.
function(hone_module)
    cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS;LIBS" ${ARGN})
    if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_NAME OR NOT ARG_SRCS)
        message(FATAL_ERROR "hone_module(NAME x SRCS … DEPS …): bad arguments: ${ARGN}")
    endif()
    hone_check_deps(${ARG_NAME} ${ARG_DEPS})
    add_library(hone_${ARG_NAME} STATIC ${ARG_SRCS})
    target_include_directories(hone_${ARG_NAME} PUBLIC ${CMAKE_SOURCE_DIR})
    target_include_directories(hone_${ARG_NAME} SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/gen)
    hone_link_deps(hone_${ARG_NAME} ${ARG_DEPS})
    target_link_libraries(hone_${ARG_NAME} PRIVATE ${ARG_LIBS})
    set_property(GLOBAL APPEND PROPERTY HONE_MODULES ${ARG_NAME})
endfunction()

# hone_tool(NAME hone-runner PACKAGE runner SRCS … DEPS … [LIBS …]): a program in the build root, which is
# installed by the component PACKAGE (HonePackages.cmake).
function(hone_tool)
    cmake_parse_arguments(ARG "" "NAME;PACKAGE" "SRCS;DEPS;LIBS" ${ARGN})
    hone_check_deps(${ARG_NAME} ${ARG_DEPS})
    add_executable(${ARG_NAME} ${ARG_SRCS})
    target_include_directories(${ARG_NAME} PRIVATE ${CMAKE_SOURCE_DIR})
    hone_link_deps(${ARG_NAME} ${ARG_DEPS})
    target_link_libraries(${ARG_NAME} PRIVATE ${ARG_LIBS} Threads::Threads)
    target_link_options(${ARG_NAME} PRIVATE LINKER:-z,relro,-z,now)
    install(TARGETS ${ARG_NAME} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${ARG_PACKAGE})
endfunction()

set(HONE_TEST_ENVIRONMENT
    "ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:allocator_may_return_null=1"
    "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1"
    "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/leaks.txt:print_suppressions=0"
    "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1"
    "HONE_SOURCE_DIR=${CMAKE_SOURCE_DIR}"
    "HONE_BUILD_DIR=${CMAKE_BINARY_DIR}"
    "POCL_CACHE_DIR=${CMAKE_BINARY_DIR}/pocl"
    "LC_ALL=C.UTF-8")

# hone_test(test_name [SRCS …] [DEPS …] [LIBS …] [LABELS slow|once|release|threads …] [TIMEOUT seconds]
#           [LONG])
# A cmocka program; SRCS defaults to test_name.c. Exit 77 = skipped. Always bounded in time.
# The label "threads" also puts it into the TSan run; "slow" keeps it out of `make check`. That runs
# the others twice, in the builds dev and release, but "once" only in dev, "release" only in release.
# LONG ones begin first, so that the others do not end long before them.
function(hone_test name)
    cmake_parse_arguments(ARG "LONG" "TIMEOUT" "SRCS;DEPS;LIBS;LABELS" ${ARGN})
    if(ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "hone_test(${name} …): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT ARG_SRCS)
        set(ARG_SRCS ${name}.c)
    endif()
    hone_check_deps(${name} ${ARG_DEPS})
    add_executable(${name} ${ARG_SRCS})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    hone_link_deps(${name} ${ARG_DEPS})
    target_link_libraries(${name} PRIVATE hone_test_support ${ARG_LIBS} Threads::Threads m)
    if("threads" IN_LIST ARG_LABELS)
        add_dependencies(hone_thread_tests ${name})
    endif()
    hone_add_ctest(${name} "${ARG_TIMEOUT}" "${ARG_LABELS}" $<TARGET_FILE:${name}>)
endfunction()

# hone_script_test(name COMMAND … [LABELS …] [TIMEOUT …] [LONG]): a test that is a script (golden files).
function(hone_script_test name)
    cmake_parse_arguments(ARG "LONG" "TIMEOUT" "COMMAND;LABELS" ${ARGN})
    hone_add_ctest(${name} "${ARG_TIMEOUT}" "${ARG_LABELS}" ${ARG_COMMAND})
endfunction()

# For the two above, whose ARG_LONG it looks at.
function(hone_add_ctest name timeout labels)
    if(NOT timeout)
        set(timeout 600) # a hang, not slowness: CI is a small and busy machine
    endif()
    add_test(NAME ${name} COMMAND ${ARGN})
    set_tests_properties(${name} PROPERTIES
        SKIP_RETURN_CODE 77 TIMEOUT ${timeout} LABELS "${labels}"
        ENVIRONMENT "${HONE_TEST_ENVIRONMENT}")
    if(ARG_LONG)
        set_tests_properties(${name} PROPERTIES COST 1000)
    endif()
endfunction()

# hone_fuzzer(fuzz_name [SRCS …] DEPS … [CORPUS dir] [DICT file]): a libFuzzer program in
# build/fuzz/fuzzers; scripts/fuzz runs them all. SRCS defaults to fuzz_name.c; DICT lists words to
# put together. A no-op outside of the fuzz preset.
function(hone_fuzzer name)
    cmake_parse_arguments(ARG "" "CORPUS;DICT" "SRCS;DEPS;LIBS" ${ARGN})
    if(NOT HONE_BUILD_FUZZERS)
        return()
    endif()
    if(NOT ARG_SRCS)
        set(ARG_SRCS ${name}.c)
    endif()
    hone_check_deps(${name} ${ARG_DEPS})
    add_executable(${name} ${ARG_SRCS})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzzers)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer -Wno-missing-prototypes)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    hone_link_deps(${name} ${ARG_DEPS})
    target_link_libraries(${name} PRIVATE ${ARG_LIBS} Threads::Threads m)
    if(ARG_CORPUS)
        cmake_path(ABSOLUTE_PATH ARG_CORPUS)
        file(WRITE ${CMAKE_BINARY_DIR}/fuzzers/${name}.corpus "${ARG_CORPUS}\n")
    endif()
    if(ARG_DICT)
        cmake_path(ABSOLUTE_PATH ARG_DICT)
        file(WRITE ${CMAKE_BINARY_DIR}/fuzzers/${name}.dict "${ARG_DICT}\n")
    endif()
endfunction()
