/* tests/support/elsewhere.h - runs programs compiled for another CPU than this machine's: linked by
 * a cross compiler, run by qemu-user. Where those are missing (scripts/setup --aarch64), there is
 * nothing to run. */
#ifndef HONE_TESTS_SUPPORT_ELSEWHERE_H
#define HONE_TESTS_SUPPORT_ELSEWHERE_H

#include "support/core/strbuf.h"
#include "support/data/tensor.h"
#include "target/target.h"

/* Can programs for this target be run, here or emulated? */
bool test_can_run(const hone_target *target);

/* An object with the function `kernel`, called once on args (ended by NULL). INVALID: what went
 * wrong. */
HONE_NODISCARD hone_status test_run_elsewhere(const hone_str *object, hone_tensor *const *args);

#endif
