# The runner's conformance tests and the candidates that they run.

add_subdirectory(candidates)

# Over a farm as well as on local runners; not on a board (HONE_RUNNER_ONLY), which has no tracker.
if(TARGET hone_farm)
    foreach(name test_runner_conformance test_runner_hostile)
        hone_test(${name} SRCS ${name}.c loopback_farm.c runner_fixture.c DEPS farm runner)
    endforeach()
else()
    hone_test(test_runner_hostile SRCS test_runner_hostile.c runner_fixture.c DEPS runner)
    target_compile_definitions(test_runner_hostile PRIVATE HONE_TEST_WITHOUT_FARM)
endif()
foreach(name test_runner_daemon test_runner_local)
    hone_test(${name} SRCS ${name}.c runner_fixture.c DEPS runner)
endforeach()
foreach(name test_runner_conformance test_runner_daemon test_runner_hostile test_runner_local)
    if(NOT TARGET ${name})
        continue()
    endif()
    add_dependencies(${name} hone-runner candidates candidate_externs candidate_die_at_load)
endforeach()

hone_test(test_runner_escapes
    SRCS test_runner_escapes.c escape_victims.c runner_fixture.c DEPS runner)
hone_test(test_runner_libraries SRCS test_runner_libraries.c runner_fixture.c DEPS runner)
hone_test(test_runner_unheld SRCS test_runner_unheld.c runner_fixture.c DEPS runner)
hone_test(test_runner_unruly SRCS test_runner_unruly.c runner_fixture.c DEPS runner)
hone_test(test_runner_wild SRCS test_runner_wild.c runner_fixture.c DEPS runner)
foreach(name test_runner_escapes test_runner_libraries test_runner_unheld test_runner_unruly
        test_runner_wild)
    add_dependencies(${name} hone-runner candidates candidate_externs candidate_die_at_load
        candidate_libraries candidate_with_sibling escapes unruly wild)
endforeach()

hone_test(test_runner_card
    SRCS test_runner_card.c runner_fixture.c ../runtime/device_kernels.c
         ../runtime/device_manifest.c
    DEPS runner)
add_dependencies(test_runner_card hone-runner)
hone_test(test_runner_opencl SRCS test_runner_opencl.c runner_fixture.c ../runtime/device_kernels.c
    ../runtime/device_manifest.c DEPS runner LABELS release)
add_dependencies(test_runner_opencl hone-runner)
