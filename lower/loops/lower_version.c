/* lower/loops/lower_version.c - the pass that makes tiles twice, with and without conditions.
 * needs: no blocks. keeps: what is computed. A tile (an outermost vectorized or unrolled loop) with
 * conditions inside is made twice:
 *
 *   if every condition holds for every iteration of the tile: the tile without conditions
 *   else: the tile as it was, its vectors masked, its unrolled loops serial if they are long; of
 *         sums rows in pieces, columns by registers (lower/loops/tail_rows.c, tail_columns.c)
 *
 * and a third time, with rows as wholes, for where the conditions on lanes alone do not hold,
 *
 * so a split that does not divide, or padding, costs one comparison per tile and vectors stay
 * vectors everywhere but at the edges. At an edge that is the last tile of a parallel loop the loop
 * has its last value, and loops in it end where their work does: vectors of what is left. */
#include "lower/loops/partitioning.h"
#include "lower/loops/tail_nest.h"

enum {
    MAX_TILE_NODES = 400,
    MAX_VERSIONS = 64,
    MAX_TILE_POINTS = 1024,
    MAX_EDGE_STATEMENTS = 32,
    MAX_EDGES = 2
};

/* Statements below a node once loops are unrolled. */
static int64_t count_statements(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    int64_t sum = node->kind == HONE_NODE_STORE || node->kind == HONE_NODE_EVAL;
    for (hone_node_id c = node->first; c != HONE_NO_ID && sum <= MAX_EDGE_STATEMENTS;
         c = hone_func_node(func, c)->next) {
        sum += count_statements(func, c);
    }
    if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_UNROLLED) return sum;
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    bool is_short = extent >= 0 && extent <= MAX_EDGE_STATEMENTS && sum <= MAX_EDGE_STATEMENTS;
    return is_short ? sum * extent : MAX_EDGE_STATEMENTS + 1;
}

/* At the edges small code counts more than speed; but what a tile adds up stays in registers, so
 * that a few rows, when there are no more, take no longer than in a whole tile. */
static void make_serial(hone_func *func, hone_node_id root) {
    bool is_small = count_statements(func, root) <= MAX_EDGE_STATEMENTS;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        if (node->loop_kind == HONE_LOOP_UNROLLED && !is_small) node->loop_kind = HONE_LOOP_SERIAL;
        node->u.loop.annotations = (hone_attrs){0};
    }
}

/* The outermost loop around the tile over which no condition changes: the choice is made there, so
 * that what a reduction loop accumulates can stay in registers. */
static hone_node_id outermost(const lower_conditions *v, hone_node_id tile) {
    const hone_func *func = v->scope.lower->func;
    for (hone_node_id up; (up = lower_serial_around(func, tile)) != HONE_NO_ID; tile = up) {
        for (uint32_t i = 0; i < v->count; i++) {
            if (hone_expr_uses_var(v->hoisted[i], hone_func_node(func, up)->u.loop.var))
                return tile;
        }
    }
    return tile;
}

/* A part of the indices that has one value wherever a condition does not hold. */
typedef struct edge {
    const hone_expr *term;
    int64_t value;
} edge;

/* f // 32 < 5 where f // 32 is never more than 5. */
static bool find_edge(lower_conditions *v, const hone_expr *hoisted, edge *out) {
    lower_limit limit;
    if (!lower_limit_of(&v->scope.arith, lower_gap_of(&v->scope.arith, hoisted), &limit))
        return false;
    hone_bound bound = hone_arith_bound(&v->scope.arith, limit.term);
    *out = (edge){limit.term, limit.is_end ? limit.at : limit.at - 1};
    return out->value == (limit.is_end ? bound.max : bound.min);
}

static bool same_edge(const edge *a, const edge *b) {
    return a->value == b->value && hone_expr_same(a->term, b->term);
}

/* The one to ask for first: the same in all statements of a tile, which share the question then. */
static uint32_t first_edge(lower_conditions *v, const edge *edges, uint32_t count) {
    hone_linear both;
    if (count < 2) return 0;
    const hone_expr *sum = hone_expr_add(&v->scope.arith.ir, edges[0].term, edges[1].term);
    bool is_second = sum && hone_linear_of(&v->scope.arith, sum, &both) && both.count == 2 &&
                     hone_expr_same(both.terms[0].term, edges[1].term);
    return is_second ? 1 : 0;
}

/* Keeps the conditions that do not hold at one edge, if there is such an edge and not more than
 * another one: each edge makes a copy of all that the others made. */
static bool keep_one_edge(lower_conditions *v, edge *out) {
    edge edges[MAX_EDGES], at;
    uint32_t edge_of[LOWER_MAX_CONDITIONS], count = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t k = 0;
        edge_of[i] = MAX_EDGES;
        if (!find_edge(v, v->hoisted[i], &at)) continue;
        while (k < count && !same_edge(&edges[k], &at))
            k++;
        if (k == MAX_EDGES) return false;
        if (k == count) edges[count++] = at;
        edge_of[i] = k;
    }
    if (count == 0) return false;
    uint32_t first = first_edge(v, edges, count);
    for (uint32_t i = v->count; i > 0; i--) {
        if (edge_of[i - 1] != first) lower_drop_condition(v, i - 1);
    }
    *out = edges[first];
    return true;
}

static const hone_expr *put_edge(void *ctx, hone_ir *ir, const hone_expr *e) {
    const edge *at = ctx;
    return hone_expr_same(e, at->term) ? hone_expr_int(ir, e->dtype, at->value) : e;
}

/* ---- some of the rows, or of the columns ---- */

/* Whether a condition asks about the lanes of a vectorized loop below the tile. */
static bool is_of_lanes(const hone_func *func, hone_node_id tile, const hone_expr *condition) {
    for (hone_node_id n = tile; n != HONE_NO_ID; n = hone_tree_next(func, tile, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (lower_is_vector(func, n) && hone_expr_uses_var(condition, node->u.loop.var))
            return true;
    }
    return false;
}

static const hone_expr *all_hoisted(lower_conditions *v) {
    const hone_expr *all = NULL;
    for (uint32_t i = 0; i < v->count; i++)
        all = lower_and(&v->scope.lower->ir, all, v->hoisted[i]);
    return all;
}

/* A tile of which not all is there: of sums, columns go by registers, and rows in pieces. */
static hone_status take_apart(lower_conditions *v, hone_node_id root, bool are_rows_whole) {
    lower_nest nest;
    lower_roots roots;
    bool is_nest = lower_read_nest(v->scope.lower->func, root, &nest);
    HONE_TRY(lower_take_columns_apart(v, root, &roots));
    for (uint32_t i = 0; i < roots.count && !(is_nest && are_rows_whole); i++) {
        bool is_apart = false;
        HONE_TRY(lower_take_rows_apart(v, roots.items[i], &is_apart));
        if (!is_apart) make_serial(v->scope.lower->func, roots.items[i]);
    }
    return HONE_OK;
}

/* The longest unrolled loop that a condition asks about; HONE_NO_ID: there is none. */
static hone_var longest_rows(const lower_conditions *v, hone_node_id tile) {
    const hone_func *func = v->scope.lower->func;
    hone_var longest = HONE_NO_ID;
    int64_t most = 1;
    for (hone_node_id n = tile; n != HONE_NO_ID; n = hone_tree_next(func, tile, n)) {
        const hone_node *node = hone_func_node(func, n);
        bool is_rows = node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_UNROLLED;
        if (!is_rows || hone_expr_const(node->u.loop.range.extent) <= most) continue;
        for (uint32_t i = 0; i < v->count; i++) {
            if (!hone_expr_uses_var(v->conditions[i], node->u.loop.var)) continue;
            longest = node->u.loop.var;
            most = hone_expr_const(node->u.loop.range.extent);
        }
    }
    return longest;
}

/* Which conditions go first: those that fail by themselves at most edges. */
static bool goes_first(const lower_conditions *v, hone_node_id tile, hone_var rows, uint32_t i) {
    return rows == HONE_NO_ID ? is_of_lanes(v->scope.lower->func, tile, v->conditions[i])
                              : hone_expr_uses_var(v->conditions[i], rows);
}

/* Makes of the tile what runs where some of its conditions do not hold. Where those that go first
 * are the only ones, it has no others: with rows that are whole if it is lanes (no `rows`) that are
 * left out, else with those rows in pieces. v: the conditions, some of which are gone afterwards.
 */
static hone_status part_tile(lower_conditions *v, hone_node_id tile, hone_var rows) {
    hone_func *func = v->scope.lower->func;
    uint32_t all = v->count;
    bool is_lanes = rows == HONE_NO_ID;
    for (uint32_t i = all; i > 0; i--) {
        if (goes_first(v, tile, rows, i - 1)) lower_drop_condition(v, i - 1);
    }
    hone_var next = is_lanes ? longest_rows(v, tile) : HONE_NO_ID;
    if (v->count == 0) return take_apart(v, tile, is_lanes);
    if (v->count == all)
        return next == HONE_NO_ID ? take_apart(v, tile, false) : part_tile(v, tile, next);
    hone_node_id choice, slow = hone_tree_copy(func, tile);
    hone_node_id others = hone_func_add_node(func, HONE_NODE_ATTR); /* what stands for slow */
    if (slow == HONE_NO_ID || others == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_tree_append(func, others, slow);
    const hone_expr *rest = all_hoisted(v);
    HONE_TRY(lower_assume_conditions(v, tile));
    HONE_TRY(next == HONE_NO_ID ? take_apart(v, slow, false) : part_tile(v, slow, next));
    HONE_TRY(lower_wrap_choice(v->scope.lower, rest, tile, others, &choice));
    HONE_TRY(take_apart(v, tile, is_lanes));
    lower_splice(func, others);
    return HONE_OK;
}

static hone_status make_versions(lower_conditions *v, hone_node_id tile, hone_node_id *out_choice,
                                 bool *out_has_edge) {
    edge at;
    *out_has_edge = keep_one_edge(v, &at);
    hone_func *func = v->scope.lower->func;
    tile = outermost(v, tile);
    const hone_expr *all = all_hoisted(v);
    hone_node_id slow = hone_func_add_node(func, HONE_NODE_ATTR), copy = hone_tree_copy(func, tile);
    if (slow == HONE_NO_ID || copy == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_tree_append(func, slow, copy);
    if (*out_has_edge) HONE_TRY(hone_tree_transform(func, copy, put_edge, &at, false));
    HONE_TRY(lower_assume_conditions(v, tile));
    if (!*out_has_edge && hone_target_is_gpu(v->scope.lower->options->target))
        make_serial(func, copy);
    else if (!*out_has_edge)
        HONE_TRY(part_tile(v, copy, HONE_NO_ID));
    HONE_TRY(lower_wrap_choice(v->scope.lower, all, tile, slow, out_choice));
    if (*out_has_edge) HONE_TRY(lower_trim_loops(v, copy));
    lower_splice(func, slow);
    return HONE_OK;
}

/* Takes in the small loops around a tile (a register tile that a pragma unrolls), as long as the
 * product of extents stays small: at an edge all of it takes the slow way. */
static hone_node_id widen_tile(const hone_func *func, hone_node_id tile) {
    int64_t points = hone_expr_const(hone_func_node(func, tile)->u.loop.range.extent);
    for (hone_node_id up; (up = lower_serial_around(func, tile)) != HONE_NO_ID; tile = up) {
        int64_t extent = hone_expr_const(hone_func_node(func, up)->u.loop.range.extent);
        if (extent < 1 || points < 1 || extent > MAX_TILE_POINTS / points) return tile;
        points *= extent;
    }
    return tile;
}

/* What never holds for a whole tile is no reason for a copy of it (unrolling decides it, or lanes
 * are masked), nor is what always does. */
static hone_status drop_decided(lower_conditions *v) {
    for (uint32_t i = v->count; i > 0; i--) {
        const hone_expr *hoisted = hone_simplify(&v->scope.arith, v->hoisted[i - 1]);
        if (!hoisted) break;
        if (hone_expr_is_int(hoisted)) lower_drop_condition(v, i - 1);
    }
    return hone_ir_finish(&v->scope.arith.ir);
}

static bool is_trivial(lower_conditions *v) {
    for (uint32_t i = 0; i < v->count; i++) {
        if (hone_expr_uses_any(v->conditions[i], v->scope.loops, v->scope.var_count)) return false;
    }
    return true; /* nothing varies inside: an IF around a vector body is fine as it is */
}

hone_status lower_version(hone_lower *lower) {
    hone_func *func = lower->func;
    lower_conditions v = {.scope.lower = lower};
    hone_arith_init(&v.scope.arith, func->arena);
    uint32_t made = 0;
    hone_node_id next;
    for (hone_node_id n = 0; n != HONE_NO_ID && made < MAX_VERSIONS; n = next) {
        next = hone_tree_next(func, 0, n);
        if (!lower_is_tile(func, n)) continue;
        next = hone_tree_next_over(func, 0, n);
        hone_node_id tile = widen_tile(func, n);
        if (!lower_is_plain_code(func, tile, MAX_TILE_NODES) || lower_has_threads(func, tile))
            continue;
        HONE_TRY(lower_find_conditions(&v, tile, HONE_NO_ID, false));
        HONE_TRY(drop_decided(&v));
        if (v.count == 0 || is_trivial(&v)) continue;
        hone_node_id choice;
        bool has_edge;
        HONE_TRY(make_versions(&v, tile, &choice, &has_edge));
        made++;
        /* over both, unless they may have other conditions */
        next = has_edge ? hone_tree_next(func, 0, choice) : hone_tree_next_over(func, 0, choice);
    }
    return hone_ir_finish(&v.scope.arith.ir);
}
