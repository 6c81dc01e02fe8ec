/* Threads that wait for each other.
 *
 * Where tvm_storage_sync stands below a thread loop, a thread can't run to its end before the next
 * one begins. So the threads go through such a nest together, statement by statement: what holds no
 * sync is run by each of them in turn, what holds one (loops, conditions, blocks) is entered by
 * all, and must be entered by all alike. Each thread has variables and buffers of its own; what is
 * allocated in shared memory on the way is everybody's. A thread loop of a tag that is bound
 * already is one thread's share.
 *
 * Between two syncs threads are concurrent, for the race check, whatever memory they touch.
 */
#include <string.h>

#include "ir/interp_impl.h"
#include "support/alloc.h"

typedef struct xthread {
    xvalue *slots;
    xbuffer *buffers;
    uint32_t task, phase; /* the task it has in that phase */
} xthread;

struct xteam {
    xteam *next; /* of the machine */
    uint32_t capacity;
    xthread *threads;
};

/* Who goes through the nest. */
typedef struct region {
    xthread *threads;
    uint32_t count;
} region;

typedef struct nest {
    uint32_t phase, parent; /* as a loop of the race check */
} nest;

static void wait_here(machine *m, nest *n) {
    uint32_t parent;
    m->task = n->parent;
    if (m->options.check_races)
        race_enter_loop(m, &n->phase, &parent);
    else
        n->phase++;
}

static void enter(machine *m, const nest *n, xthread *t) {
    m->slots = t->slots;
    m->buffers = t->buffers;
    if (!m->options.check_races) return;
    if (t->phase != n->phase) {
        race_iteration(m, n->phase, n->parent, false);
        t->task = m->task;
        t->phase = n->phase;
    }
    m->task = t->task;
}

HONE_NORETURN static void fail_apart(machine *m) {
    machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "threads do not all come to tvm_storage_sync"));
}

/* ---- making threads ---- */

static void grow(machine *m, xteam *team, uint32_t count) {
    if (count <= team->capacity) return;
    xthread *threads = machine_alloc(m, count * sizeof *threads);
    if (team->capacity) memcpy(threads, team->threads, team->capacity * sizeof *threads);
    if (team->capacity == 0) {
        team->next = m->teams;
        m->teams = team;
    }
    for (uint32_t i = team->capacity; i < count; i++) {
        threads[i].slots = machine_alloc(m, (m->func->var_count + 1) * sizeof(xvalue));
        threads[i].buffers = machine_alloc(m, (m->func->buffer_count + 1) * sizeof(xbuffer));
    }
    team->threads = threads;
    team->capacity = count;
}

/* What the thread around knows; storage of its own stays. */
static void inherit(const machine *m, xthread *to, const xthread *from) {
    memcpy(to->slots, from->slots, (m->func->var_count + 1) * sizeof(xvalue));
    for (uint32_t b = 0; b < m->func->buffer_count; b++) {
        xstore own = to->buffers[b].own;
        to->buffers[b] = from->buffers[b];
        to->buffers[b].own = own;
    }
    to->phase = 0;
}

static void run_list(const xstmt *first, machine *m, nest *n, region r);

/* The same range for all threads, as thread 0 has it. */
static void common_range(const xstmt *s, machine *m, const nest *n, region r, int64_t *out_min,
                         int64_t *out_extent) {
    for (uint32_t t = 0; t < r.count; t++) {
        enter(m, n, &r.threads[t]);
        int64_t min = range_min(&s->range, m), extent = range_extent(&s->range, m);
        if (t > 0 && (min != *out_min || extent != *out_extent)) fail_apart(m);
        *out_min = min;
        *out_extent = extent;
    }
}

enum { MAX_THREADS = 1 << 16 };

static void run_new_threads(const xstmt *s, machine *m, nest *n, region r) {
    int64_t min = 0, extent = 0;
    common_range(s, m, n, r, &min, &extent);
    if (extent < 1) return;
    if (extent > MAX_THREADS / r.count) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than %d threads", MAX_THREADS));
    }
    grow(m, s->team, (uint32_t)extent * r.count);
    region inner = {s->team->threads, (uint32_t)extent * r.count};
    for (uint32_t i = 0; i < inner.count; i++) {
        xthread *t = &inner.threads[i];
        inherit(m, t, &r.threads[i / (uint32_t)extent]);
        t->slots[s->var].i = min + i % (uint32_t)extent;
    }
    xbound_thread *bound = &m->bound_threads[m->bound_thread_count];
    if (m->bound_thread_count == HONE_COUNT(m->bound_threads)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "thread loops are nested too deeply"));
    }
    *bound = (xbound_thread){hone_func_node(m->func, s->node)->u.loop.thread_tag, s->var};
    m->bound_thread_count++;
    run_list(s->first, m, n, inner);
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

/* ---- statements with a sync below ---- */

static void run_loop_together(const xstmt *s, machine *m, nest *n, region r) {
    int64_t min = 0, extent = 0, index;
    enter(m, n, &r.threads[0]);
    if (s->is_thread_loop && !thread_is_bound(m, s, &index)) {
        run_new_threads(s, m, n, r);
        return;
    }
    if (s->is_thread_loop) {
        for (uint32_t t = 0; t < r.count; t++) {
            enter(m, n, &r.threads[t]);
            if (thread_is_bound(m, s, &index)) m->slots[s->var].i = index;
        }
        run_list(s->first, m, n, r);
        return;
    }
    common_range(s, m, n, r, &min, &extent);
    for (int64_t i = 0; i < extent; i++) {
        for (uint32_t t = 0; t < r.count; t++)
            r.threads[t].slots[s->var].i = min + i;
        run_list(s->first, m, n, r);
    }
}

/* A condition that all threads must find alike. */
static bool all_alike(const xexpr *condition, machine *m, const nest *n, region r) {
    bool first = true;
    for (uint32_t t = 0; t < r.count; t++) {
        enter(m, n, &r.threads[t]);
        bool holds = x_int(condition, m) != 0;
        if (t > 0 && holds != first) fail_apart(m);
        first = holds;
    }
    return first;
}

static void allocate(machine *m, const nest *n, region r, hone_buffer id) {
    const char *scope = hone_func_buffer(m->func, id)->scope;
    bool is_shared = scope && (strncmp(scope, "shared", 6) == 0 || strcmp(scope, "warp") == 0);
    for (uint32_t t = 0; t < r.count; t++) {
        enter(m, n, &r.threads[t]);
        if (is_shared && t > 0)
            buffer_share(m, id, &r.threads[0].buffers[id]);
        else
            buffer_allocate(m, id);
    }
}

static void drop(machine *m, const nest *n, region r, hone_buffer id) {
    for (uint32_t t = 0; t < r.count; t++) {
        enter(m, n, &r.threads[t]);
        buffer_drop(m, id);
    }
}

static void run_block_together(const xstmt *s, machine *m, nest *n, region r) {
    const xblock *b = s->block;
    const xstmt *outer = m->block;
    if (b->predicate && !all_alike(b->predicate, m, n, r)) return;
    bool is_first = false;
    for (uint32_t t = 0; t < r.count; t++) {
        enter(m, n, &r.threads[t]);
        bool mine = block_set_axes(b, m);
        if (s->other && t > 0 && mine != is_first) fail_apart(m);
        is_first = mine;
    }
    m->block = s;
    for (uint32_t i = 0; i < b->block->alloc_count; i++)
        allocate(m, n, r, b->block->allocs[i]);
    for (uint32_t t = 0; t < r.count; t++) {
        enter(m, n, &r.threads[t]);
        for (uint32_t i = 0; i < b->block->match_count; i++)
            buffer_match(m, &b->matches[i]);
    }
    if (s->other && is_first) run_list(s->other->first, m, n, r);
    run_list(s->first, m, n, r);
    for (uint32_t i = 0; i < b->block->alloc_count; i++)
        drop(m, n, r, b->block->allocs[i]);
    m->block = outer;
}

static void run_let_together(const xstmt *s, machine *m, nest *n, region r) {
    if (s->is_vector) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "a vector is kept over a sync"));
    }
    for (uint32_t t = 0; t < r.count; t++) {
        enter(m, n, &r.threads[t]);
        if (x_is_float(s->value))
            m->slots[s->var].f = x_float(s->value, m);
        else
            m->slots[s->var].i = x_int(s->value, m);
    }
    run_list(s->first, m, n, r);
}

static void run_decl_together(const xstmt *s, machine *m, nest *n, region r) {
    hone_buffer id = s->access.buffer;
    bool is_alias = hone_func_buffer(m->func, id)->alias_of != HONE_NO_ID;
    if (is_alias) {
        for (uint32_t t = 0; t < r.count; t++) {
            enter(m, n, &r.threads[t]);
            buffer_alias(m, id);
        }
    } else {
        allocate(m, n, r, id);
    }
    run_list(s->first, m, n, r);
    if (!is_alias) drop(m, n, r, id);
}

static void run_together(const xstmt *s, machine *m, nest *n, region r) {
    m->at = s->node;
    switch ((hone_node_kind)hone_func_node(m->func, s->node)->kind) {
    case HONE_NODE_FOR:
        run_loop_together(s, m, n, r);
        return;
    case HONE_NODE_BLOCK:
        run_block_together(s, m, n, r);
        return;
    case HONE_NODE_LET:
        run_let_together(s, m, n, r);
        return;
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
        run_decl_together(s, m, n, r);
        return;
    case HONE_NODE_IF:
        if (all_alike(s->value, m, n, r))
            run_list(s->first, m, n, r);
        else if (s->other)
            run_list(s->other->first, m, n, r);
        return;
    case HONE_NODE_WHILE:
        while (all_alike(s->value, m, n, r))
            run_list(s->first, m, n, r);
        return;
    case HONE_NODE_EVAL:
        wait_here(m, n);
        return;
    case HONE_NODE_TOP:
    case HONE_NODE_INIT:
    case HONE_NODE_ELSE:
    case HONE_NODE_ATTR:
        run_list(s->first, m, n, r);
        return;
    default:
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "a sync stands in such a statement"));
    }
}

static void run_list(const xstmt *first, machine *m, nest *n, region r) {
    for (const xstmt *c = first; c; c = c->next) {
        if (c->waits) {
            run_together(c, m, n, r);
            continue;
        }
        for (uint32_t t = 0; t < r.count; t++) {
            enter(m, n, &r.threads[t]);
            if (c->run(c, m) == FLOW_NEXT) continue;
            machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                       "threads leave a loop in which they wait for each other"));
        }
    }
}

xflow run_waiting_loop(const xstmt *s, machine *m) {
    xthread alone = {.slots = m->slots, .buffers = m->buffers};
    nest n = {.parent = m->task};
    wait_here(m, &n);
    run_new_threads(s, m, &n, (region){&alone, 1});
    m->slots = alone.slots;
    m->buffers = alone.buffers;
    m->task = n.parent;
    return FLOW_NEXT;
}

xteam *team_create(machine *m) {
    return machine_alloc(m, sizeof(xteam));
}

void machine_free_teams(machine *m) {
    for (xteam *team = m->teams; team; team = team->next) {
        for (uint32_t t = 0; t < team->capacity; t++)
            machine_free_stores(m, team->threads[t].buffers);
    }
}
