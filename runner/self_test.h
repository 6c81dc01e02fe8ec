/* runner/self_test.h - one kernel that every device must load, run, check and time: what a slot is
 * tested with (daemon.h).
 *
 * The check bundle is written anew for each test, where artifacts are kept: a disk that is full
 * fails the test. Lifetime: init/deinit; the request that _make gives points into it.
 */
#ifndef HONE_RUNNER_SELF_TEST_H
#define HONE_RUNNER_SELF_TEST_H

#include <stddef.h>

#include "measure/run.h"

typedef struct hone_self_test {
    const char *target; /* of the device, as text; not owned */
    char *path;         /* of the bundle; owned */
    hone_arg args[2];
} hone_self_test;

/* `dir`: where bundles go. NO_MEMORY. */
HONE_NODISCARD hone_status hone_self_test_init(const char *dir, const char *target,
                                               hone_self_test *out_test);
void hone_self_test_deinit(hone_self_test *test);

/* Fits hone_daemon_self_test.make; `ctx` is a hone_self_test. IO: the bundle cannot be written. */
HONE_NODISCARD hone_status hone_self_test_make(void *ctx, hone_run_request *out_request);

/* A shared object, made when this program was built (self_test_kernel.c). */
extern const unsigned char hone_self_test_kernel[];
extern const size_t hone_self_test_kernel_bytes;
/* PTX that does what the shared object does, for NVIDIA's cards. */
extern const char hone_self_test_ptx[];
extern const size_t hone_self_test_ptx_bytes;

#endif
