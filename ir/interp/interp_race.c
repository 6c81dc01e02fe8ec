/* ir/interp/interp_race.c - the race check. Every iteration of a parallel, vectorized or
 * thread-bound loop is a task below the task around it. Two tasks are concurrent when, on their
 * ways up to the first common ancestor, they come through the same execution of a loop (by
 * different iterations); executions of different loops under one task follow each other and are
 * ordered.
 *
 * Each element remembers its last writer and two readers since then (the first and the last): when
 * a later writer is concurrent with any reader of one loop execution, it is so with one of those
 * two. Threads of one block may work on shared storage together (they synchronise between
 * statements; interp_at_once.c says what they may store within one), and may share a reduction.
 * Where each iteration will have storage of its own they do not meet in it; what one of them reads
 * it must have written itself, though.
 */
#include "ir/interp/interp_impl.h"

#include <string.h>

#include "support/core/alloc.h"

static uint32_t add_task(machine *m, uint32_t parent, uint32_t loop, const xstmt *of) {
    if (m->task_count == m->task_capacity) {
        uint32_t capacity = m->task_capacity ? m->task_capacity * 2 : 256;
        xtask *tasks = hone_realloc_array(m->tasks, capacity, sizeof *tasks);
        if (!tasks) machine_out_of_memory(m);
        m->tasks = tasks;
        m->task_capacity = capacity;
    }
    uint32_t depth = m->task_count ? m->tasks[parent].depth + 1 : 0;
    m->tasks[m->task_count] = (xtask){parent, loop, depth, of};
    return m->task_count++;
}

void race_begin(machine *m) {
    add_task(m, 0, 0, NULL); /* 0 stands for "nobody" in a shadow */
    m->task = add_task(m, 0, 0, NULL);
    m->tasks[m->task].depth = 0;
}

void race_enter_loop(machine *m, uint32_t *out_loop, uint32_t *out_parent) {
    *out_parent = m->task;
    *out_loop = ++m->next_loop;
}

void race_iteration(machine *m, uint32_t loop, uint32_t parent, const xstmt *of) {
    m->task = add_task(m, parent, loop, of);
}

void race_leave_loop(machine *m, uint32_t parent) {
    m->task = parent;
}

/* The loop execution through which the two are concurrent, as the task of a; 0 = ordered. */
static uint32_t concurrent(const machine *m, uint32_t a, uint32_t b) {
    const xtask *tasks = m->tasks;
    if (a == 0 || b == 0 || a == b) return 0;
    while (tasks[a].depth > tasks[b].depth)
        a = tasks[a].parent;
    while (tasks[b].depth > tasks[a].depth)
        b = tasks[b].parent;
    if (a == b) return 0;
    while (tasks[a].parent != tasks[b].parent) {
        a = tasks[a].parent;
        b = tasks[b].parent;
    }
    return tasks[a].loop == tasks[b].loop ? a : 0;
}

/* Do the threads of the loop sum up in the buffer together: in a block of which a reduce axis runs
 * with them, and that says what the sum begins with? */
static bool reduces_together(const machine *m, hone_node_id loop, hone_buffer buffer) {
    const hone_func *func = m->func;
    for (hone_node_id n = m->block ? m->block->node : HONE_NO_ID; n != HONE_NO_ID && n != loop;
         n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_BLOCK || hone_block_init_of(func, n) == HONE_NO_ID) continue;
        const hone_block *block = node->u.block.block;
        bool is_over = false, is_written = false;
        for (uint32_t i = 0; i < block->axis_count; i++)
            is_over |= block->axes[i].kind == HONE_AXIS_REDUCE &&
                       hone_expr_uses_var(node->u.block.bindings[i],
                                          hone_func_node(func, loop)->u.loop.var);
        for (uint32_t i = 0; i < block->write_count; i++)
            is_written |= block->writes[i].buffer == buffer;
        if (is_over && is_written) return true;
    }
    return false;
}

/* Threads synchronise on shared storage and when they reduce together; what is private to each of
 * them is not touched by two. */
static bool is_allowed(const machine *m, const xstore *s, hone_buffer buffer, uint32_t task,
                       bool is_handed_over) {
    const xstmt *loop = m->tasks[task].of;
    if (!loop) return false;
    if (buffer_is_private(m, buffer, loop->node)) return loop->is_thread_loop || !is_handed_over;
    if (!loop->is_thread_loop) return false;
    return s->is_shared || reduces_together(m, loop->node, buffer);
}

/* is_handed_over: the task in hand reads what the other one wrote. */
static void check_pair(machine *m, const xstore *s, int64_t at, hone_buffer buffer, uint32_t other,
                       bool is_handed_over, const char *what) {
    uint32_t task = concurrent(m, m->task, other);
    if (task == 0 || is_allowed(m, s, buffer, task, is_handed_over)) return;
    machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL,
                               "two iterations of a parallel loop touch element %lld of '%s' (%s)",
                               (long long)at, hone_func_buffer(m->func, buffer)->name, what));
}

bool race_sums_up(const machine *m, uint32_t other, hone_buffer buffer) {
    uint32_t task = concurrent(m, m->task, other);
    const xstmt *loop = m->tasks[task].of;
    return loop && reduces_together(m, loop->node, buffer);
}

bool race_is_same_value(const machine *m, hone_buffer id, int64_t at) {
    const xbuffer *b = &m->buffers[id];
    uint8_t before[sizeof(double)];
    size_t size = hone_dtype_bytes(b->dtype);
    if (!m->fresh || size > sizeof before) return false;
    uint8_t *element = b->store->data + (size_t)at * size;
    memcpy(before, element, size);
    if (hone_dtype_is_float(b->dtype))
        write_float(b->store, b->dtype, at, m->fresh->f);
    else
        write_int(b->store, b->dtype, at, m->fresh->i);
    bool is_repeat = memcmp(before, element, size) == 0;
    memcpy(element, before, size);
    return is_repeat;
}

bool race_is_repeat(const machine *m, hone_buffer id, int64_t at) {
    return m->options.allow_repeats && race_is_same_value(m, id, at);
}

void race_touch(machine *m, xstore *s, xplace at, hone_buffer buffer, bool is_write) {
    xshadow *shadow = &s->shadow[at.unit];
    uint32_t me = m->task;
    if (is_write && s->instants && m->fresh && !m->thread) at_once_store(m, s, at, buffer);
    if (is_write && race_is_repeat(m, buffer, at.element)) {
        *shadow = (xshadow){.writer = me};
        return;
    }
    check_pair(m, s, at.element, buffer, shadow->writer, !is_write,
               is_write ? "both write" : "one writes");
    if (is_write || shadow->is_atomic) {
        check_pair(m, s, at.element, buffer, shadow->first_reader, shadow->is_atomic, "one writes");
        check_pair(m, s, at.element, buffer, shadow->last_reader, shadow->is_atomic, "one writes");
    }
    if (is_write) {
        *shadow = (xshadow){.writer = me};
        return;
    }
    if (shadow->is_atomic) *shadow = (xshadow){.writer = shadow->last_reader};
    if (!shadow->first_reader) shadow->first_reader = me;
    shadow->last_reader = me;
}

/* Updates do not disturb each other, only those who read or write in the ordinary way. */
void race_update(machine *m, xstore *s, xplace at, hone_buffer buffer) {
    xshadow *shadow = &s->shadow[at.unit];
    check_pair(m, s, at.element, buffer, shadow->writer, true, "one writes");
    if (!shadow->is_atomic) {
        check_pair(m, s, at.element, buffer, shadow->first_reader, false, "one writes");
        check_pair(m, s, at.element, buffer, shadow->last_reader, false, "one writes");
        *shadow = (xshadow){.writer = shadow->writer, .is_atomic = true};
    }
    if (!shadow->first_reader) shadow->first_reader = m->task;
    shadow->last_reader = m->task;
}
