/* ir/interp/interp_at_once.c - threads of a block that store into one element at once.
 *
 * Where threads run one after the other, whole nests at a time, the race check trusts that they
 * will be made to wait for each other between statements (interp_race.c). Within one statement
 * they never do: when the loops around it stand at the same iterations, all threads are in it
 * together. So each element of shared memory remembers the instant at which it was stored last:
 * the statement with its iterations, and the thread. Another thread may store there at that instant
 * only what is there already, or sum up together with the others.
 *
 * Lanes of a vector are at one instant. Virtual threads are iterations: one thread goes through
 * them. A tag that is bound twice is one thread: iterations at which the two differ are not run on
 * a device, and do not count here. Nothing is said of statements in a while loop, nor of elements
 * that another statement stores in between.
 */
#include <string.h>

#include "ir/interp/interp_impl.h"

static uint64_t mix(uint64_t seed, uint64_t value) {
    seed = (seed ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return seed ^ seed >> 29;
}

enum { DIMENSIONS = 3 };

static int dimension_of(const char *tag) {
    if (!starts_with(tag, "threadIdx.")) return -1;
    return tag[10] >= 'x' && tag[10] <= 'z' ? tag[10] - 'x' : -1;
}

/* The instant at which the statement runs; false: at none on a device, or it is not known. */
static bool find_instant(const machine *m, hone_node_id at, xinstant *out) {
    int64_t threads[DIMENSIONS] = {0};
    bool is_bound[DIMENSIONS] = {false}, is_of_threads = false;
    out->moment = mix(1, at);
    for (hone_node_id n = at; n != HONE_NO_ID; n = hone_func_node(m->func, n)->parent) {
        const hone_node *node = hone_func_node(m->func, n);
        if (node->kind == HONE_NODE_WHILE) return false;
        if (node->kind != HONE_NODE_FOR || node->loop_kind == HONE_LOOP_VECTORIZED) continue;
        int64_t i = m->slots[node->u.loop.var].i;
        int d = node->loop_kind == HONE_LOOP_THREAD ? dimension_of(node->u.loop.thread_tag) : -1;
        if (d < 0) {
            out->moment = mix(out->moment, (uint64_t)i);
            continue;
        }
        if (is_bound[d] && threads[d] != i) return false;
        threads[d] = i;
        is_of_threads = is_bound[d] = true;
    }
    out->thread = 1;
    for (int d = 0; d < DIMENSIONS; d++)
        out->thread = mix(out->thread, (uint64_t)threads[d]);
    return is_of_threads;
}

void at_once_store(machine *m, xstore *s, xplace at, hone_buffer buffer) {
    xinstant now = {.task = m->task}, *last = &s->instants[at.unit];
    if (hone_func_node(m->func, m->at)->kind != HONE_NODE_STORE) return;
    if (!find_instant(m, m->at, &now)) return;
    bool is_met = last->task != 0 && last->moment == now.moment && last->thread != now.thread;
    if (is_met && !race_is_same_value(m, buffer, at.element) &&
        !race_sums_up(m, last->task, buffer)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL,
                                   "two threads of a block store different values in element %lld "
                                   "of '%s' at once",
                                   (long long)at.element, hone_func_buffer(m->func, buffer)->name));
    }
    *last = now;
}
