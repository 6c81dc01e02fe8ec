/* ir/core/value.c - plain values and attribute lists. */
#include "ir/core/value.h"

#include <string.h>

#include "ir/core/expr.h"

const hone_value *hone_attrs_find(const hone_attrs *attrs, const char *key) {
    for (uint32_t i = 0; i < attrs->count; i++) {
        if (strcmp(attrs->items[i].key, key) == 0) return &attrs->items[i].value;
    }
    return NULL;
}

int64_t hone_attrs_int(const hone_attrs *attrs, const char *key, int64_t fallback) {
    const hone_value *value = hone_attrs_find(attrs, key);
    if (!value) return fallback;
    if (value->kind == HONE_VALUE_INT || value->kind == HONE_VALUE_BOOL) return value->u.i;
    if (value->kind == HONE_VALUE_EXPR && hone_expr_is_int(value->u.expr)) {
        return value->u.expr->u.i;
    }
    return fallback;
}

const char *hone_attrs_string(const hone_attrs *attrs, const char *key, const char *fallback) {
    const hone_value *value = hone_attrs_find(attrs, key);
    return value && value->kind == HONE_VALUE_STRING ? value->u.s : fallback;
}

bool hone_attrs_with(hone_arena *arena, const hone_attrs *attrs, const char *key, hone_value value,
                     hone_attrs *out_attrs) {
    uint32_t count = attrs->count;
    hone_attr *items = hone_arena_alloc(arena, (count + 1) * sizeof *items);
    if (!items) return false;
    if (count) memcpy(items, attrs->items, count * sizeof *items);
    uint32_t at = 0;
    while (at < count && strcmp(items[at].key, key) != 0)
        at++;
    items[at] = (hone_attr){key, value};
    *out_attrs = (hone_attrs){at == count ? count + 1 : count, items};
    return true;
}

bool hone_attrs_without(hone_arena *arena, const hone_attrs *attrs, const char *key,
                        hone_attrs *out_attrs) {
    hone_attr *items = hone_arena_alloc(arena, (attrs->count + 1) * sizeof *items);
    if (!items) return false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < attrs->count; i++) {
        if (strcmp(attrs->items[i].key, key) != 0) items[kept++] = attrs->items[i];
    }
    *out_attrs = (hone_attrs){kept, items};
    return true;
}

static bool same_attrs(const hone_value *a, const hone_value *b) {
    for (uint32_t i = 0; i < a->count; i++) {
        if (strcmp(a->u.attrs[i].key, b->u.attrs[i].key) != 0) return false;
        if (!hone_value_same(&a->u.attrs[i].value, &b->u.attrs[i].value)) return false;
    }
    return true;
}

static bool same_items(const hone_value *a, const hone_value *b) {
    for (uint32_t i = 0; i < a->count; i++) {
        if (!hone_value_same(&a->u.items[i], &b->u.items[i])) return false;
    }
    return true;
}

static bool same_exprs(uint32_t count, const hone_expr *const *a, const hone_expr *const *b) {
    for (uint32_t i = 0; i < count; i++) {
        if (!hone_expr_same(a[i], b[i])) return false;
    }
    return true;
}

static bool same_lambda(const hone_lambda *a, const hone_lambda *b) {
    if (a->is_reducer != b->is_reducer || a->param_count != b->param_count ||
        a->body_count != b->body_count || a->identity_count != b->identity_count) {
        return false;
    }
    return memcmp(a->params, b->params, a->param_count * sizeof *a->params) == 0 &&
           same_exprs(a->body_count, a->bodies, b->bodies) &&
           same_exprs(a->identity_count, a->identities, b->identities);
}

bool hone_value_same(const hone_value *a, const hone_value *b) {
    if (a->kind != b->kind || a->count != b->count) return false;
    switch (a->kind) {
    case HONE_VALUE_NONE:
        return true;
    case HONE_VALUE_BOOL:
    case HONE_VALUE_INT:
        return a->u.i == b->u.i;
    case HONE_VALUE_FLOAT:
        return memcmp(&a->u.f, &b->u.f, sizeof a->u.f) == 0;
    case HONE_VALUE_STRING:
        return strcmp(a->u.s, b->u.s) == 0;
    case HONE_VALUE_EXPR:
        return hone_expr_same(a->u.expr, b->u.expr);
    case HONE_VALUE_LIST:
        return same_items(a, b);
    case HONE_VALUE_MAP:
        return same_attrs(a, b);
    case HONE_VALUE_LAMBDA:
        return same_lambda(a->u.lambda, b->u.lambda);
    }
    return false;
}
