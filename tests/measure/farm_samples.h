/* tests/measure/farm_samples.h - one message of each kind with every member set. Parts of HELLO and
 * SUBMIT are in static storage and made afresh by each call. */
#ifndef HONE_TESTS_MEASURE_FARM_SAMPLES_H
#define HONE_TESTS_MEASURE_FARM_SAMPLES_H

#include "measure/farm.h"

hone_farm_message farm_sample(hone_farm_kind kind);

#endif
