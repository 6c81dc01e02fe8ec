/* graph/frontend/nodes/learned/onnx_trees.c - TreeEnsembleRegressor, TreeEnsembleClassifier and
 * TreeEnsemble of ai.onnx.ml as forests (onnx_forest.c). The first two have one list of nodes,
 * leaves among them, by numbers of tree and node; the last one has a list of nodes and one of
 * leaves, by index, and nodes that ask for members of sets: these become one node a member. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/frontend/nodes/learned/onnx_forest.h"
#include "support/data/map.h"

enum { BRANCH_EQ = 4 };

/* ---- nodes by tree and number ---- */

/* Nodes in the order of the file. */
typedef struct nodes {
    onnx_forest forest;
    const int64_t *tree_ids, *node_ids;
    hone_strmap indices; /* "tree node" → index */
} nodes;

static hone_status node_list(const onnx_reader *r, uint32_t wanted, const char *name,
                             const int64_t **out) {
    uint32_t count;
    HONE_TRY(onnx_attr_int64s(r, name, out, &count));
    if (count == wanted) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' has %u numbers, there must be %u", name,
                      count, wanted);
}

static hone_status index_of(const nodes *n, int64_t tree, int64_t node, int64_t *out) {
    char key[48];
    uint64_t index;
    snprintf(key, sizeof key, "%lld %lld", (long long)tree, (long long)node);
    if (!hone_strmap_find(&n->indices, key, &index))
        return HONE_ERROR(HONE_CODE_INVALID, "tree %lld has no node %lld", (long long)tree,
                          (long long)node);
    *out = (int64_t)index;
    return HONE_OK;
}

static hone_status number_nodes(onnx_reader *r, nodes *n) {
    for (uint32_t i = 0; i < n->forest.count; i++) {
        const char *key = hone_arena_printf(r->arena, "%lld %lld", (long long)n->tree_ids[i],
                                            (long long)n->node_ids[i]);
        if (!key) return HONE_NO_MEMORY("model");
        if (hone_strmap_find(&n->indices, key, NULL))
            return HONE_ERROR(HONE_CODE_INVALID, "tree and node %s are there twice", key);
        if (!hone_strmap_put(&n->indices, key, i)) return HONE_NO_MEMORY("model");
    }
    return HONE_OK;
}

static hone_status read_modes(const onnx_reader *r, onnx_forest *f) {
    static const char *const names[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                        "BRANCH_EQ",  "BRANCH_NEQ", NULL,         "LEAF"};
    const Onnx__AttributeProto *modes = onnx_attr(r, "nodes_modes");
    if (!modes || modes->n_strings != f->count)
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'nodes_modes' does not fit");
    for (uint32_t i = 0; i < f->count; i++) {
        const ProtobufCBinaryData *word = &modes->strings[i];
        uint8_t mode = 0;
        for (; mode <= ONNX_TREE_LEAF; mode++)
            if (names[mode] && word->len == strlen(names[mode]) &&
                memcmp(word->data, names[mode], word->len) == 0)
                break;
        if (mode > ONNX_TREE_LEAF)
            return HONE_ERROR(HONE_CODE_INVALID, "node %u has an unknown mode", i);
        f->modes[i] = mode;
    }
    return HONE_OK;
}

/* Children, and nodes that are nobody's. */
static hone_status link_nodes(onnx_reader *r, nodes *n) {
    const int64_t *yes, *no;
    onnx_forest *f = &n->forest;
    bool *is_child = hone_arena_zalloc(r->arena, (size_t)f->count + 1);
    if (!is_child) return HONE_NO_MEMORY("model");
    HONE_TRY(node_list(r, f->count, "nodes_truenodeids", &yes));
    HONE_TRY(node_list(r, f->count, "nodes_falsenodeids", &no));
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->modes[i] == ONNX_TREE_LEAF) continue;
        HONE_TRY(index_of(n, n->tree_ids[i], yes[i], &f->yes[i]));
        HONE_TRY(index_of(n, n->tree_ids[i], no[i], &f->no[i]));
        is_child[f->yes[i]] = is_child[f->no[i]] = true;
    }
    for (uint32_t i = 0; i < f->count; i++)
        if (!is_child[i]) f->roots[f->trees++] = i;
    return f->trees ? HONE_OK : HONE_ERROR(HONE_CODE_INVALID, "there is no root");
}

/* Doubles are compared as such, all other numbers as float32. */
static hone_status input_dtype(const onnx_reader *r, hone_dtype *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, 0, &info));
    *out = hone_dtype_equal(info->dtype, HONE_DTYPE_F64) ? HONE_DTYPE_F64 : HONE_DTYPE_F32;
    return HONE_OK;
}

/* Leaves compare nothing: their feature is 0. */
static hone_status read_features(onnx_reader *r, onnx_forest *f) {
    const int64_t *features, *missing;
    HONE_TRY(node_list(r, f->count, "nodes_featureids", &features));
    for (uint32_t i = 0; i < f->count; i++)
        f->features[i] = f->modes[i] == ONNX_TREE_LEAF ? 0 : features[i];
    if (!onnx_attr(r, "nodes_missing_value_tracks_true")) return HONE_OK;
    HONE_TRY(node_list(r, f->count, "nodes_missing_value_tracks_true", &missing));
    memcpy(f->missing, missing, f->count * sizeof *missing);
    return HONE_OK;
}

static hone_status read_nodes(onnx_reader *r, nodes *n) {
    uint32_t count, values;
    const double *numbers;
    onnx_forest *f = &n->forest;
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(onnx_attr_int64s(r, "nodes_nodeids", &n->node_ids, &count));
    if (!count) return HONE_ERROR(HONE_CODE_INVALID, "attribute 'nodes_nodeids' is missing");
    HONE_TRY(onnx_forest_make(r, count, f));
    HONE_TRY(input_dtype(r, &f->dtype));
    HONE_TRY(node_list(r, count, "nodes_treeids", &n->tree_ids));
    HONE_TRY(onnx_attr_doubles(r, "nodes_values", &numbers, &values));
    if (values != count)
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'nodes_values' has %u numbers", values);
    memcpy(f->values, numbers, count * sizeof *numbers);
    HONE_TRY(number_nodes(r, n));
    HONE_TRY(read_modes(r, f));
    HONE_TRY(read_features(r, f));
    HONE_TRY(link_nodes(r, n));
    return onnx_forest_measure(r, f);
}

/* ---- weights by tree and number ---- */

static hone_status read_list(onnx_reader *r, const char *stem, const char *what, uint32_t wanted,
                             const int64_t **out) {
    const char *name = hone_arena_printf(r->arena, "%s_%s", stem, what);
    return name ? node_list(r, wanted, name, out) : HONE_NO_MEMORY("model");
}

/* Those of attributes that begin with "target" or "class". */
static hone_status read_weights(onnx_reader *r, const nodes *n, const char *stem,
                                uint32_t *out_count, onnx_leaf **out) {
    const double *numbers;
    const int64_t *tree_ids, *node_ids, *ids;
    const char *name = hone_arena_printf(r->arena, "%s_weights", stem);
    if (!name) return HONE_NO_MEMORY("model");
    HONE_TRY(onnx_attr_doubles(r, name, &numbers, out_count));
    HONE_TRY(read_list(r, stem, "treeids", *out_count, &tree_ids));
    HONE_TRY(read_list(r, stem, "nodeids", *out_count, &node_ids));
    HONE_TRY(read_list(r, stem, "ids", *out_count, &ids));
    *out = hone_arena_alloc(r->arena, *out_count * sizeof **out + 1);
    if (!*out) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < *out_count; i++) {
        onnx_leaf *leaf = &(*out)[i];
        leaf->target = ids[i];
        leaf->weight = numbers[i];
        HONE_TRY(index_of(n, tree_ids[i], node_ids[i], &leaf->index));
    }
    return HONE_OK;
}

/* What is added to the scores of a file, [targets]; NONE: nothing. */
static hone_status read_base(onnx_reader *r, const onnx_forest *f, int64_t targets,
                             hone_garg *out) {
    const double *base;
    uint32_t count;
    *out = (hone_garg){.kind = HONE_GARG_NONE};
    HONE_TRY(onnx_attr_doubles(r, "base_values", &base, &count));
    if (count && count != targets)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%u base values for %lld targets", count,
                          (long long)targets);
    return count ? onnx_number_table(r, f->dtype, 0, count, base, out) : HONE_OK;
}

/* Scores with their base, and which of them count: those that a tree gives something, and all that
 * have a base. Results are float32, whatever the input is. */
static hone_status scores_of(onnx_reader *r, const nodes *n, uint32_t count,
                             const onnx_leaf *leaves, int64_t targets, hone_garg *out,
                             hone_garg *out_counting) {
    hone_garg base;
    HONE_TRY(onnx_forest_scores(r, &n->forest, count, leaves, targets, ONNX_TREE_SUM, out,
                                out_counting));
    HONE_TRY(read_base(r, &n->forest, targets, &base));
    if (base.kind != HONE_GARG_NONE) {
        HONE_TRY(onnx_emit2(r, "add", *out, base, out));
        out_counting->kind = HONE_GARG_NONE;
    }
    return onnx_emit_cast(r, *out, HONE_DTYPE_F32, out);
}

/* ---- operators of one list ---- */

/* Where there is one target alone, the first weight of a leaf counts and no further one, as in
 * onnxruntime: scikit-learn's paths through classifiers are written once for each class. */
static hone_status keep_first(onnx_reader *r, const onnx_forest *f, uint32_t *count,
                              onnx_leaf *leaves) {
    uint32_t kept = 0;
    bool *has_one = hone_arena_zalloc(r->arena, f->count);
    if (!has_one) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < *count; i++) {
        if (has_one[leaves[i].index]) continue;
        has_one[leaves[i].index] = true;
        leaves[kept++] = leaves[i];
    }
    *count = kept;
    return HONE_OK;
}

/* A target that no tree gives anything has no base either, as in onnxruntime: it is 0. */
static hone_status regress(onnx_reader *r, nodes *n, hone_garg *out) {
    static const char *const words[] = {"AVERAGE", "SUM", "MIN", "MAX", NULL};
    onnx_leaf *leaves;
    int64_t targets;
    uint32_t aggregate, count;
    hone_garg given, base, zero;
    HONE_TRY(onnx_attr_int(r, "n_targets", 1, &targets));
    HONE_TRY(onnx_attr_word(r, "aggregate_function", words[ONNX_TREE_SUM], words, &aggregate));
    HONE_TRY(read_nodes(r, n));
    HONE_TRY(read_weights(r, n, "target", &count, &leaves));
    if (targets == 1) HONE_TRY(keep_first(r, &n->forest, &count, leaves));
    HONE_TRY(onnx_forest_scores(r, &n->forest, count, leaves, targets, aggregate, out, &given));
    HONE_TRY(read_base(r, &n->forest, targets, &base));
    if (base.kind != HONE_GARG_NONE) {
        HONE_TRY(onnx_emit2(r, "add", *out, base, out));
        HONE_TRY(onnx_scalar_like(r, out, 0, &zero));
        if (given.kind != HONE_GARG_NONE) HONE_TRY(onnx_emit_where(r, given, *out, zero, out));
    }
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_F32, out));
    return onnx_post_transform(r, out);
}

/* Two classes, whose weights all belong to one of them: the first one's stand for the second. */
static hone_status classify_one(onnx_reader *r, const nodes *n, uint32_t count, onnx_leaf *leaves,
                                hone_garg labels, hone_garg *out) {
    bool is_first = leaves[0].target == 0, are_mixed = false;
    hone_garg scores, score, counting;
    for (uint32_t i = 0; i < count; i++)
        are_mixed |= leaves[i].weight < 0;
    HONE_TRY(scores_of(r, n, count, leaves, is_first ? 1 : 2, &scores, &counting));
    score = scores;
    if (!is_first) HONE_TRY(onnx_emit_slice(r, scores, 1, 1, 2, &score));
    HONE_TRY(onnx_two_classes(r, score, labels, are_mixed ? 0 : 0.5, are_mixed, out));
    if (is_first) return HONE_OK;
    out[1] = scores;
    return onnx_post_transform(r, &out[1]);
}

/* The label of the best of the scores that count; where none does, the first. */
static hone_status label_of(onnx_reader *r, hone_garg scores, hone_garg counting, hone_garg labels,
                            hone_garg *out) {
    hone_garg least;
    if (counting.kind != HONE_GARG_NONE) {
        HONE_TRY(onnx_scalar_like(r, &scores, -HUGE_VAL, &least));
        HONE_TRY(onnx_emit_where(r, counting, scores, least, &scores));
    }
    return onnx_best_label(r, scores, labels, out);
}

static hone_status classify(onnx_reader *r, nodes *n, hone_garg *out) {
    onnx_leaf *leaves;
    uint32_t classes, count;
    hone_garg labels, counting;
    HONE_TRY(onnx_class_labels(r, "classlabels_int64s", &labels, &classes));
    HONE_TRY(read_nodes(r, n));
    HONE_TRY(read_weights(r, n, "class", &count, &leaves));
    bool is_one = classes == 2 && count;
    for (uint32_t i = 0; i < count; i++)
        is_one &= leaves[i].target == leaves[0].target;
    if (is_one) return classify_one(r, n, count, leaves, labels, out);
    HONE_TRY(scores_of(r, n, count, leaves, classes, &out[1], &counting));
    HONE_TRY(label_of(r, out[1], counting, labels, &out[0]));
    return onnx_post_transform(r, &out[1]);
}

static hone_status with_nodes(onnx_reader *r, hone_garg *out,
                              hone_status (*convert)(onnx_reader *, nodes *, hone_garg *)) {
    nodes n = {.forest = {.count = 0}};
    hone_status st = convert(r, &n, out);
    hone_strmap_deinit(&n.indices);
    return st;
}

static hone_status convert_regressor(onnx_reader *r, hone_garg *out) {
    return with_nodes(r, out, regress);
}

static hone_status convert_classifier(onnx_reader *r, hone_garg *out) {
    return with_nodes(r, out, classify);
}

/* ---- TreeEnsemble ---- */

/* Indices in the forest: nodes, the members behind the first one of sets, leaves. */
typedef struct ensemble {
    onnx_forest forest;
    uint32_t nodes, leaves, members;
    const int64_t *is_leaf[2], *ids[2]; /* where it is so, and where not */
    const double *modes, *splits, *weights, *sets;
    uint32_t set_count; /* of numbers in the sets, with the NaN behind each */
} ensemble;

static hone_status wants_tensor(onnx_reader *r, const char *name, uint32_t wanted,
                                const double **out) {
    uint32_t count;
    HONE_TRY(onnx_attr_tensor(r, name, out, &count));
    if (count == wanted) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' has %u numbers, there must be %u", name,
                      count, wanted);
}

/* How many nodes more sets of several members take. */
static hone_status count_members(ensemble *e) {
    uint32_t asked = 0, sets = 0, at = 0;
    for (uint32_t i = 0; i < e->nodes; i++)
        asked += e->modes[i] == ONNX_TREE_MEMBER;
    for (uint32_t i = 0, size = 0; i < e->set_count; i++) {
        size++;
        if (!isnan(e->sets[i])) continue;
        e->members += size > 2 ? size - 2 : 0;
        size = 0;
        at = i + 1;
        sets++;
    }
    if (sets == asked && at == e->set_count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "attribute 'membership_values' has %u sets that end with NaN, %u nodes ask "
                      "for one",
                      sets, asked);
}

static hone_status read_ensemble(onnx_reader *r, ensemble *e) {
    HONE_TRY(onnx_attr_tensor(r, "nodes_modes", &e->modes, &e->nodes));
    HONE_TRY(onnx_attr_tensor(r, "leaf_weights", &e->weights, &e->leaves));
    if (!e->nodes || !e->leaves)
        return HONE_ERROR(HONE_CODE_INVALID, "attributes 'nodes_modes' and 'leaf_weights' must not "
                                             "be empty");
    HONE_TRY(wants_tensor(r, "nodes_splits", e->nodes, &e->splits));
    HONE_TRY(onnx_attr_tensor(r, "membership_values", &e->sets, &e->set_count));
    HONE_TRY(node_list(r, e->nodes, "nodes_trueleafs", &e->is_leaf[0]));
    HONE_TRY(node_list(r, e->nodes, "nodes_falseleafs", &e->is_leaf[1]));
    HONE_TRY(node_list(r, e->nodes, "nodes_truenodeids", &e->ids[0]));
    HONE_TRY(node_list(r, e->nodes, "nodes_falsenodeids", &e->ids[1]));
    HONE_TRY(count_members(e));
    HONE_TRY(onnx_forest_make(r, e->nodes + e->members + e->leaves, &e->forest));
    return input_dtype(r, &e->forest.dtype);
}

/* Where it goes on, behind node i where it is so (side 0) or not. */
static hone_status next_index(const ensemble *e, uint32_t i, int side, int64_t *out) {
    const bool is_leaf = e->is_leaf[side][i] != 0;
    const int64_t id = e->ids[side][i];
    if (id < 0 || id >= (is_leaf ? e->leaves : e->nodes))
        return HONE_ERROR(HONE_CODE_INVALID, "node %u leads to %s %lld, which is not there", i,
                          is_leaf ? "leaf" : "node", (long long)id);
    *out = id + (is_leaf ? e->nodes + e->members : 0);
    return HONE_OK;
}

/* Node i, and the members of its set behind the first one: each that is not met asks the next. */
static void add_set(ensemble *e, uint32_t i, uint32_t *io_at, uint32_t *io_more) {
    onnx_forest *f = &e->forest;
    const int64_t no = f->no[i];
    uint32_t node = i;
    f->modes[i] = BRANCH_EQ;
    f->values[i] = e->sets[*io_at]; /* of an empty set NaN, which nothing is */
    for (bool is_first = true; !isnan(e->sets[*io_at]); ++*io_at, is_first = false) {
        if (!is_first) {
            const uint32_t next = (*io_more)++;
            f->no[node] = next;
            f->modes[next] = f->modes[i];
            f->features[next] = f->features[i];
            f->missing[next] = f->missing[i];
            f->yes[next] = f->yes[i];
            f->no[next] = no;
            node = next;
        }
        f->values[node] = e->sets[*io_at];
    }
    ++*io_at;
}

static hone_status fill_nodes(onnx_reader *r, ensemble *e) {
    const int64_t *features, *missing = NULL;
    onnx_forest *f = &e->forest;
    uint32_t at = 0, more = e->nodes;
    HONE_TRY(node_list(r, e->nodes, "nodes_featureids", &features));
    if (onnx_attr(r, "nodes_missing_value_tracks_true"))
        HONE_TRY(node_list(r, e->nodes, "nodes_missing_value_tracks_true", &missing));
    for (uint32_t i = 0; i < e->nodes; i++) {
        if (!(e->modes[i] >= 0 && e->modes[i] <= ONNX_TREE_MEMBER))
            return HONE_ERROR(HONE_CODE_INVALID, "node %u has an unknown mode", i);
        HONE_TRY(next_index(e, i, 0, &f->yes[i]));
        HONE_TRY(next_index(e, i, 1, &f->no[i]));
        f->modes[i] = (uint8_t)e->modes[i];
        f->features[i] = features[i];
        f->values[i] = e->splits[i];
        f->missing[i] = missing ? missing[i] : 0;
        if (f->modes[i] == ONNX_TREE_MEMBER) add_set(e, i, &at, &more);
    }
    return HONE_OK;
}

static hone_status fill_roots(onnx_reader *r, ensemble *e) {
    const int64_t *roots;
    uint32_t count;
    onnx_forest *f = &e->forest;
    HONE_TRY(onnx_attr_int64s(r, "tree_roots", &roots, &count));
    if (!count || count > e->nodes)
        return HONE_ERROR(HONE_CODE_INVALID, "%u roots of %u nodes", count, e->nodes);
    for (; f->trees < count; f->trees++) {
        const int64_t root = roots[f->trees];
        if (root < 0 || root >= e->nodes)
            return HONE_ERROR(HONE_CODE_INVALID, "root %lld is not there", (long long)root);
        f->roots[f->trees] = root;
    }
    return onnx_forest_measure(r, f);
}

static hone_status read_leaves(onnx_reader *r, const ensemble *e, onnx_leaf **out) {
    const int64_t *targets;
    HONE_TRY(node_list(r, e->leaves, "leaf_targetids", &targets));
    *out = hone_arena_alloc(r->arena, e->leaves * sizeof **out);
    if (!*out) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < e->leaves; i++)
        (*out)[i] = (onnx_leaf){
            .index = e->nodes + e->members + i, .target = targets[i], .weight = e->weights[i]};
    return HONE_OK;
}

static hone_status convert_ensemble(onnx_reader *r, hone_garg *out) {
    ensemble e = {.nodes = 0};
    onnx_leaf *leaves;
    const hone_sinfo *info;
    int64_t targets, aggregate, transform;
    hone_garg given;
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(onnx_input_info(r, 0, &info));
    const hone_dtype dtype = info->dtype;
    HONE_TRY(onnx_attr_int(r, "n_targets", 1, &targets));
    HONE_TRY(onnx_attr_int(r, "aggregate_function", ONNX_TREE_SUM, &aggregate));
    HONE_TRY(onnx_attr_int(r, "post_transform", 0, &transform));
    if (aggregate < ONNX_TREE_MEAN || aggregate > ONNX_TREE_MAX)
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'aggregate_function' is %lld",
                          (long long)aggregate);
    HONE_TRY(read_ensemble(r, &e));
    HONE_TRY(fill_nodes(r, &e));
    HONE_TRY(fill_roots(r, &e));
    HONE_TRY(read_leaves(r, &e, &leaves));
    HONE_TRY(onnx_forest_scores(r, &e.forest, e.leaves, leaves, targets, aggregate, out, &given));
    HONE_TRY(onnx_transform_by(r, transform, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

#define NODE_ATTRS                                                                                 \
    "base_values base_values_as_tensor nodes_falsenodeids nodes_featureids nodes_hitrates "        \
    "nodes_hitrates_as_tensor nodes_missing_value_tracks_true nodes_modes nodes_nodeids "          \
    "nodes_treeids nodes_truenodeids nodes_values nodes_values_as_tensor post_transform "

const onnx_converter onnx_trees_converters[] = {
    {"TreeEnsembleRegressor", convert_regressor, 1, 1, 1,
     NODE_ATTRS "aggregate_function n_targets target_ids target_nodeids target_treeids "
                "target_weights target_weights_as_tensor", NULL},
    {"TreeEnsembleClassifier",                      convert_classifier, 1, 1, 2,
     NODE_ATTRS "class_ids class_nodeids class_treeids class_weights class_weights_as_tensor "
                "classlabels_int64s classlabels_strings", NULL},
    {"TreeEnsemble",                      convert_ensemble, 1, 1, 1,
     "aggregate_function leaf_targetids leaf_weights membership_values n_targets "
     "nodes_falseleafs nodes_falsenodeids nodes_featureids nodes_hitrates "
     "nodes_missing_value_tracks_true nodes_modes nodes_splits nodes_trueleafs nodes_truenodeids "
     "post_transform tree_roots", NULL},
    {0                  },
};
