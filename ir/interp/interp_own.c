/* ir/interp/interp_own.c - arrays that each thread has a copy of (ir/core/privatize.h). The storage
 * is then as many arrays as there are threads, one behind the other, and a loop over the axis moves
 * the buffer to the iteration's. What is used outside of the loops as well stays one array.
 */
#include "ir/core/concurrent.h"
#include "ir/core/privatize.h"
#include "ir/interp/interp_impl.h"

static const char *const axes[INTERP_OWN_AXES] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};

enum { MOST_THREADS = 1024, MOST_ELEMENTS = 1 << 22 };

/* The axis of threads that a loop goes along; INTERP_OWN_AXES: none. */
static uint32_t axis_of(const hone_node *node) {
    uint32_t axis = INTERP_OWN_AXES;
    bool is_bound = node->kind == HONE_NODE_FOR && hone_loop_is_of_threads(node);
    for (uint32_t a = 0; is_bound && a < INTERP_OWN_AXES; a++) {
        if (strcmp(axes[a], node->u.loop.thread_tag) == 0) axis = a;
    }
    return axis;
}

/* Threads of the axis that have a copy each; 1: they have none. */
static int64_t find_threads(const machine *m, hone_buffer id, uint32_t axis, bool *differs) {
    hone_private_copies found =
        hone_find_private_copies(m->func, id, m->meets[id], axes[axis], differs);
    bool is_it = found.is_private && found.is_in_loops && found.threads <= MOST_THREADS;
    return is_it && found.threads > 0 ? found.threads : 1;
}

static bool is_candidate(const machine *m, hone_buffer id) {
    const hone_buffer_info *info = &m->func->buffers[id];
    bool is_local = info->scope && strcmp(info->scope, "local") == 0;
    for (hone_buffer b = 0; is_local && b < m->func->buffer_count; b++)
        is_local &= m->func->buffers[b].alias_of != id;
    return is_local && info->alias_of == HONE_NO_ID && m->meets[id] != HONE_NO_ID;
}

void own_find(machine *m) {
    const hone_func *func = m->func;
    xown *own = machine_alloc(m, (func->buffer_count + 1) * sizeof *own);
    bool *differs = machine_alloc(m, (func->var_count + 1) * sizeof *differs);
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        own[b].threads = 1;
        if (!is_candidate(m, b)) continue;
        for (uint32_t a = 0; a < INTERP_OWN_AXES; a++) {
            int64_t threads = find_threads(m, b, a, differs);
            own[b].strides[a] = threads > 1 ? own[b].threads : 0;
            own[b].threads *= threads;
        }
    }
    m->own = own;
}

void own_note_loop(machine *m, xstmt *s) {
    const hone_func *func = m->func;
    uint32_t axis = axis_of(hone_func_node(func, s->node));
    if (axis == INTERP_OWN_AXES) return;
    hone_buffer *moved = machine_alloc(m, (func->buffer_count + 1) * sizeof *moved);
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        hone_node_id meet = m->meets[b];
        bool is_below = m->own[b].strides[axis] > 0 && meet != s->node &&
                        hone_tree_is_ancestor(func, meet, s->node);
        if (is_below) moved[s->moved_count++] = b;
    }
    s->moved = moved;
    s->axis = axis;
}

int64_t own_threads(const machine *m, hone_buffer id, int64_t elements) {
    int64_t threads = m->own[id].threads;
    return elements <= MOST_ELEMENTS / threads ? threads : 1;
}

void own_move(const machine *m, const xstmt *s, xbuffer *buffers, int64_t by) {
    for (uint32_t i = 0; i < s->moved_count; i++) {
        xbuffer *b = &buffers[s->moved[i]];
        b->offset += by * m->own[s->moved[i]].strides[s->axis] * b->share;
    }
}
