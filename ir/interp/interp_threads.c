/* ir/interp/interp_threads.c - threads that wait for each other.
 *
 * Where a sync or an exchange of values (shuffles, tvm_thread_allreduce) stands below a thread
 * loop, a thread can't run to its end before the next one begins. So the threads go through such a
 * nest together, statement by statement: what holds none of these is run by each of them in turn,
 * what holds one (loops, conditions, blocks) is entered by all. Those that do not meet a condition
 * are idle below it; a sync is an error then. Each thread has variables and buffers of its own;
 * what is allocated in shared memory on the way is everybody's, and what belongs below the loop
 * (interp_private.c) is each thread's. A thread loop of a tag that is bound already is one thread's
 * share.
 *
 * Between two syncs threads are concurrent, for the race check, whatever memory they touch; a sync
 * of warps orders the threads of one warp only.
 */
#include <string.h>

#include "ir/interp/interp_team.h"

struct xteam {
    xteam *next; /* of the machine */
    uint32_t capacity;
    xcrew crew;
};

/* The next thread from i on that is not idle, or the count. */
static uint32_t next_live(const xcrew *crew, uint32_t i) {
    while (i < crew->count && crew->threads[i].idle)
        i++;
    return i;
}

#define EACH_LIVE(t, crew)                                                                         \
    (uint32_t t = next_live(crew, 0); t < (crew)->count; t = next_live(crew, t + 1))

/* ---- phases ---- */

static void begin_phase(machine *m, xphase *phase) {
    uint32_t parent;
    m->task = phase->parent;
    if (m->options.check_races)
        race_enter_loop(m, &phase->loop, &parent);
    else
        phase->loop++;
}

static xwarp *warp_of(const xcrew *crew, const xthread *t) {
    return &crew->warps[t->linear / WARP_LANES * crew->copies + t->copy];
}

/* A task below that of the thread it is one of, while that lasts; else below its warp. */
static void new_task(machine *m, const xphase *phase, const xcrew *crew, xthread *t) {
    if (t->outer && t->outer->phase == phase->loop) {
        if (!t->outer->inner_loop) t->outer->inner_loop = ++m->next_loop;
        race_iteration(m, t->outer->inner_loop, t->outer->task, NULL);
    } else {
        xwarp *w = warp_of(crew, t);
        if (w->phase != phase->loop) {
            race_iteration(m, phase->loop, phase->parent, NULL);
            *w = (xwarp){m->task, phase->loop, ++m->next_loop};
        }
        race_iteration(m, w->loop, w->task, NULL);
    }
    t->task = m->task;
    t->phase = phase->loop;
    t->inner_loop = 0;
}

void team_enter(machine *m, const xphase *phase, const xcrew *crew, xthread *t) {
    m->slots = t->slots;
    m->buffers = t->buffers;
    m->crew = crew;
    m->thread = t;
    if (!m->options.check_races) return;
    if (t->phase != phase->loop) new_task(m, phase, crew, t);
    m->task = t->task;
}

void fail_diverged(machine *m, const char *what) {
    machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "threads do not all come to %s", what));
}

static void require_all(machine *m, const xcrew *crew) {
    for (uint32_t t = 0; t < crew->count; t++) {
        if (crew->threads[t].idle) fail_diverged(m, "tvm_storage_sync");
    }
}

/* A sync of each warp: its threads, and those around them, begin tasks anew. */
static void sync_warps(machine *m, const xcrew *crew) {
    for (uint32_t i = 0; i < crew->count; i++) {
        xthread *t = &crew->threads[i];
        uint32_t first = t->linear / WARP_LANES * WARP_LANES;
        for (uint32_t l = first; !t->idle && l < first + WARP_LANES && l < crew->linears; l++) {
            if (crew->by_lane[l * crew->copies + t->copy]->idle) {
                fail_diverged(m, "a sync of their warp");
            }
        }
        if (t->idle) continue;
        for (xthread *o = t; o; o = o->outer)
            o->phase = 0;
        warp_of(crew, t)->loop = 0;
    }
    for (uint32_t i = 0; i < crew->count; i++) {
        xwarp *w = warp_of(crew, &crew->threads[i]);
        if (w->loop == 0) w->loop = ++m->next_loop;
    }
}

/* ---- making threads ---- */

static void grow(machine *m, xteam *team, uint32_t count) {
    if (count <= team->capacity) return;
    xthread *threads = machine_alloc(m, count * sizeof *threads);
    if (team->capacity) memcpy(threads, team->crew.threads, team->capacity * sizeof *threads);
    if (team->capacity == 0) {
        team->next = m->teams;
        m->teams = team;
    }
    for (uint32_t i = team->capacity; i < count; i++) {
        threads[i].slots = machine_alloc(m, (m->func->var_count + 1) * sizeof(xvalue));
        threads[i].buffers = machine_alloc(m, (m->func->buffer_count + 1) * sizeof(xbuffer));
        threads[i].queues = machine_alloc(m, ASYNC_QUEUES * sizeof(xqueue));
        threads[i].sent = machine_alloc(m, (m->exchange_count + 1) * sizeof(xvalue));
    }
    team->crew.threads = threads;
    team->crew.by_lane = machine_alloc(m, count * sizeof(xthread *));
    team->crew.warps = machine_alloc(m, count * sizeof(xwarp));
    team->capacity = count;
}

/* What the thread around knows; storage of its own stays. */
static void inherit(const machine *m, xthread *to, xthread *from, bool is_inner) {
    memcpy(to->slots, from->slots, (m->func->var_count + 1) * sizeof(xvalue));
    for (uint32_t b = 0; b < m->func->buffer_count; b++) {
        xstore own = to->buffers[b].own;
        to->buffers[b] = from->buffers[b];
        to->buffers[b].own = own;
    }
    to->outer = is_inner ? from : NULL;
    to->phase = to->inner_loop = 0;
    to->idle = from->idle;
}

/* Buffers named further out that belong to each thread of this loop. Large ones are addressed by
 * where they stand in the whole program (they were not compacted), and can stay one. */
static void allocate_private(machine *m, const xphase *phase, const xcrew *crew, const xstmt *s) {
    enum { MOST = 1 << 22 };
    uint32_t first = next_live(crew, 0);
    for (hone_buffer b = 0; first < crew->count && b < m->func->buffer_count; b++) {
        const xstore *store = crew->threads[first].buffers[b].store;
        bool is_own = store && m->func->buffers[b].alias_of == HONE_NO_ID &&
                      store->elements <= MOST / crew->count && buffer_is_private(m, b, s->node);
        if (!is_own) continue;
        for
            EACH_LIVE(t, crew) {
                team_enter(m, phase, crew, &crew->threads[t]);
                buffer_allocate(m, b);
            }
    }
}

static void run_list(const xstmt *first, machine *m, xphase *phase, const xcrew *crew);

/* The range of the loop, which must be the same for all threads. */
static bool common_range(const xstmt *s, machine *m, const xphase *phase, const xcrew *crew,
                         int64_t *out_min, int64_t *out_extent) {
    bool is_first = true;
    for
        EACH_LIVE(t, crew) {
            team_enter(m, phase, crew, &crew->threads[t]);
            int64_t min = range_min(&s->range, m), extent = range_extent(&s->range, m);
            if (!is_first && (min != *out_min || extent != *out_extent)) {
                fail_diverged(m, "what stands in this loop");
            }
            *out_min = min;
            *out_extent = extent;
            is_first = false;
        }
    return !is_first;
}

static const char *const dimensions[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};

/* Numbers the threads as the hardware does, and finds each by its number. */
static void number_threads(const machine *m, xcrew *crew) {
    xvalue none = {.i = 0};
    const xbound_thread *bound[HONE_COUNT(dimensions)] = {NULL};
    crew->linears = 1;
    for (uint32_t i = 0; i < m->bound_thread_count; i++) {
        for (uint32_t d = 0; d < HONE_COUNT(dimensions); d++) {
            if (strcmp(m->bound_threads[i].tag, dimensions[d]) != 0) continue;
            bound[d] = &m->bound_threads[i];
            crew->linears *= (uint32_t)bound[d]->extent;
        }
    }
    crew->copies = crew->count / crew->linears;
    memset(crew->by_lane, 0, crew->count * sizeof *crew->by_lane);
    memset(crew->warps, 0, crew->count * sizeof *crew->warps);
    for (uint32_t i = 0; i < crew->count; i++) {
        xthread *t = &crew->threads[i];
        uint32_t stride = 1;
        t->linear = t->copy = 0;
        for (uint32_t d = 0; d < HONE_COUNT(dimensions); d++) {
            const xvalue *index = bound[d] ? &t->slots[bound[d]->var] : &none;
            if (bound[d]) t->linear += (uint32_t)(index->i - bound[d]->min) * stride;
            if (bound[d]) stride *= (uint32_t)bound[d]->extent;
        }
        while (crew->by_lane[t->linear * crew->copies + t->copy])
            t->copy++;
        crew->by_lane[t->linear * crew->copies + t->copy] = t;
    }
}

enum { MAX_THREADS = 1 << 16 };

static void run_new_threads(const xstmt *s, machine *m, xphase *phase, const xcrew *outer,
                            bool is_inner) {
    int64_t min = 0, extent = 0;
    if (!common_range(s, m, phase, outer, &min, &extent) || extent < 1) return;
    if (extent > MAX_THREADS / outer->count) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than %d threads", MAX_THREADS));
    }
    if (m->bound_thread_count == HONE_COUNT(m->bound_threads)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "thread loops are nested too deeply"));
    }
    xcrew *crew = &s->team->crew;
    grow(m, s->team, (uint32_t)extent * outer->count);
    crew->count = (uint32_t)extent * outer->count;
    for (uint32_t i = 0; i < crew->count; i++) {
        inherit(m, &crew->threads[i], &outer->threads[i / (uint32_t)extent], is_inner);
        crew->threads[i].slots[s->var].i = min + i % (uint32_t)extent;
        own_move(m, s, crew->threads[i].buffers, min + i % (uint32_t)extent);
    }
    m->bound_threads[m->bound_thread_count++] =
        (xbound_thread){hone_func_node(m->func, s->node)->u.loop.thread_tag, s->var, min, extent};
    number_threads(m, crew);
    allocate_private(m, phase, crew, s);
    run_list(s->first, m, phase, crew);
    m->bound_thread_count--;
}

bool thread_is_bound(const machine *m, const xstmt *s, int64_t *out_index) {
    const char *tag = hone_func_node(m->func, s->node)->u.loop.thread_tag;
    for (uint32_t i = 0; i < m->bound_thread_count; i++) {
        if (strcmp(m->bound_threads[i].tag, tag) != 0) continue;
        *out_index = m->slots[m->bound_threads[i].var].i;
        return true;
    }
    return false;
}

/* ---- statements with a sync or an exchange below ---- */

static void run_loop_together(const xstmt *s, machine *m, xphase *phase, const xcrew *crew) {
    int64_t min = 0, extent = 0, index;
    team_enter(m, phase, crew, &crew->threads[0]);
    if (s->is_thread_loop && !thread_is_bound(m, s, &index)) {
        run_new_threads(s, m, phase, crew, true);
        return;
    }
    if (s->is_thread_loop) {
        for
            EACH_LIVE(t, crew) {
                team_enter(m, phase, crew, &crew->threads[t]);
                if (thread_is_bound(m, s, &index)) m->slots[s->var].i = index;
            }
        run_list(s->first, m, phase, crew);
        return;
    }
    if (!common_range(s, m, phase, crew, &min, &extent)) return;
    for (int64_t i = 0; i < extent; i++) {
        for
            EACH_LIVE(t, crew)
        crew->threads[t].slots[s->var].i = min + i;
        run_list(s->first, m, phase, crew);
    }
}

enum { MOST_CONDITIONS = 63 };

static bool holds(const xexpr *condition, machine *m, const xphase *phase, const xcrew *crew,
                  xthread *t) {
    if (t->idle) return false;
    team_enter(m, phase, crew, t);
    return x_int(condition, m) != 0;
}

/* Where it does not hold, threads are idle until meet_again; returns whether it holds anywhere. */
static bool part(const xexpr *condition, machine *m, const xphase *phase, const xcrew *crew) {
    bool any = false;
    for (uint32_t t = 0; t < crew->count; t++) {
        bool here = holds(condition, m, phase, crew, &crew->threads[t]);
        if (!here) crew->threads[t].idle++;
        any |= here;
    }
    return any;
}

static void meet_again(const xcrew *crew) {
    for (uint32_t t = 0; t < crew->count; t++)
        crew->threads[t].idle -= crew->threads[t].idle > 0;
}

static int64_t threads_along_x(const machine *m) {
    for (uint32_t i = 0; i < m->bound_thread_count; i++)
        if (strcmp(m->bound_threads[i].tag, dimensions[0]) == 0) return m->bound_threads[i].extent;
    return 1;
}

/* Of those that have memory of this scope together with a thread, the first that is not idle. */
static xthread *owner_of(const machine *m, const xcrew *crew, xthread *t, const char *scope) {
    const uint32_t row = (uint32_t)threads_along_x(m);
    if (scope && strncmp(scope, "shared", 6) == 0) return &crew->threads[next_live(crew, 0)];
    if (!scope || strcmp(scope, "warp") != 0) return t;
    uint32_t lane = t->linear / row * row;
    while (crew->by_lane[lane * crew->copies + t->copy]->idle)
        lane++;
    return crew->by_lane[lane * crew->copies + t->copy];
}

static void allocate(machine *m, const xphase *phase, const xcrew *crew, hone_buffer id) {
    const char *scope = hone_func_buffer(m->func, id)->scope;
    for (int is_sharing = 0; is_sharing < 2; is_sharing++) {
        for
            EACH_LIVE(t, crew) {
                xthread *thread = &crew->threads[t], *owner = owner_of(m, crew, thread, scope);
                if (is_sharing != (owner != thread)) continue;
                team_enter(m, phase, crew, thread);
                if (is_sharing)
                    buffer_share(m, id, &owner->buffers[id]);
                else
                    buffer_allocate(m, id);
            }
    }
}

static void drop(machine *m, const xphase *phase, const xcrew *crew, hone_buffer id) {
    for
        EACH_LIVE(t, crew) {
            team_enter(m, phase, crew, &crew->threads[t]);
            buffer_drop(m, id);
        }
}

/* The init of a block, for the threads that stand at the beginning of its reduction axes. */
static void run_init_together(const xstmt *init, machine *m, xphase *phase, const xcrew *crew) {
    uint32_t first = next_live(crew, 0);
    if (first == crew->count) return;
    for (uint32_t t = 0; t < crew->count; t++) {
        xthread *thread = &crew->threads[t];
        if (thread->idle || !thread->is_first) thread->idle++;
    }
    run_list(init->first, m, phase, crew);
    meet_again(crew);
}

static void run_block_together(const xstmt *s, machine *m, xphase *phase, const xcrew *crew) {
    const xblock *b = s->block;
    const xstmt *outer = m->block;
    if (b->predicate && !part(b->predicate, m, phase, crew)) {
        meet_again(crew);
        return;
    }
    for
        EACH_LIVE(t, crew) {
            team_enter(m, phase, crew, &crew->threads[t]);
            crew->threads[t].is_first = block_set_axes(b, m);
        }
    m->block = s;
    for (uint32_t i = 0; i < b->block->alloc_count; i++)
        allocate(m, phase, crew, b->block->allocs[i]);
    for
        EACH_LIVE(t, crew) {
            team_enter(m, phase, crew, &crew->threads[t]);
            for (uint32_t i = 0; i < b->block->match_count; i++)
                buffer_match(m, &b->matches[i]);
        }
    if (s->other) run_init_together(s->other, m, phase, crew);
    run_list(s->first, m, phase, crew);
    for (uint32_t i = 0; i < b->block->alloc_count; i++)
        drop(m, phase, crew, b->block->allocs[i]);
    m->block = outer;
    if (b->predicate) meet_again(crew);
}

static void run_let_together(const xstmt *s, machine *m, xphase *phase, const xcrew *crew) {
    if (s->is_vector) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "a vector is kept over a sync"));
    }
    for
        EACH_LIVE(t, crew) {
            team_enter(m, phase, crew, &crew->threads[t]);
            if (x_is_float(s->value))
                m->slots[s->var].f = x_float(s->value, m);
            else
                m->slots[s->var].i = x_int(s->value, m);
        }
    run_list(s->first, m, phase, crew);
}

static void run_decl_together(const xstmt *s, machine *m, xphase *phase, const xcrew *crew) {
    hone_buffer id = s->access.buffer;
    bool is_alias = hone_func_buffer(m->func, id)->alias_of != HONE_NO_ID;
    if (!is_alias) allocate(m, phase, crew, id);
    for
        EACH_LIVE(t, crew) {
            team_enter(m, phase, crew, &crew->threads[t]);
            if (is_alias) buffer_alias(m, id);
        }
    run_list(s->first, m, phase, crew);
    if (!is_alias) drop(m, phase, crew, id);
}

/* Those that are idle for this condition alone take the other side; what a thread takes is kept by
 * the depth of the condition. */
static void run_if_together(const xstmt *s, machine *m, xphase *phase, const xcrew *crew) {
    bool any = part(s->value, m, phase, crew);
    uint64_t bit = UINT64_C(1) << phase->depth;
    if (phase->depth++ == MOST_CONDITIONS) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "conditions are nested too deeply"));
    }
    for (uint32_t t = 0; t < crew->count; t++) {
        xthread *thread = &crew->threads[t];
        thread->others = (thread->others & ~bit) | (thread->idle == 1 ? bit : 0);
    }
    if (any) run_list(s->first, m, phase, crew);
    meet_again(crew);
    if (s->other) {
        for (uint32_t t = 0; t < crew->count; t++) {
            xthread *thread = &crew->threads[t];
            if (!(thread->others & bit)) thread->idle++;
        }
        if (next_live(crew, 0) < crew->count) run_list(s->other->first, m, phase, crew);
        meet_again(crew);
    }
    phase->depth--;
}

static void run_while_together(const xstmt *s, machine *m, xphase *phase, const xcrew *crew) {
    for (;;) {
        uint32_t met = 0, live = 0;
        if (s->exchanges) lanes_send(m, phase, crew, s);
        for
            EACH_LIVE(t, crew) {
                live++;
                met += holds(s->value, m, phase, crew, &crew->threads[t]);
            }
        if (met == 0) return;
        if (met < live) fail_diverged(m, "what stands in this loop");
        run_list(s->first, m, phase, crew);
    }
}

static void run_attr_together(const xstmt *s, machine *m, xphase *phase, const xcrew *crew) {
    const hone_node *node = hone_func_node(m->func, s->node);
    bool is_async = async_is_attr(node);
    if (is_async) async_enter(m, node);
    for
        EACH_LIVE(t, crew) {
            team_enter(m, phase, crew, &crew->threads[t]);
            if (is_async) async_begin(m, node);
        }
    run_list(s->first, m, phase, crew);
    for
        EACH_LIVE(t, crew) {
            team_enter(m, phase, crew, &crew->threads[t]);
            if (is_async) async_end(m, node);
        }
    if (is_async) async_leave(m, node);
}

/* Each in turn, after all have said what they pass to others. */
static void run_in_turn(const xstmt *s, machine *m, const xphase *phase, const xcrew *crew) {
    if (s->exchanges) lanes_send(m, phase, crew, s);
    for
        EACH_LIVE(t, crew) {
            team_enter(m, phase, crew, &crew->threads[t]);
            if (s->run(s, m) == FLOW_NEXT) continue;
            machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                       "threads leave a loop in which they wait for each other"));
        }
}

static void run_eval_together(const xstmt *s, machine *m, xphase *phase, const xcrew *crew) {
    switch ((xmeeting)s->meeting) {
    case MEET_BLOCK:
        require_all(m, crew);
        begin_phase(m, phase);
        return;
    case MEET_WARP:
        sync_warps(m, crew);
        return;
    case MEET_REDUCE:
        lanes_reduce(m, phase, crew, s);
        return;
    case MEET_NOT:
    case MEET_LANES:
        run_in_turn(s, m, phase, crew);
        return;
    }
}

static void run_together(const xstmt *s, machine *m, xphase *phase, const xcrew *crew) {
    m->at = s->node;
    hone_node_kind kind = (hone_node_kind)hone_func_node(m->func, s->node)->kind;
    if (s->exchanges && (kind == HONE_NODE_IF || kind == HONE_NODE_LET)) {
        lanes_send(m, phase, crew, s);
    }
    switch (kind) {
    case HONE_NODE_FOR:
        run_loop_together(s, m, phase, crew);
        return;
    case HONE_NODE_BLOCK:
        run_block_together(s, m, phase, crew);
        return;
    case HONE_NODE_LET:
        run_let_together(s, m, phase, crew);
        return;
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
        run_decl_together(s, m, phase, crew);
        return;
    case HONE_NODE_IF:
        run_if_together(s, m, phase, crew);
        return;
    case HONE_NODE_WHILE:
        run_while_together(s, m, phase, crew);
        return;
    case HONE_NODE_EVAL:
        run_eval_together(s, m, phase, crew);
        return;
    case HONE_NODE_STORE:
        run_in_turn(s, m, phase, crew);
        return;
    case HONE_NODE_ATTR:
        run_attr_together(s, m, phase, crew);
        return;
    case HONE_NODE_TOP:
    case HONE_NODE_INIT:
    case HONE_NODE_ELSE:
        run_list(s->first, m, phase, crew);
        return;
    default:
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "a sync stands in such a statement"));
    }
}

static void run_list(const xstmt *first, machine *m, xphase *phase, const xcrew *crew) {
    for (const xstmt *c = first; c; c = c->next) {
        if (c->waits)
            run_together(c, m, phase, crew);
        else
            run_in_turn(c, m, phase, crew);
    }
}

xflow run_waiting_loop(const xstmt *s, machine *m) {
    xthread alone = {.slots = m->slots, .buffers = m->buffers}, *itself = &alone;
    xwarp warp = {0};
    xcrew crew = {&alone, 1, 1, 1, &itself, &warp};
    xphase phase = {.parent = m->task};
    begin_phase(m, &phase);
    run_new_threads(s, m, &phase, &crew, false);
    m->slots = alone.slots;
    m->buffers = alone.buffers;
    m->crew = NULL;
    m->thread = NULL;
    m->task = phase.parent;
    return FLOW_NEXT;
}

xteam *team_create(machine *m) {
    return machine_alloc(m, sizeof(xteam));
}

void machine_free_teams(machine *m) {
    for (xteam *team = m->teams; team; team = team->next) {
        for (uint32_t t = 0; t < team->capacity; t++)
            machine_free_stores(m, team->crew.threads[t].buffers);
    }
}
