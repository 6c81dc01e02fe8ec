# The runner's conformance tests and the candidates that they run.

# A shared object as a builder would make it: no sanitizer, whatever the preset.
function(hone_candidate name source)
    add_library(${name} MODULE candidates/${source})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_compile_options(${name} PRIVATE -O1 -fno-sanitize=all -Wno-infinite-recursion)
    target_link_options(${name} PRIVATE -fno-sanitize=all)
    set_target_properties(${name} PROPERTIES PREFIX ""
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endfunction()
hone_candidate(candidates candidates.c)
hone_candidate(candidate_externs externs.c)
hone_candidate(candidate_die_at_load die_at_load.c)

foreach(name test_runner_conformance test_runner_hostile test_runner_local)
    hone_test(${name} SRCS ${name}.c runner_fixture.c DEPS runner)
    add_dependencies(${name} hone-runner candidates candidate_externs candidate_die_at_load)
endforeach()
