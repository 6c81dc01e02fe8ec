/* lower/threads/memory_scopes.c - whose the memory is that a program for a GPU allocates.
 *
 * A scope says what a schedule wants. Where memory is used decides what it must be: what several
 * launches use lasts in global memory only; what threads hand to each other is shared; what one
 * thread writes and reads is its own. */
#include <string.h>

#include "ir/core/privatize.h"
#include "ir/core/touches.h"
#include "lower/threads/threads.h"

/* Bytes that a thread, or a block, may have of its own without having been asked for. */
#define MOST_OWN_BYTES (INT64_C(1) << 16)

static bool begins(const char *scope, const char *word) {
    return strncmp(scope ? scope : "global", word, strlen(word)) == 0;
}

static void rescope(hone_func *func, hone_buffer storage, const char *scope) {
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (hone_func_storage(func, b) == storage) func->buffers[b].scope = scope;
    }
}

static bool is_alloc(const hone_func *func, const hone_node *node) {
    return (node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL) &&
           func->buffers[node->u.alloc.buffer].alias_of == HONE_NO_ID;
}

/* The launch that a statement stands in; HONE_NO_ID: none. */
static hone_node_id launch_of(const hone_func *func, hone_node_id at) {
    hone_node_id launch = HONE_NO_ID;
    for (hone_node_id n = at; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        if (lower_axis_of(hone_func_node(func, n)) >= 0) launch = n;
    }
    return launch;
}

/* ---- memory of the host level ---- */

typedef struct users {
    const hone_func *func;
    hone_buffer storage;
    hone_node_id launch; /* HONE_NO_ID: the host uses it */
    hone_node_id meet;   /* the lowest node at or above all touches */
    uint32_t count;      /* of touches */
    bool is_several;
} users;

static void note_user(void *ctx, const hone_reference *ref) {
    users *u = ctx;
    if (hone_func_storage(u->func, ref->buffer) != u->storage) return;
    hone_node_id launch = launch_of(u->func, ref->at);
    u->is_several |= u->count && launch != u->launch;
    u->launch = launch;
    u->meet = u->count ? hone_tree_lca(u->func, u->meet, ref->at) : ref->at;
    u->count++;
}

static bool has_view(const hone_func *func, hone_buffer storage) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        bool is_view = node->kind == HONE_NODE_DECL && node->u.alloc.buffer != storage;
        if (is_view && hone_func_storage(func, node->u.alloc.buffer) == storage) return true;
    }
    return false;
}

/* What each thread has a copy of is gone with it, when a launch ends. */
static hone_status refuse_copies(const users *u) {
    const hone_func *func = u->func;
    bool *differs = hone_arena_zalloc(func->arena, func->var_count + 1);
    if (!differs) return LOWER_NO_MEMORY();
    for (int a = 0; a < LOWER_AXES; a++) {
        hone_private_copies found =
            hone_find_private_copies(func, u->storage, u->meet, lower_axis_tag(a), differs);
        if (!found.is_private || found.threads == 1) continue;
        return HONE_ERROR(
            HONE_CODE_UNSUPPORTED,
            "'%s' is local, one for each thread of %s, and is used in several kernels",
            func->buffers[u->storage].name, lower_axis_tag(a));
    }
    return HONE_OK;
}

static hone_status sink(hone_func *func, hone_node_id alloc) {
    hone_buffer storage = hone_func_node(func, alloc)->u.alloc.buffer;
    users u = {func, storage, HONE_NO_ID, HONE_NO_ID, 0, false};
    hone_walk_references(func, 0, note_user, &u);
    const char *scope = func->buffers[storage].scope;
    if (begins(scope, "global") || u.count == 0) return HONE_OK;
    if (u.is_several || u.launch == HONE_NO_ID) {
        if (begins(scope, "local") && !has_view(func, storage)) HONE_TRY(refuse_copies(&u));
        if (!begins(scope, "wmma") && !begins(scope, "wgmma")) rescope(func, storage, "global");
        return HONE_OK;
    }
    if (has_view(func, storage)) return HONE_OK;
    lower_splice(func, alloc);
    lower_wrap(func, hone_func_node(func, u.launch)->first, alloc);
    for (hone_node_id c; (c = hone_func_node(func, alloc)->next) != HONE_NO_ID;) {
        hone_tree_remove(func, c);
        hone_tree_append(func, alloc, c);
    }
    return HONE_OK;
}

hone_status lower_sink_memory(hone_lower *lower) {
    hone_func *func = lower->func;
    uint32_t count = func->node_count;
    bool *is_there = hone_arena_zalloc(func->arena, count + 1); /* others were left behind */
    if (!is_there) return LOWER_NO_MEMORY();
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n))
        is_there[n] = true;
    for (hone_node_id n = 0; n < count; n++) { /* by number: they move */
        const hone_node *node = hone_func_node(func, n);
        if (is_there[n] && is_alloc(func, node) && launch_of(func, n) == HONE_NO_ID)
            HONE_TRY(sink(func, n));
    }
    return HONE_OK;
}

/* ---- memory of a launch ---- */

/* Along which axes of threads all touches stand in one loop, in none, or in several. */
typedef struct sharing {
    const hone_func *func;
    hone_buffer storage;
    hone_node_id loops[LOWER_AXES]; /* of the first touch: the outermost over the axis */
    uint32_t count;
    bool is_split[LOWER_AXES];
} sharing;

static void note_loops(void *ctx, const hone_reference *ref) {
    sharing *s = ctx;
    hone_node_id loops[LOWER_AXES];
    if (hone_func_storage(s->func, ref->buffer) != s->storage) return;
    for (int a = 0; a < LOWER_AXES; a++)
        loops[a] = HONE_NO_ID;
    for (hone_node_id n = ref->at; n != HONE_NO_ID; n = hone_func_node(s->func, n)->parent) {
        int axis = lower_axis_of(hone_func_node(s->func, n));
        if (axis >= 0) loops[axis] = n;
    }
    for (int a = LOWER_FIRST_THREAD; a < LOWER_AXES; a++)
        s->is_split[a] |= s->count && loops[a] != s->loops[a];
    if (s->count++ == 0) memcpy(s->loops, loops, sizeof loops);
}

/* What several loops over an axis touch may be each thread's own for all that: along all such axes
 * or along none. */
static hone_status settle_own(hone_lower *lower, hone_node_id launch, hone_node_id alloc,
                              sharing *s) {
    for (int step = 0; step < 2; step++) { /* asks, changes */
        for (int a = LOWER_FIRST_THREAD; a < LOWER_AXES; a++) {
            bool are_own;
            if (!s->is_split[a]) continue;
            HONE_TRY(lower_keep_own_places(lower, launch, alloc, a, step == 1, &are_own));
            if (!are_own) return HONE_OK;
        }
    }
    for (int a = LOWER_FIRST_THREAD; a < LOWER_AXES; a++) {
        if (s->is_split[a]) s->loops[a] = HONE_NO_ID;
        s->is_split[a] = false;
    }
    return HONE_OK;
}

static hone_status settle(hone_lower *lower, hone_node_id launch, hone_node_id alloc) {
    hone_func *func = lower->func;
    hone_buffer storage = hone_func_node(func, alloc)->u.alloc.buffer;
    const hone_buffer_info *info = &func->buffers[storage];
    bool is_global = begins(info->scope, "global"), is_shared = false, is_own = false;
    int64_t elements = hone_buffer_elements(info), each = (int64_t)hone_dtype_bytes(info->dtype);
    sharing s = {.func = func, .storage = storage};
    if (!is_global && !begins(info->scope, "local")) return HONE_OK;
    hone_walk_references(func, launch, note_loops, &s);
    if (begins(info->scope, "local")) HONE_TRY(settle_own(lower, launch, alloc, &s));
    for (int a = LOWER_FIRST_THREAD; a < LOWER_AXES; a++) {
        is_shared |= s.is_split[a];
        is_own |= !s.is_split[a] && s.loops[a] != HONE_NO_ID && s.count;
    }
    if (is_shared && is_own) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "'%s' is handed from thread to thread along one axis, and is a thread's "
                          "own along another one",
                          info->name);
    }
    if (is_global && (elements < 0 || elements > MOST_OWN_BYTES / (each ? each : 1))) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "'%s' is allocated in global memory below threads, and has no constant "
                          "size, or one too large for each",
                          info->name);
    }
    if (is_global || is_shared) rescope(func, storage, is_shared ? "shared" : "local");
    return HONE_OK;
}

hone_status lower_settle_scopes(hone_lower *lower, hone_node_id launch) {
    hone_func *func = lower->func;
    for (hone_node_id n = launch; n != HONE_NO_ID; n = hone_tree_next(func, launch, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (is_alloc(func, node)) HONE_TRY(settle(lower, launch, n));
    }
    return HONE_OK;
}
