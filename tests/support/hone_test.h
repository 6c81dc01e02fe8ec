/* tests/support/hone_test.h - what every cmocka test of the tree uses.
 *
 * Includes cmocka with the headers it needs. HONE_RUN_ROWS turns each row of a table into one
 * cmocka test, named by the row's first member. The HONE_ASSERT_* helpers end the status they get,
 * so a test does not leak one; they jump out of the function on failure, so release other things
 * before them.
 */
#ifndef HONE_TESTS_SUPPORT_HONE_TEST_H
#define HONE_TESTS_SUPPORT_HONE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> /* wants the four above */

#include "support/core/status.h"
#include "support/data/rng.h"
#include "support/data/tensor.h"

/* A machine that this one is not. */
#ifdef __x86_64__
#define HONE_TEST_ELSEWHERE "aarch64-linux-gnu"
#else
#define HONE_TEST_ELSEWHERE "x86_64-linux-gnu"
#endif

/* Runs `check` once per row; the first member of a row is its name, a `const char *`.
 * The row arrives as *state. Returns what main() should return. */
#define HONE_RUN_ROWS(group, rows, check)                                                          \
    hone_test_run_rows((group), (rows), sizeof((rows)[0]), sizeof(rows) / sizeof((rows)[0]),       \
                       (check))

int hone_test_run_rows(const char *group, const void *rows, size_t row_bytes, size_t count,
                       void (*check)(void **state));

/* The status is HONE_OK; else fails with its message and trail. */
#define HONE_ASSERT_OK(st) hone_test_assert_ok((st), __FILE__, __LINE__)

/* The status has this code (HONE_CODE_OK is allowed). */
#define HONE_ASSERT_CODE(st, code) hone_test_assert_status((st), (code), NULL, __FILE__, __LINE__)

/* The status has this code and its message contains `part`. */
#define HONE_ASSERT_ERROR(st, code, part)                                                          \
    hone_test_assert_status((st), (code), (part), __FILE__, __LINE__)

void hone_test_assert_ok(hone_status st, const char *file, int line);
void hone_test_assert_status(hone_status st, hone_code want, const char *part, const char *file,
                             int line);

/* Calls `run` with its 1st, 2nd, 3rd… allocation failing (once, then from there on) until none
 * fails any more. Each call must give HONE_OK or NO_MEMORY and, under ASan, leak nothing. Only
 * allocations through support/core/alloc.h on the calling thread count. */
void hone_test_sweep_allocs(hone_status (*run)(void *context), void *context);

/* Ends the whole program as skipped (exit 77), with the reason. */
HONE_NORETURN void hone_test_skip_all(const char *reason);

/* ---- random tests ----
 * Their seeds are fixed, so that a tree always gives the same answer, and where the environment has
 * HONE_FIRST_SEED they are that and the ones after it: `make check-full` draws it. What the seed
 * decides of a test comes through these two, so scripts/check_source.py refuses seeds written into
 * tests; where any other would fail by chance, the line says that it is allowed. */

/* The first seed of a random test: HONE_FIRST_SEED, which is then printed, else `usual`. */
uint64_t hone_test_seed(uint64_t usual);

/* hone_test_seed for a test that draws everything from one generator. */
hone_rng hone_test_rng(uint64_t usual);

/* How many cases a random test tries: HONE_SEQUENCES of the environment, else `usual`, of which
 * HONE_FEWER=N leaves one in N: `make check` runs the tests of the slower build so. */
uint64_t hone_test_count(uint64_t usual);

/* In how many of its ways a test tries each row of a table, where each takes long: all `usual`, but
 * the first alone where HONE_FEWER is above 4, in the slower build of `make check`. */
uint64_t hone_test_ways(uint64_t usual);

/* The path of a file of the source tree, from HONE_SOURCE_DIR or the working directory; the
 * string is owned by the helper and valid until the next call. */
const char *hone_test_source_path(const char *relative);

/* The path of a built program or library ("hone", "hone-worker"), from HONE_BUILD_DIR. */
const char *hone_test_build_path(const char *relative);

/* Standard normal (Box and Muller 1958); takes two numbers. */
double hone_test_normal(hone_rng *rng);
/* Fisher and Yates. */
void hone_test_shuffle(hone_rng *rng, void *data, size_t count, size_t element_bytes);

/* ---- tensors ---- */
void hone_test_fill(hone_tensor *tensor, double value);
/* Of one shape, and no element is further off than atol + rtol * |want|. */
bool hone_test_close(const hone_tensor *got, const hone_tensor *want, double rtol, double atol);

#endif
