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

/* By index and target; those that leaves give. */
typedef struct weight_list {
    int64_t targets, indices; /* the last index is that of no leaf */
    double *weights;
    bool *are_given;
} weight_list;

static double joined(int64_t aggregate, double a, double b) {
    return aggregate == ONNX_TREE_MIN   ? (b < a ? b : a)
           : aggregate == ONNX_TREE_MAX ? (b > a ? b : a)
                                        : a + b;
}

static double nothing_for(int64_t aggregate) {
    return aggregate == ONNX_TREE_MIN   ? (double)INFINITY
           : aggregate == ONNX_TREE_MAX ? -(double)INFINITY
                                        : 0;
}

/* What a leaf does not give counts as 0 where there is one target alone, as in onnxruntime. */
static void give_zeros(const onnx_forest *f, weight_list *w) {
    for (uint32_t i = 0; i < f->count && w->targets == 1; i++) {
        if (f->modes[i] != ONNX_TREE_LEAF || w->are_given[i]) continue;
        w->weights[i] = 0;
        w->are_given[i] = true;
    }
}

static hone_status list_weights(onnx_reader *r, const onnx_forest *f, uint32_t count,
                                const onnx_leaf *leaves, int64_t aggregate, weight_list *w) {
    if (w->targets < 1 || w->targets > MOST_WEIGHTS / (int64_t)f->count)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%lld targets of %u nodes", (long long)w->targets,
                          f->count);
    w->indices = (int64_t)f->count + 1;
    const size_t size = (size_t)(w->indices * w->targets);
    w->weights = hone_arena_alloc(r->arena, size * sizeof *w->weights);
    w->are_given = hone_arena_zalloc(r->arena, size);
    if (!w->weights || !w->are_given) return HONE_NO_MEMORY("model");
    for (size_t i = 0; i < size; i++)
        w->weights[i] = nothing_for(aggregate);
    for (uint32_t i = 0; i < count; i++) {
        const int64_t target = leaves[i].target, at = leaves[i].index * w->targets + target;
        if (target < 0 || target >= w->targets)
            return HONE_ERROR(HONE_CODE_INVALID, "weight %u is for target %lld of %lld", i,
                              (long long)target, (long long)w->targets);
        w->weights[at] = joined(aggregate, w->weights[at], leaves[i].weight);
        w->are_given[at] = true;
    }
    give_zeros(f, w);
    return HONE_OK;
}

/* ---- what no leaf gives ---- */

typedef struct walk {
    const onnx_forest *f;
    const weight_list *w;
    int64_t *stack;
    uint32_t *seen, number; /* nodes by the number of the walk that saw them last */
} walk;

/* Does each leaf of the tree give the target something? */
static bool gives_always(walk *k, int64_t root, int64_t target) {
    uint32_t depth = 0;
    k->number++;
    k->stack[depth++] = root;
    while (depth) {
        const int64_t node = k->stack[--depth];
        if (k->f->modes[node] == ONNX_TREE_LEAF) {
            if (!k->w->are_given[node * k->w->targets + target]) return false;
            continue;
        }
        const int64_t next[] = {k->f->yes[node], k->f->no[node]};
        for (size_t i = 0; i < HONE_COUNT(next); i++) {
            if (k->seen[next[i]] == k->number) continue;
            k->seen[next[i]] = k->number;
            k->stack[depth++] = next[i];
        }
    }
    return true;
}

/* Each target is given something by a tree, whatever a row is like. */
static hone_status are_all_given(onnx_reader *r, const onnx_forest *f, const weight_list *w,
                                 bool *out) {
    walk k = {.f = f, .w = w};
    k.stack = hone_arena_alloc(r->arena, ((size_t)f->count + 1) * sizeof *k.stack);
    k.seen = hone_arena_zalloc(r->arena, f->count * sizeof *k.seen);
    if (!k.stack || !k.seen) return HONE_NO_MEMORY("model");
    *out = true;
    for (int64_t target = 0; target < w->targets && *out; target++) {
        bool is_given = false;
        for (uint32_t i = 0; i < f->trees && !is_given; i++)
            is_given = gives_always(&k, f->roots[i], target);
        *out = is_given;
    }
    return HONE_OK;
}

/* Which targets the leaves `at` give something, [rows, targets]; NONE: all, always. */
static hone_status find_given(onnx_reader *r, const onnx_forest *f, const weight_list *w,
                              hone_garg at, hone_garg *out) {
    bool are_all;
    const int64_t trees[] = {0, 2};
    hone_attr axis = {"axis", onnx_ints_value(r, HONE_COUNT(trees), trees)};
    *out = (hone_garg){.kind = HONE_GARG_NONE};
    HONE_TRY(are_all_given(r, f, w, &are_all));
    if (are_all) return HONE_OK;
    const size_t size = (size_t)(w->indices * w->targets);
    double *numbers = hone_arena_alloc(r->arena, size * sizeof *numbers);
    if (!numbers) return HONE_NO_MEMORY("model");
    for (size_t i = 0; i < size; i++)
        numbers[i] = w->are_given[i];
    HONE_TRY(onnx_number_table(r, HONE_DTYPE_I8, w->indices, w->targets, numbers, out));
    HONE_TRY(onnx_emit_take(r, *out, at, 0, out));
    HONE_TRY(onnx_emit(r, "max", 1, out, 1, &axis, out));
    return onnx_with_scalar(r, "not_equal", *out, 0, out);
}

/* ---- scores ---- */

hone_status onnx_forest_scores(onnx_reader *r, const onnx_forest *f, uint32_t count,
                               const onnx_leaf *leaves, int64_t targets, int64_t aggregate,
                               hone_garg *out, hone_garg *out_given) {
    hone_garg at, table, zero;
    weight_list w = {.targets = targets};
    const int64_t trees[] = {0, 2};
    hone_attr axis = {"axis", onnx_ints_value(r, HONE_COUNT(trees), trees)};
    const bool is_extreme = aggregate == ONNX_TREE_MIN || aggregate == ONNX_TREE_MAX;
    const char *op = !is_extreme ? "sum" : aggregate == ONNX_TREE_MIN ? "min" : "max";
    HONE_TRY(list_weights(r, f, count, leaves, aggregate, &w));
    HONE_TRY(onnx_number_table(r, f->dtype, w.indices, targets, w.weights, &table));
    HONE_TRY(find_leaves(r, f, &at));
    HONE_TRY(find_given(r, f, &w, at, out_given));
    HONE_TRY(onnx_emit_take(r, table, at, 0, out));
    HONE_TRY(onnx_emit(r, op, 1, out, 1, &axis, out));
    if (aggregate == ONNX_TREE_MEAN)
        return onnx_with_scalar(r, "divide", *out, (double)f->trees, out);
    if (!is_extreme || out_given->kind == HONE_GARG_NONE) return HONE_OK;
    HONE_TRY(onnx_scalar_like(r, out, 0, &zero));
    return onnx_emit_where(r, *out_given, *out, zero, out);
}
