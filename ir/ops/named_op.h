/* ir/ops/named_op.h - operations that are known by name only (named_ops.def): a call of
 * HONE_INTRIN_NAMED, whose first argument is that name as a string. */
#ifndef HONE_IR_OPS_NAMED_OP_H
#define HONE_IR_OPS_NAMED_OP_H

#include "ir/core/expr.h"

/* Which argument of the text is the dtype of the call. */
typedef enum hone_named_place {
    HONE_NAMED_DTYPE_NONE,
    HONE_NAMED_DTYPE_FIRST,
    HONE_NAMED_DTYPE_LAST,
    HONE_NAMED_DTYPE_MAYBE,
    HONE_NAMED_DTYPE_IGNORED,
} hone_named_place;

/* The dtype of a call where the text does not give it: a fixed one, or that of an argument. */
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
    bool is_call; /* T.call_intrin(dtype, "tirx.name", ...) in the dialect of 0.27 */
} hone_named_op;

/* Atomic updates. */
typedef enum hone_atomic {
    HONE_ATOMIC_NONE,
#define HONE_NAMED_ATOMIC(id, name) HONE_ATOMIC_##id,
#include "ir/ops/named_ops.def"
} hone_atomic;

/* A call of function f of the module has the name "Module.f". */
#define HONE_NAMED_FUNCTION "Module."

/* The row of an operation, or NULL. */
const hone_named_op *hone_named_op_find(const char *name);
/* The name in TVM 0.27 of an operation with this older name; the name itself where it has not
 * changed. */
const char *hone_named_op_now(const char *name);
/* The opposite: the name in older TVM releases. */
const char *hone_named_op_before(const char *name);
/* The name that interpreter and generators list for an operation that has several, in the text
 * forms of different releases or languages; the name itself where there is but one. */
const char *hone_named_op_same(const char *name);
/* Which update a call of that name is, with `count` arguments, the name among them; NONE: none. */
hone_atomic hone_atomic_of(const char *name, uint32_t count);
/* The rows, for suggestions; NULL behind the last. */
const hone_named_op *hone_named_op_at(size_t index);
/* The dtype of a call whose text does not give it; args without the name. */
hone_dtype hone_named_op_dtype(const hone_named_op *op, uint32_t count,
                               const hone_expr *const *args);

#endif
