/* ir/verify/verify_target.c - what a GPU has room for: threads of a block and shared memory, launch
 * by launch; a CPU has no threads that loops could be bound to, and no other limits: lowering makes
 * vectors and buffers fit. */
#include <assert.h>
#include <string.h>

#include "ir/verify/verify_impl.h"
#include "target/target.h"

typedef struct launch {
    const hone_func *func;
    const hone_target *target;
    hone_findings *out;
    hone_node_id root; /* the outermost loop that is bound to a thread */
} launch;

static bool is_thread(const hone_node *node, const char *tag) {
    return node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD &&
           node->u.loop.thread_tag && strncmp(node->u.loop.thread_tag, tag, strlen(tag)) == 0;
}

static void say(const launch *l, bool is_warning, const char *text) {
    const hone_node *node = hone_func_node(l->func, l->root);
    hone_finding finding = {
        .is_warning = is_warning, .node = l->root, .line = node->line, .column = node->column};
    verify_add(l->out, finding, text);
}

/* The longest of the loops over one thread index; 1: there is none. */
static int64_t extent_of(const launch *l, const char *tag) {
    int64_t most = 1;
    for (hone_node_id n = l->root; n != HONE_NO_ID; n = hone_tree_next(l->func, l->root, n)) {
        const hone_node *node = hone_func_node(l->func, n);
        if (!is_thread(node, tag)) continue;
        int64_t extent = hone_expr_const(node->u.loop.range.extent);
        if (extent > most) most = extent;
    }
    return most;
}

static void check_threads(const launch *l) {
    int64_t x = extent_of(l, "threadIdx.x"), y = extent_of(l, "threadIdx.y"),
            z = extent_of(l, "threadIdx.z"), limit = l->target->max_threads_per_block;
    if (limit == 0) return; /* the target does not say */
    if (x <= limit && y <= limit && z <= limit && x * y <= limit && x * y * z <= limit) return;
    say(l, false,
        hone_arena_printf(l->out->arena,
                          "a block has %lld x %lld x %lld threads, the target has at most %lld",
                          (long long)x, (long long)y, (long long)z, (long long)limit));
}

/* Bytes of a buffer, at most limit + 1; 0: its size is not known. */
static int64_t bytes_of(const hone_buffer_info *info, int64_t limit) {
    int64_t bytes = (int64_t)hone_dtype_bytes(info->dtype);
    for (uint32_t d = 0; d < info->rank; d++) {
        int64_t length = hone_expr_const(info->shape[d]);
        if (length <= 0) return 0;
        if (length > limit / (bytes ? bytes : 1)) return limit + 1;
        bytes *= length;
    }
    return bytes;
}

/* Lowering makes buffers of blocks as small as what is used of them: before, it is a warning. */
static void check_shared(const launch *l) {
    int64_t limit = l->target->max_shared_bytes, sum = 0;
    if (limit == 0) return;
    for (hone_buffer b = 0; b < l->func->buffer_count && sum <= limit; b++) {
        const hone_buffer_info *info = hone_func_buffer(l->func, b);
        bool is_shared = info->scope && strncmp(info->scope, "shared", 6) == 0;
        if (!is_shared || info->alias_of != HONE_NO_ID || !hone_stores_below(l->func, l->root, b))
            continue;
        sum += bytes_of(info, limit);
    }
    if (sum <= limit) return;
    bool is_narrowed = hone_tree_first_of(l->func, l->root, HONE_NODE_BLOCK) != HONE_NO_ID;
    say(l, is_narrowed,
        hone_arena_printf(
            l->out->arena, "a block has more shared memory than the %lld bytes of the target%s",
            (long long)limit, is_narrowed ? ", unless lowering makes its buffers smaller" : ""));
}

static void refuse_threads(const launch *l) {
    const hone_node *node = hone_func_node(l->func, l->root);
    say(l, false,
        hone_arena_printf(l->out->arena, "a loop is bound to '%s', which a CPU does not have",
                          node->u.loop.thread_tag));
}

static void check_func(const hone_func *func, const hone_target *target, hone_findings *out) {
    launch l = {.func = func, .target = target, .out = out};
    hone_node_id next;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = next) {
        bool is_root = is_thread(hone_func_node(func, n), "");
        next = is_root ? hone_tree_next_over(func, 0, n) : hone_tree_next(func, 0, n);
        if (!is_root) continue;
        l.root = n;
        if (target->max_threads_per_block == 0) {
            refuse_threads(&l);
            continue;
        }
        check_threads(&l);
        check_shared(&l);
    }
}

void hone_verify_target(const hone_module *module, const hone_target *target, hone_findings *out) {
    assert(module && target && out && out->arena);
    for (uint32_t i = 0; i < module->member_count; i++) {
        if (module->members[i].kind == HONE_MEMBER_FUNC) {
            check_func(module->members[i].func, target, out);
        }
    }
}
