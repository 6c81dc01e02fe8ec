/* measure/launch.c - what sane launches are, and their values for given sizes. */
#include "measure/launch.h"

#include "measure/manifest.h"
#include "support/core/attributes.h"

static const char axis_names[] = "xyz";

static const char *op_name(hone_launch_op op) {
    static const char *const names[] = {"const", "size", "add", "sub", "mul",
                                        "div",   "mod",  "min", "max"};
    return (unsigned)op < HONE_COUNT(names) ? names[op] : "unknown";
}

static hone_status check_index(const char *what, size_t which, int32_t index, size_t count) {
    if (index >= 0 && (size_t)index < count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "%s %zu names number %d of %zu", what, which, (int)index,
                      count);
}

/* A program whose sizes are open is a part of a model, which knows what it passes. */
static size_t arg_limit(const hone_manifest *m) {
    return m->arg_count ? m->arg_count : HONE_MANIFEST_MAX_ARGS;
}

static size_t size_limit(const hone_manifest *m) {
    return m->arg_count ? m->size_count : HONE_MANIFEST_MAX_SIZES;
}

static hone_status check_value(const hone_manifest *m, size_t i) {
    const hone_launch_value *v = &m->values[i];
    if ((unsigned)v->op > HONE_LAUNCH_MAX) {
        return HONE_ERROR(HONE_CODE_INVALID, "value %zu has the unknown operation %d", i,
                          (int)v->op);
    }
    if (v->op == HONE_LAUNCH_CONST) return HONE_OK;
    if (v->op == HONE_LAUNCH_SIZE) return check_index("value", i, v->a, size_limit(m));
    HONE_TRY(check_index("value", i, v->a, i));
    return check_index("value", i, v->b, i);
}

static hone_status check_block(const hone_manifest *m, size_t which) {
    const hone_launch *l = &m->launches[which];
    int64_t threads = 1;
    for (int d = 0; d < 3; d++) {
        HONE_TRY(check_index("block of launch", which, l->block[d], m->value_count));
        const hone_launch_value *v = &m->values[l->block[d]];
        bool is_sane = v->op == HONE_LAUNCH_CONST && v->k >= 1 && v->k <= HONE_LAUNCH_MAX_THREADS;
        if (!is_sane) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "launch %zu '%s' has a block whose extent %c is no constant in 1..%d",
                              which, l->symbol, axis_names[d], (int)HONE_LAUNCH_MAX_THREADS);
        }
        threads *= v->k;
    }
    if (threads > HONE_LAUNCH_MAX_THREADS) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "launch %zu '%s' has blocks of %lld threads, at most %d can be", which,
                          l->symbol, (long long)threads, (int)HONE_LAUNCH_MAX_THREADS);
    }
    return HONE_OK;
}

static hone_status check_launch_arg(const hone_manifest *m, size_t which,
                                    const hone_launch_arg *arg) {
    switch (arg->kind) {
    case HONE_LAUNCH_ARG_BUFFER:
        return check_index("an argument of launch", which, arg->index, arg_limit(m));
    case HONE_LAUNCH_ARG_SCRATCH:
        return check_index("an argument of launch", which, arg->index, m->scratch_count);
    case HONE_LAUNCH_ARG_VALUE:
        return check_index("an argument of launch", which, arg->index, m->value_count);
    }
    return HONE_ERROR(HONE_CODE_INVALID, "launch %zu has an argument of the unknown kind %d", which,
                      (int)arg->kind);
}

static hone_status check_launch(const hone_manifest *m, size_t which) {
    const hone_launch *l = &m->launches[which];
    if (!l->symbol || !l->symbol[0]) {
        return HONE_ERROR(HONE_CODE_INVALID, "launch %zu names no kernel", which);
    }
    if (l->arg_count > HONE_LAUNCH_MAX_ARGS || (l->arg_count && !l->args)) {
        return HONE_ERROR(HONE_CODE_INVALID, "launch %zu has %zu arguments, 0..%d can be", which,
                          l->arg_count, HONE_LAUNCH_MAX_ARGS);
    }
    for (int d = 0; d < 3; d++)
        HONE_TRY(check_index("grid of launch", which, l->grid[d], m->value_count));
    HONE_TRY(check_index("shared memory of launch", which, l->dynamic_shared, m->value_count));
    for (size_t i = 0; i < l->arg_count; i++)
        HONE_TRY(check_launch_arg(m, which, &l->args[i]));
    return check_block(m, which);
}

hone_status hone_launches_check(const hone_manifest *m) {
    for (size_t i = 0; i < m->value_count; i++)
        HONE_TRY(check_value(m, i));
    for (size_t i = 0; i < m->scratch_count; i++)
        HONE_TRY(check_index("scratch buffer", i, m->scratch[i], m->value_count));
    for (size_t i = 0; i < m->launch_count; i++)
        HONE_TRY(check_launch(m, i));
    return HONE_OK;
}

/* ---- values ---- */

/* Divisor not 0; false: the quotient is beyond 64 bits. */
static bool divide(int64_t a, int64_t b, int64_t *out_div, int64_t *out_mod) {
    if (a == INT64_MIN && b == -1) return false;
    int64_t quotient = a / b, rest = a % b;
    bool is_between = rest != 0 && (rest < 0) != (b < 0);
    *out_div = quotient - is_between;
    *out_mod = rest + (is_between ? b : 0);
    return true;
}

/* False: not a number of 64 bits. */
static bool combine(hone_launch_op op, int64_t a, int64_t b, int64_t *out) {
    int64_t div = 0, mod = 0;
    switch (op) {
    case HONE_LAUNCH_ADD:
        return !__builtin_add_overflow(a, b, out);
    case HONE_LAUNCH_SUB:
        return !__builtin_sub_overflow(a, b, out);
    case HONE_LAUNCH_MUL:
        return !__builtin_mul_overflow(a, b, out);
    case HONE_LAUNCH_DIV:
    case HONE_LAUNCH_MOD:
        if (b == 0 || !divide(a, b, &div, &mod)) return false;
        *out = op == HONE_LAUNCH_DIV ? div : mod;
        return true;
    case HONE_LAUNCH_MIN:
        *out = a < b ? a : b;
        return true;
    default:
        *out = a > b ? a : b;
        return true;
    }
}

static hone_status compute(const hone_manifest *m, const int64_t *sizes, int64_t *values) {
    for (size_t i = 0; i < m->value_count; i++) {
        const hone_launch_value *v = &m->values[i];
        if (v->op == HONE_LAUNCH_CONST) {
            values[i] = v->k;
        } else if (v->op == HONE_LAUNCH_SIZE) {
            values[i] = sizes[v->a];
        } else if (!combine(v->op, values[v->a], values[v->b], &values[i])) {
            return HONE_ERROR(HONE_CODE_INVALID, "value %zu: %s of %lld and %lld is no number", i,
                              op_name(v->op), (long long)values[v->a], (long long)values[v->b]);
        }
    }
    return HONE_OK;
}

static hone_status check_range(const char *what, size_t which, int64_t value, int64_t limit) {
    if (value >= 0 && value <= limit) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "%s %zu is %lld, 0..%lld can be", what, which,
                      (long long)value, (long long)limit);
}

static hone_status check_extents(const hone_manifest *m, size_t which, const int64_t *values) {
    const hone_launch *l = &m->launches[which];
    for (int d = 0; d < 3; d++) {
        HONE_TRY(check_range("grid of launch", which, values[l->grid[d]],
                             d == 0 ? HONE_LAUNCH_MAX_GRID_X : HONE_LAUNCH_MAX_GRID_YZ));
    }
    return check_range("dynamic shared memory of launch", which, values[l->dynamic_shared],
                       HONE_LAUNCH_MAX_SHARED);
}

hone_status hone_launch_values(const hone_manifest *m, const int64_t *sizes, int64_t *out_values) {
    HONE_TRY(compute(m, sizes, out_values));
    for (size_t i = 0; i < m->scratch_count; i++) {
        HONE_TRY(check_range("bytes of scratch buffer", i, out_values[m->scratch[i]],
                             HONE_ARG_MAX_BYTES));
    }
    for (size_t i = 0; i < m->launch_count; i++)
        HONE_TRY(check_extents(m, i, out_values));
    return HONE_OK;
}
