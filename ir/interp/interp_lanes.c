/* ir/interp/interp_lanes.c - values that pass between threads: shuffles and votes of a warp, and
 * tvm_thread_allreduce.
 *
 * In a statement with such a call, every thread first evaluates what it passes on (lanes_send);
 * then each runs the statement and takes the values of others from there. A lane that is not there
 * gives garbage (NaN), as the hardware says nothing about it, and so may registers that are passed
 * on: the lanes at the end of a reduction have nothing in them that counts. tvm_thread_allreduce
 * goes over the threads in order.
 */
#include <math.h>
#include <string.h>

#include "ir/interp/interp_team.h"
#include "ir/ops/named_op.h"

static const char *name_of(const hone_expr *call) {
    bool is_named = hone_expr_is_call(call, HONE_INTRIN_NAMED) && call->count > 0 &&
                    call->args[0]->kind == HONE_EXPR_STRING;
    return is_named ? call->args[0]->u.s : "";
}

xmeeting meeting_of(const hone_expr *call) {
    const char *name = name_of(call);
    if (hone_expr_is_call(call, HONE_INTRIN_STORAGE_SYNC)) {
        bool is_warp = call->count > 0 && call->args[0]->kind == HONE_EXPR_STRING &&
                       strcmp(call->args[0]->u.s, "warp") == 0;
        return is_warp ? MEET_WARP : MEET_BLOCK;
    }
    if (strcmp(name, "cuda.cta_sync") == 0) return MEET_BLOCK;
    if (strcmp(name, "cuda.warp_sync") == 0) return MEET_WARP;
    return strcmp(name, "tvm_thread_allreduce") == 0 ? MEET_REDUCE : MEET_NOT;
}

/* ---- sending ---- */

static xvalue value_of(const xexpr *e, machine *m) {
    return x_is_float(e) ? (xvalue){.f = x_float(e, m)} : (xvalue){.i = x_int(e, m)};
}

void lanes_send(machine *m, const xphase *phase, const xcrew *crew, const xstmt *s) {
    m->at = s->node;
    for (const xexchange *x = s->exchanges; x; x = x->next) {
        for (uint32_t t = 0; t < crew->count; t++) {
            xthread *thread = &crew->threads[t];
            if (thread->idle || !x->value) continue;
            team_enter(m, phase, crew, thread);
            thread->sent[x->index] = value_of(x->value, m);
        }
    }
}

/* The thread that evaluates, or the end: there are no others. */
static xthread *self(machine *m) {
    if (m->thread && m->crew) return m->thread;
    machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "values pass between threads, and no loop over "
                                                  "threadIdx stands around"));
}

static uint32_t lane_of(const xthread *t) {
    return t->linear % WARP_LANES;
}

static xvalue garbage(const xexpr *e) {
    return x_is_float(e) ? (xvalue){.f = NAN} : (xvalue){.i = wrap_to(e, -1)};
}

/* ---- shuffles ---- */

typedef enum xway { WAY_INDEX, WAY_UP, WAY_DOWN, WAY_XOR } xway;

/* The lane that a value comes from; out of its part of the warp: one's own. */
static uint32_t source_lane(xway way, uint32_t lane, int64_t by, int64_t width) {
    int64_t first = lane / width * width, from = lane;
    switch (way) {
    case WAY_INDEX:
        return (uint32_t)(first + (by % width + width) % width);
    case WAY_UP:
        from = lane - by;
        break;
    case WAY_DOWN:
        from = lane + by;
        break;
    case WAY_XOR:
        from = lane ^ by;
        break;
    }
    bool is_inside = from < first + width && (from >= first || way == WAY_XOR) && from >= 0;
    return is_inside ? (uint32_t)from : lane;
}

/* (mask, value, lane or distance, width, size of a warp) */
static xvalue shuffle(const xexpr *e, machine *m, xway way) {
    xthread *t = self(m);
    uint32_t lane = lane_of(t);
    int64_t by = x_int(e->args[3], m), width = e->count > 4 ? x_int(e->args[4], m) : WARP_LANES;
    if (width < 1 || width > WARP_LANES || WARP_LANES % width != 0) {
        machine_fail(
            m, HONE_ERROR(HONE_CODE_ILLEGAL, "a shuffle of the width %lld", (long long)width));
    }
    if (!((uint64_t)x_int(e->args[1], m) >> lane & 1)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "lane %u is not in the mask of its shuffle",
                                   (unsigned)lane));
    }
    const xthread *from = lane_at(m->crew, t, source_lane(way, lane, by, width));
    return from ? from->sent[e->u.slot] : garbage(e);
}

#define SHUFFLE(name, way)                                                                         \
    static int64_t name##_i(const xexpr *e, machine *m) {                                          \
        return shuffle(e, m, way).i;                                                               \
    }                                                                                              \
    static double name##_f(const xexpr *e, machine *m) {                                           \
        return shuffle(e, m, way).f;                                                               \
    }
SHUFFLE(shuffle_index, WAY_INDEX)
SHUFFLE(shuffle_up, WAY_UP)
SHUFFLE(shuffle_down, WAY_DOWN)
SHUFFLE(shuffle_xor, WAY_XOR)

/* ---- reductions and votes of a warp ---- */

static xvalue combine(const xexpr *e, const char *op, xvalue a, xvalue b) {
    bool is_sum = strcmp(op, "sum") == 0, is_max = strcmp(op, "max") == 0;
    if (x_is_float(e)) {
        if (is_sum) return (xvalue){.f = round_to(e, a.f + b.f)};
        return (is_max ? a.f > b.f : a.f < b.f) ? a : b;
    }
    if (is_sum) return (xvalue){.i = wrap_to(e, (int64_t)((uint64_t)a.i + (uint64_t)b.i))};
    bool is_less = e->type == X_U64 ? (uint64_t)a.i < (uint64_t)b.i : a.i < b.i;
    return is_less != is_max ? a : b;
}

/* (value, "sum", width): each with the lane whose number differs in one bit, highest bit first */
static xvalue warp_reduce(const xexpr *e, machine *m) {
    const xthread *t = self(m);
    const hone_expr *op = e->args[2]->source;
    int64_t width = e->count > 3 ? x_int(e->args[3], m) : WARP_LANES;
    xvalue values[WARP_LANES], next[WARP_LANES];
    if (op->kind != HONE_EXPR_STRING || width < 2 || width > WARP_LANES || WARP_LANES % width) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "warp_reduce wants an operation and a width "
                                                      "of 2, 4, 8, 16 or 32"));
    }
    uint32_t first = lane_of(t) / (uint32_t)width * (uint32_t)width;
    for (uint32_t l = 0; l < width; l++) {
        const xthread *from = lane_at(m->crew, t, first + l);
        values[l] = from ? from->sent[e->u.slot] : garbage(e);
    }
    for (uint32_t bit = (uint32_t)width / 2; bit; bit /= 2) {
        for (uint32_t l = 0; l < width; l++)
            next[l] = combine(e, op->u.s, values[l], values[l ^ bit]);
        memcpy(values, next, (size_t)width * sizeof *values);
    }
    return values[lane_of(t) - first];
}
static int64_t warp_reduce_i(const xexpr *e, machine *m) {
    return warp_reduce(e, m).i;
}
static double warp_reduce_f(const xexpr *e, machine *m) {
    return warp_reduce(e, m).f;
}

static int64_t active_mask(const xexpr *e, machine *m) {
    const xthread *t = self(m);
    int64_t mask = 0;
    (void)e;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        mask |= (int64_t)(lane_at(m->crew, t, l) != NULL) << l;
    return mask;
}

/* (mask, predicate) */
static int64_t ballot(const xexpr *e, machine *m) {
    const xthread *t = self(m);
    int64_t mask = x_int(e->args[1], m), votes = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        const xthread *from = mask >> l & 1 ? lane_at(m->crew, t, l) : NULL;
        votes |= (int64_t)(from && from->sent[e->u.slot].i != 0) << l;
    }
    return votes;
}
static int64_t any_of(const xexpr *e, machine *m) {
    return ballot(e, m) != 0;
}

/* ---- choosing ---- */

static const struct {
    const char *name;
    uint8_t least, most; /* arguments, the name among them */
    uint8_t value;       /* which of them is passed on; 0: none */
    int64_t (*i)(const xexpr *e, machine *m);
    double (*f)(const xexpr *e, machine *m);
} calls[] = {
    {"cuda.__shfl_sync",      4, 6, 2, shuffle_index_i, shuffle_index_f},
    {"cuda.__shfl_up_sync",   4, 6, 2, shuffle_up_i,    shuffle_up_f   },
    {"cuda.__shfl_down_sync", 4, 6, 2, shuffle_down_i,  shuffle_down_f },
    {"cuda.__shfl_xor_sync",  4, 6, 2, shuffle_xor_i,   shuffle_xor_f  },
    {"cuda.__activemask",     1, 1, 0, active_mask,     NULL           },
    {"cuda.warp_reduce",      3, 4, 1, warp_reduce_i,   warp_reduce_f  },
    {"cuda.ballot_sync",      3, 3, 2, ballot,          NULL           },
    {"cuda.any_sync",         3, 3, 2, any_of,          NULL           },
};

/* In order: those inside it were compiled before. */
static uint32_t add_exchange(machine *m, const xexpr *value) {
    xexchange *x = machine_alloc(m, sizeof *x), **tail = &m->exchanges;
    while (*tail)
        tail = &(*tail)->next;
    *tail = x;
    if (value && value->source->kind == HONE_EXPR_LOAD) m->is_passed[value->u.buffer] = true;
    *x = (xexchange){.value = value, .index = m->exchange_count};
    return m->exchange_count++;
}

static int64_t together_i(const xexpr *e, machine *m) {
    (void)e;
    (void)self(m);
    return 0; /* done by the threads together */
}

bool choose_lanes(machine *m, xexpr *x) {
    const char *name = hone_named_op_same(x->source->args[0]->u.s);
    if (meeting_of(x->source) != MEET_NOT) {
        x->type = X_I64;
        x->eval.i = together_i;
        return true;
    }
    for (size_t i = 0; i < HONE_COUNT(calls); i++) {
        if (strcmp(calls[i].name, name) != 0) continue;
        const xexpr *value = calls[i].value ? x->args[calls[i].value] : NULL;
        bool fits = x->count >= calls[i].least && x->count <= calls[i].most && x->lanes <= 1 &&
                    !m->is_running && (!calls[i].f || x_is_float(x) == x_is_float(value));
        if (!fits || (!calls[i].f && x_is_float(x))) return false;
        x->u.slot = add_exchange(m, value);
        if (x_is_float(x))
            x->eval.f = calls[i].f;
        else
            x->eval.i = calls[i].i;
        return true;
    }
    return false;
}

/* ---- tvm_thread_allreduce ---- */

/* T.comm_reducer(lambda x0, x1, y0, y1: (..., ...), [identity0, identity1]) */
struct xreducer {
    uint32_t count; /* of values */
    const uint32_t *params;
    const xexpr **bodies, **identities;
    /* by group of threads that reduce together */
    uint32_t capacity;
    xvalue *sums; /* [group * count + value] */
    uint8_t *states;
};
enum { GROUP_NEW, GROUP_OPEN, GROUP_DIVERGED };

HONE_NORETURN static void fail_reduce(machine *m, const char *what) {
    machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "tvm_thread_allreduce %s", what));
}

static const hone_lambda *reducer_around(const hone_func *func, hone_node_id node) {
    for (; node != HONE_NO_ID; node = hone_func_node(func, node)->parent) {
        const hone_node *at = hone_func_node(func, node);
        if (at->kind == HONE_NODE_ATTR && at->u.attr.node.kind == HONE_VALUE_LAMBDA &&
            strcmp(at->u.attr.key, "reduce_scope") == 0) {
            return at->u.attr.node.u.lambda;
        }
    }
    return NULL;
}

struct xreducer *compile_reducer(machine *m, hone_node_id node) {
    const hone_lambda *lambda = reducer_around(m->func, node);
    const hone_expr *call = hone_func_node(m->func, node)->u.eval.value;
    struct xreducer *r = machine_alloc(m, sizeof *r);
    if (!lambda || !lambda->is_reducer) {
        fail_reduce(m, "has no T.attr(T.comm_reducer(...), \"reduce_scope\", ...) around it");
    }
    r->count = lambda->body_count;
    r->params = lambda->params;
    if (lambda->param_count != 2 * r->count || lambda->identity_count != r->count ||
        call->count < 3 + 2 * r->count) {
        fail_reduce(m, "and its reducer have different numbers of values");
    }
    r->bodies = machine_alloc(m, (r->count + 1) * sizeof *r->bodies);
    r->identities = machine_alloc(m, (r->count + 1) * sizeof *r->identities);
    for (uint32_t i = 0; i < r->count; i++) {
        r->bodies[i] = compile_expr(m, lambda->bodies[i]);
        r->identities[i] = compile_expr(m, lambda->identities[i]);
        bool is_float = x_is_float(r->bodies[i]);
        if (is_float != x_is_float(r->identities[i]) ||
            is_float != hone_dtype_is_float(call->args[2 + i]->dtype)) {
            fail_reduce(m, "and its reducer have values of different types");
        }
    }
    return r;
}

/* The thread tag of a loop variable, the innermost one around. */
static const char *tag_of(const machine *m, hone_node_id node, hone_var var) {
    for (; node != HONE_NO_ID; node = hone_func_node(m->func, node)->parent) {
        const hone_node *at = hone_func_node(m->func, node);
        if (at->kind == HONE_NODE_FOR && at->u.loop.var == var) return at->u.loop.thread_tag;
    }
    return NULL;
}

/* Which of the bound threads are reduced over. */
static uint32_t reduced_threads(machine *m, const xstmt *s) {
    const xexpr *e = s->value;
    uint32_t reduced = 0;
    for (uint32_t i = 3 + 2 * s->reducer->count; i < e->count; i++) {
        const hone_expr *source = e->args[i]->source;
        const char *tag = source->kind == HONE_EXPR_VAR ? tag_of(m, s->node, source->u.var) : NULL;
        if (!tag && hone_expr_is_int(source)) continue; /* an extent of 1 */
        uint32_t b = 0;
        while (tag && b < m->bound_thread_count && strcmp(m->bound_threads[b].tag, tag) != 0)
            b++;
        if (!tag || b == m->bound_thread_count) fail_reduce(m, "reduces over no thread");
        reduced |= UINT32_C(1) << b;
    }
    return reduced;
}

/* Threads that differ only in what is reduced over are one group. */
static uint32_t group_of(const machine *m, const xthread *t, uint32_t reduced) {
    uint32_t group = 0;
    for (uint32_t b = 0; b < m->bound_thread_count; b++) {
        const xbound_thread *bound = &m->bound_threads[b];
        if (reduced >> b & 1) continue;
        group = group * (uint32_t)bound->extent + (uint32_t)(t->slots[bound->var].i - bound->min);
    }
    return group;
}

static void add_values(machine *m, const struct xreducer *r, const xexpr *call, uint32_t group) {
    xvalue *sums = &r->sums[group * r->count], *slots = m->slots;
    bool counts = x_int(call->args[2 + r->count], m) != 0, is_new = !r->states[group];
    for (uint32_t i = 0; i < r->count; i++) {
        slots[r->params[i]] = sums[i];
        slots[r->params[r->count + i]] = value_of(counts ? call->args[2 + i] : r->identities[i], m);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        sums[i] = is_new ? slots[r->params[r->count + i]] : value_of(r->bodies[i], m);
    }
    r->states[group] = GROUP_OPEN;
}

/* A place by its element, or by the data variable of a buffer of one. */
static void put(machine *m, const xexpr *to, const xexpr *like, xvalue value) {
    hone_buffer id = HONE_NO_ID;
    int64_t at = 0;
    if (to->source->kind == HONE_EXPR_LOAD) {
        id = to->u.buffer;
        at = locate(m, id, to->count, to->args, true);
    } else if (to->source->kind == HONE_EXPR_VAR) {
        id = buffer_of_data(m, to->source->u.var);
        if (id == HONE_NO_ID || !m->buffers[id].store)
            fail_reduce(m, "has no place for its result");
        touch_element(m, id, at, true);
    } else {
        fail_reduce(m, "has no place for its result");
    }
    const xbuffer *b = &m->buffers[id];
    if (hone_dtype_is_float(b->dtype) != x_is_float(like)) {
        fail_reduce(m, "has a place of another type for its result");
    }
    if (x_is_float(like))
        write_float(b->store, b->dtype, at, value.f);
    else
        write_int(b->store, b->dtype, at, value.i);
}

/* (count, values, condition, places, threads that are reduced over) */
void lanes_reduce(machine *m, const xphase *phase, const xcrew *crew, const xstmt *s) {
    struct xreducer *r = s->reducer;
    uint32_t reduced = reduced_threads(m, s);
    if (r->capacity < crew->count) {
        r->sums = machine_alloc(m, (size_t)crew->count * r->count * sizeof *r->sums);
        r->states = machine_alloc(m, crew->count);
        r->capacity = crew->count;
    }
    memset(r->states, GROUP_NEW, crew->count);
    for (uint32_t t = 0; t < crew->count; t++) {
        xthread *thread = &crew->threads[t];
        if (thread->idle) continue;
        team_enter(m, phase, crew, thread);
        add_values(m, r, s->value, group_of(m, thread, reduced));
    }
    for (uint32_t t = 0; t < crew->count; t++) {
        if (crew->threads[t].idle)
            r->states[group_of(m, &crew->threads[t], reduced)] |= GROUP_DIVERGED;
    }
    for (uint32_t t = 0; t < crew->count; t++) {
        xthread *thread = &crew->threads[t];
        uint32_t group = group_of(m, thread, reduced);
        if (thread->idle) continue;
        team_enter(m, phase, crew, thread);
        if (r->states[group] & GROUP_DIVERGED) fail_diverged(m, "tvm_thread_allreduce");
        for (uint32_t i = 0; i < r->count; i++) {
            put(m, s->value->args[3 + r->count + i], s->value->args[2 + i],
                r->sums[group * r->count + i]);
        }
    }
}
