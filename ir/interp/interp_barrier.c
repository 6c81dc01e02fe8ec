/* ir/interp/interp_barrier.c - barriers in shared memory (mbarrier of sm_90), and bulk copies,
 * whose bytes they wait for:
 *
 *   T.ptx.mbarrier(at, count, "init", …)                  a phase ends when so many have arrived
 *   T.ptx.mbarrier(at, count, "arrive", …)                so many arrive
 *   T.ptx.mbarrier(at, bytes, "arrive", "expect_tx", …)   one arrives, so many bytes will come
 *   T.ptx.mbarrier(at, bytes, "expect_tx", …)             these alone
 *   T.ptx.cp(to, from, bytes, at, "async", "bulk", …)     copied at once: the bytes have come
 *   T.cuda.mbarrier_wait(at, parity)                      until the phase of that parity has ended
 *
 * What a bulk copy wrote is under way until somebody has waited for its barrier. Threads go on
 * statement by statement, so a phase that has not ended when they wait for it never ends. The state
 * is kept in the 64 bits that the barrier has, as fields of its own. */
#include <string.h>

#include "ir/interp/interp_impl.h"

enum { COUNT_BITS = 20, BYTES_BITS = 23, BULK_BYTES = 16 };

struct xbarrier {
    xbarrier *next;
    const xstore *store;
    int64_t at;
    bool is_begun;
    xqueue phases; /* as groups of copies */
};

/* Of the phase that has not ended. */
typedef struct state {
    int64_t expected, pending, bytes; /* arrivals of each phase, still to come; bytes to come */
    bool is_odd;
} state;

typedef struct place {
    hone_buffer buffer;
    int64_t at;
    xbarrier *barrier;
} place;

static place barrier_at(machine *m, const xexpr *e) {
    place p;
    p.buffer = place_of_pointer(m, async_plain_pointer(e), &p.at);
    const xbuffer *b = &m->buffers[p.buffer];
    if (b->dtype.bits != 64 || !b->store || !b->store->is_shared)
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL,
                                   "a barrier is 64 bits of shared memory, which '%s' has not",
                                   hone_func_buffer(m->func, p.buffer)->name));
    for (p.barrier = m->barriers; p.barrier; p.barrier = p.barrier->next)
        if (p.barrier->store == b->store && p.barrier->at == p.at) return p;
    p.barrier = machine_alloc(m, sizeof *p.barrier);
    *p.barrier = (xbarrier){.next = m->barriers, .store = b->store, .at = p.at};
    m->barriers = p.barrier;
    return p;
}

static state read_state(machine *m, const place *p) {
    const xbuffer *b = &m->buffers[p->buffer];
    uint64_t bits = (uint64_t)read_int(b->store, b->dtype, p->at);
    const uint64_t count = (UINT64_C(1) << COUNT_BITS) - 1, bytes = (UINT64_C(1) << BYTES_BITS) - 1;
    state s = {.expected = (int64_t)(bits & count),
               .pending = (int64_t)(bits >> COUNT_BITS & count),
               .bytes = (int64_t)(bits >> (2 * COUNT_BITS) & bytes),
               .is_odd = bits >> 63};
    if (s.bytes > (int64_t)(bytes / 2)) s.bytes -= (int64_t)bytes + 1;
    if (!p->barrier->is_begun)
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "a barrier that was not begun"));
    return s;
}

static void write_state(machine *m, const place *p, const state *s) {
    const xbuffer *b = &m->buffers[p->buffer];
    const uint64_t bytes = (UINT64_C(1) << BYTES_BITS) - 1;
    uint64_t bits = (uint64_t)s->expected | (uint64_t)s->pending << COUNT_BITS |
                    ((uint64_t)s->bytes & bytes) << (2 * COUNT_BITS) | (uint64_t)s->is_odd << 63;
    touch_atomically(m, p->buffer, p->at);
    write_int(b->store, b->dtype, p->at, (int64_t)bits);
}

static void end_phase_if_done(machine *m, const place *p, state *s) {
    if (s->pending < 0)
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "more threads arrive than a phase has"));
    if (s->pending == 0 && s->bytes == 0) {
        s->pending = s->expected;
        s->is_odd = !s->is_odd;
        p->barrier->phases.committed++;
    }
    write_state(m, p, s);
}

int64_t barrier_call(const xexpr *e, machine *m) {
    place p = barrier_at(m, e->args[1]);
    int64_t number = x_int(e->args[2], m);
    if (async_says(e, "init")) {
        if (number < 1 || number >= 1 << COUNT_BITS)
            machine_fail(
                m, HONE_ERROR(HONE_CODE_ILLEGAL, "a barrier for %lld arrivals", (long long)number));
        p.barrier->is_begun = true;
        p.barrier->phases = (xqueue){0};
        touch_element(m, p.buffer, p.at, true);
        write_state(m, &p, &(state){.expected = number, .pending = number});
        return 0;
    }
    bool arrives = async_says(e, "arrive"), expects = async_says(e, "expect_tx");
    if (!arrives && !expects)
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                   "T.ptx.mbarrier of this form cannot be interpreted here"));
    state s = read_state(m, &p);
    if (expects) s.bytes += number;
    if (arrives) s.pending -= expects ? 1 : number;
    end_phase_if_done(m, &p, &s);
    return 0;
}

int64_t barrier_wait(const xexpr *e, machine *m) {
    place p = barrier_at(m, e->args[1]);
    state s = read_state(m, &p);
    bool is_odd = x_int(e->args[2], m) & 1;
    if (s.is_odd == is_odd)
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL,
                                   "threads wait for a phase that does not end: %lld arrivals and "
                                   "%lld bytes are missing",
                                   (long long)s.pending, (long long)s.bytes));
    p.barrier->phases.done = p.barrier->phases.committed;
    return 0;
}

/* (to, from, bytes, barrier, words…) */
int64_t barrier_copy(const xexpr *e, machine *m) {
    int64_t to_at, from_at, bytes = x_int(e->args[3], m);
    hone_buffer to = place_of_pointer(m, async_plain_pointer(e->args[1]), &to_at);
    hone_buffer from = place_of_pointer(m, async_plain_pointer(e->args[2]), &from_at);
    int64_t each = (int64_t)hone_dtype_bytes(m->buffers[to].dtype);
    if (bytes % BULK_BYTES || to_at * each % BULK_BYTES || from_at * each % BULK_BYTES)
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL,
                                   "a bulk copy begins and ends at multiples of 16 bytes"));
    place p = barrier_at(m, e->args[4]);
    async_copy(m, to, to_at, from, from_at, bytes, &p.barrier->phases);
    state s = read_state(m, &p);
    s.bytes -= bytes;
    end_phase_if_done(m, &p, &s);
    return 0;
}
