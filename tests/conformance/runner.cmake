# The runner's conformance tests and the candidates that they run.

add_subdirectory(candidates)

foreach(name test_runner_conformance test_runner_daemon test_runner_hostile test_runner_local)
    hone_test(${name} SRCS ${name}.c runner_fixture.c DEPS runner)
    add_dependencies(${name} hone-runner candidates candidate_externs candidate_die_at_load)
endforeach()
