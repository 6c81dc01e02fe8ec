/* ir/core/value.h - plain attribute values: what annotations, function attributes, operator
 * attributes and trace inputs are made of.
 *
 * Immutable, owned by the arena that they were made in; shared freely. NULL stands for `None`.
 * Maps keep the order in which they were written; keys are unique.
 */
#ifndef HONE_IR_CORE_VALUE_H
#define HONE_IR_CORE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "support/core/arena.h"
#include "support/core/strbuf.h"

typedef struct hone_expr hone_expr;
typedef struct hone_value hone_value;
typedef struct hone_attr hone_attr;
typedef struct hone_lambda hone_lambda;

typedef enum hone_value_kind {
    HONE_VALUE_NONE,
    HONE_VALUE_BOOL,   /* u.i is 0 or 1 */
    HONE_VALUE_INT,    /* u.i */
    HONE_VALUE_FLOAT,  /* u.f */
    HONE_VALUE_STRING, /* u.s, zero-terminated */
    HONE_VALUE_EXPR,   /* u.expr: an expression over the function's variables */
    HONE_VALUE_LIST,   /* u.items[count] */
    HONE_VALUE_MAP,    /* u.attrs[count] */
    HONE_VALUE_LAMBDA, /* u.lambda: T.index_map, T.comm_reducer */
} hone_value_kind;

struct hone_value {
    hone_value_kind kind;
    uint32_t count;
    union {
        int64_t i;
        double f;
        const char *s;
        const hone_expr *expr;
        const hone_value *items;
        const hone_attr *attrs;
        const hone_lambda *lambda;
    } u;
};

/* A function of numbers: T.index_map(lambda i: (i // 4, i % 4)), or with identities
 * T.comm_reducer(lambda x, y: x + y, [T.float32(0)]). Parameters are variables of the function (or
 * graph) that the value belongs to, used nowhere else. */
struct hone_lambda {
    bool is_reducer;
    uint32_t param_count, body_count, identity_count;
    const uint32_t *params; /* variables */
    const hone_expr *const *bodies;
    const hone_expr *const *identities; /* of a reducer: one per body */
};

struct hone_attr {
    const char *key;
    hone_value value;
};

/* A set of attributes: what a loop, a block, a function or an operator call carries. */
typedef struct hone_attrs {
    uint32_t count;
    const hone_attr *items;
} hone_attrs;

#define HONE_VALUE_OF_INT(x) ((hone_value){.kind = HONE_VALUE_INT, .u.i = (x)})
#define HONE_VALUE_OF_BOOL(x) ((hone_value){.kind = HONE_VALUE_BOOL, .u.i = (x) ? 1 : 0})
#define HONE_VALUE_OF_FLOAT(x) ((hone_value){.kind = HONE_VALUE_FLOAT, .u.f = (x)})
#define HONE_VALUE_OF_STRING(x) ((hone_value){.kind = HONE_VALUE_STRING, .u.s = (x)})
#define HONE_VALUE_OF_EXPR(x) ((hone_value){.kind = HONE_VALUE_EXPR, .u.expr = (x)})

/* Returns the value under a key, or NULL. */
const hone_value *hone_attrs_find(const hone_attrs *attrs, const char *key);
/* The integer (or the string) under a key, or the fallback when it is absent or of another kind.
 * An integer may stand as INT, BOOL or as an integer constant EXPR. */
int64_t hone_attrs_int(const hone_attrs *attrs, const char *key, int64_t fallback);
const char *hone_attrs_string(const hone_attrs *attrs, const char *key, const char *fallback);

/* A copy with one key set, or one key removed; the original stays as it is. Key and value are not
 * copied deeply. Returns false when memory is short. */
bool hone_attrs_with(hone_arena *arena, const hone_attrs *attrs, const char *key, hone_value value,
                     hone_attrs *out_attrs);
bool hone_attrs_without(hone_arena *arena, const hone_attrs *attrs, const char *key,
                        hone_attrs *out_attrs);

/* Structural equality of two values; expressions are compared by hone_expr_same. INT 1 and BOOL
 * true differ. */
bool hone_value_same(const hone_value *a, const hone_value *b);

#endif
