/* ir/ops/missing_op.h - calls of operators that are read and printed, and not implemented: all of
 * them at once, so that nobody finds them one by one. */
#ifndef HONE_IR_OPS_MISSING_OP_H
#define HONE_IR_OPS_MISSING_OP_H

#include "ir/core/module.h"
#include "support/core/strbuf.h"
#include "support/data/vec.h"

typedef struct hone_missing_op {
    const hone_graph_func *graph;
    const hone_gbind *bind; /* calls it, and its value is used */
} hone_missing_op;

typedef struct hone_missing_ops {
    hone_missing_op *data;
    size_t count, capacity;
} hone_missing_ops;

/* Appends those of a function, in its order. The caller ends the list with hone_vec_deinit, also
 * after a failure. Errors: HONE_CODE_NO_MEMORY. */
HONE_NODISCARD hone_status hone_missing_ops_find(const hone_graph_func *graph,
                                                 hone_missing_ops *io_list);
/* Appends what is wrong, without the place. */
void hone_missing_op_print(const hone_missing_op *op, hone_str *out);
/* UNSUPPORTED: the first, with its place in front, and the others; HONE_OK for an empty list. */
HONE_NODISCARD hone_status hone_missing_ops_refuse(const hone_missing_ops *list);

#endif
