/* ir/verify/verify_thread.c - loops by their kinds, and which may stand in which: threads of
 * GPUs, vectors, parallel loops. */
#include <string.h>

#include "ir/verify/verify_impl.h"

static const hone_node *loop_of(const verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    return node->kind == HONE_NODE_FOR ? node : NULL;
}

static bool has_tag(const hone_node *loop, const char *prefix) {
    return loop->loop_kind == HONE_LOOP_THREAD && loop->u.loop.thread_tag &&
           strncmp(loop->u.loop.thread_tag, prefix, strlen(prefix)) == 0;
}

/* The innermost loop around id for which what holds. */
static hone_node_id outer_loop(const verifier *v, hone_node_id id, hone_loop_kind kind,
                               const char *tag) {
    for (hone_node_id n = hone_func_node(v->func, id)->parent; n != HONE_NO_ID;
         n = hone_func_node(v->func, n)->parent) {
        const hone_node *loop = loop_of(v, n);
        if (!loop || loop->loop_kind != kind) continue;
        if (!tag || has_tag(loop, tag)) return n;
    }
    return HONE_NO_ID;
}

static const char *name_of(const verifier *v, hone_node_id loop) {
    return verify_var_name(v, hone_func_node(v->func, loop)->u.loop.var);
}

/* ---- threads ---- */

/* The outermost thread loop around id: what is launched as one. */
static hone_node_id kernel_of(const verifier *v, hone_node_id id) {
    hone_node_id kernel = id;
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_func_node(v->func, n)->parent) {
        const hone_node *loop = loop_of(v, n);
        if (loop && loop->loop_kind == HONE_LOOP_THREAD) kernel = n;
    }
    return kernel;
}

/* ---- a thread twice ---- */

/* Axes and lets from the outer loop down to id that depend on its thread. */
static void spread(const verifier *v, bool *depends, hone_node_id outer, hone_node_id id) {
    size_t count = v->func->var_count;
    if (id == outer) return;
    const hone_node *node = hone_func_node(v->func, id);
    spread(v, depends, outer, node->parent);
    if (node->kind == HONE_NODE_LET && hone_expr_uses_any(node->u.let.value, depends, count))
        depends[node->u.let.var] = true;
    for (uint32_t i = 0; node->kind == HONE_NODE_BLOCK && i < node->u.block.block->axis_count;
         i++) {
        if (hone_expr_uses_any(node->u.block.bindings[i], depends, count))
            depends[node->u.block.block->axes[i].var] = true;
    }
}

/* Two loops of a nest over one thread have one index. That is right where the threads of the outer
 * one share the work of the inner one, and then what is below does not tell them apart. */
static void check_nested(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    hone_node_id outer = outer_loop(v, id, HONE_LOOP_THREAD, node->u.loop.thread_tag);
    if (outer == HONE_NO_ID) return;
    const hone_expr *outer_extent = hone_func_node(v->func, outer)->u.loop.range.extent;
    if (!hone_expr_same(outer_extent, node->u.loop.range.extent)) return; /* an error of its own */
    bool *depends =
        hone_arena_zalloc(v->arena, v->func->var_count); /* by variable: on its thread */
    if (!depends) {
        v->is_short_of_memory = true;
        return;
    }
    depends[hone_func_node(v->func, outer)->u.loop.var] = true;
    spread(v, depends, outer, id);
    if (!hone_tree_uses_any(v->func, id, true, depends, v->func->var_count)) return;
    verify_warning(v, id,
                   "loop '%s' is bound to %s inside of loop '%s', which is bound to it, too: both "
                   "have the value of one thread index",
                   name_of(v, id), node->u.loop.thread_tag, name_of(v, outer));
}

/* All loops of a launch that are bound to one thread have one extent; said at the later ones. */
static void check_siblings(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    hone_node_id kernel = kernel_of(v, id);
    for (hone_node_id n = kernel; n != HONE_NO_ID && n != id;
         n = hone_tree_next(v->func, kernel, n)) {
        const hone_node *other = loop_of(v, n);
        if (!other || other->loop_kind != HONE_LOOP_THREAD || !other->u.loop.thread_tag) continue;
        if (hone_tree_is_ancestor(v->func, n, id)) continue;
        if (strcmp(other->u.loop.thread_tag, node->u.loop.thread_tag) != 0) continue;
        int64_t others = hone_expr_const(other->u.loop.range.extent);
        if (extent < 0 || others < 0 || extent == others) continue;
        verify_error(v, id, "loops '%s' and '%s' are both bound to %s, with extents %lld and %lld",
                     name_of(v, n), name_of(v, id), node->u.loop.thread_tag, (long long)others,
                     (long long)extent);
        return;
    }
}

static void check_limits(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    const char *tag = node->u.loop.thread_tag;
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    int64_t limit = strcmp(tag, "threadIdx.z") == 0 ? 64 : 1024;
    if (has_tag(node, "threadIdx") && extent > limit) {
        verify_warning(v, id, "loop '%s' has %lld threads along %s, GPUs have %lld at most",
                       name_of(v, id), (long long)extent, tag, (long long)limit);
    }
    const hone_expr *min = node->u.loop.range.min;
    if (min->kind == HONE_EXPR_INT && min->u.i != 0) {
        verify_warning(v, id, "loop '%s' is bound to %s and begins at %lld; threads begin at 0",
                       name_of(v, id), tag, (long long)min->u.i);
    }
}

static void check_thread_loop(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    const char *tag = node->u.loop.thread_tag;
    check_limits(v, id);
    if (strncmp(tag, "vthread", 7) == 0) return;
    check_siblings(v, id);
    check_nested(v, id);
    if (!has_tag(node, "blockIdx")) return;
    hone_node_id outer = outer_loop(v, id, HONE_LOOP_THREAD, "threadIdx");
    if (outer == HONE_NO_ID) return;
    verify_warning(v, id, "loop '%s' is bound to %s inside of loop '%s', which is bound to %s",
                   name_of(v, id), tag, name_of(v, outer),
                   hone_func_node(v->func, outer)->u.loop.thread_tag);
}

/* ---- vectors ---- */

static void check_loop_in_vector(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    static const char *const words[] = {
        [HONE_LOOP_PARALLEL] = "parallel",
        [HONE_LOOP_VECTORIZED] = "vectorized",
        [HONE_LOOP_THREAD] = "bound to a thread",
        [HONE_LOOP_UNROLLED] = NULL,
    };
    const char *word = node->loop_kind == HONE_LOOP_SERIAL ? NULL : words[node->loop_kind];
    hone_node_id outer = word ? outer_loop(v, id, HONE_LOOP_VECTORIZED, NULL) : HONE_NO_ID;
    if (outer == HONE_NO_ID) return;
    verify_warning(v, id, "loop '%s' is %s inside of loop '%s', which is vectorized",
                   name_of(v, id), word, name_of(v, outer));
}

/* ---- a loop ---- */

static bool is_thread_tag(const char *tag) {
    static const char *const tags[] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z", "threadIdx.x",
                                       "threadIdx.y", "threadIdx.z", "vthread",    "vthread.x",
                                       "vthread.y",   "vthread.z"};
    for (size_t i = 0; i < HONE_COUNT(tags); i++) {
        if (tag && strcmp(tag, tags[i]) == 0) return true;
    }
    return false;
}

static void check_thread(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    const char *tag = node->u.loop.thread_tag;
    if (!is_thread_tag(tag)) {
        verify_error(v, id,
                     "loop '%s' is bound to '%s', which is no thread; expected blockIdx.x, "
                     "threadIdx.x or another",
                     verify_var_name(v, node->u.loop.var), tag ? tag : "");
        return;
    }
    check_thread_loop(v, id);
    if (strncmp(tag, "vthread", 7) == 0) return;
    for (hone_node_id n = node->parent; n != HONE_NO_ID; n = hone_func_node(v->func, n)->parent) {
        const hone_node *outer = hone_func_node(v->func, n);
        if (outer->kind != HONE_NODE_FOR || outer->loop_kind != HONE_LOOP_THREAD) continue;
        if (!outer->u.loop.thread_tag || strcmp(outer->u.loop.thread_tag, tag) != 0) continue;
        if (!hone_prove_equal(&v->arith, outer->u.loop.range.extent, node->u.loop.range.extent)) {
            verify_error(v, id, "loops '%s' and '%s' are both bound to %s, with different extents",
                         verify_var_name(v, outer->u.loop.var),
                         verify_var_name(v, node->u.loop.var), tag);
        }
        return;
    }
}

/* Never gets there: a condition around it does not hold. */
static bool is_dead(verifier *v, hone_node_id id) {
    hone_node_id child = id;
    for (hone_node_id n = hone_func_node(v->func, id)->parent; n != HONE_NO_ID;
         child = n, n = hone_func_node(v->func, n)->parent) {
        const hone_node *node = hone_func_node(v->func, n);
        if (node->kind != HONE_NODE_IF) continue;
        const hone_expr *condition = hone_simplify(&v->arith, node->u.eval.value);
        bool is_other = hone_func_node(v->func, child)->kind == HONE_NODE_ELSE;
        if (condition && condition->kind == HONE_EXPR_INT && (condition->u.i != 0) == is_other)
            return true;
    }
    return false;
}

void verify_loop(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    const char *name = verify_var_name(v, node->u.loop.var);
    const hone_expr *extent = node->u.loop.range.extent;
    if (extent->kind == HONE_EXPR_INT && extent->u.i < 0 && !is_dead(v, id)) {
        verify_error(v, id, "loop '%s' has the negative extent %lld", name, (long long)extent->u.i);
    }
    if (extent->kind == HONE_EXPR_INT && extent->u.i == 0) {
        verify_warning(v, id, "loop '%s' has the extent 0, so its body never runs", name);
    }
    if (node->loop_kind == HONE_LOOP_THREAD) check_thread(v, id);
    check_loop_in_vector(v, id);
    if ((node->loop_kind == HONE_LOOP_VECTORIZED || node->loop_kind == HONE_LOOP_UNROLLED) &&
        extent->kind != HONE_EXPR_INT && !hone_expr_is_scalable(extent)) {
        verify_error(v, id, "loop '%s' is %s, so its extent must be a constant", name,
                     node->loop_kind == HONE_LOOP_VECTORIZED ? "vectorized" : "unrolled");
    }
}
