/* costmodel/feature.h - what a cost model sees of a scheduled program: per-store features.
 *
 * One row per buffer that the program writes, HONE_FEATURE_COUNT columns: operation counts, loop
 * kinds, memory accesses of up to HONE_FEATURE_BUFFERS buffers, arithmetic intensity along the
 * loop nest, allocation, outer scope, and a few facts of the target. The function is read as it
 * is, scheduled or lowered: block axes are followed to the loops they are bound to. Sizes go in as
 * log2(1 + x). Costs some 50 µs and, once the state has grown, no allocation.
 *
 * Lifetime: a state belongs to one thread and is reused for any number of functions.
 */
#ifndef HONE_COSTMODEL_FEATURE_H
#define HONE_COSTMODEL_FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/core/func.h"
#include "support/core/status.h"
#include "target/target.h"

/* Raised whenever a column changes its meaning; stored beside features in databases. */
#define HONE_FEATURE_VERSION 2

enum { HONE_FEATURE_BUFFERS = 5, HONE_FEATURE_CURVE = 10 };

/* The number of columns of a row; hone_feature_name has their names. */
uint32_t hone_feature_count(void);
/* "float_mul", "access0.bytes", …; column < hone_feature_count(). */
const char *hone_feature_name(uint32_t column);

typedef struct hone_feature_state hone_feature_state;

HONE_NODISCARD hone_status hone_feature_state_create(hone_feature_state **out_state);
void hone_feature_state_destroy(hone_feature_state *state); /* NULL is allowed */

/* Extracts the features of `func`, whose buffer parameter i never changes where bit i of
 * `constants` is set: nests of the root block that compute of such alone are left out, as they run
 * once, before anything is timed. *out_rows points into the state, valid until the next call:
 * *out_row_count rows of hone_feature_count() finite floats (0 rows when nothing is stored).
 * Works on any well-formed function; a loop of unknown extent counts as 1 iteration, NO_MEMORY is
 * the only failure. */
HONE_NODISCARD hone_status hone_feature_extract(hone_feature_state *state, const hone_func *func,
                                                uint64_t constants, const hone_target *target,
                                                const float **out_rows, uint32_t *out_row_count);

#endif
