/* ir/named_op.h - operations that are known by name only (named_ops.def): a call of
 * HONE_INTRIN_NAMED whose first argument is that name as a string. Inside the room only. */
#ifndef HONE_IR_NAMED_OP_H
#define HONE_IR_NAMED_OP_H

#include "ir/expr.h"

typedef enum hone_named_place {
    HONE_NAMED_DTYPE_NONE,
    HONE_NAMED_DTYPE_FIRST,
    HONE_NAMED_DTYPE_LAST,
} hone_named_place;

typedef enum hone_named_result {
    HONE_NAMED_RESULT_VOID,
    HONE_NAMED_RESULT_HANDLE,
    HONE_NAMED_RESULT_INT32,
    HONE_NAMED_RESULT_UINT32,
    HONE_NAMED_RESULT_BOOL,
    HONE_NAMED_RESULT_FIRST,
    HONE_NAMED_RESULT_SECOND,
} hone_named_result;

typedef struct hone_named_op {
    const char *name; /* without "T."; one that ends with '.' or '_' is a family */
    hone_named_place place;
    hone_named_result result;
} hone_named_op;

/* A function of the module has the name "Module.f". */
#define HONE_NAMED_FUNCTION "Module."

/* The row of an operation, or NULL. */
const hone_named_op *hone_named_op_find(const char *name);
/* The rows, for suggestions; NULL behind the last. */
const hone_named_op *hone_named_op_at(size_t index);
/* The dtype of a call that does not say it; args without the name. */
hone_dtype hone_named_op_dtype(const hone_named_op *op, uint32_t count,
                               const hone_expr *const *args);

#endif
