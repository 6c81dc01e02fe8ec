/* tests/conformance/loopback_farm.h - a tracker and a runner's daemon in threads of the test, over
 * TCP with keys: what a remote runner needs to be tried like any other. */
#ifndef HONE_TESTS_CONFORMANCE_LOOPBACK_FARM_H
#define HONE_TESTS_CONFORMANCE_LOOPBACK_FARM_H

#include "tests/conformance/runner_fixture.h"

typedef struct loopback_farm loopback_farm;

/* One daemon with so many slots, each a local runner on the built hone-runner. */
loopback_farm *loopback_farm_start(const runner_fixture *fixture, int32_t slots);
void loopback_farm_stop(loopback_farm *farm);

/* A remote runner that has found the devices. */
hone_runner *loopback_farm_connect(const loopback_farm *farm);

#endif
