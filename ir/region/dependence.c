/* ir/region/dependence.c - see dependence.h. */
#include "ir/region/dependence.h"

#include <string.h>

#include "support/core/attributes.h"
#include "support/data/tensor.h"

enum { MOST_ELEMENTS = 1 << 12, SLOTS = 2 * MOST_ELEMENTS, MOST_STEPS = 1 << 15 };
enum { TRIED = 130, APART = 32, TRIED_APART = 64 }; /* iterations: the first; others */

typedef struct element {
    hone_buffer buffer;
    int64_t number;
    uint32_t phase;
    hone_touch write, read; /* the first ones */
} element;

typedef struct search {
    const hone_dependence_search *asked;
    const hone_func *func;
    hone_points *points;
    hone_node_id block; /* the innermost one with axes, inside of the loop */
    element *elements;
    uint32_t *slots; /* number of an element + 1 */
    uint32_t element_count, step_count, step;
    uint32_t phase; /* how often the iteration has waited, as all others have by then */
    int64_t iteration;
    uint8_t *shared; /* by buffer: 1 = no, 2 = yes, 0 = not asked yet */
    bool is_over;
} search;

/* ---- elements ---- */

static bool is_shared(search *s, hone_buffer buffer) {
    if (buffer >= s->func->buffer_count || s->func->buffers[buffer].alias_of != HONE_NO_ID)
        return false;
    if (s->shared[buffer] == 0)
        s->shared[buffer] = s->asked->is_shared(s->asked->ctx, buffer) ? 2 : 1;
    return s->shared[buffer] == 2;
}

static element *element_of(search *s, hone_buffer buffer, int64_t number) {
    uint64_t hash = ((uint64_t)number * 0x9E3779B97F4A7C15u) ^
                    (((uint64_t)s->phase << 32 | buffer) * 0xC2B2AE3D27D4EB4Fu);
    uint32_t at = (uint32_t)(hash >> 40) % SLOTS;
    for (; s->slots[at]; at = (at + 1) % SLOTS) {
        element *el = &s->elements[s->slots[at] - 1];
        if (el->buffer == buffer && el->number == number && el->phase == s->phase) return el;
    }
    if (s->element_count == MOST_ELEMENTS) return NULL;
    element *el = &s->elements[s->element_count];
    *el = (element){.buffer = buffer, .number = number, .phase = s->phase};
    s->slots[at] = ++s->element_count;
    return el;
}

static bool number_of(search *s, const hone_buffer_info *info, uint32_t rank,
                      const hone_expr *const *indices, int64_t *out) {
    *out = 0;
    if (rank != info->rank) return false;
    for (uint32_t d = 0; d < rank; d++) {
        int64_t extent = hone_expr_const(info->shape[d]), index;
        if (indices[d]->dtype.lanes > 1 || extent < 1 ||
            !hone_value_at(s->points, indices[d], &index) || index < 0 || index >= extent ||
            __builtin_mul_overflow(*out, extent, out) || __builtin_add_overflow(*out, index, out)) {
            return false;
        }
    }
    return true;
}

static uint64_t instance_of(const search *s) {
    uint64_t hash = s->block + 1;
    if (s->block == HONE_NO_ID) return 0;
    const hone_block *block = hone_func_node(s->func, s->block)->u.block.block;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_expr axis = {.kind = HONE_EXPR_VAR,
                                .dtype = s->func->vars[block->axes[i].var].dtype,
                                .u.var = block->axes[i].var};
        int64_t value;
        if (!hone_value_at(s->points, &axis, &value)) return 0;
        hash = (hash ^ (uint64_t)value) * 0x100000001B3u;
    }
    return hash | 1;
}

static void meet(search *s, const element *el, const hone_touch *first, const hone_touch *now) {
    if (s->is_over || !first->step || first->iteration == now->iteration) return;
    const hone_dependence found = {el->buffer, el->number, first, now};
    s->is_over = s->asked->wants(s->asked->ctx, &found);
}

static void note(search *s, hone_node_id at, hone_buffer buffer, uint32_t rank,
                 const hone_expr *const *indices, bool is_write) {
    int64_t number;
    if (s->is_over || !is_shared(s, buffer)) return;
    if (!number_of(s, hone_func_buffer(s->func, buffer), rank, indices, &number)) return;
    element *el = element_of(s, buffer, number);
    const hone_touch now = {at, is_write, s->iteration, ++s->step, instance_of(s)};
    if (!el) {
        s->is_over = true;
        return;
    }
    meet(s, el, &el->write, &now);
    if (is_write) meet(s, el, &el->read, &now);
    hone_touch *first = is_write ? &el->write : &el->read;
    if (!first->step) *first = now;
}

/* ---- running ---- */

static void run(search *s, hone_node_id id);

static void wait_for_others(search *s) {
    if (s->asked->waits) s->phase++;
}

static void run_children(search *s, hone_node_id parent) {
    hone_node_id n = hone_func_node(s->func, parent)->first;
    for (; n != HONE_NO_ID && !s->is_over; n = hone_func_node(s->func, n)->next) {
        if (hone_func_node(s->func, n)->kind == HONE_NODE_ELSE) return;
        run(s, n);
    }
}

typedef struct loads {
    search *s;
    hone_node_id at;
} loads;

static bool note_load(void *ctx, const hone_expr *e) {
    loads *l = ctx;
    if (e->kind == HONE_EXPR_LOAD) note(l->s, l->at, e->u.buffer, e->count, e->args, false);
    if (e->kind == HONE_EXPR_SELECT || hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
        int64_t condition;
        hone_expr_walk(e->args[0], note_load, l);
        if (hone_value_at(l->s->points, e->args[0], &condition))
            hone_expr_walk(e->args[condition ? 1 : 2], note_load, l);
        return false;
    }
    bool may_skip = hone_expr_is_op(e, HONE_OP_AND) || hone_expr_is_op(e, HONE_OP_OR);
    return e->kind != HONE_EXPR_LET && !may_skip;
}

static void run_store(search *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->func, id);
    loads l = {s, id};
    hone_expr_walk(node->u.store.value, note_load, &l);
    for (uint32_t d = 0; d < node->u.store.rank; d++)
        hone_expr_walk(node->u.store.indices[d], note_load, &l);
    note(s, id, node->u.store.buffer, node->u.store.rank, node->u.store.indices, true);
}

static bool is_same_thread(const search *s, const hone_node *inner) {
    const hone_node *loop = hone_func_node(s->func, s->asked->loop);
    return loop->loop_kind == HONE_LOOP_THREAD && inner->loop_kind == HONE_LOOP_THREAD &&
           loop->u.loop.thread_tag && inner->u.loop.thread_tag &&
           strcmp(loop->u.loop.thread_tag, inner->u.loop.thread_tag) == 0;
}

/* The ends of a loop, and what stands beside them. */
static void run_loop(search *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->func, id);
    hone_points *points = s->points;
    hone_point_var *var = &points->vars[node->u.loop.var];
    int64_t min, extent;
    if (!hone_value_at(points, node->u.loop.range.min, &min) ||
        !hone_value_at(points, node->u.loop.range.extent, &extent) || extent > INT32_MAX ||
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
    const uint32_t phase = s->phase;
    for (int64_t k = 0; k < extent && k < all && !s->is_over; k++) {
        if (node->loop_kind == HONE_LOOP_THREAD) s->phase = phase; /* these run at once, too */
        var->value = min + (extent <= all ? k : ends[k]);
        var->is_known = true;
        points->stamp++;
        run_children(s, id);
    }
    var->is_known = false;
    points->stamp++;
}

static void run_block(search *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->func, id);
    const hone_block *block = node->u.block.block;
    const hone_expr *predicate = node->u.block.predicate;
    hone_node_id outer = s->block;
    int64_t value;
    if (predicate && (!hone_value_at(s->points, predicate, &value) || !value)) return;
    /* instances of a reduction are meant to meet */
    if (hone_block_init_of(s->func, id) != HONE_NO_ID) return;
    for (uint32_t i = 0; i < block->axis_count; i++)
        s->points->vars[block->axes[i].var].source = node->u.block.bindings[i];
    s->points->stamp++;
    if (block->axis_count) {
        s->block = id;
        wait_for_others(s);
    }
    run_children(s, id);
    s->block = outer;
}

static void run_if(search *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->func, id);
    int64_t value;
    if (node->u.eval.value->dtype.lanes > 1) return;
    if (!hone_value_at(s->points, node->u.eval.value, &value)) return;
    if (value) {
        run_children(s, id);
        return;
    }
    hone_node_id n = node->first;
    while (n != HONE_NO_ID && hone_func_node(s->func, n)->kind != HONE_NODE_ELSE)
        n = hone_func_node(s->func, n)->next;
    if (n != HONE_NO_ID) run_children(s, n);
}

static void run(search *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->func, id);
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
        s->points->vars[node->u.let.var].source = node->u.let.value;
        s->points->stamp++;
        run_children(s, id);
        return;
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
    case HONE_NODE_ATTR:
        run_children(s, id);
        return;
    case HONE_NODE_EVAL:
        wait_for_others(s);
        return;
    default: /* loops without a count: unknown */
        return;
    }
}

/* ---- the loop, at one point of those outside ---- */

/* The loops outside stand at their begin. */
static bool set_outer(search *s, hone_node_id id, bool is_known) {
    const hone_func *func = s->func;
    hone_node_id parent = hone_func_node(func, id)->parent;
    if (parent == HONE_NO_ID) return true;
    if (!set_outer(s, parent, is_known)) return false;
    const hone_node *node = hone_func_node(func, parent);
    if (node->kind != HONE_NODE_FOR) return true;
    hone_point_var *var = &s->points->vars[node->u.loop.var];
    int64_t extent;
    var->is_known = false;
    s->points->stamp++;
    if (!is_known) return true;
    if (!hone_value_at(s->points, node->u.loop.range.min, &var->value) ||
        !hone_value_at(s->points, node->u.loop.range.extent, &extent) || extent < 1) {
        return false;
    }
    var->is_known = true;
    return true;
}

static bool guards_hold(const search *s) {
    hone_points *points = s->points;
    for (uint32_t i = 0; i < points->guard_count; i++) {
        int64_t value;
        if (!hone_value_at(points, points->guards[i].condition, &value)) return false;
        if (!value != points->guards[i].is_negated) return false;
    }
    return true;
}

/* The iteration to be tried after one: all of the first, then some as far apart as a power of two,
 * as what meets by its rest has it (1,024 threads and v % 512), and the last. */
static int64_t next_tried(int64_t k, int64_t extent) {
    int64_t apart = APART;
    if (k + 1 < TRIED) return k + 1;
    while (extent / apart > TRIED_APART)
        apart *= 2;
    int64_t next = (k / apart + 1) * apart;
    return next > extent - 1 && k < extent - 1 ? extent - 1 : next;
}

static void run_iterations(search *s) {
    const hone_node *loop = hone_func_node(s->func, s->asked->loop);
    hone_points *points = s->points;
    hone_point_var *var = &points->vars[loop->u.loop.var];
    int64_t min, extent;
    if (!hone_value_at(points, loop->u.loop.range.min, &min) ||
        !hone_value_at(points, loop->u.loop.range.extent, &extent) || min > INT32_MAX ||
        min < -INT32_MAX || extent < 2 || extent > INT32_MAX) {
        return;
    }
    for (int64_t k = 0; k < extent && !s->is_over; k = next_tried(k, extent)) {
        var->value = s->iteration = min + k;
        var->is_known = true;
        points->stamp++;
        s->step = s->phase = 0;
        if (guards_hold(s)) run_children(s, s->asked->loop);
    }
    var->is_known = false;
}

hone_status hone_find_dependence(const hone_dependence_search *asked) {
    const hone_func *func = asked->points->func;
    search s = {.asked = asked, .func = func, .points = asked->points, .block = HONE_NO_ID};
    s.elements = hone_arena_alloc(asked->arena, MOST_ELEMENTS * sizeof *s.elements);
    s.slots = hone_arena_zalloc(asked->arena, SLOTS * sizeof *s.slots);
    s.shared = hone_arena_zalloc(asked->arena, func->buffer_count + 1);
    if (!s.elements || !s.slots || !s.shared)
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "search for a dependence");
    if (set_outer(&s, asked->loop, true)) run_iterations(&s);
    (void)set_outer(&s, asked->loop, false);
    return HONE_OK;
}

void hone_show_element(const hone_func *func, hone_buffer buffer, int64_t number, hone_str *out) {
    const hone_buffer_info *info = hone_func_buffer(func, buffer);
    int64_t digits[HONE_MAX_RANK] = {0};
    for (uint32_t d = info->rank; d-- > 0;) {
        int64_t extent = hone_expr_const(info->shape[d]);
        digits[d] = number % extent;
        number /= extent;
    }
    hone_str_printf(out, "%s[", info->name);
    for (uint32_t d = 0; d < info->rank; d++)
        hone_str_printf(out, "%s%lld", d ? ", " : "", (long long)digits[d]);
    hone_str_append(out, "]");
}
