/* lower/device/launch_values.c - expressions over sizes as values of launches; equal ones are one.
 */
#include <string.h>

#include "ir/core/grow.h"
#include "lower/device/splitting.h"

void *device_append(splitting *s, device_list *list, size_t item_bytes) {
    if (!hone_grow(s->arena, &list->items, &list->capacity, list->count, item_bytes)) return NULL;
    void *item = (char *)list->items + list->count++ * item_bytes;
    memset(item, 0, item_bytes);
    return item;
}

static bool is_same(const hone_launch_value *a, const hone_launch_value *b) {
    return a->op == b->op && a->a == b->a && a->b == b->b && a->k == b->k;
}

static hone_status add(splitting *s, hone_launch_value value, int32_t *out_value) {
    const hone_launch_value *values = s->values.items;
    for (uint32_t i = 0; i < s->values.count; i++) {
        *out_value = (int32_t)i;
        if (is_same(&values[i], &value)) return HONE_OK;
    }
    *out_value = (int32_t)s->values.count;
    hone_launch_value *at = device_append(s, &s->values, sizeof value);
    if (!at) return HONE_NO_MEMORY("launches");
    *at = value;
    return HONE_OK;
}

hone_status device_constant(splitting *s, int64_t k, int32_t *out_value) {
    return add(s, (hone_launch_value){.op = HONE_LAUNCH_CONST, .k = k}, out_value);
}

hone_status device_max(splitting *s, int32_t a, int32_t b, int32_t *out_value) {
    *out_value = a;
    return a == b ? HONE_OK
                  : add(s, (hone_launch_value){.op = HONE_LAUNCH_MAX, .a = a, .b = b}, out_value);
}

static hone_status value_of_var(splitting *s, hone_var var, int32_t *out_value) {
    if (s->is_iterated[var]) return device_constant(s, s->iteration[var], out_value);
    if (s->lets[var]) return device_value(s, s->lets[var], out_value);
    for (uint32_t i = 0; i < s->signature.size_count; i++) {
        if (s->signature.sizes[i] != var) continue;
        return add(s, (hone_launch_value){.op = HONE_LAUNCH_SIZE, .a = (int32_t)i}, out_value);
    }
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "'%s' is known to a kernel only, and a launch depends on it",
                      s->func->vars[var].name);
}

/* False: no operation of launches. */
static bool op_of(const hone_expr *e, hone_launch_op *out) {
    static const struct {
        hone_op op;
        hone_launch_op launch;
    } rows[] = {
        {HONE_OP_ADD,      HONE_LAUNCH_ADD},
        {HONE_OP_SUB,      HONE_LAUNCH_SUB},
        {HONE_OP_MUL,      HONE_LAUNCH_MUL},
        {HONE_OP_FLOORDIV, HONE_LAUNCH_DIV},
        {HONE_OP_FLOORMOD, HONE_LAUNCH_MOD},
        {HONE_OP_MIN,      HONE_LAUNCH_MIN},
        {HONE_OP_MAX,      HONE_LAUNCH_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!hone_expr_is_op(e, rows[i].op)) continue;
        *out = rows[i].launch;
        return true;
    }
    return false;
}

static bool is_integer(hone_dtype dtype) {
    return hone_dtype_is_integer(dtype) && dtype.lanes == 1;
}

hone_status device_value(splitting *s, const hone_expr *e, int32_t *out_value) {
    hone_launch_op op;
    if (hone_expr_is_int(e)) return device_constant(s, e->u.i, out_value);
    if (e->kind == HONE_EXPR_VAR) return value_of_var(s, e->u.var, out_value);
    if (e->kind == HONE_EXPR_CAST && is_integer(e->dtype) && is_integer(e->args[0]->dtype))
        return device_value(s, e->args[0], out_value);
    if (!is_integer(e->dtype) || !op_of(e, &op)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "a launch depends on what is no sum, product or quotient of sizes");
    }
    hone_launch_value value = {.op = op};
    HONE_TRY(device_value(s, e->args[0], &value.a));
    HONE_TRY(device_value(s, e->args[1], &value.b));
    return add(s, value, out_value);
}
