/* ir/ops/named_op.c - the table of operations that are known by name only. */
#include "ir/ops/named_op.h"

#include <string.h>

#include "support/core/attributes.h"

static const hone_named_op rows[] = {
#define HONE_NAMED_OP(name, place, result)                                                         \
    {name, HONE_NAMED_DTYPE_##place, HONE_NAMED_RESULT_##result, false},
#define HONE_NAMED_CALL(name, place, result)                                                       \
    {name, HONE_NAMED_DTYPE_##place, HONE_NAMED_RESULT_##result, true},
#include "ir/ops/named_ops.def"
};

typedef struct pair {
    const char *from, *to;
} pair;

static const pair renamed[] = {
#define HONE_NAMED_OLD(before, now) {before, now},
#include "ir/ops/named_ops.def"
};

static const pair same[] = {
#define HONE_NAMED_SAME(name, as) {name, as},
#include "ir/ops/named_ops.def"
};

/* What a name becomes, or the name itself. */
static const char *mapped(const pair *pairs, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(pairs[i].from, name) == 0) return pairs[i].to;
    }
    return name;
}

const char *hone_named_op_now(const char *name) {
    return mapped(renamed, HONE_COUNT(renamed), name);
}

const char *hone_named_op_same(const char *name) {
    return mapped(same, HONE_COUNT(same), name);
}

hone_atomic hone_atomic_of(const char *name, uint32_t count) {
    static const char *const names[] = {
#define HONE_NAMED_ATOMIC(id, name) [HONE_ATOMIC_##id] = name,
#include "ir/ops/named_ops.def"
    };
    name = hone_named_op_same(name);
    for (size_t i = HONE_ATOMIC_NONE + 1; i < HONE_COUNT(names); i++) {
        if (strcmp(names[i], name) == 0)
            return count == (i == HONE_ATOMIC_COMPARE ? 4 : 3) ? (hone_atomic)i : HONE_ATOMIC_NONE;
    }
    return HONE_ATOMIC_NONE;
}

const char *hone_named_op_before(const char *name) {
    for (size_t i = 0; i < HONE_COUNT(renamed); i++) {
        if (strcmp(renamed[i].to, name) == 0) return renamed[i].from;
    }
    return name;
}

const hone_named_op *hone_named_op_find(const char *name) {
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        size_t length = strlen(rows[i].name);
        char last = rows[i].name[length - 1];
        bool is_family = last == '.' || last == '_';
        if (is_family ? strncmp(rows[i].name, name, length) == 0 && name[length]
                      : strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

const hone_named_op *hone_named_op_at(size_t index) {
    return index < HONE_COUNT(rows) ? &rows[index] : NULL;
}

hone_dtype hone_named_op_dtype(const hone_named_op *op, uint32_t count,
                               const hone_expr *const *args) {
    switch (op->result) {
    case HONE_NAMED_RESULT_VOID:
        return HONE_DTYPE_VOID;
    case HONE_NAMED_RESULT_HANDLE:
        return HONE_DTYPE_HANDLE;
    case HONE_NAMED_RESULT_INT32:
        return HONE_DTYPE_I32;
    case HONE_NAMED_RESULT_UINT32:
        return HONE_DTYPE_U32;
    case HONE_NAMED_RESULT_BOOL:
        return HONE_DTYPE_BOOL;
    case HONE_NAMED_RESULT_FIRST:
        return count > 0 ? args[0]->dtype : HONE_DTYPE_VOID;
    case HONE_NAMED_RESULT_SECOND:
        return count > 1 ? args[1]->dtype : HONE_DTYPE_VOID;
    }
    return HONE_DTYPE_VOID;
}
