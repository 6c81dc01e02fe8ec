/* ir/interp/interp_async.c - asynchronous copies: a copy is done at once, and what it wrote is
 * under way (for the race check) until its thread waits for the group of copies that it was
 * committed with.
 *
 *   T.s_tir.cp_async_raw, T.ptx.cp(..., "async", ...)     copy
 *   T.ptx.cp("async", "commit_group", "")                 commit
 *   T.ptx.cp(n, "async", "wait_group", "")                all but the last n groups
 *   T.ptx.cp(..., "async", "bulk", ...)                   by barriers: interp_barrier.c
 *   async_commit_queue_scope: q        what is stored below in async_scope is one group of queue q
 *   async_wait_queue_scope: q, async_wait_inflight_count: n       waits before what stands below
 */
#include <string.h>

#include "ir/interp/interp_team.h"
#include "support/core/alloc.h"

/* What was copied in one group. */
typedef struct xflight {
    const xqueue *queue;
    uint32_t group;
} xflight;

static xqueue *queue_at(machine *m, int64_t id) {
    if (id < 0 || id >= ASYNC_QUEUES) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "a queue of copies with the number %lld",
                                   (long long)id));
    }
    return m->thread ? &m->thread->queues[id] : &m->queues[id];
}

/* The number of the group that is being filled, from 1. */
static uint32_t flight_of(machine *m, xqueue *queue) {
    if (queue->flight && m->flights[queue->flight].group == queue->committed) return queue->flight;
    if (m->flight_count + 1 >= m->flight_capacity) {
        uint32_t capacity = m->flight_capacity ? m->flight_capacity * 2 : 64;
        xflight *flights = hone_realloc_array(m->flights, capacity, sizeof *flights);
        if (!flights) machine_out_of_memory(m);
        m->flights = flights;
        m->flight_capacity = capacity;
    }
    queue->flight = ++m->flight_count;
    m->flights[queue->flight] = (xflight){queue, queue->committed};
    return queue->flight;
}

static void mark(machine *m, hone_buffer id, int64_t at, xqueue *queue) {
    xstore *s = m->buffers[id].store;
    if (!s->flights) {
        size_t bytes = store_units(s) * sizeof *s->flights;
        s->flights = hone_malloc(bytes);
        if (!s->flights) machine_out_of_memory(m);
        memset(s->flights, 0, bytes);
    }
    int64_t count, first = first_unit(&m->buffers[id], at, &count);
    for (int64_t unit = first; unit < first + count; unit++)
        s->flights[unit] = flight_of(m, queue);
}

void async_mark(machine *m, hone_buffer id, int64_t at) {
    if (m->options.check_races) mark(m, id, at, queue_at(m, m->async_queue));
}

/* What a bulk copy writes it writes for nobody: its barrier says who may read it. */
static void mark_bulk(machine *m, hone_buffer id, int64_t at, xqueue *queue) {
    xstore *s = m->buffers[id].store;
    if (!m->options.check_races) return;
    mark(m, id, at, queue);
    int64_t count, first = first_unit(&m->buffers[id], at, &count);
    for (int64_t unit = first; s->shadow && unit < first + count; unit++)
        s->shadow[unit] = (xshadow){0};
}

void async_check(machine *m, xstore *s, xplace at, hone_buffer id) {
    const xflight *flight = &m->flights[s->flights[at.unit]];
    if (s->flights[at.unit] && flight->group >= flight->queue->done) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL,
                                   "element %lld of '%s' is touched while it is copied "
                                   "asynchronously",
                                   (long long)at.element, hone_func_buffer(m->func, id)->name));
    }
    s->flights[at.unit] = 0;
}

static void commit(machine *m, int64_t queue) {
    queue_at(m, queue)->committed++;
}

static void wait(machine *m, int64_t queue, int64_t left) {
    xqueue *q = queue_at(m, queue);
    int64_t done = (int64_t)q->committed - left;
    if (done > (int64_t)q->done) q->done = (uint32_t)done;
}

/* ---- attributes ---- */

static int64_t number_of(const hone_node *node) {
    const hone_expr *value = node->u.attr.value;
    return value && hone_expr_is_int(value) ? value->u.i : 0;
}

bool async_is_attr(const hone_node *node) {
    return strncmp(node->u.attr.key, "async_", 6) == 0;
}

bool async_is_inside(const hone_func *func, hone_node_id node) {
    for (; node != HONE_NO_ID; node = hone_func_node(func, node)->parent) {
        const hone_node *at = hone_func_node(func, node);
        if (at->kind == HONE_NODE_ATTR && strcmp(at->u.attr.key, "async_scope") == 0) return true;
    }
    return false;
}

void async_enter(machine *m, const hone_node *node) {
    if (strcmp(node->u.attr.key, "async_commit_queue_scope") == 0) {
        m->async_queue = number_of(node);
    }
    if (strcmp(node->u.attr.key, "async_wait_queue_scope") == 0) m->waited_queue = number_of(node);
}

void async_begin(machine *m, const hone_node *node) {
    if (strcmp(node->u.attr.key, "async_wait_inflight_count") == 0) {
        wait(m, m->waited_queue, number_of(node));
    }
}

void async_end(machine *m, const hone_node *node) {
    if (strcmp(node->u.attr.key, "async_commit_queue_scope") == 0) commit(m, number_of(node));
}

void async_leave(machine *m, const hone_node *node) {
    if (strcmp(node->u.attr.key, "async_commit_queue_scope") == 0) m->async_queue = 0;
}

/* ---- instructions ---- */

void async_copy(machine *m, hone_buffer to, int64_t to_at, hone_buffer from, int64_t from_at,
                int64_t bytes, xqueue *queue) {
    hone_dtype dtype = hone_dtype_element(hone_func_buffer(m->func, to)->dtype);
    hone_dtype other = hone_dtype_element(hone_func_buffer(m->func, from)->dtype);
    int64_t each = (int64_t)hone_dtype_bytes(dtype);
    if (!hone_dtype_equal(dtype, other) || bytes % each != 0) {
        machine_fail(m,
                     HONE_ERROR(HONE_CODE_ILLEGAL, "%lld bytes are copied from %s to %s",
                                (long long)bytes, HONE_DTYPE_NAME(other), HONE_DTYPE_NAME(dtype)));
    }
    for (int64_t i = 0; i < bytes / each; i++) {
        touch_element(m, from, from_at + i, false);
        touch_element(m, to, to_at + i, true);
        const xstore *source = m->buffers[from].store, *target = m->buffers[to].store;
        if (hone_dtype_is_float(dtype)) {
            write_float(target, m->buffers[to].dtype, to_at + i,
                        read_float(source, m->buffers[from].dtype, from_at + i));
        } else {
            write_int(target, dtype, to_at + i, read_int(source, dtype, from_at + i));
        }
        if (queue)
            mark_bulk(m, to, to_at + i, queue);
        else
            async_mark(m, to, to_at + i);
    }
}

/* ([type,] data, offset, data, offset, bytes): offsets count elements */
static int64_t copy_by_offset(const xexpr *e, machine *m) {
    uint32_t first = e->args[1]->source->kind == HONE_EXPR_STRING ? 2 : 1;
    int64_t to_at, from_at;
    if (e->count != first + 5) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                   "an asynchronous copy with %u arguments, where 5 are known",
                                   (unsigned)(e->count - first)));
    }
    hone_buffer to = place_of_pointer(m, e->args[first], &to_at);
    hone_buffer from = place_of_pointer(m, e->args[first + 2], &from_at);
    to_at += x_int(e->args[first + 1], m);
    from_at += x_int(e->args[first + 3], m);
    async_copy(m, to, to_at, from, from_at, x_int(e->args[first + 4], m), NULL);
    return 0;
}

bool async_says(const xexpr *e, const char *word) {
    for (uint32_t i = 1; i < e->count; i++) {
        const hone_expr *arg = e->args[i]->source;
        if (arg->kind == HONE_EXPR_STRING && strcmp(arg->u.s, word) == 0) return true;
    }
    return false;
}

const xexpr *async_plain_pointer(const xexpr *e) {
    bool is_turned = hone_expr_is_call(e->source, HONE_INTRIN_NAMED) && e->count == 2 &&
                     strcmp(e->source->args[0]->u.s, "cuda.cvta_generic_to_shared") == 0;
    return is_turned ? e->args[1] : e;
}

/* T.ptx.cp in the table of PTX: operands, then words. */
static int64_t copy_in_words(const xexpr *e, machine *m) {
    int64_t to_at, from_at;
    uint32_t operands = 0;
    while (1 + operands < e->count && e->args[1 + operands]->source->kind != HONE_EXPR_STRING)
        operands++;
    if (async_says(e, "commit_group")) {
        commit(m, 0);
    } else if (async_says(e, "wait_all") || async_says(e, "wait_group")) {
        if (async_says(e, "wait_all")) commit(m, 0);
        wait(m, 0, operands ? x_int(e->args[1], m) : 0);
    } else if (async_says(e, "bulk") && async_says(e, "mbarrier::complete_tx::bytes") &&
               operands == 4) {
        return barrier_copy(e, m);
    } else if (async_says(e, "bulk") || !async_says(e, "async") || operands != 3) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                   "T.ptx.cp of this form cannot be interpreted here"));
    } else {
        hone_buffer to = place_of_pointer(m, async_plain_pointer(e->args[1]), &to_at);
        hone_buffer from = place_of_pointer(m, async_plain_pointer(e->args[2]), &from_at);
        async_copy(m, to, to_at, from, from_at, x_int(e->args[3], m), NULL);
    }
    return 0;
}

static int64_t pointer_itself(const xexpr *e, machine *m) {
    (void)e;
    (void)m;
    return 0; /* read by the copy around it */
}

static const struct {
    const char *name;
    int64_t (*run)(const xexpr *e, machine *m);
    uint8_t least; /* arguments, the name among them */
} instructions[] = {
    {"s_tir.cp_async_raw",          copy_by_offset, 6},
    {"ptx.cp_async",                copy_by_offset, 6},
    {"ptx.cp",                      copy_in_words,  2},
    {"ptx.mbarrier",                barrier_call,   4},
    {"cuda.mbarrier_wait",          barrier_wait,   3},
    {"cuda.cvta_generic_to_shared", pointer_itself, 2},
};

bool choose_async(xexpr *x) {
    const char *name = x->source->args[0]->u.s;
    for (size_t i = 0; i < HONE_COUNT(instructions); i++) {
        if (strcmp(instructions[i].name, name) != 0 || x->count < instructions[i].least) continue;
        if (x->lanes > 1) return false;
        x->type = X_I64; /* the value is not used */
        x->eval.i = instructions[i].run;
        return true;
    }
    return false;
}
