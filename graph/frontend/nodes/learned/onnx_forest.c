/* graph/frontend/nodes/learned/onnx_forest.c - trees of decisions: each row goes down the trees, a
 * few of which go together (the operator descend); a leaf leads to itself.
 *
 *   at = descend(x, nodes, limits, roots)         [groups, rows, trees of a group], the leaves
 *   scores = sum over the trees of weight[at]     [rows, targets] */
#include "graph/frontend/nodes/learned/onnx_forest.h"

#include <math.h>
#include <string.h>

enum { MOST_LEVELS = 128, MOST_WEIGHTS = 1 << 26, MOST_FEATURES = 1 << 30 };

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

/* Trees that go down together: as many as keep a core busy, in groups of nearly equal size. */
enum { TOGETHER = 8 };

/* Of a node, in the operator's table. */
enum { FEATURE, COMPARISON, NO, YES, FIELDS };

typedef struct node_tables {
    hone_garg nodes, limits, roots;
    int64_t comparison; /* of all nodes; -1: each has its own */
    bool tells_missing;
} node_tables;

static hone_status int_table(onnx_reader *r, int64_t rows, int64_t columns, const int64_t *values,
                             hone_garg *out) {
    hone_tensor *tensor;
    const int64_t shape[] = {rows, columns};
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I32, 2, shape, &tensor));
    for (int64_t i = 0; i < rows * columns; i++)
        hone_tensor_set_i64(tensor, i, values[i]);
    return onnx_add_constant(r, tensor, out);
}

/* How nodes compare, and whether NaN goes another way somewhere. */
static void read_kinds(const onnx_forest *f, node_tables *t) {
    t->comparison = -2; /* none */
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->modes[i] == ONNX_TREE_LEAF) continue;
        t->tells_missing |= f->missing[i] != 0;
        bool is_other = t->comparison != -2 && t->comparison != f->modes[i];
        t->comparison = is_other ? -1 : f->modes[i];
        if (is_other) break;
    }
    for (uint32_t i = 0; i < f->count; i++)
        t->tells_missing |= f->modes[i] != ONNX_TREE_LEAF && f->missing[i] != 0;
    if (t->comparison == -2) t->comparison = 0;
}

static hone_status make_nodes(onnx_reader *r, const onnx_forest *f, node_tables *t) {
    const size_t count = (size_t)f->count + 1; /* the last one is a leaf that gives nothing */
    int64_t *nodes = hone_arena_zalloc(r->arena, count * FIELDS * sizeof *nodes);
    double *limits = hone_arena_zalloc(r->arena, count * sizeof *limits);
    if (!nodes || !limits) return HONE_NO_MEMORY("model");
    read_kinds(f, t);
    for (uint32_t i = 0; i < f->count; i++) {
        const bool is_leaf = f->modes[i] == ONNX_TREE_LEAF;
        int64_t *node = nodes + (size_t)i * FIELDS;
        node[FEATURE] =
            t->tells_missing ? 2 * f->features[i] + (f->missing[i] != 0) : f->features[i];
        node[COMPARISON] = is_leaf ? 0 : f->modes[i];
        node[NO] = f->no[i];
        node[YES] = f->yes[i];
        limits[i] = f->values[i];
    }
    int64_t *last = nodes + (size_t)f->count * FIELDS;
    last[NO] = last[YES] = f->count;
    HONE_TRY(int_table(r, (int64_t)count, FIELDS, nodes, &t->nodes));
    return onnx_number_table(r, f->dtype, 0, (int64_t)count, limits, &t->limits);
}

static hone_status make_roots(onnx_reader *r, const onnx_forest *f, node_tables *t) {
    const int64_t groups = (f->trees + TOGETHER - 1) / TOGETHER;
    const int64_t lanes = (f->trees + groups - 1) / groups;
    int64_t *roots = hone_arena_alloc(r->arena, (size_t)(groups * lanes) * sizeof *roots);
    if (!roots) return HONE_NO_MEMORY("model");
    for (int64_t i = 0; i < groups * lanes; i++)
        roots[i] = i < f->trees ? f->roots[i] : f->count;
    return int_table(r, groups, lanes, roots, &t->roots);
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

/* The leaf that each row reaches in each tree, [groups, rows, trees of a group]. */
static hone_status find_leaves(onnx_reader *r, const onnx_forest *f, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg args[4];
    node_tables t = {.comparison = 0};
    HONE_TRY(onnx_rows(r, 0, f->dtype, &args[0]));
    HONE_TRY(onnx_info(r, &args[0], &info));
    HONE_TRY(check_features(f, hone_expr_const(info->shape[1])));
    HONE_TRY(make_nodes(r, f, &t));
    HONE_TRY(make_roots(r, f, &t));
    args[1] = t.nodes;
    args[2] = t.limits;
    args[3] = t.roots;
    const hone_attr attrs[] = {
        {"levels",     HONE_VALUE_OF_INT(f->levels)      },
        {"comparison", HONE_VALUE_OF_INT(t.comparison)   },
        {"missing",    HONE_VALUE_OF_INT(t.tells_missing)}
    };
    return onnx_emit(r, "descend", HONE_COUNT(args), args, HONE_COUNT(attrs), attrs, out);
}

/* ---- weights ---- */

static double joined(int64_t aggregate, double a, double b) {
    return aggregate == ONNX_TREE_MIN   ? (b < a ? b : a)
           : aggregate == ONNX_TREE_MAX ? (b > a ? b : a)
                                        : a + b;
}

/* [nodes and one that gives nothing, targets], and which of them are given. */
static hone_status weight_tables(onnx_reader *r, const onnx_forest *f, uint32_t count,
                                 const onnx_leaf *leaves, int64_t targets, int64_t aggregate,
                                 hone_garg *out, hone_garg *out_given) {
    if (targets < 1 || targets > MOST_WEIGHTS / (int64_t)f->count)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%lld targets of %u nodes", (long long)targets,
                          f->count);
    const int64_t places = (int64_t)f->count + 1, size = places * targets;
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
    HONE_TRY(onnx_number_table(r, f->dtype, places, targets, table, out));
    return onnx_number_table(r, HONE_DTYPE_I8, places, targets, given, out_given);
}

/* The least or greatest over the trees; 0 where no tree gives anything. */
static hone_status take_extreme(onnx_reader *r, const char *op, hone_garg weights, hone_garg given,
                                hone_garg *out) {
    hone_garg zero;
    const int64_t trees[] = {0, 2};
    hone_attr axis = {"axis", onnx_ints_value(r, HONE_COUNT(trees), trees)};
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
    const int64_t trees[] = {0, 2};
    hone_attr axis = {"axis", onnx_ints_value(r, HONE_COUNT(trees), trees)};
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
