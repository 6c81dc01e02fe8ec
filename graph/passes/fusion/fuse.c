/* graph/passes/fusion/fuse.c - which calls become one kernel. Each call has a pattern; a call joins
 * the group of its immediate post-dominator (the first call through which everything made of its
 * result must pass) when all on the way may be computed in place:
 *
 *   OUT_FUSABLE (conv, matmul, pool)   takes elementwise and broadcast work behind it, of one shape
 *   ELEMWISE, BROADCAST                go with elementwise work, and before injective ones and
 *                                      reductions
 *   INJECTIVE                          with elementwise and injective ones
 *   REDUCE                             takes elementwise and broadcast work behind it, of one shape
 *   OPAQUE                             alone
 *
 * The result of a group is that of its last call alone. Calls that their author wants to be one
 * kernel (hone_gbind.kernel) are a group of their own, whatever their patterns, where they have one
 * result. After Relay's and Relax's FuseOps: Chen et al., TVM (OSDI 2018), section 3.
 * needs: legalize
 * keeps: everything that is no call_tir. Takes "op_pattern" off the kernels.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/passes/fusion/fuse_tir.h"
#include "graph/passes/fusion/pattern.h"
#include "graph/passes/graph_passes.h"
#include "ir/identity/structural.h"
#include "ir/ops/fit.h"
#include "ir/ops/graph_infer.h"
#include "support/data/map.h"

enum { MAX_GROUP = 48, MAX_INPUTS = 60, NONE = -1 };

typedef struct node {
    const hone_gbind *bind;
    const hone_func *func;
    hone_op_pattern pattern;
    bool may_join;          /* its program can be a part of another */
    uint32_t kernel;        /* that it stays in (hone_gbind), or 0 */
    uint8_t index_bits;     /* of the kernel's loops */
    int32_t post_dominator; /* node, NONE: the result leaves the function or is not known */
    int32_t depth;          /* in the post-dominator tree */
    int32_t group;          /* union-find parent */
    uint32_t group_size;    /* of a representative, as are: */
    uint32_t group_args, group_first; /* what its calls take together; the first of them */
    hone_op_pattern group_pattern;
    uint32_t first_user, user_count; /* into users[] */
    bool is_result;
} node;

typedef struct fusion {
    hone_rewrite *rw; /* while rewriting */
    const hone_module *module;
    const hone_graph_func *graph;
    hone_arena *arena;
    node *nodes; /* one per binding */
    uint32_t count;
    int32_t *users;
    int32_t *def; /* by value: the node, or NONE */
    uint8_t *seen;
    uint32_t *stamps, stamp; /* by representative: the last question of which it was part */
    hone_map128 known;
} fusion;

/* ---- the graph of uses ---- */

static void visit_values(const hone_garg *arg, void (*fn)(fusion *, int32_t, hone_gvalue),
                         fusion *f, int32_t user) {
    if (arg->kind == HONE_GARG_VALUE) fn(f, user, arg->u.value);
    if (arg->kind == HONE_GARG_TUPLE) {
        for (uint32_t i = 0; i < arg->count; i++)
            visit_values(&arg->u.items[i], fn, f, user);
    }
}

static void count_user(fusion *f, int32_t user, hone_gvalue value) {
    (void)user;
    if (f->def[value] != NONE) f->nodes[f->def[value]].user_count++;
}

static void add_user(fusion *f, int32_t user, hone_gvalue value) {
    if (f->def[value] == NONE) return;
    node *n = &f->nodes[f->def[value]];
    f->users[n->first_user + n->user_count++] = user;
}

static void mark_result(fusion *f, int32_t user, hone_gvalue value) {
    (void)user;
    if (f->def[value] != NONE) f->nodes[f->def[value]].is_result = true;
}

static void each_use(fusion *f, void (*fn)(fusion *, int32_t, hone_gvalue)) {
    for (uint32_t i = 0; i < f->count; i++) {
        const hone_gbind *bind = f->nodes[i].bind;
        for (uint32_t a = 0; a < bind->arg_count; a++) {
            visit_values(&bind->args[a], fn, f, (int32_t)i);
        }
    }
}

static uint8_t index_bits(const hone_func *func) {
    for (uint32_t i = 0; i < func->node_count; i++) {
        const hone_node *n = &func->nodes[i];
        if (n->kind == HONE_NODE_FOR) return func->vars[n->u.loop.var].dtype.bits;
    }
    return 0; /* no loops: fits any */
}

static void note_misfit(void *ctx, const hone_fit_point *point) {
    (void)point;
    *(bool *)ctx = false;
}

/* Do the tensors of a call have the shapes that its program declares, whatever the sizes are? What
 * depends on them is checked when it is called, which the parts of a fused kernel are not. */
static hone_status fits_surely(const fusion *f, const hone_gbind *bind, const hone_func *func,
                               bool *out_fits) {
    hone_fit_tensor tensors[MAX_INPUTS + 1];
    hone_arith arith;
    hone_arith_init(&arith, f->arena);
    *out_fits = func->param_count == bind->arg_count + 1 && bind->arg_count <= MAX_INPUTS;
    for (uint32_t i = 0; *out_fits && i < func->param_count; i++) {
        const hone_sinfo *info =
            i < bind->arg_count ? hone_garg_sinfo(f->module, f->graph, &bind->args[i], f->arena)
                                : f->graph->values[bind->value].sinfo;
        bool is_tensor = info && info->kind == HONE_SINFO_TENSOR && info->rank >= 0;
        *out_fits = is_tensor && (info->rank == 0 || info->shape);
        if (is_tensor) tensors[i] = (hone_fit_tensor){(uint32_t)info->rank, info->shape};
    }
    if (!*out_fits) return HONE_OK;
    hone_fit fit = {.arith = &arith, .report = note_misfit, .ctx = out_fits};
    return hone_fit_func(&fit, func, tensors, NULL);
}

static hone_status classify(fusion *f, node *n) {
    bool is_sure = false;
    n->pattern = HONE_PATTERN_OPAQUE;
    if (n->bind->kind != HONE_GBIND_CALL_TIR || n->bind->symbolic_count) return HONE_OK;
    const hone_member *member = hone_module_find(f->module, n->bind->callee);
    if (!member || member->kind != HONE_MEMBER_FUNC) return HONE_OK;
    n->func = member->func;
    if (hone_func_can_fuse(n->func)) HONE_TRY(fits_surely(f, n->bind, n->func, &is_sure));
    if (!is_sure) return HONE_OK;
    n->pattern = hone_func_pattern(n->func);
    n->may_join = true;
    n->index_bits = index_bits(n->func);
    return HONE_OK;
}

static hone_status build_nodes(fusion *f) {
    const hone_graph_func *graph = f->graph;
    bool is_kernel = hone_attrs_int(&graph->attrs, "Primitive", 0) != 0; /* as a whole */
    f->count = graph->bind_count;
    f->nodes = hone_arena_zalloc(f->arena, (f->count + 1) * sizeof *f->nodes);
    f->def = hone_arena_alloc(f->arena, (graph->value_count + 1) * sizeof *f->def);
    f->seen = hone_arena_zalloc(f->arena, f->count + 1);
    f->stamps = hone_arena_zalloc(f->arena, (f->count + 1) * sizeof *f->stamps);
    f->stamp = 0;
    if (!f->nodes || !f->def || !f->seen || !f->stamps)
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "fusion");
    for (uint32_t i = 0; i < graph->value_count; i++)
        f->def[i] = NONE;
    for (uint32_t i = 0; i < f->count; i++) {
        f->nodes[i].bind = &graph->bindings[i];
        f->def[graph->bindings[i].value] = (int32_t)i;
        f->nodes[i].kernel = is_kernel ? 1 : graph->bindings[i].kernel;
        f->nodes[i].group = (int32_t)i;
        f->nodes[i].group_size = 1;
        f->nodes[i].group_args = graph->bindings[i].arg_count;
        f->nodes[i].group_first = i;
        HONE_TRY(classify(f, &f->nodes[i]));
        f->nodes[i].group_pattern = f->nodes[i].pattern;
    }
    each_use(f, count_user);
    uint32_t total = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        f->nodes[i].first_user = total;
        total += f->nodes[i].user_count;
        f->nodes[i].user_count = 0;
    }
    f->users = hone_arena_alloc(f->arena, (total + 1) * sizeof *f->users);
    if (!f->users) return HONE_ERROR(HONE_CODE_NO_MEMORY, "fusion");
    each_use(f, add_user);
    visit_values(&graph->result, mark_result, f, NONE);
    return HONE_OK;
}

/* ---- post-dominators ---- */

static int32_t common_dominator(const fusion *f, int32_t a, int32_t b) {
    while (a != b && a != NONE && b != NONE) {
        if (f->nodes[a].depth < f->nodes[b].depth)
            b = f->nodes[b].post_dominator;
        else if (f->nodes[a].depth > f->nodes[b].depth)
            a = f->nodes[a].post_dominator;
        else
            a = f->nodes[a].post_dominator, b = f->nodes[b].post_dominator;
    }
    return a == b ? a : NONE;
}

static void find_dominators(fusion *f) {
    for (uint32_t i = f->count; i-- > 0;) {
        node *n = &f->nodes[i];
        n->post_dominator = NONE;
        for (uint32_t u = 0; u < n->user_count && !n->is_result; u++) {
            int32_t user = f->users[n->first_user + u];
            n->post_dominator = u ? common_dominator(f, n->post_dominator, user) : user;
            if (n->post_dominator == NONE) break;
        }
        n->depth = n->post_dominator == NONE ? 1 : f->nodes[n->post_dominator].depth + 1;
    }
}

/* ---- groups ---- */

static int32_t find_group(fusion *f, int32_t i) {
    while (f->nodes[i].group != i) {
        f->nodes[i].group = f->nodes[f->nodes[i].group].group;
        i = f->nodes[i].group;
    }
    return i;
}

static bool same_out_shape(const fusion *f, int32_t a, int32_t b) {
    const hone_sinfo *x = f->graph->values[f->nodes[a].bind->value].sinfo;
    const hone_sinfo *y = f->graph->values[f->nodes[b].bind->value].sinfo;
    if (!x || !y || x->rank != y->rank || !x->shape || !y->shape)
        return x && y && !x->rank && !y->rank;
    for (int32_t i = 0; i < x->rank; i++) {
        if (!hone_extent_same(x->shape[i], y->shape[i])) return false;
    }
    return true;
}

typedef struct path_rule {
    hone_op_pattern inside, sink; /* the dearest pattern allowed on the way, and at its end */
    bool sink_may_reduce;
    bool same_shape; /* as the source */
} path_rule;

/* Everything between source and sink follows the rule. */
static bool check_path(fusion *f, int32_t source, int32_t at, int32_t sink, const path_rule *rule) {
    if (f->seen[at]) return true;
    f->seen[at] = 1;
    int32_t group = find_group(f, at);
    hone_op_pattern pattern = f->nodes[group].group_pattern;
    if (f->nodes[at].pattern == HONE_PATTERN_OPAQUE) return false;
    bool ok = pattern <= (at == sink ? rule->sink : rule->inside) ||
              (at == sink && rule->sink_may_reduce && pattern == HONE_PATTERN_REDUCE);
    if (!ok || (rule->same_shape && !same_out_shape(f, source, at))) return false;
    uint8_t a = f->nodes[source].index_bits, b = f->nodes[at].index_bits;
    if (a && b && a != b) return false;
    if (at == sink) return true;
    for (uint32_t u = 0; u < f->nodes[at].user_count; u++) {
        if (!check_path(f, source, f->users[f->nodes[at].first_user + u], sink, rule)) return false;
    }
    return true;
}

static bool path_is_fine(fusion *f, int32_t source, int32_t sink, const path_rule *rule) {
    memset(f->seen + source, 0, (size_t)(sink - source) + 1); /* the path lies between */
    for (uint32_t u = 0; u < f->nodes[source].user_count; u++) {
        if (!check_path(f, source, f->users[f->nodes[source].first_user + u], sink, rule)) {
            return false;
        }
    }
    return true;
}

static void join(fusion *f, int32_t a, int32_t b) {
    a = find_group(f, a);
    b = find_group(f, b);
    if (a == b) return;
    if (a < b) { /* the representative is the last call */
        int32_t swap = a;
        a = b;
        b = swap;
    }
    f->nodes[b].group = a;
    f->nodes[a].group_size += f->nodes[b].group_size;
    f->nodes[a].group_args += f->nodes[b].group_args;
    if (f->nodes[b].group_first < f->nodes[a].group_first)
        f->nodes[a].group_first = f->nodes[b].group_first;
    if (f->nodes[b].group_pattern > f->nodes[a].group_pattern) {
        f->nodes[a].group_pattern = f->nodes[b].group_pattern;
    }
}

static void join_path(fusion *f, int32_t at, int32_t sink) {
    if (f->seen[at] == 2) return;
    f->seen[at] = 2;
    join(f, at, sink);
    for (uint32_t u = 0; at != sink && u < f->nodes[at].user_count; u++) {
        join_path(f, f->users[f->nodes[at].first_user + u], sink);
    }
}

/* The group that joins those of source and sink and all that are on the way; its members have the
 * stamp. */
typedef struct joint {
    uint32_t calls, args, first, last;
} joint;

static void stamp_group(fusion *f, int32_t of, joint *j) {
    int32_t group = find_group(f, of);
    const node *n = &f->nodes[group];
    if (f->stamps[group] == f->stamp) return;
    f->stamps[group] = f->stamp;
    j->calls += n->group_size;
    j->args += n->group_args;
    if (n->group_first < j->first) j->first = n->group_first;
    if ((uint32_t)group > j->last) j->last = (uint32_t)group;
}

static joint stamp_joint(fusion *f, int32_t source, int32_t sink) {
    joint j = {.first = UINT32_MAX};
    f->stamp++;
    stamp_group(f, source, &j);
    for (int32_t i = source + 1; i <= sink; i++)
        if (f->seen[i] == 1) stamp_group(f, i, &j);
    return j;
}

static bool is_joined(fusion *f, int32_t i) {
    return f->stamps[find_group(f, i)] == f->stamp;
}

/* ---- sizes: a kernel knows those that stand in the shape of one of its tensors ---- */

typedef struct known_sizes {
    const hone_expr *items[(MAX_INPUTS + 1) * HONE_MAX_RANK];
    uint32_t count;
} known_sizes;

static bool has_size(const known_sizes *sizes, const hone_expr *e) {
    for (uint32_t i = 0; i < sizes->count; i++)
        if (hone_extent_same(sizes->items[i], e)) return true;
    return false;
}

static void add_size(known_sizes *sizes, const hone_expr *e) {
    if (sizes->count < HONE_COUNT(sizes->items)) sizes->items[sizes->count++] = e;
}

static bool is_known(const known_sizes *known, const hone_expr *e) {
    if (hone_expr_is_int(e) || has_size(known, e)) return true;
    return e->kind == HONE_EXPR_BINARY && is_known(known, e->args[0]) &&
           is_known(known, e->args[1]);
}

static void note_sizes(known_sizes *known, const hone_sinfo *info) {
    for (int32_t d = 0; info && info->shape && d < info->rank; d++) {
        const hone_expr *e = info->shape[d];
        if (!is_known(known, e)) add_size(known, e);
    }
}

static bool knows_shape(const known_sizes *known, const hone_sinfo *info) {
    for (int32_t d = 0; info && info->shape && d < info->rank; d++)
        if (!is_known(known, info->shape[d])) return false;
    return true;
}

/* Of what a call of the joined group takes from outside. */
static void note_outside(fusion *f, const hone_gbind *bind, known_sizes *known) {
    for (uint32_t k = 0; k < bind->arg_count; k++) {
        if (bind->args[k].kind != HONE_GARG_VALUE) continue;
        int32_t def = f->def[bind->args[k].u.value];
        bool is_inside = def != NONE && is_joined(f, def);
        if (!is_inside) note_sizes(known, f->graph->values[bind->args[k].u.value].sinfo);
    }
}

/* Does the joined group still know all sizes in it? What adds up ones to have a size as a number
 * would not. */
static bool keeps_sizes(fusion *f, const joint *j) {
    known_sizes known = {.count = 0};
    if (f->graph->var_count == 0) return true;
    note_sizes(&known, f->graph->values[f->nodes[j->last].bind->value].sinfo);
    for (uint32_t i = j->first; i <= j->last; i++)
        if (is_joined(f, (int32_t)i)) note_outside(f, f->nodes[i].bind, &known);
    for (uint32_t i = j->first; i < j->last; i++) {
        const hone_sinfo *info = f->graph->values[f->nodes[i].bind->value].sinfo;
        if (is_joined(f, (int32_t)i) && !knows_shape(&known, info)) return false;
    }
    return true;
}

/* What is known of the tensor that parameter i of a call's kernel gets. */
static const hone_sinfo *parameter_info(const fusion *f, const hone_gbind *bind, uint32_t i) {
    if (i >= bind->arg_count) return f->graph->values[bind->value].sinfo;
    bool is_value = bind->args[i].kind == HONE_GARG_VALUE;
    return is_value ? f->graph->values[bind->args[i].u.value].sinfo : NULL;
}

/* Extents that are computed in the graph (n * 2): each is a size of its own in the joined kernel as
 * soon as one is in the kernel of a call; *whole has these. False: a kernel behind that computes it
 * would not know that it is the same. */
static bool reads_alike(const node *n, const fusion *f, known_sizes *whole, known_sizes *computed) {
    for (uint32_t i = 0; n->func && i < n->func->param_count; i++) {
        const hone_sinfo *info = parameter_info(f, n->bind, i);
        const hone_buffer_info *buffer = hone_func_buffer(n->func, n->func->params[i].buffer);
        for (int32_t d = 0; info && info->shape && d < info->rank; d++) {
            const hone_expr *e = info->shape[d];
            if (e->kind != HONE_EXPR_BINARY || has_size(computed, e)) continue;
            bool is_whole = buffer->shape[d]->kind == HONE_EXPR_VAR;
            if (!is_whole && has_size(whole, e)) return false;
            add_size(is_whole ? whole : computed, e);
        }
    }
    return true;
}

static bool sizes_are_alike(fusion *f, const joint *j) {
    known_sizes whole = {.count = 0}, computed = {.count = 0};
    for (uint32_t i = j->first; f->graph->var_count && i <= j->last; i++)
        if (is_joined(f, (int32_t)i) && !reads_alike(&f->nodes[i], f, &whole, &computed))
            return false;
    return true;
}

static bool fits(fusion *f, int32_t source, int32_t sink) {
    joint j = stamp_joint(f, source, sink);
    return j.calls <= MAX_GROUP && j.args <= MAX_INPUTS && keeps_sizes(f, &j) &&
           sizes_are_alike(f, &j);
}

/* ---- kernels that are kept ---- */

/* The calls of a kernel, the last one first. */
typedef struct kept {
    int32_t calls[MAX_GROUP];
    uint32_t count;
    bool is_more; /* than a group has */
} kept;

/* Nobody else takes what a call makes, and it can be a part. */
static bool stays_inside(const fusion *f, int32_t i, uint32_t kernel) {
    const node *n = &f->nodes[i];
    bool is_inside = !n->is_result;
    for (uint32_t u = 0; is_inside && u < n->user_count; u++)
        is_inside = f->nodes[f->users[n->first_user + u]].kernel == kernel;
    return is_inside;
}

static bool can_keep(fusion *f, const kept *k) {
    const uint32_t kernel = f->nodes[k->calls[0]].kernel;
    joint j = {.first = UINT32_MAX};
    uint8_t bits = 0;
    f->stamp++;
    for (uint32_t i = 0; i < k->count; i++) {
        const node *n = &f->nodes[k->calls[i]];
        bool is_alike = !bits || !n->index_bits || bits == n->index_bits;
        if (!n->may_join || !is_alike || (i && !stays_inside(f, k->calls[i], kernel))) return false;
        if (n->index_bits) bits = n->index_bits;
        stamp_group(f, k->calls[i], &j);
    }
    return !k->is_more && j.args <= MAX_INPUTS && keeps_sizes(f, &j) && sizes_are_alike(f, &j);
}

/* Others do not join it: all are OPAQUE. */
static void keep_together(fusion *f, const kept *k) {
    if (!can_keep(f, k)) return;
    for (uint32_t i = 1; i < k->count; i++)
        join(f, k->calls[i], k->calls[0]);
    for (uint32_t i = 0; i < k->count; i++)
        f->nodes[k->calls[i]].pattern = f->nodes[k->calls[i]].group_pattern = HONE_PATTERN_OPAQUE;
}

static int by_kernel(const void *a, const void *b) {
    const node *const *x = a, *const *y = b;
    if ((*x)->kernel != (*y)->kernel) return (*x)->kernel < (*y)->kernel ? -1 : 1;
    return *x > *y ? -1 : *x < *y; /* the last one first */
}

static hone_status keep_kernels(fusion *f) {
    const node **marked = hone_arena_alloc(f->arena, ((size_t)f->count + 1) * sizeof *marked);
    uint32_t count = 0;
    if (!marked) return HONE_NO_MEMORY("fusion");
    for (uint32_t i = 0; i < f->count; i++)
        if (f->nodes[i].kernel) marked[count++] = &f->nodes[i];
    qsort(marked, count, sizeof *marked, by_kernel);
    for (uint32_t i = 0, next; i < count; i = next) {
        kept k = {.count = 0};
        for (next = i; next < count && marked[next]->kernel == marked[i]->kernel; next++) {
            k.is_more |= k.count == MAX_GROUP;
            if (!k.is_more) k.calls[k.count++] = (int32_t)(marked[next] - f->nodes);
        }
        keep_together(f, &k);
    }
    return HONE_OK;
}

static bool rule_for(const node *n, hone_op_pattern pattern, int phase, path_rule *out) {
    switch (pattern) {
    case HONE_PATTERN_OUT_FUSABLE:
    case HONE_PATTERN_REDUCE:
        *out = (path_rule){HONE_PATTERN_BROADCAST, HONE_PATTERN_BROADCAST, false, true};
        return phase == 0;
    case HONE_PATTERN_ELEMWISE:
    case HONE_PATTERN_BROADCAST:
        *out = (path_rule){HONE_PATTERN_BROADCAST, HONE_PATTERN_INJECTIVE, true, false};
        return phase == 1;
    case HONE_PATTERN_INJECTIVE:
        *out = (path_rule){HONE_PATTERN_INJECTIVE, HONE_PATTERN_INJECTIVE, false, false};
        return phase == 2;
    case HONE_PATTERN_OPAQUE:
        break;
    }
    (void)n;
    return false;
}

static void form_groups(fusion *f) {
    for (int phase = 0; phase < 3; phase++) {
        for (int32_t i = 0; i < (int32_t)f->count; i++) {
            const node *n = &f->nodes[i];
            path_rule rule;
            int32_t sink = n->post_dominator;
            if (sink == NONE || find_group(f, i) == find_group(f, sink)) continue;
            hone_op_pattern pattern = f->nodes[find_group(f, i)].group_pattern;
            if (!rule_for(n, pattern, phase, &rule) || !path_is_fine(f, i, sink, &rule) ||
                !fits(f, i, sink)) {
                continue;
            }
            for (uint32_t u = 0; u < n->user_count; u++) {
                join_path(f, f->users[n->first_user + u], sink);
            }
            join(f, i, sink);
        }
    }
}

/* ---- rewriting ---- */

/* The calls of a group in order; the last one is its representative. */
static uint32_t members_of(fusion *f, int32_t group, const hone_gbind **out) {
    uint32_t count = 0;
    for (int32_t i = (int32_t)f->nodes[group].group_first; i <= group; i++)
        if (find_group(f, i) == group) out[count++] = f->nodes[i].bind;
    assert(count == f->nodes[group].group_size && count <= MAX_GROUP);
    return count;
}

static hone_status fuse_group(hone_rewrite *rw, fusion *f, int32_t group, bool *out_done) {
    const hone_gbind *calls[MAX_GROUP];
    hone_garg args[MAX_INPUTS], out;
    uint32_t arg_count = 0, count = members_of(f, group, calls);
    hone_func *func = NULL;
    HONE_TRY(hone_fuse_calls(rw, calls, count, &func, args, MAX_INPUTS, &arg_count));
    uint64_t known;
    hone_hash128 hash = hone_func_hash(func);
    const char *name = func->name;
    if (hone_map128_find(&f->known, hash, &known)) {
        name = rw->module->members[known].name;
    } else {
        if (!hone_map128_put(&f->known, hash, rw->module->member_count)) {
            return HONE_ERROR(HONE_CODE_NO_MEMORY, "fusion");
        }
        HONE_TRY(hone_module_add_func(rw->module, func));
    }
    for (uint32_t i = 0; i < arg_count; i++)
        HONE_TRY(hone_rewrite_arg(rw, &args[i], &args[i]));
    const hone_gbind *last = calls[count - 1];
    HONE_TRY(
        hone_rewrite_call_tir(rw, name, arg_count, args, rw->old->values[last->value].sinfo, &out));
    hone_rewrite_set(rw, last->value, out);
    *out_done = true;
    return HONE_OK;
}

static hone_status fuse_bind(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    fusion *f = rw->ctx;
    if (f->graph != rw->old) { /* the first binding of a function */
        f->graph = rw->old;
        HONE_TRY(build_nodes(f));
        find_dominators(f);
        HONE_TRY(keep_kernels(f));
        form_groups(f);
    }
    int32_t at = f->def[bind->value], group = find_group(f, at);
    if (f->nodes[group].group_size == 1) return HONE_OK;
    *out_done = true; /* inner calls go away */
    return at == group ? fuse_group(rw, f, group, out_done) : HONE_OK;
}

static hone_status drop_marks(hone_module *module) {
    for (uint32_t i = 0; i < module->member_count; i++) {
        hone_func *func = module->members[i].func;
        if (func && !hone_attrs_without(module->arena, &func->attrs, "op_pattern", &func->attrs)) {
            return HONE_ERROR(HONE_CODE_NO_MEMORY, "fusion");
        }
    }
    return HONE_OK;
}

hone_status hone_pass_fuse(hone_module *module, const hone_graph_options *options) {
    (void)options;
    fusion f = {.module = module, .arena = module->arena};
    hone_status st = hone_rewrite_module(module, fuse_bind, &f);
    hone_map128_deinit(&f.known);
    HONE_TRY(st);
    return drop_marks(module);
}
