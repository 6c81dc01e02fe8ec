/* codegen/async_copies.c - see async_copies.h. */
#include "codegen/async_copies.h"

#include <math.h>
#include <string.h>

/* The condition for all lanes; NULL: there is none of that form. */
static const hone_expr *condition_of(const hone_expr *value) {
    const hone_expr *condition = value->args[0];
    if (condition->kind == HONE_EXPR_BROADCAST) condition = condition->args[0];
    return condition->dtype.lanes == 1 ? condition : NULL;
}

static bool is_zero(const hone_expr *e) {
    if (e->kind == HONE_EXPR_BROADCAST || e->kind == HONE_EXPR_CAST) e = e->args[0];
    return (e->kind == HONE_EXPR_INT && e->u.i == 0) ||
           (e->kind == HONE_EXPR_FLOAT && e->u.f == 0 && !signbit(e->u.f));
}

bool copies_find_source(const hone_expr *value, copies_source *out) {
    *out = (copies_source){0};
    while (hone_expr_is_call(value, HONE_INTRIN_IF_THEN_ELSE) && value->count == 3) {
        const hone_expr *condition = condition_of(value);
        bool is_known = condition && hone_expr_is_pure_index(condition) &&
                        is_zero(value->args[2]) && out->count < COPIES_MOST_CONDITIONS;
        if (!is_known) return false;
        out->conditions[out->count++] = condition;
        value = value->args[1];
    }
    out->load = value;
    return value->kind == HONE_EXPR_LOAD && value->count == 1;
}

const hone_expr *copies_first_of(const hone_expr *index) {
    if (index->dtype.lanes == 1) return index;
    bool is_run = index->kind == HONE_EXPR_RAMP && hone_expr_is_int_value(index->args[1], 1);
    return is_run && index->args[0]->dtype.lanes == 1 ? index->args[0] : NULL;
}

bool copies_has_size(int64_t bytes) {
    return bytes == 4 || bytes == 8 || bytes == 16;
}

bool copies_says(const hone_expr *call, const char *word) {
    for (uint16_t i = 1; i < call->count; i++) {
        const hone_expr *arg = call->args[i];
        if (arg->kind == HONE_EXPR_STRING && strcmp(arg->u.s, word) == 0) return true;
    }
    return false;
}

const hone_expr *copies_plain_pointer(const hone_expr *e) {
    bool is_turned = hone_expr_is_named(e, "cuda.cvta_generic_to_shared") && e->count == 2;
    return is_turned ? e->args[1] : e;
}
