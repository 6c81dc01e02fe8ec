/* schedule/variant/tf32.h - what the variant tf32 makes of factors, for schedules that leave it to
 * matrix instructions.
 *
 * Layer: may include ir/.
 */
#ifndef HONE_SCHEDULE_VARIANT_TF32_H
#define HONE_SCHEDULE_VARIANT_TF32_H

#include "ir/core/func.h"

/* Whether a value is a load of float32 that is rounded to 11 bits. */
bool hone_tf32_is_rounded(const hone_expr *value);

#endif
