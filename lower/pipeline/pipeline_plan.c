/* lower/pipeline/pipeline_plan.c - what the statements of a pipelined loop do to each other.
 *
 * Part a of iteration i runs before part b of iteration i + d (d > 0, or d = 0 and a stands first).
 * In the pipeline a runs at the time i + a.stage, b at i + d + b.stage: b overtakes a for all d up
 * to a.stage - b.stage, that one included unless a comes first within a time. Where b overtakes a
 * they must not meet in memory, unless each iteration has memory of its own: with V copies of a
 * buffer iterations meet only when V divides d. */
#include "lower/pipeline/pipeline_plan.h"

#include "lower/pipeline/fragment_copies.h"
#include "support/data/tensor.h"

/* ---- what a part touches ---- */

static hone_status refuse_part(const lower_pipe *pipe, const char *what) {
    return HONE_ERROR(HONE_CODE_INVALID, "loop '%s' cannot be pipelined: %s", pipe->name, what);
}

typedef struct calls {
    bool has_effect, returns;
} calls;

static bool note_call(void *ctx, const hone_expr *e) {
    calls *c = ctx;
    if (e->kind != HONE_EXPR_CALL || hone_intrin_is_pure((hone_intrin)e->op)) return true;
    if (e->op == HONE_INTRIN_RETURN) c->returns = true;
    bool is_harmless = e->op == HONE_INTRIN_PREFETCH || e->op == HONE_INTRIN_ADDRESS_OF ||
                       lower_is_fragment_call(e);
    c->has_effect |= !is_harmless;
    return true;
}

/* Prologue and epilogue have it, too. */
static bool is_copied(const lower_pipe *pipe, const lower_part *part) {
    return !pipe->is_background || part->stage == 0;
}

static hone_status check_nodes(const lower_pipe *pipe, lower_part *part) {
    const hone_func *func = pipe->scope.lower->func;
    for (hone_node_id n = part->node; n != HONE_NO_ID; n = hone_tree_next(func, part->node, n)) {
        const hone_node *node = hone_func_node(func, n);
        switch ((hone_node_kind)node->kind) {
        case HONE_NODE_BREAK:
        case HONE_NODE_CONTINUE:
            if (hone_tree_loop_of(func, n) == pipe->loop)
                return refuse_part(pipe, "a statement leaves it");
            break;
        case HONE_NODE_ASSERT:
            part->has_effect = true;
            break;
        case HONE_NODE_DECL:
            return refuse_part(pipe, "a statement declares a view of memory");
        case HONE_NODE_ALLOC:
            if (is_copied(pipe, part) && func->buffers[node->u.alloc.buffer].data != HONE_NO_ID) {
                return refuse_part(pipe, "a statement allocates memory that has a name");
            }
            break;
        default:
            break;
        }
    }
    return HONE_OK;
}

static bool is_touched(const lower_accesses *a) {
    return a->count > 0 || a->is_opaque;
}

static bool is_written(const lower_accesses *a) {
    bool stores = a->is_opaque;
    for (uint32_t i = 0; i < a->count && !stores; i++)
        stores = a->items[i].is_store;
    return stores;
}

static hone_status find_touched(lower_pipe *pipe, lower_part *part) {
    hone_func *func = pipe->scope.lower->func;
    part->accesses = hone_arena_zalloc(func->arena, func->buffer_count * sizeof *part->accesses);
    if (!part->accesses) return LOWER_NO_MEMORY();
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        lower_accesses found;
        HONE_TRY(lower_find_accesses(func, part->node, b, &found));
        hone_buffer root = hone_func_storage(func, b);
        bool was_opaque = part->accesses[b].is_opaque;
        part->accesses[b] = found;
        part->accesses[b].is_opaque |= was_opaque;
        if (root != b && is_touched(&found)) part->accesses[root].is_opaque = true;
    }
    HONE_TRY(check_nodes(pipe, part));
    calls c = {0};
    hone_tree_walk_parts(func, part->node, false, note_call, &c);
    part->has_effect |= c.has_effect;
    return c.returns ? refuse_part(pipe, "a statement leaves it") : HONE_OK;
}

/* ---- pointers ---- */

hone_buffer lower_pointed_buffer(const hone_func *func, const hone_expr *e) {
    bool is_pointer = hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR) && e->count == 5;
    return is_pointer ? lower_buffer_of_data(func, e->args[1]) : HONE_NO_ID;
}

typedef struct pointing {
    const hone_func *func;
    hone_buffer buffer;
    bool holds_fragments; /* that calls name by numbers */
    bool is_bare;
} pointing;

static bool find_bare(void *ctx, const hone_expr *e) {
    pointing *p = ctx;
    if (lower_pointed_buffer(p->func, e) == p->buffer) return false;
    if (p->holds_fragments && lower_is_fragment_call(e)) {
        for (uint16_t i = 1; i < e->count; i++) {
            bool is_fragment = lower_fragment_number(e, i) && e->args[i]->kind == HONE_EXPR_VAR;
            if (!is_fragment) hone_expr_walk(e->args[i], find_bare, p);
        }
        return false;
    }
    hone_var data = p->func->buffers[p->buffer].data;
    p->is_bare |= e->kind == HONE_EXPR_VAR && data != HONE_NO_ID && e->u.var == data;
    return !p->is_bare;
}

/* Copies of the buffer cannot be told apart: it is named but by elements, offset pointers and
 * numbers of fragments. */
static bool is_bare(const lower_pipe *pipe, const lower_part *part, hone_buffer buffer) {
    const hone_func *func = pipe->scope.lower->func;
    pointing p = {func, buffer, lower_fragment_count(func, buffer) > 0, false};
    if (!part->accesses[buffer].is_opaque) return false;
    for (hone_buffer b = 0; b < func->buffer_count; b++)
        p.is_bare |= func->buffers[b].alias_of == buffer && is_touched(&part->accesses[b]);
    hone_tree_walk_parts(func, part->node, false, find_bare, &p);
    return p.is_bare;
}

/* ---- do they meet ---- */

/* Is x of an iteration apart from y of the d-th iteration after it? */
static bool is_disjoint(lower_pipe *pipe, const lower_access *x, const lower_access *y,
                        uint32_t rank, int64_t d) {
    hone_arith *arith = &pipe->scope.arith;
    const hone_func *func = pipe->scope.lower->func;
    hone_var var = hone_func_node(func, pipe->loop)->u.loop.var;
    const hone_expr *now = hone_func_var_expr(&arith->ir, func, var);
    if (!now) return false;
    const hone_expr *later =
        hone_expr_add(&arith->ir, now, hone_expr_int(&arith->ir, now->dtype, d));
    for (uint32_t k = 0; k < rank; k++) {
        const hone_expr *pair[2] = {x->indices[k], y->indices[k]};
        hone_interval at[2];
        bool is_known = true;
        for (int s = 0; s < 2; s++) {
            at[s] = lower_range_below(&pipe->scope, pair[s]);
            is_known = is_known && at[s].min && at[s].max;
        }
        if (!is_known) continue;
        at[1].min = hone_expr_substitute_one(&arith->ir, at[1].min, var, later);
        at[1].max = hone_expr_substitute_one(&arith->ir, at[1].max, var, later);
        if (!at[1].min || !at[1].max) return false;
        if (hone_prove_disjoint(arith, at[0], at[1])) return true;
    }
    return false;
}

static bool may_meet(lower_pipe *pipe, const lower_part *a, const lower_part *b, hone_buffer buffer,
                     int64_t d) {
    const lower_accesses *x = &a->accesses[buffer], *y = &b->accesses[buffer];
    if (x->is_opaque || y->is_opaque) return true;
    for (uint32_t i = 0; i < x->count; i++) {
        for (uint32_t j = 0; j < y->count; j++) {
            if (!x->items[i].is_store && !y->items[j].is_store) continue;
            uint32_t rank = pipe->scope.lower->func->buffers[buffer].rank;
            if (!is_disjoint(pipe, &x->items[i], &y->items[j], rank, d)) return true;
        }
    }
    return false;
}

static hone_status refuse_pair(const lower_pipe *pipe, const lower_part *a, const lower_part *b,
                               const char *why, const char *buffer) {
    return HONE_ERROR(HONE_CODE_INVALID,
                      "loop '%s' cannot be pipelined: statement %u (stage %lld, order %lld) would "
                      "overtake statement %u (stage %lld, order %lld), %s%s%s",
                      pipe->name, (unsigned)(b - pipe->parts), (long long)b->stage,
                      (long long)b->order, (unsigned)(a - pipe->parts), (long long)a->stage,
                      (long long)a->order, why, buffer, *buffer ? "'" : "");
}

/* b overtakes a for the distances from first to last. */
static hone_status check_overtaking(lower_pipe *pipe, const lower_part *a, const lower_part *b,
                                    int64_t first, int64_t last) {
    const hone_func *func = pipe->scope.lower->func;
    if (a->has_effect && b->has_effect) {
        return refuse_pair(pipe, a, b, "and both have effects beyond memory", "");
    }
    for (hone_buffer r = 0; r < func->buffer_count; r++) {
        const lower_accesses *x = &a->accesses[r], *y = &b->accesses[r];
        if (!is_touched(x) || !is_touched(y) || !(is_written(x) || is_written(y))) continue;
        bool is_own = pipe->versions[r] > 0;
        for (int64_t d = first; d <= last && !(is_own && d > 0); d++) {
            if (!may_meet(pipe, a, b, r, d)) continue;
            return refuse_pair(pipe, a, b, "and they meet in buffer '", func->buffers[r].name);
        }
        if (!is_own || last < 1 || pipe->versions[r] > last) continue;
        bool is_opaque = is_bare(pipe, a, r) || is_bare(pipe, b, r) ||
                         func->buffers[r].separator_count > 0 ||
                         func->buffers[r].rank == HONE_MAX_RANK;
        if (is_opaque) {
            return refuse_pair(pipe, a, b, "and there can be no copies of buffer '",
                               func->buffers[r].name);
        }
        pipe->versions[r] = (uint32_t)last + 1;
    }
    return HONE_OK;
}

static hone_status check_pair(lower_pipe *pipe, uint32_t i, uint32_t j) {
    const lower_part *a = &pipe->parts[i], *b = &pipe->parts[j];
    int64_t last = a->stage - b->stage - (a->order < b->order ? 1 : 0);
    int64_t first = i < j ? 0 : 1;
    int64_t extent =
        hone_expr_const(hone_func_node(pipe->scope.lower->func, pipe->loop)->u.loop.range.extent);
    if (extent >= 0 && last > extent - 1) last = extent - 1; /* no two are further apart */
    return last < first ? HONE_OK : check_overtaking(pipe, a, b, first, last);
}

/* What is copied in the background: iterations on their way, the one that is used, and those that
 * are not surely done with. */
static void count_background(lower_pipe *pipe) {
    uint32_t count = (uint32_t)pipe->last_stage + (lower_goes_on(pipe) ? 2 : 1);
    for (hone_buffer b = 0; b < pipe->buffer_count; b++) {
        bool is_copied = false;
        for (uint32_t i = 0; i < pipe->part_count; i++)
            is_copied |= pipe->parts[i].stage == 0 && is_written(&pipe->parts[i].accesses[b]);
        if (is_copied && pipe->versions[b] > 0) pipe->versions[b] = count;
    }
}

hone_status lower_plan_pipe(lower_pipe *pipe) {
    hone_func *func = pipe->scope.lower->func;
    HONE_TRY(lower_enter(&pipe->scope, pipe->loop, hone_func_node(func, pipe->loop)->u.loop.var));
    for (uint32_t i = 0; i < pipe->part_count; i++)
        HONE_TRY(find_touched(pipe, &pipe->parts[i]));
    for (uint32_t i = 0; i < pipe->part_count; i++) {
        for (uint32_t j = 0; j < pipe->part_count; j++)
            HONE_TRY(check_pair(pipe, i, j));
    }
    if (pipe->is_background) count_background(pipe);
    return hone_ir_finish(&pipe->scope.arith.ir);
}
