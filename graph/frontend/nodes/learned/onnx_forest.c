/* graph/frontend/nodes/learned/onnx_forest.c - trees of decisions: all rows go down all trees
 * together, one level at a time; a leaf leads to itself.
 *
 *   at: [rows, trees], which node each row is at in each tree
 *   at = where(x[feature[at]] <= value[at], yes[at], no[at])        as often as the trees are deep
 *   scores = sum over the trees of weight[at], [rows, targets] */
#include "graph/frontend/nodes/learned/onnx_forest.h"

#include <math.h>
#include <string.h>

enum { MOST_LEVELS = 128, MOST_WEIGHTS = 1 << 26, MOST_FEATURES = 1 << 30 };

static const char *const comparisons[ONNX_TREE_COMPARISONS] = {
    "less_equal", "less", "greater_equal", "greater", "equal", "not_equal"};

hone_status onnx_forest_make(onnx_reader *r, uint32_t count, onnx_forest *out) {
    const size_t bytes = (size_t)count * sizeof *out->features;
    out->count = count;
    out->features = hone_arena_zalloc(r->arena, bytes);
    out->yes = hone_arena_zalloc(r->arena, bytes);
    out->no = hone_arena_zalloc(r->arena, bytes);
    out->roots = hone_arena_zalloc(r->arena, bytes);
    out->missing = hone_arena_zalloc(r->arena, bytes);
    out->values = hone_arena_zalloc(r->arena, count * sizeof *out->values);
    out->modes = hone_arena_zalloc(r->arena, count);
    if (!out->features || !out->yes || !out->no || !out->roots || !out->missing || !out->values ||
        !out->modes)
        return HONE_NO_MEMORY("model");
    memset(out->modes, ONNX_TREE_LEAF, count);
    for (uint32_t i = 0; i < count; i++)
        out->yes[i] = out->no[i] = i;
    return HONE_OK;
}

/* ---- how deep ---- */

static uint32_t add_once(uint32_t *seen, uint32_t level, int64_t node, int64_t *list,
                         uint32_t count) {
    if (seen[node] == level) return count;
    seen[node] = level;
    list[count] = node;
    return count + 1;
}

/* The longest way down: levels until nothing but leaves is left. */
hone_status onnx_forest_measure(onnx_reader *r, onnx_forest *f) {
    const size_t bytes = (size_t)f->count * sizeof(int64_t);
    int64_t *now = hone_arena_alloc(r->arena, bytes), *next = hone_arena_alloc(r->arena, bytes);
    uint32_t *seen = hone_arena_zalloc(r->arena, f->count * sizeof *seen); /* at which level */
    if (!now || !next || !seen) return HONE_NO_MEMORY("model");
    uint32_t count = f->trees, made;
    memcpy(now, f->roots, f->trees * sizeof *now);
    for (f->levels = 0;; f->levels++) {
        made = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (f->modes[now[i]] == ONNX_TREE_LEAF) continue;
            made = add_once(seen, f->levels + 1, f->yes[now[i]], next, made);
            made = add_once(seen, f->levels + 1, f->no[now[i]], next, made);
        }
        if (!made) return HONE_OK;
        if (f->levels == MOST_LEVELS)
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "trees of more than %d levels", MOST_LEVELS);
        int64_t *other = now;
        now = next;
        next = other;
        count = made;
    }
}

/* ---- going down ---- */

/* What nodes have, by place. All whole numbers are int32: what is taken from tables at places is
 * gathered, and vectors hold twice as many of them as of int64. */
typedef struct tables {
    hone_garg features, values, yes, no, modes;
    bool is_used[ONNX_TREE_COMPARISONS];
    bool are_several, any_missing; /* any_missing: features hold 2 * feature + whether NaN is so */
} tables;

static hone_status place_table(onnx_reader *r, int64_t count, const int64_t *values,
                               hone_garg *out) {
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I32, 1, &count, &tensor));
    for (int64_t i = 0; i < count; i++)
        hone_tensor_set_i64(tensor, i, values[i]);
    return onnx_add_constant(r, tensor, out);
}

static hone_status make_tables(onnx_reader *r, const onnx_forest *f, tables *t) {
    const size_t bytes = (size_t)f->count * sizeof(int64_t);
    int64_t *modes = hone_arena_zalloc(r->arena, bytes);
    int64_t *features = hone_arena_copy(r->arena, f->features, bytes);
    int used = 0;
    if (!modes || !features) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->modes[i] == ONNX_TREE_LEAF) continue;
        modes[i] = f->modes[i];
        t->any_missing |= f->missing[i] != 0;
        used += !t->is_used[f->modes[i]];
        t->is_used[f->modes[i]] = true;
    }
    t->are_several = used > 1;
    for (uint32_t i = 0; t->any_missing && i < f->count; i++)
        features[i] = 2 * features[i] + (f->missing[i] != 0);
    HONE_TRY(place_table(r, f->count, features, &t->features));
    HONE_TRY(onnx_number_table(r, f->dtype, 0, f->count, f->values, &t->values));
    HONE_TRY(place_table(r, f->count, f->yes, &t->yes));
    HONE_TRY(place_table(r, f->count, f->no, &t->no));
    return t->are_several ? place_table(r, f->count, modes, &t->modes) : HONE_OK;
}

/* What each node says of its number: in the way that all have, or each in its own. */
static hone_status compare(onnx_reader *r, const tables *t, hone_garg at, hone_garg number,
                           hone_garg *out) {
    hone_garg limit, mode, is_mode, is_so;
    bool is_first = true;
    HONE_TRY(onnx_emit_take(r, t->values, at, 0, &limit));
    if (t->are_several) HONE_TRY(onnx_emit_take(r, t->modes, at, 0, &mode));
    for (int i = 0; i < ONNX_TREE_COMPARISONS; i++) {
        if (!t->is_used[i]) continue;
        HONE_TRY(onnx_emit2(r, comparisons[i], number, limit, &is_so));
        if (is_first) {
            *out = is_so;
            is_first = false;
            continue;
        }
        HONE_TRY(onnx_with_scalar(r, "equal", mode, i, &is_mode));
        HONE_TRY(onnx_emit_where(r, is_mode, is_so, *out, out));
    }
    return HONE_OK;
}

static hone_status go_down(onnx_reader *r, const tables *t, hone_garg x, hone_garg *io) {
    hone_garg args[2] = {x, {0}}, code, number, is_so, yes, no, missing, tracks;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(onnx_emit_take(r, t->features, *io, 0, &code));
    args[1] = code;
    if (t->any_missing) HONE_TRY(onnx_with_scalar(r, "right_shift", code, 1, &args[1]));
    HONE_TRY(onnx_emit(r, "gather_elements", 2, args, 1, &axis, &number));
    HONE_TRY(compare(r, t, *io, number, &is_so));
    if (t->any_missing) {
        HONE_TRY(onnx_emit1(r, "isnan", number, &missing));
        HONE_TRY(onnx_with_scalar(r, "bitwise_and", code, 1, &tracks));
        HONE_TRY(onnx_with_scalar(r, "not_equal", tracks, 0, &tracks));
        HONE_TRY(onnx_emit2(r, "logical_and", missing, tracks, &missing));
        HONE_TRY(onnx_emit2(r, "logical_or", is_so, missing, &is_so));
    }
    HONE_TRY(onnx_emit_take(r, t->yes, *io, 0, &yes));
    HONE_TRY(onnx_emit_take(r, t->no, *io, 0, &no));
    return onnx_emit_where(r, is_so, yes, no, io);
}

static hone_status check_features(const onnx_forest *f, int64_t features) {
    for (uint32_t i = 0; i < f->count; i++) {
        bool is_leaf = f->modes[i] == ONNX_TREE_LEAF;
        bool is_less = features >= 0 && features < MOST_FEATURES;
        int64_t bound = is_less ? features : MOST_FEATURES;
        if (is_leaf || (f->features[i] >= 0 && f->features[i] < bound)) continue;
        return HONE_ERROR(HONE_CODE_INVALID, "node %u compares feature %lld of %lld", i,
                          (long long)f->features[i], (long long)features);
    }
    return HONE_OK;
}

/* The leaf that each row reaches in each tree. */
static hone_status find_leaves(onnx_reader *r, const onnx_forest *f, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg x, args[2];
    tables t = {.are_several = false};
    HONE_TRY(onnx_rows(r, 0, f->dtype, &x));
    HONE_TRY(onnx_info(r, &x, &info));
    HONE_TRY(check_features(f, hone_expr_const(info->shape[1])));
    HONE_TRY(make_tables(r, f, &t));
    const hone_expr *shape[] = {info->shape[0], hone_extent_int(&r->ir, f->trees)};
    HONE_TRY(place_table(r, f->trees, f->roots, &args[0]));
    HONE_TRY(onnx_make_ints(r, 2, shape, 1, &args[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, args, 0, NULL, out));
    for (uint32_t i = 0; i < f->levels; i++)
        HONE_TRY(go_down(r, &t, x, out));
    return HONE_OK;
}

/* ---- weights ---- */

static double joined(int64_t aggregate, double a, double b) {
    return aggregate == ONNX_TREE_MIN   ? (b < a ? b : a)
           : aggregate == ONNX_TREE_MAX ? (b > a ? b : a)
                                        : a + b;
}

/* [nodes, targets], and which of them are given. */
static hone_status weight_tables(onnx_reader *r, const onnx_forest *f, uint32_t count,
                                 const onnx_leaf *leaves, int64_t targets, int64_t aggregate,
                                 hone_garg *out, hone_garg *out_given) {
    if (targets < 1 || targets > MOST_WEIGHTS / (int64_t)f->count)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%lld targets of %u nodes", (long long)targets,
                          f->count);
    const int64_t size = f->count * targets;
    double *table = hone_arena_zalloc(r->arena, (size_t)size * sizeof *table);
    double *given = hone_arena_zalloc(r->arena, (size_t)size * sizeof *given);
    if (!table || !given) return HONE_NO_MEMORY("model");
    const double none = aggregate == ONNX_TREE_MIN   ? (double)INFINITY
                        : aggregate == ONNX_TREE_MAX ? -(double)INFINITY
                                                     : 0;
    for (int64_t i = 0; i < size; i++)
        table[i] = none;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t target = leaves[i].target, at = leaves[i].place * targets + target;
        if (target < 0 || target >= targets)
            return HONE_ERROR(HONE_CODE_INVALID, "weight %u is for target %lld of %lld", i,
                              (long long)target, (long long)targets);
        table[at] = joined(aggregate, table[at], leaves[i].weight);
        given[at] = 1;
    }
    HONE_TRY(onnx_number_table(r, f->dtype, f->count, targets, table, out));
    return onnx_number_table(r, HONE_DTYPE_I8, f->count, targets, given, out_given);
}

/* The least or greatest over the trees; 0 where no tree gives anything. */
static hone_status take_extreme(onnx_reader *r, const char *op, hone_garg weights, hone_garg given,
                                hone_garg *out) {
    hone_garg zero;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(onnx_emit(r, op, 1, &weights, 1, &axis, out));
    HONE_TRY(onnx_emit(r, "max", 1, &given, 1, &axis, &given));
    HONE_TRY(onnx_with_scalar(r, "not_equal", given, 0, &given));
    HONE_TRY(onnx_scalar_like(r, out, 0, &zero));
    return onnx_emit_where(r, given, *out, zero, out);
}

hone_status onnx_forest_scores(onnx_reader *r, const onnx_forest *f, uint32_t count,
                               const onnx_leaf *leaves, int64_t targets, int64_t aggregate,
                               hone_garg *out) {
    hone_garg at, weights, given;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(weight_tables(r, f, count, leaves, targets, aggregate, &weights, &given));
    HONE_TRY(find_leaves(r, f, &at));
    HONE_TRY(onnx_emit_take(r, weights, at, 0, &weights));
    if (aggregate == ONNX_TREE_MIN || aggregate == ONNX_TREE_MAX) {
        HONE_TRY(onnx_emit_take(r, given, at, 0, &given));
        return take_extreme(r, aggregate == ONNX_TREE_MIN ? "min" : "max", weights, given, out);
    }
    HONE_TRY(onnx_emit(r, "sum", 1, &weights, 1, &axis, out));
    if (aggregate == ONNX_TREE_SUM) return HONE_OK;
    return onnx_with_scalar(r, "divide", *out, (double)f->trees, out);
}
