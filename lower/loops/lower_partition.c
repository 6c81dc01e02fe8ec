/* lower/loops/lower_partition.c - the pass that cuts loops where conditions of tiles change.
 * needs: no blocks, allocations in their places. keeps: what is computed. Where the conditions
 * inside of tiles (vectorized and unrolled loops) hold for all iterations of a loop but a few at
 * its ends, those get copies of the body of their own:
 *
 *   for i0 in 63: for i1 in unrolled(8): if i0 * 8 + i1 < 500: S
 *     ⇒
 *   for i0 in 62: for i1 in unrolled(8): S
 *   for i1 in unrolled(4): S                          i0 = 62
 *
 * (in a parallel loop, whose iterations stay together, as an IF in its body; also where only some
 * of its statements have conditions, and these alone are copied: condition_runs.c) so that a split
 * that does not divide, or padding, leaves no condition behind: loops at the edges end where their
 * work ends, and are unrolled and vectorized like the others. Iterations in which the same
 * conditions hold share a copy (alike.c). Allocations in the body are made for each copy, so that
 * each keeps its own in registers. Conditions that change within the body, and seldom enough, go to
 * copies of what stands between two changes instead (borders.c). What is left over (symbolic sizes,
 * many iterations at an edge) is lower_version's. */
#include "lower/ground/split_loop.h"
#include "lower/loops/partitioning.h"

enum {
    MAX_BODY_NODES = 250,
    MAX_NEW_NODES = 2500,
    MAX_EDGE = 6, /* copies */
    MAX_EDGE_ITERATIONS = 64
};

typedef struct partition {
    lower_conditions conditions;
    lower_conditions scratch;
    hone_node_id loop;
    hone_var var;
    const hone_expr *value; /* of var where it is no loop's but a border's sum, else NULL */
    lower_span all, middle; /* iterations; those in which all conditions hold */
    bool has_no_middle;     /* each of a few iterations has its own conditions */
    lower_alike alike;
    uint32_t new_nodes;
} partition;

/* ---- which iterations ---- */

/* The end of those behind `first` that share a copy with it. */
static int64_t end_of_run(const partition *p, int64_t first, int64_t end) {
    do
        first++;
    while (first < end && lower_is_alike(&p->alike, first));
    return first;
}

/* How many copies these iterations take; more than MAX_EDGE + 1 count as MAX_EDGE + 2. */
static uint32_t count_runs(const partition *p, int64_t first, int64_t end) {
    uint32_t count = end - first > MAX_EDGE_ITERATIONS ? MAX_EDGE + 2 : 0;
    for (; first < end && count < MAX_EDGE + 2; count++)
        first = end_of_run(p, first, end);
    return count;
}

/* From {all.first, all.first} on: the next iterations beside the middle that share a copy. */
static bool next_edge(const partition *p, lower_span *io_run) {
    int64_t first = io_run->end == p->middle.first ? p->middle.end : io_run->end;
    int64_t end = first < p->middle.first ? p->middle.first : p->all.end;
    if (first >= end) return false;
    *io_run = (lower_span){first, end_of_run(p, first, end)};
    return true;
}

/* Narrows the middle to where the gap is below 0; false when that takes more than a few iterations
 * off an end of the loop, or all. */
static bool narrow(partition *p, const hone_expr *gap) {
    lower_span all = p->all, span = all;
    if (!lower_span_below_zero(&p->conditions.scope.arith, gap, p->var, &span)) return false;
    if (span.first >= span.end || count_runs(p, all.first, span.first) > MAX_EDGE) return false;
    if (count_runs(p, span.end, all.end) > MAX_EDGE) return false;
    if (span.first < p->middle.first) span.first = p->middle.first;
    if (span.end > p->middle.end) span.end = p->middle.end;
    if (span.first < span.end) {
        p->middle = span;
        return true;
    }
    p->has_no_middle = count_runs(p, all.first, all.end) <= MAX_EDGE + 1;
    return p->has_no_middle;
}

/* Narrows by all conditions, forgetting those by which that is not done; true when there are
 * iterations beside the middle. */
static bool narrow_by_all(partition *p) {
    lower_conditions *c = &p->conditions;
    p->middle = p->all;
    p->has_no_middle = false;
    for (uint32_t i = c->count; i > 0; i--) {
        const hone_expr *gap = lower_gap_of(&c->scope.arith, c->hoisted[i - 1]);
        if (!narrow(p, gap)) lower_drop_condition(c, i - 1);
    }
    if (p->has_no_middle) p->middle.first = p->middle.end = p->all.end;
    lower_span edge = {p->all.first, p->all.first};
    return c->count > 0 && next_edge(p, &edge);
}

/* Forgets conditions that borders in the loop take. */
static hone_status leave_to_borders(partition *p) {
    lower_conditions *c = &p->conditions;
    for (uint32_t i = c->count; i > 0; i--) {
        bool is_left = false;
        if (hone_expr_uses_var(c->conditions[i - 1], p->var))
            HONE_TRY(
                lower_is_left_to_borders(&p->scratch, p->loop, c->conditions[i - 1], &is_left));
        if (is_left) lower_drop_condition(c, i - 1);
    }
    return HONE_OK;
}

/* Finds the conditions that the middle iterations of the loop need not ask; true when there are. */
static hone_status find_middle(partition *p, bool *out_has) {
    lower_conditions *c = &p->conditions;
    const hone_node *node = hone_func_node(c->scope.lower->func, p->loop);
    *out_has = false;
    HONE_TRY(lower_find_conditions(c, p->loop, p->var, true));
    HONE_TRY(leave_to_borders(p));
    p->value = NULL;
    p->alike = (lower_alike){0};
    /* the iterations of an unrolled loop have bodies of their own in any case */
    if (node->loop_kind != HONE_LOOP_UNROLLED) lower_find_alike(c, p->var, &p->alike);
    p->all.first = node->u.loop.range.min->u.i;
    p->all.end = p->all.first + hone_expr_const(node->u.loop.range.extent);
    *out_has = narrow_by_all(p);
    return hone_ir_finish(&c->scope.arith.ir);
}

/* ---- copies ---- */

/* Variables that are defined in the body would be defined twice; so would memory that has a name.
 */
static bool may_copy(const hone_func *func, hone_node_id loop) {
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_DECL || node->kind == HONE_NODE_LET) return false;
        if (node->kind != HONE_NODE_ALLOC) continue;
        const hone_buffer_info *buffer = &func->buffers[node->u.alloc.buffer];
        if (buffer->alias_of != HONE_NO_ID || buffer->data != HONE_NO_ID || buffer->strides ||
            buffer->elem_offset || hone_buffer_elements(buffer) < 0) {
            return false;
        }
    }
    return true;
}

static bool run_may_be_copied(const hone_func *func, lower_run run, uint32_t *size) {
    for (hone_node_id n = run.first;; n = hone_func_node(func, n)->next) {
        *size += lower_size(func, n, MAX_BODY_NODES);
        if (!may_copy(func, n) || *size >= MAX_BODY_NODES) return false;
        if (n == run.last) return true;
    }
}

/* May what is to be copied be copied, and how many nodes is it? */
static bool may_copy_all(const hone_func *func, hone_node_id loop, const lower_runs *runs,
                         uint32_t *out_size) {
    *out_size = 0;
    if (runs->kind == LOWER_RUNS_ALL)
        return run_may_be_copied(func, (lower_run){loop, loop}, out_size);
    for (uint32_t i = 0; i < runs->count; i++) {
        if (!run_may_be_copied(func, runs->items[i], out_size)) return false;
    }
    return true;
}

/* The body of the loop for one iteration, below `into`, or for some that are alike, where `loop` is
 * the variable that counts them. body: a container of the loop's children. */
static hone_status add_iteration(partition *p, hone_node_id body, hone_node_id into,
                                 int64_t iteration, const hone_expr *loop) {
    hone_lower *lower = p->conditions.scope.lower;
    hone_func *func = lower->func;
    hone_node_id copy = hone_tree_copy(func, body);
    const hone_expr *value = hone_expr_int(&lower->ir, func->vars[p->var].dtype, iteration);
    if (copy == HONE_NO_ID) return LOWER_NO_MEMORY();
    if (!value) return hone_ir_finish(&lower->ir);
    hone_tree_move_children(func, copy, into);
    LOWER_EACH_CHILD (func, into, n) {
        if (loop) HONE_TRY(lower_fix_conditions(func, n, &p->alike, p->var, value));
        /* but not in a condition of `into` */
        HONE_TRY(lower_substitute_one(func, n, p->var, loop ? loop : value));
    }
    HONE_TRY(lower_rename_vars(lower, into));
    return lower_rename_buffers(func, into);
}

/* Below the parent, but not in the parent itself, the conditions hold. */
static hone_status assume_below(partition *p, hone_node_id parent) {
    hone_func *func = p->conditions.scope.lower->func;
    LOWER_EACH_CHILD (func, parent, n) {
        HONE_TRY(lower_assume_conditions(&p->conditions, n));
    }
    return HONE_OK;
}

/* A loop over some iterations, or what one of them does, in front of `place`. */
static hone_status add_run(partition *p, lower_span run, hone_node_id place) {
    hone_lower *lower = p->conditions.scope.lower;
    hone_func *func = lower->func;
    const hone_var_info *var = &func->vars[p->var];
    int64_t count = run.end - run.first;
    hone_range range = lower_range(&lower->ir, var->dtype, run.first, count);
    const hone_expr *loop = NULL;
    hone_node_id into = count == 1
                            ? hone_func_add_node(func, HONE_NODE_ATTR)
                            : lower_new_loop(lower, var->name, HONE_LOOP_SERIAL, range, &loop);
    if (into == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_tree_insert_before(func, place, into);
    HONE_TRY(add_iteration(p, p->loop, into, run.first, loop));
    HONE_TRY(lower_trim_loops(&p->conditions, into));
    if (count == 1) lower_splice(func, into);
    return HONE_OK;
}

/* A serial loop: its edges stand in front of it and behind it. *io_next: where to look next, the
 * edges in front, which may have loops, included. */
static hone_status peel(partition *p, hone_node_id *io_next) {
    hone_lower *lower = p->conditions.scope.lower;
    hone_func *func = lower->func;
    hone_node_id front = hone_func_add_node(func, HONE_NODE_ATTR);
    hone_node_id behind = hone_func_add_node(func, HONE_NODE_ATTR);
    if (front == HONE_NO_ID || behind == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(lower_hand_down_pragmas(func, p->loop));
    hone_tree_insert_before(func, p->loop, front);
    hone_tree_insert_after(func, p->loop, behind);
    lower_span run = {p->all.first, p->all.first};
    while (next_edge(p, &run))
        HONE_TRY(add_run(p, run, run.first < p->middle.first ? p->loop : behind));
    if (p->middle.first > p->all.first) *io_next = hone_func_node(func, front)->next;
    HONE_TRY(assume_below(p, p->loop));
    hone_func_node(func, p->loop)->u.loop.range = lower_range(
        &lower->ir, func->vars[p->var].dtype, p->middle.first, p->middle.end - p->middle.first);
    if (p->has_no_middle) hone_tree_remove(func, p->loop);
    hone_tree_remove(func, front);
    hone_tree_remove(func, behind);
    return hone_ir_finish(&lower->ir);
}

/* Whether v is one of the middle, as far as that is not plain. */
static const hone_expr *is_middle(const partition *p, hone_ir *ir, const hone_expr *v) {
    const hone_expr *above = NULL, *below = NULL;
    if (p->middle.first > p->all.first) {
        above = hone_expr_binary(ir, HONE_OP_LE, hone_expr_int(ir, v->dtype, p->middle.first), v);
    }
    if (p->middle.end < p->all.end) {
        below = hone_expr_binary(ir, HONE_OP_LT, v, hone_expr_int(ir, v->dtype, p->middle.end));
    }
    return lower_and(ir, above, below);
}

/* Whether v is one of these; none of those below comes here. */
static const hone_expr *is_one_of(hone_ir *ir, const hone_expr *v, lower_span run) {
    bool is_one = run.end - run.first == 1;
    return hone_expr_binary(ir, is_one ? HONE_OP_EQ : HONE_OP_LE, v,
                            hone_expr_int(ir, v->dtype, run.end - 1));
}

/* Below `into`: a choice among the edges, the last of which needs no question. */
static hone_status add_choices(partition *p, hone_node_id body, hone_node_id into,
                               const hone_expr *v) {
    hone_lower *lower = p->conditions.scope.lower;
    lower_span run = {p->all.first, p->all.first};
    for (bool has_more = next_edge(p, &run); has_more;) {
        lower_span next = run;
        hone_node_id choice = into, rest = HONE_NO_ID;
        has_more = next_edge(p, &next);
        if (has_more)
            HONE_TRY(lower_new_choice(lower, is_one_of(&lower->ir, v, run), &choice, &rest));
        bool is_one = run.end - run.first == 1;
        HONE_TRY(add_iteration(p, body, choice, run.first, is_one ? NULL : v));
        if (has_more) {
            hone_tree_append(lower->func, choice, rest);
            hone_tree_append(lower->func, into, choice);
        }
        into = rest;
        run = next;
    }
    return HONE_OK;
}

/* Where iterations stay together: a choice among the middle and each iteration at an edge. body:
 * the loop, or a container of some of its statements. */
static hone_status split_body(partition *p, hone_node_id body) {
    hone_lower *lower = p->conditions.scope.lower;
    hone_func *func = lower->func;
    const hone_expr *v = p->value ? p->value : hone_func_var_expr(&lower->ir, func, p->var);
    if (!v) return hone_ir_finish(&lower->ir);
    hone_node_id middle, edges;
    HONE_TRY(lower_new_choice(lower, is_middle(p, &lower->ir, v), &middle, &edges));
    hone_tree_move_children(func, body, middle);
    HONE_TRY(add_choices(p, middle, edges, v));
    if (p->has_no_middle) {
        hone_tree_move_children(func, edges, body);
        return lower_trim_loops(&p->conditions, body);
    }
    HONE_TRY(assume_below(p, middle));
    hone_tree_append(func, body, middle);
    hone_tree_append(func, middle, edges);
    return lower_trim_loops(&p->conditions, edges);
}

/* Choices among copies of those statements alone that have conditions. */
static hone_status split_runs(partition *p, const lower_runs *runs) {
    hone_func *func = p->conditions.scope.lower->func;
    for (uint32_t i = 0; i < runs->count; i++) {
        hone_node_id body = hone_func_add_node(func, HONE_NODE_ATTR);
        if (body == HONE_NO_ID) return LOWER_NO_MEMORY();
        hone_tree_insert_before(func, runs->items[i].first, body);
        for (hone_node_id n = runs->items[i].first, next;; n = next) {
            next = hone_func_node(func, n)->next;
            hone_tree_remove(func, n);
            hone_tree_append(func, body, n);
            if (n == runs->items[i].last) break;
        }
        HONE_TRY(split_body(p, body));
        lower_splice(func, body);
    }
    return HONE_OK;
}

/* ---- borders ---- */

/* The middle, or a copy in which the conditions do not hold. */
static hone_status split_in_two(partition *p, const lower_border *border, hone_node_id body) {
    hone_lower *lower = p->conditions.scope.lower;
    hone_func *func = lower->func;
    hone_node_id middle, other, copy = hone_tree_copy(func, body);
    if (copy == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(lower_new_choice(lower, is_middle(p, &lower->ir, p->value), &middle, &other));
    hone_tree_move_children(func, body, middle);
    hone_tree_move_children(func, copy, other);
    HONE_TRY(lower_rename_vars(lower, other));
    HONE_TRY(lower_rename_buffers(func, other));
    HONE_TRY(assume_below(p, middle));
    LOWER_EACH_CHILD (func, other, n) {
        HONE_TRY(lower_border_fails(func, n, border));
    }
    hone_tree_append(func, middle, other);
    hone_tree_append(func, body, middle);
    return HONE_OK;
}

/* How many copies of the root, which may be made: 0 = it may not. */
static uint32_t count_border_copies(partition *p, const lower_border *border, bool is_joint) {
    uint32_t size = 0, copies = 1, count = p->conditions.count;
    const hone_func *func = p->conditions.scope.lower->func;
    if (!narrow_by_all(p) || p->conditions.count != count || p->has_no_middle) return 0;
    if (!is_joint)
        copies =
            count_runs(p, p->all.first, p->middle.first) + count_runs(p, p->middle.end, p->all.end);
    if (!run_may_be_copied(func, (lower_run){border->root, border->root}, &size)) return 0;
    if (p->new_nodes + size * copies > MAX_NEW_NODES) return 0;
    p->new_nodes += size * copies;
    return copies;
}

/* Of conditions that go by a sum of loops around a tile. *io_next: the choice, if one is made. */
static hone_status cut_at_border(partition *p, hone_node_id root, hone_node_id *io_next) {
    lower_conditions *c = &p->conditions;
    hone_func *func = c->scope.lower->func;
    lower_border border;
    HONE_TRY(lower_find_border(c, root, &border));
    if (border.count == 0) return HONE_OK;
    p->loop = root;
    p->value = border.sum;
    p->all = border.all;
    p->var = hone_func_add_var(func, "border", border.sum->dtype);
    if (p->var == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(lower_go_by_sum(c, &border, p->var));
    lower_find_alike(c, p->var, &p->alike);
    bool is_joint = lower_border_is_joint(func, &border);
    if (count_border_copies(p, &border, is_joint) == 0) return hone_ir_finish(&c->scope.arith.ir);
    c->is_changed = true;
    hone_node_id body = hone_func_add_node(func, HONE_NODE_ATTR);
    if (body == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(lower_put_by_sum(func, root, &border));
    lower_wrap(func, root, body);
    HONE_TRY(is_joint ? split_in_two(p, &border, body) : split_body(p, body));
    *io_next = hone_func_node(func, body)->first;
    lower_splice(func, body);
    return HONE_OK;
}

/* Of unrolled loops those around vectors: what one of their iterations cuts is then a vector of
 * fewer lanes, not a condition on lanes. */
static bool has_vectors(const hone_func *func, hone_node_id loop) {
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        if (lower_is_vector(func, n)) return true;
    }
    return false;
}

static bool is_candidate(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    bool is_loop = node->kind == HONE_NODE_FOR &&
                   (node->loop_kind == HONE_LOOP_SERIAL || node->loop_kind == HONE_LOOP_PARALLEL ||
                    (node->loop_kind == HONE_LOOP_UNROLLED && has_vectors(func, id)));
    return is_loop && hone_expr_is_int(node->u.loop.range.min) &&
           hone_expr_const(node->u.loop.range.extent) >= 2 && !lower_has_threads(func, id);
}

/* Iterations that belong together stay together: those of a parallel loop, those that a vector
 * collects, and those that another one may leave out. */
static bool may_peel(const hone_func *func, hone_node_id loop) {
    if (hone_tree_jump_of(func, loop, true) != HONE_NO_ID) return false;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        if (hone_attrs_find(&node->u.loop.annotations, "pragma_vector_reduce")) return false;
    }
    return hone_func_node(func, loop)->loop_kind != HONE_LOOP_PARALLEL;
}

/* *io_next: where to look next. */
static hone_status partition_loop(partition *p, hone_node_id loop, hone_node_id *io_next) {
    hone_func *func = p->conditions.scope.lower->func;
    p->loop = loop;
    p->var = hone_func_node(func, loop)->u.loop.var;
    bool has_middle;
    HONE_TRY(find_middle(p, &has_middle));
    if (!has_middle) return HONE_OK;
    lower_runs runs;
    uint32_t size;
    lower_find_runs(&p->conditions, loop, &runs);
    if (runs.kind == LOWER_RUNS_INNER) return HONE_OK;
    if (!may_copy_all(func, loop, &runs, &size)) return HONE_OK;
    size *= count_runs(p, p->all.first, p->middle.first) + count_runs(p, p->middle.end, p->all.end);
    if (p->new_nodes + size > MAX_NEW_NODES) return HONE_OK;
    p->new_nodes += size;
    p->conditions.is_changed = true;
    if (runs.kind == LOWER_RUNS_ALL && may_peel(func, loop)) return peel(p, io_next);
    HONE_TRY(runs.kind == LOWER_RUNS_SOME ? split_runs(p, &runs) : split_body(p, loop));
    *io_next = hone_tree_next(func, 0, loop);
    return HONE_OK;
}

hone_status lower_partition(hone_lower *lower) {
    hone_func *func = lower->func;
    partition p = {.conditions.scope.lower = lower};
    p.scratch.scope.lower = lower;
    hone_arith_init(&p.conditions.scope.arith, func->arena);
    hone_arith_init(&p.scratch.scope.arith, func->arena);
    HONE_TRY(lower_trim_loops(&p.conditions, 0));
    hone_node_id next = 0;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = next) {
        next = hone_tree_next(func, 0, n);
        if (!is_candidate(func, n)) continue;
        hone_node_id choice = HONE_NO_ID;
        HONE_TRY(cut_at_border(&p, n, &choice));
        if (choice != HONE_NO_ID)
            next = choice;
        else
            HONE_TRY(partition_loop(&p, n, &next));
    }
    HONE_TRY(hone_ir_finish(&p.conditions.scope.arith.ir));
    HONE_TRY(hone_ir_finish(&p.scratch.scope.arith.ir));
    return p.conditions.is_changed ? lower_simplify(lower) : HONE_OK;
}
