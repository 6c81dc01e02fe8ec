/* ir/verify/verify_share.c - iterations of a loop that run at once, or in any order, and share
 * elements: B[i + 1] = B[i].
 *
 * Some iterations of the loop are run over numbers, with the ends of the loops inside, and every
 * place that is surely touched is noted with the iteration that touched it. Two iterations that
 * meet, one of them writing, are shown. What cannot be evaluated is left out, so what is found is
 * there; nothing is said where both write the same value, or where lanes of a vector, which run
 * from statement to statement together, do what iterations in order do.
 */
#include <string.h>

#include "ir/core/concurrent.h"
#include "ir/verify/verify_impl.h"

enum { MOST_ELEMENTS = 1 << 12, SLOTS = 2 * MOST_ELEMENTS, MOST_STEPS = 1 << 15, TRIED = 130 };

typedef struct touch {
    int64_t iteration;
    uint64_t instance; /* of a block with axes: their values; else 0 */
    uint32_t step;     /* within its iteration, from 1 on; 0: nobody */
    hone_node_id at;
} touch;

typedef struct element {
    hone_buffer buffer;
    int64_t place;
    touch write, read; /* the first ones */
} element;

typedef struct sharing {
    verifier *v;
    hone_node_id loop, block; /* block: the innermost one with axes, inside of the loop */
    element *elements;
    uint32_t *slots; /* number of an element + 1 */
    uint32_t element_count, step_count, step;
    int64_t iteration;
    uint8_t *owners; /* by buffer: 1 = each iteration has its own, 2 = shared, 3 = of threads */
    bool is_over, is_awaited;
} sharing;

static bool is_vector(const sharing *s) {
    return hone_func_node(s->v->func, s->loop)->loop_kind == HONE_LOOP_VECTORIZED;
}

static bool is_shared(sharing *s, hone_buffer buffer) {
    const hone_func *func = s->v->func;
    if (buffer >= func->buffer_count || func->buffers[buffer].alias_of != HONE_NO_ID) return false;
    if (s->owners[buffer] == 0) {
        bool is_thread = hone_func_node(func, s->loop)->loop_kind == HONE_LOOP_THREAD;
        const char *scope = func->buffers[buffer].scope;
        bool is_global = !scope || strncmp(scope, "global", 6) == 0;
        s->owners[buffer] = verify_is_private(s->v, s->loop, buffer) ? 1 : 2;
        /* of one thread, or of those that wait for each other */
        if (is_thread && !is_global && s->owners[buffer] == 2) {
            s->owners[buffer] = !s->is_awaited && strncmp(scope, "shared", 6) == 0 ? 3 : 1;
        }
    }
    return s->owners[buffer] >= 2;
}

/* Do threads wait for each other in this loop, or will they where blocks are lowered? */
static bool is_awaited(const hone_func *func, hone_node_id loop) {
    const char *tag = hone_func_node(func, loop)->u.loop.thread_tag;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BLOCK && node->u.block.block->axis_count) return true;
        if (node->kind == HONE_NODE_EVAL) return true; /* a sync, or what may be one */
        if (n == loop || node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_THREAD)
            continue;
        if (tag && node->u.loop.thread_tag && strcmp(tag, node->u.loop.thread_tag) == 0)
            return true;
    }
    return !tag || strncmp(tag, "threadIdx", 9) != 0;
}

/* ---- what two iterations do to one element ---- */

typedef struct moving {
    const sharing *s;
    bool is_found;
} moving;

static bool find_loop_var(void *ctx, const hone_expr *e) {
    moving *m = ctx;
    if (e->kind == HONE_EXPR_VAR && !m->is_found) {
        const hone_func *func = m->s->v->func;
        const hone_expr *source = m->s->v->points.vars[e->u.var].source;
        m->is_found = e->u.var == hone_func_node(func, m->s->loop)->u.loop.var;
        if (source && !m->is_found) hone_expr_walk(source, find_loop_var, m);
    }
    if (e->kind == HONE_EXPR_CALL && !hone_intrin_is_pure((hone_intrin)e->op)) m->is_found = true;
    return !m->is_found;
}

/* One store in two iterations gives the same value where the loop is not in it, and where it is the
 * same run of a block that only happens twice. */
static bool gives_the_same(const sharing *s, const touch *a, const touch *b) {
    moving m = {.s = s};
    if (a->at != b->at) return false;
    if (a->instance != 0 && a->instance == b->instance) return true;
    hone_expr_walk(hone_func_node(s->v->func, a->at)->u.store.value, find_loop_var, &m);
    return !m.is_found;
}

static void say_place(const sharing *s, const element *el, hone_str *out) {
    const hone_buffer_info *info = hone_func_buffer(s->v->func, el->buffer);
    int64_t rest = el->place, digits[HONE_MAX_RANK] = {0};
    for (uint32_t d = info->rank; d-- > 0;) {
        int64_t extent = hone_expr_const(info->shape[d]);
        digits[d] = rest % extent;
        rest /= extent;
    }
    hone_str_printf(out, "%s[", info->name);
    for (uint32_t d = 0; d < info->rank; d++)
        hone_str_printf(out, "%s%lld", d ? ", " : "", (long long)digits[d]);
    hone_str_append(out, "]");
}

static void report_threads(sharing *s, const element *el, const touch *a, const touch *b,
                           const char *what) {
    const char *name = verify_var_name(s->v, hone_func_node(s->v->func, s->loop)->u.loop.var);
    hone_str place = {0};
    say_place(s, el, &place);
    verify_warning(s->v, b->at,
                   "threads %s = %lld and %s = %lld %s %s, and neither waits for the other; "
                   "T.tvm_storage_sync(\"shared\") belongs between the two",
                   name, (long long)a->iteration, name, (long long)b->iteration, what,
                   hone_str_text(&place));
    hone_str_deinit(&place);
    s->is_over = true;
}

static void report(sharing *s, const element *el, const touch *a, const touch *b,
                   const char *what) {
    if (s->owners[el->buffer] == 3) {
        report_threads(s, el, a, b, what);
        return;
    }
    const hone_node *loop = hone_func_node(s->v->func, s->loop);
    hone_str place = {0};
    say_place(s, el, &place);
    const char *kind = loop->loop_kind == HONE_LOOP_PARALLEL     ? "parallel"
                       : loop->loop_kind == HONE_LOOP_VECTORIZED ? "vectorized"
                                                                 : loop->u.loop.thread_tag;
    verify_warning(s->v, b->at,
                   "iterations %s = %lld and %s = %lld of the %s loop %s %s; they have no order, "
                   "so make the loop serial or give each its own element",
                   verify_var_name(s->v, loop->u.loop.var), (long long)a->iteration,
                   verify_var_name(s->v, loop->u.loop.var), (long long)b->iteration, kind, what,
                   hone_str_text(&place));
    hone_str_deinit(&place);
    s->is_over = true;
}

/* Lanes go on together: what a later lane writes comes before what an earlier one reads only if its
 * statement does. */
static bool is_in_step(const sharing *s, const touch *read, const touch *write) {
    return is_vector(s) && read->iteration < write->iteration && read->step < write->step;
}

static void compare(sharing *s, element *el, const touch *now, bool is_write) {
    bool is_thread = hone_func_node(s->v->func, s->loop)->loop_kind == HONE_LOOP_THREAD &&
                     s->owners[el->buffer] == 2;
    const touch *write = &el->write, *read = &el->read;
    if (write->step && write->iteration != now->iteration) {
        if (is_write && !gives_the_same(s, write, now)) {
            report(s, el, write, now, "both write");
        } else if (!is_write && !is_thread) {
            report(s, el, write, now, "write and read");
        }
    }
    if (!s->is_over && is_write && !is_thread && read->step && read->iteration != now->iteration &&
        !is_in_step(s, read, now)) {
        report(s, el, read, now, "read and write");
    }
    touch *first = is_write ? &el->write : &el->read;
    if (!first->step) *first = *now;
}

static element *element_of(sharing *s, hone_buffer buffer, int64_t place) {
    uint64_t hash =
        ((uint64_t)place * 0x9E3779B97F4A7C15u) ^ ((uint64_t)buffer * 0xC2B2AE3D27D4EB4Fu);
    uint32_t at = (uint32_t)(hash >> 40) % SLOTS;
    for (; s->slots[at]; at = (at + 1) % SLOTS) {
        element *el = &s->elements[s->slots[at] - 1];
        if (el->buffer == buffer && el->place == place) return el;
    }
    if (s->element_count == MOST_ELEMENTS) return NULL;
    element *el = &s->elements[s->element_count];
    *el = (element){.buffer = buffer, .place = place};
    s->slots[at] = ++s->element_count;
    return el;
}

static bool place_of(sharing *s, const hone_buffer_info *info, uint32_t rank,
                     const hone_expr *const *indices, int64_t *out) {
    *out = 0;
    if (rank != info->rank) return false;
    for (uint32_t d = 0; d < rank; d++) {
        int64_t extent = hone_expr_const(info->shape[d]), index;
        if (indices[d]->dtype.lanes > 1 || extent < 1 ||
            !verify_value_at(&s->v->points, indices[d], &index) || index < 0 || index >= extent ||
            __builtin_mul_overflow(*out, extent, out) || __builtin_add_overflow(*out, index, out)) {
            return false;
        }
    }
    return true;
}

static uint64_t instance_of(const sharing *s) {
    uint64_t hash = s->block + 1;
    if (s->block == HONE_NO_ID) return 0;
    const hone_block *block = hone_func_node(s->v->func, s->block)->u.block.block;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_expr axis = {.kind = HONE_EXPR_VAR,
                                .dtype = s->v->func->vars[block->axes[i].var].dtype,
                                .u.var = block->axes[i].var};
        int64_t value;
        if (!verify_value_at(&s->v->points, &axis, &value)) return 0;
        hash = (hash ^ (uint64_t)value) * 0x100000001B3u;
    }
    return hash | 1;
}

static void note(sharing *s, hone_node_id at, hone_buffer buffer, uint32_t rank,
                 const hone_expr *const *indices, bool is_write) {
    int64_t place;
    if (s->is_over || !is_shared(s, buffer)) return;
    if (!place_of(s, hone_func_buffer(s->v->func, buffer), rank, indices, &place)) return;
    element *el = element_of(s, buffer, place);
    const touch now = {s->iteration, instance_of(s), ++s->step, at};
    if (el)
        compare(s, el, &now, is_write);
    else
        s->is_over = true;
}

/* ---- running ---- */

static void run(sharing *s, hone_node_id id);

static void run_children(sharing *s, hone_node_id parent) {
    hone_node_id n = hone_func_node(s->v->func, parent)->first;
    for (; n != HONE_NO_ID && !s->is_over; n = hone_func_node(s->v->func, n)->next) {
        if (hone_func_node(s->v->func, n)->kind == HONE_NODE_ELSE) return;
        run(s, n);
    }
}

typedef struct loads {
    sharing *s;
    hone_node_id at;
} loads;

static bool note_load(void *ctx, const hone_expr *e) {
    loads *l = ctx;
    if (e->kind == HONE_EXPR_LOAD) note(l->s, l->at, e->u.buffer, e->count, e->args, false);
    if (e->kind == HONE_EXPR_SELECT || hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
        int64_t condition;
        hone_expr_walk(e->args[0], note_load, l);
        if (verify_value_at(&l->s->v->points, e->args[0], &condition))
            hone_expr_walk(e->args[condition ? 1 : 2], note_load, l);
        return false;
    }
    bool may_skip = hone_expr_is_op(e, HONE_OP_AND) || hone_expr_is_op(e, HONE_OP_OR);
    return e->kind != HONE_EXPR_LET && !may_skip;
}

static void run_store(sharing *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->v->func, id);
    loads l = {s, id};
    hone_expr_walk(node->u.store.value, note_load, &l);
    for (uint32_t d = 0; d < node->u.store.rank; d++)
        hone_expr_walk(node->u.store.indices[d], note_load, &l);
    note(s, id, node->u.store.buffer, node->u.store.rank, node->u.store.indices, true);
}

static bool is_same_thread(const sharing *s, const hone_node *inner) {
    const hone_node *loop = hone_func_node(s->v->func, s->loop);
    return loop->loop_kind == HONE_LOOP_THREAD && inner->loop_kind == HONE_LOOP_THREAD &&
           loop->u.loop.thread_tag && inner->u.loop.thread_tag &&
           strcmp(loop->u.loop.thread_tag, inner->u.loop.thread_tag) == 0;
}

/* The ends of a loop, and what stands beside them. */
static void run_loop(sharing *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->v->func, id);
    verify_points *points = &s->v->points;
    verify_source *var = &points->vars[node->u.loop.var];
    int64_t min, extent;
    if (!verify_value_at(points, node->u.loop.range.min, &min) ||
        !verify_value_at(points, node->u.loop.range.extent, &extent) || extent > INT32_MAX ||
        min > INT32_MAX || min < -INT32_MAX) {
        return;
    }
    if (is_same_thread(s, node)) {
        var->value = s->iteration;
        var->is_known = true;
        points->stamp++;
        if (var->value >= min && var->value < min + extent) run_children(s, id);
        var->is_known = false;
        return;
    }
    const int64_t ends[] = {0, 1, extent / 2, extent - 2, extent - 1};
    const int64_t all = (int64_t)HONE_COUNT(ends);
    for (int64_t k = 0; k < extent && k < all && !s->is_over; k++) {
        var->value = min + (extent <= all ? k : ends[k]);
        var->is_known = true;
        points->stamp++;
        run_children(s, id);
    }
    var->is_known = false;
    points->stamp++;
}

static void run_block(sharing *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->v->func, id);
    const hone_block *block = node->u.block.block;
    const hone_expr *predicate = node->u.block.predicate;
    hone_node_id outer = s->block;
    int64_t value;
    if (predicate && (!verify_value_at(&s->v->points, predicate, &value) || !value)) return;
    if (hone_block_init_of(s->v->func, id) != HONE_NO_ID) return; /* reductions: verify_block.c */
    for (uint32_t i = 0; i < block->axis_count; i++)
        s->v->points.vars[block->axes[i].var].source = node->u.block.bindings[i];
    s->v->points.stamp++;
    if (block->axis_count) s->block = id;
    run_children(s, id);
    s->block = outer;
}

static void run_if(sharing *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->v->func, id);
    int64_t value;
    if (node->u.eval.value->dtype.lanes > 1) return;
    if (!verify_value_at(&s->v->points, node->u.eval.value, &value)) return;
    if (value) {
        run_children(s, id);
        return;
    }
    hone_node_id n = node->first;
    while (n != HONE_NO_ID && hone_func_node(s->v->func, n)->kind != HONE_NODE_ELSE)
        n = hone_func_node(s->v->func, n)->next;
    if (n != HONE_NO_ID) run_children(s, n);
}

static void run(sharing *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->v->func, id);
    if (++s->step_count > MOST_STEPS) s->is_over = true;
    if (s->is_over) return;
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        run_loop(s, id);
        return;
    case HONE_NODE_BLOCK:
        run_block(s, id);
        return;
    case HONE_NODE_IF:
        run_if(s, id);
        return;
    case HONE_NODE_STORE:
        run_store(s, id);
        return;
    case HONE_NODE_LET:
        s->v->points.vars[node->u.let.var].source = node->u.let.value;
        s->v->points.stamp++;
        run_children(s, id);
        return;
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
    case HONE_NODE_ATTR:
        run_children(s, id);
        return;
    default: /* calls and loops without a count: unknown */
        return;
    }
}

/* ---- which loops, at which point of those outside ---- */

static bool has_jumps(const hone_func *func, hone_node_id loop) {
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BREAK || node->kind == HONE_NODE_CONTINUE) return true;
        if (node->kind == HONE_NODE_EVAL &&
            hone_expr_is_call(node->u.eval.value, HONE_INTRIN_RETURN)) {
            return true;
        }
    }
    return false;
}

/* The loops outside stand at their begin. */
static bool set_outer(sharing *s, hone_node_id id, bool is_known) {
    const hone_func *func = s->v->func;
    hone_node_id parent = hone_func_node(func, id)->parent;
    if (parent == HONE_NO_ID) return true;
    if (!set_outer(s, parent, is_known)) return false;
    const hone_node *node = hone_func_node(func, parent);
    if (node->kind != HONE_NODE_FOR) return true;
    verify_source *var = &s->v->points.vars[node->u.loop.var];
    int64_t extent;
    var->is_known = false;
    s->v->points.stamp++;
    if (!is_known) return true;
    if (!verify_value_at(&s->v->points, node->u.loop.range.min, &var->value) ||
        !verify_value_at(&s->v->points, node->u.loop.range.extent, &extent) || extent < 1) {
        return false;
    }
    var->is_known = true;
    return true;
}

static bool guards_hold(const sharing *s) {
    verify_points *points = &s->v->points;
    for (uint32_t i = 0; i < points->guard_count; i++) {
        int64_t value;
        if (!verify_value_at(points, points->guards[i].condition, &value)) return false;
        if (!value != points->guards[i].is_negated) return false;
    }
    return true;
}

static void run_iterations(sharing *s) {
    const hone_node *loop = hone_func_node(s->v->func, s->loop);
    verify_points *points = &s->v->points;
    verify_source *var = &points->vars[loop->u.loop.var];
    int64_t min, extent;
    if (!verify_value_at(points, loop->u.loop.range.min, &min) ||
        !verify_value_at(points, loop->u.loop.range.extent, &extent) || min > INT32_MAX ||
        min < -INT32_MAX || extent < 2 || extent > INT32_MAX) {
        return;
    }
    for (int64_t k = 0; k < extent && k < TRIED && !s->is_over; k++) {
        var->value = s->iteration = min + k;
        var->is_known = true;
        points->stamp++;
        s->step = 0;
        if (guards_hold(s)) run_children(s, s->loop);
    }
    var->is_known = false;
}

void verify_sharing(verifier *v, hone_node_id loop) {
    const hone_node *node = hone_func_node(v->func, loop);
    if (node->loop_kind == HONE_LOOP_SERIAL || node->loop_kind == HONE_LOOP_UNROLLED) return;
    if (node->loop_kind == HONE_LOOP_THREAD && !hone_loop_is_of_threads(node)) return;
    if (v->out->errors_only || v->out->error_count || has_jumps(v->func, loop)) return;
    sharing s = {.v = v, .loop = loop, .block = HONE_NO_ID};
    s.is_awaited = node->loop_kind != HONE_LOOP_THREAD || is_awaited(v->func, loop);
    s.elements = hone_arena_alloc(v->arena, MOST_ELEMENTS * sizeof *s.elements);
    s.slots = hone_arena_zalloc(v->arena, SLOTS * sizeof *s.slots);
    s.owners = hone_arena_zalloc(v->arena, v->func->buffer_count + 1);
    if (!s.elements || !s.slots || !s.owners) {
        v->is_short_of_memory = true;
        return;
    }
    if (set_outer(&s, loop, true)) run_iterations(&s);
    (void)set_outer(&s, loop, false);
}
