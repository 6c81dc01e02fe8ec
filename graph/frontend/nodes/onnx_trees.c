/* graph/frontend/nodes/onnx_trees.c - TreeEnsembleRegressor and TreeEnsembleClassifier of
 * ai.onnx.ml: all rows go down all trees together, one level at a time; a leaf leads to itself.
 *
 *   at: [rows, trees], which node each row is at in each tree
 *   at = where(x[feature[at]] <= value[at], yes[at], no[at])        as often as the trees are deep
 *   scores = sum over the trees of weight[at], [rows, targets] */
#include <stdio.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_learned.h"
#include "support/data/map.h"

enum { MOST_LEVELS = 128, MOST_WEIGHTS = 1 << 26 };

/* Nodes in the order of the file. */
typedef struct forest {
    uint32_t count, trees, levels;
    const int64_t *tree_ids, *node_ids, *features, *missing;
    const float *values;
    int64_t *yes, *no; /* places of nodes */
    int64_t *roots;
    bool *is_leaf;
    const char *compare; /* the operator of the graph, of all nodes */
    hone_strmap places;  /* "tree node" → place */
} forest;

/* ---- reading ---- */

static hone_status node_list(const onnx_reader *r, const forest *f, const char *name,
                             const int64_t **out) {
    uint32_t count;
    HONE_TRY(onnx_attr_int64s(r, name, out, &count));
    if (count == f->count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' has %u numbers, there are %u nodes", name,
                      count, f->count);
}

static hone_status place_of(const forest *f, int64_t tree, int64_t node, int64_t *out) {
    char key[48];
    uint64_t place;
    snprintf(key, sizeof key, "%lld %lld", (long long)tree, (long long)node);
    if (!hone_strmap_find(&f->places, key, &place))
        return HONE_ERROR(HONE_CODE_INVALID, "tree %lld has no node %lld", (long long)tree,
                          (long long)node);
    *out = (int64_t)place;
    return HONE_OK;
}

static hone_status number_nodes(onnx_reader *r, forest *f) {
    for (uint32_t i = 0; i < f->count; i++) {
        const char *key = hone_arena_printf(r->arena, "%lld %lld", (long long)f->tree_ids[i],
                                            (long long)f->node_ids[i]);
        if (!key) return HONE_NO_MEMORY("model");
        if (hone_strmap_find(&f->places, key, NULL))
            return HONE_ERROR(HONE_CODE_INVALID, "tree and node %s are there twice", key);
        if (!hone_strmap_put(&f->places, key, i)) return HONE_NO_MEMORY("model");
    }
    return HONE_OK;
}

static const char *comparison_of(const ProtobufCBinaryData *mode) {
    static const struct {
        const char *mode, *op;
    } known[] = {
        {"BRANCH_LEQ", "less_equal"   },
        {"BRANCH_LT",  "less"         },
        {"BRANCH_GTE", "greater_equal"},
        {"BRANCH_GT",  "greater"      },
        {"BRANCH_EQ",  "equal"        },
        {"BRANCH_NEQ", "not_equal"    },
        {"LEAF",       ""             },
    };
    for (size_t i = 0; i < HONE_COUNT(known); i++) {
        bool is_it =
            mode->len == strlen(known[i].mode) && memcmp(mode->data, known[i].mode, mode->len) == 0;
        if (is_it) return known[i].op;
    }
    return NULL;
}

static hone_status read_modes(const onnx_reader *r, forest *f) {
    const Onnx__AttributeProto *modes = onnx_attr(r, "nodes_modes");
    f->compare = "less_equal";
    bool is_said = false;
    for (uint32_t i = 0; i < f->count; i++) {
        const char *op =
            modes && modes->n_strings == f->count ? comparison_of(&modes->strings[i]) : NULL;
        if (!op) return HONE_ERROR(HONE_CODE_INVALID, "attribute 'nodes_modes' does not fit");
        f->is_leaf[i] = op[0] == 0;
        if (f->is_leaf[i]) continue;
        if (is_said && strcmp(f->compare, op) != 0)
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "nodes that compare in several ways");
        f->compare = op;
        is_said = true;
    }
    return HONE_OK;
}

/* Children, and nodes that are nobody's. */
static hone_status link_nodes(onnx_reader *r, forest *f) {
    const int64_t *yes, *no;
    bool *is_child = hone_arena_zalloc(r->arena, (size_t)f->count + 1);
    if (!is_child) return HONE_NO_MEMORY("model");
    HONE_TRY(node_list(r, f, "nodes_truenodeids", &yes));
    HONE_TRY(node_list(r, f, "nodes_falsenodeids", &no));
    for (uint32_t i = 0; i < f->count; i++) {
        f->yes[i] = f->no[i] = i;
        if (f->is_leaf[i]) continue;
        HONE_TRY(place_of(f, f->tree_ids[i], yes[i], &f->yes[i]));
        HONE_TRY(place_of(f, f->tree_ids[i], no[i], &f->no[i]));
        is_child[f->yes[i]] = is_child[f->no[i]] = true;
    }
    for (uint32_t i = 0; i < f->count; i++)
        if (!is_child[i]) f->roots[f->trees++] = i;
    return f->trees ? HONE_OK : HONE_ERROR(HONE_CODE_INVALID, "there is no root");
}

/* The longest way down: levels until nothing but leaves is left. */
static hone_status count_levels(onnx_reader *r, forest *f) {
    int64_t *now = hone_arena_alloc(r->arena, ((size_t)f->count + 1) * sizeof *now);
    int64_t *next = hone_arena_alloc(r->arena, ((size_t)f->count + 1) * sizeof *next);
    if (!now || !next) return HONE_NO_MEMORY("model");
    memcpy(now, f->roots, f->trees * sizeof *now);
    uint32_t count = f->trees, visited = 0;
    for (; count; f->levels++) {
        uint32_t made = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (f->is_leaf[now[i]]) continue;
            visited += 2;
            if (visited > f->count || f->levels == MOST_LEVELS)
                return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                  "trees of more than %d levels, or nodes with two parents",
                                  MOST_LEVELS);
            next[made++] = f->yes[now[i]];
            next[made++] = f->no[now[i]];
        }
        int64_t *other = now;
        now = next;
        next = other;
        count = made;
    }
    f->levels--; /* of leaves alone */
    return HONE_OK;
}

static hone_status read_forest(onnx_reader *r, forest *f) {
    uint32_t values;
    HONE_TRY(onnx_attr_int64s(r, "nodes_nodeids", &f->node_ids, &f->count));
    if (!f->count) return HONE_ERROR(HONE_CODE_INVALID, "attribute 'nodes_nodeids' is missing");
    HONE_TRY(node_list(r, f, "nodes_treeids", &f->tree_ids));
    HONE_TRY(node_list(r, f, "nodes_featureids", &f->features));
    HONE_TRY(onnx_attr_floats(r, "nodes_values", &f->values, &values));
    if (values != f->count)
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'nodes_values' has %u numbers", values);
    if (onnx_attr(r, "nodes_missing_value_tracks_true"))
        HONE_TRY(node_list(r, f, "nodes_missing_value_tracks_true", &f->missing));
    f->yes = hone_arena_zalloc(r->arena, (size_t)f->count * sizeof *f->yes);
    f->no = hone_arena_zalloc(r->arena, (size_t)f->count * sizeof *f->no);
    f->roots = hone_arena_zalloc(r->arena, (size_t)f->count * sizeof *f->roots);
    f->is_leaf = hone_arena_zalloc(r->arena, f->count);
    if (!f->yes || !f->no || !f->roots || !f->is_leaf) return HONE_NO_MEMORY("model");
    HONE_TRY(number_nodes(r, f));
    HONE_TRY(read_modes(r, f));
    HONE_TRY(link_nodes(r, f));
    return count_levels(r, f);
}

/* ---- going down ---- */

typedef struct tables {
    hone_garg features, values, yes, no, missing; /* missing: of bool, or NONE */
} tables;

static hone_status make_tables(onnx_reader *r, const forest *f, tables *t) {
    int64_t *features = hone_arena_zalloc(r->arena, (size_t)f->count * sizeof *features);
    bool any = false;
    if (!features) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < f->count; i++) {
        features[i] = f->is_leaf[i] ? 0 : f->features[i];
        any |= f->missing && f->missing[i] && !f->is_leaf[i];
    }
    HONE_TRY(onnx_int_table(r, f->count, features, &t->features));
    HONE_TRY(onnx_float_table(r, 0, f->count, f->values, &t->values));
    HONE_TRY(onnx_int_table(r, f->count, f->yes, &t->yes));
    HONE_TRY(onnx_int_table(r, f->count, f->no, &t->no));
    t->missing = (hone_garg){.kind = HONE_GARG_NONE};
    if (!any) return HONE_OK;
    HONE_TRY(onnx_int_table(r, f->count, f->missing, &t->missing));
    return onnx_with_scalar(r, "not_equal", t->missing, 0, &t->missing);
}

static hone_status go_down(onnx_reader *r, const forest *f, const tables *t, hone_garg x,
                           hone_garg *io) {
    hone_garg args[2] = {x, {0}}, number, limit, is_so, yes, no, missing, tracks;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(onnx_emit_take(r, t->features, *io, 0, &args[1]));
    HONE_TRY(onnx_emit(r, "gather_elements", 2, args, 1, &axis, &number));
    HONE_TRY(onnx_emit_take(r, t->values, *io, 0, &limit));
    HONE_TRY(onnx_emit2(r, f->compare, number, limit, &is_so));
    if (t->missing.kind != HONE_GARG_NONE) {
        HONE_TRY(onnx_emit1(r, "isnan", number, &missing));
        HONE_TRY(onnx_emit_take(r, t->missing, *io, 0, &tracks));
        HONE_TRY(onnx_emit2(r, "logical_and", missing, tracks, &missing));
        HONE_TRY(onnx_emit2(r, "logical_or", is_so, missing, &is_so));
    }
    HONE_TRY(onnx_emit_take(r, t->yes, *io, 0, &yes));
    HONE_TRY(onnx_emit_take(r, t->no, *io, 0, &no));
    return onnx_emit_where(r, is_so, yes, no, io);
}

/* The leaf that each row reaches in each tree. */
static hone_status find_leaves(onnx_reader *r, const forest *f, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg x, args[2];
    tables t;
    HONE_TRY(onnx_rows(r, 0, &x));
    HONE_TRY(onnx_info(r, &x, &info));
    int64_t features = hone_expr_const(info->shape[1]);
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->is_leaf[i] || (f->features[i] >= 0 && (features < 0 || f->features[i] < features)))
            continue;
        return HONE_ERROR(HONE_CODE_INVALID, "node %u compares feature %lld of %lld", i,
                          (long long)f->features[i], (long long)features);
    }
    HONE_TRY(make_tables(r, f, &t));
    const hone_expr *shape[] = {info->shape[0], hone_extent_int(&r->ir, f->trees)};
    HONE_TRY(onnx_int_table(r, f->trees, f->roots, &args[0]));
    HONE_TRY(onnx_make_ints(r, 2, shape, 1, &args[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, args, 0, NULL, out));
    for (uint32_t i = 0; i < f->levels; i++)
        HONE_TRY(go_down(r, f, &t, x, out));
    return HONE_OK;
}

/* ---- weights ---- */

/* Those of leaves, as a table [nodes, targets]; the attributes begin with "target" or "class". */
typedef struct weights {
    uint32_t count;
    const int64_t *tree_ids, *node_ids, *ids;
    const float *numbers;
} weights;

static hone_status read_list(onnx_reader *r, const char *stem, const char *what, uint32_t wanted,
                             const int64_t **out) {
    uint32_t count;
    const char *name = hone_arena_printf(r->arena, "%s_%s", stem, what);
    if (!name) return HONE_NO_MEMORY("model");
    HONE_TRY(onnx_attr_int64s(r, name, out, &count));
    if (count == wanted) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' has %u numbers, expected %u", name, count,
                      wanted);
}

static hone_status read_weights(onnx_reader *r, const char *stem, weights *w) {
    const char *name = hone_arena_printf(r->arena, "%s_weights", stem);
    if (!name) return HONE_NO_MEMORY("model");
    HONE_TRY(onnx_attr_floats(r, name, &w->numbers, &w->count));
    HONE_TRY(read_list(r, stem, "treeids", w->count, &w->tree_ids));
    HONE_TRY(read_list(r, stem, "nodeids", w->count, &w->node_ids));
    return read_list(r, stem, "ids", w->count, &w->ids);
}

/* In column 0, where all belong to one. */
static hone_status weight_table(onnx_reader *r, const forest *f, const weights *w, int64_t targets,
                                bool is_one, hone_garg *out) {
    if (targets < 1 || targets > MOST_WEIGHTS / (int64_t)f->count)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%lld targets of %u nodes", (long long)targets,
                          f->count);
    float *table = hone_arena_zalloc(r->arena, (size_t)(f->count * targets) * sizeof *table);
    if (!table) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < w->count; i++) {
        int64_t place, target = is_one ? 0 : w->ids[i];
        HONE_TRY(place_of(f, w->tree_ids[i], w->node_ids[i], &place));
        if (target < 0 || target >= targets)
            return HONE_ERROR(HONE_CODE_INVALID, "weight %u is for target %lld of %lld", i,
                              (long long)target, (long long)targets);
        table[place * targets + target] += w->numbers[i];
    }
    return onnx_float_table(r, f->count, targets, table, out);
}

static hone_status add_base(onnx_reader *r, int64_t targets, hone_garg *io) {
    const float *base;
    uint32_t count;
    hone_garg table;
    HONE_TRY(onnx_attr_floats(r, "base_values", &base, &count));
    if (!count) return HONE_OK;
    if (count != targets)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%u base values for %lld targets", count,
                          (long long)targets);
    HONE_TRY(onnx_float_table(r, 0, count, base, &table));
    return onnx_emit2(r, "add", *io, table, io);
}

/* [rows, targets] */
static hone_status scores_of(onnx_reader *r, const forest *f, const weights *w, int64_t targets,
                             bool is_one, bool is_mean, hone_garg *out) {
    hone_garg leaves, table;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(weight_table(r, f, w, targets, is_one, &table));
    HONE_TRY(find_leaves(r, f, &leaves));
    HONE_TRY(onnx_emit_take(r, table, leaves, 0, out));
    HONE_TRY(onnx_emit(r, "sum", 1, out, 1, &axis, out));
    if (is_mean) HONE_TRY(onnx_with_scalar(r, "divide", *out, (double)f->trees, out));
    return add_base(r, targets, out);
}

/* ---- operators ---- */

static hone_status regress(onnx_reader *r, forest *f, hone_garg *out) {
    static const char *const words[] = {"SUM", "AVERAGE", NULL};
    weights w = {0};
    int64_t targets;
    uint32_t sum;
    HONE_TRY(onnx_attr_int(r, "n_targets", 1, &targets));
    HONE_TRY(onnx_attr_word(r, "aggregate_function", words[0], words, &sum));
    HONE_TRY(read_forest(r, f));
    HONE_TRY(read_weights(r, "target", &w));
    HONE_TRY(scores_of(r, f, &w, targets, false, sum == 1, out));
    return onnx_post_transform(r, out);
}

/* Two classes, whose weights all belong to one of them: the first one's stand for the second. */
static hone_status classify_one(onnx_reader *r, const forest *f, const weights *w, hone_garg labels,
                                hone_garg *out) {
    bool is_first = w->ids[0] == 0, are_mixed = false;
    hone_garg scores, score;
    for (uint32_t i = 0; i < w->count; i++)
        are_mixed |= w->numbers[i] < 0;
    HONE_TRY(scores_of(r, f, w, is_first ? 1 : 2, is_first, false, &scores));
    score = scores;
    if (!is_first) HONE_TRY(onnx_emit_slice(r, scores, 1, 1, 2, &score));
    HONE_TRY(onnx_two_classes(r, score, labels, are_mixed ? 0 : 0.5, are_mixed, out));
    if (is_first) return HONE_OK;
    out[1] = scores;
    return onnx_post_transform(r, &out[1]);
}

static hone_status classify(onnx_reader *r, forest *f, hone_garg *out) {
    weights w = {0};
    uint32_t count;
    hone_garg labels;
    HONE_TRY(onnx_class_labels(r, "classlabels_int64s", "classlabels_strings", &labels, &count));
    HONE_TRY(read_forest(r, f));
    HONE_TRY(read_weights(r, "class", &w));
    bool is_one = count == 2 && w.count;
    for (uint32_t i = 0; i < w.count; i++)
        is_one &= w.ids[i] == w.ids[0];
    if (is_one) return classify_one(r, f, &w, labels, out);
    HONE_TRY(scores_of(r, f, &w, count, false, false, &out[1]));
    HONE_TRY(onnx_best_label(r, out[1], labels, &out[0]));
    return onnx_post_transform(r, &out[1]);
}

static hone_status with_forest(onnx_reader *r, hone_garg *out,
                               hone_status (*convert)(onnx_reader *, forest *, hone_garg *)) {
    forest f = {0};
    hone_status st = convert(r, &f, out);
    hone_strmap_deinit(&f.places);
    return st;
}

static hone_status convert_regressor(onnx_reader *r, hone_garg *out) {
    return with_forest(r, out, regress);
}

static hone_status convert_classifier(onnx_reader *r, hone_garg *out) {
    return with_forest(r, out, classify);
}

#define NODE_ATTRS                                                                                 \
    "base_values nodes_falsenodeids nodes_featureids nodes_hitrates "                              \
    "nodes_missing_value_tracks_true nodes_modes nodes_nodeids nodes_treeids nodes_truenodeids "   \
    "nodes_values post_transform "

const onnx_converter onnx_trees_converters[] = {
    {"TreeEnsembleRegressor", convert_regressor, 1, 1, 1,
     NODE_ATTRS "aggregate_function n_targets target_ids target_nodeids target_treeids "
                "target_weights", NULL},
    {"TreeEnsembleClassifier",                      convert_classifier, 1, 1, 2,
     NODE_ATTRS "class_ids class_nodeids class_treeids class_weights classlabels_int64s "
                "classlabels_strings", NULL},
    {0                     },
};
