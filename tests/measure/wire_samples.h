/* tests/measure/wire_samples.h - full messages of each kind, for the tests and the fuzzer's
 * corpus. */
#ifndef HONE_TESTS_MEASURE_WIRE_SAMPLES_H
#define HONE_TESTS_MEASURE_WIRE_SAMPLES_H

#include "measure/wire.h"

hone_run_request wire_sample_run_request(void);
void wire_sample_run_result(hone_run_result *out_result); /* owned by the caller */
hone_build_request wire_sample_build_request(void);
hone_build_result wire_sample_build_result(void);

#endif
