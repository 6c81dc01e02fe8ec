/* ir/fold.h - operators applied to integers. */
#ifndef HONE_IR_FOLD_H
#define HONE_IR_FOLD_H

#include "ir/expr.h"

/* Of two 64-bit constants; false where there is no result that fits. */
bool hone_fold_ints(hone_op op, int64_t x, int64_t y, int64_t *out);

#endif
