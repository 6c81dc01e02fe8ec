#include "ir/named_op.h"

#include <string.h>

static const hone_named_op rows[] = {
#define HONE_NAMED_OP(name, place, result)                                                         \
    {name, HONE_NAMED_DTYPE_##place, HONE_NAMED_RESULT_##result},
#include "ir/named_ops.def"
#undef HONE_NAMED_OP
};

const hone_named_op *hone_named_op_find(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
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
    return index < sizeof rows / sizeof rows[0] ? &rows[index] : NULL;
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
