# The runner's conformance tests and the candidates that they run.

add_subdirectory(candidates)

# Over a farm as well as on local runners.
foreach(name test_runner_conformance test_runner_hostile)
    hone_test(${name} SRCS ${name}.c loopback_farm.c runner_fixture.c DEPS farm runner)
endforeach()
foreach(name test_runner_daemon test_runner_local)
    hone_test(${name} SRCS ${name}.c runner_fixture.c DEPS runner)
endforeach()
foreach(name test_runner_conformance test_runner_daemon test_runner_hostile test_runner_local)
    add_dependencies(${name} hone-runner candidates candidate_externs candidate_die_at_load)
endforeach()

hone_test(test_runner_escapes
    SRCS test_runner_escapes.c escape_victims.c runner_fixture.c DEPS runner)
add_dependencies(test_runner_escapes hone-runner candidates candidate_externs
    candidate_die_at_load escapes)
