/* schedule/primitive/loops/prim_for_kind.c - parallel, vectorize, unroll, bind: how a loop runs.
 *
 * Checks for parallel, vectorize and bind: each block below is complete, a reduction, or the update
 * of one (reads where it writes); the loop feeds spatial axes only (threadIdx may feed reduce axes
 * of a block with its init: a cross-thread reduction). A block whose bindings are not affine, as
 * compute_at leaves a producer with a halo, may stand below when all who read its output are below
 * as well: then each iteration has its own copy; so may one whose instances meet in elements only
 * within one iteration. One thread axis may be bound twice in a nest where the threads of the outer
 * loop share the work of the inner one; loops that are launched together and bound to one axis have
 * one extent. vectorize wants a constant extent. unroll checks nothing but that.
 */
#include "schedule/primitive/primitive_impl.h"

#include <string.h>

static hone_status check_axes(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                              bool allow_reduce) {
    hone_var var = sch_node(sch, loop)->u.loop.var;
    const hone_block *inner = sch_block(sch, block);
    bool has_init = hone_block_init_of(sch->func, block) != HONE_NO_ID;
    for (uint32_t i = 0; i < inner->axis_count; i++) {
        if (!hone_expr_uses_var(sch_node(sch, block)->u.block.bindings[i], var)) continue;
        hone_axis_kind kind = inner->axes[i].kind;
        if (kind == HONE_AXIS_SPATIAL) continue;
        if (kind == HONE_AXIS_REDUCE && allow_reduce && has_init) continue;
        if (kind == HONE_AXIS_REDUCE && allow_reduce) {
            return sch_refuse(sch, loop,
                              "%s feeds axis '%s' of %s, which has no init: threads can't reduce "
                              "together in it",
                              sch_loop_name(sch, loop), sch->func->vars[inner->axes[i].var].name,
                              sch_block_name(sch, block));
        }
        return sch_refuse(sch, loop, "%s feeds axis '%s' of %s, which is not spatial",
                          sch_loop_name(sch, loop), sch->func->vars[inner->axes[i].var].name,
                          sch_block_name(sch, block));
    }
    return HONE_OK;
}

static hone_status check_block(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                               bool allow_reduce, sch_answer *io) {
    HONE_TRY(check_axes(sch, block, loop, allow_reduce));
    if (hone_expr_is_int_value(sch_node(sch, loop)->u.loop.range.extent, 1)) return HONE_OK;
    return sch_is_private_below(sch, block, loop) ? HONE_OK
                                                  : sch_require_at_once(sch, block, loop, io);
}

static hone_status check_independent(hone_schedule *sch, hone_node_id loop, bool allow_reduce) {
    uint32_t count = 0;
    bool all_private = true;
    sch_answer asked = {0};
    if (sch_has_loose_statements(sch, loop)) {
        return sch_refuse(sch, loop, "a statement in %s stands outside of blocks",
                          sch_loop_name(sch, loop));
    }
    SCH_EACH_BLOCK (sch, loop, n) {
        HONE_TRY(check_block(sch, n, loop, allow_reduce, &asked));
        all_private = all_private && sch_is_private_below(sch, n, loop);
        count++;
    }
    if (count < 2) return HONE_OK;
    if (!all_private) HONE_TRY(sch_require_compatible_writers(sch, loop, loop));
    if (sch_is_independent(sch, loop, &asked)) return HONE_OK;
    return sch_require_pipeline(sch, sch_scope_of(sch, loop));
}

static hone_status check_constant(hone_schedule *sch, hone_node_id loop, const char *what) {
    if (hone_expr_is_int(sch_node(sch, loop)->u.loop.range.extent)) return HONE_OK;
    return sch_refuse(sch, loop, "%s can't be %s: its extent is not a constant",
                      sch_loop_name(sch, loop), what);
}

static void set_kind(hone_schedule *sch, hone_node_id loop, hone_loop_kind kind) {
    sch_node(sch, loop)->loop_kind = kind;
    sch_node(sch, loop)->u.loop.thread_tag = NULL; /* it may have been bound before */
}

hone_status hone_sch_parallel(hone_schedule *sch, hone_rv loop_rv) {
    hone_node_id loop;
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &loop));
    HONE_TRY(check_independent(sch, loop, false));
    set_kind(sch, loop, HONE_LOOP_PARALLEL);
    return sch_record(sch, HONE_INST_PARALLEL, SCH_ARGS(SCH_RV(loop_rv)));
}

hone_status hone_sch_vectorize(hone_schedule *sch, hone_rv loop_rv) {
    hone_node_id loop;
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &loop));
    HONE_TRY(check_constant(sch, loop, "vectorized"));
    HONE_TRY(check_independent(sch, loop, false));
    set_kind(sch, loop, HONE_LOOP_VECTORIZED);
    return sch_record(sch, HONE_INST_VECTORIZE, SCH_ARGS(SCH_RV(loop_rv)));
}

hone_status hone_sch_unroll(hone_schedule *sch, hone_rv loop_rv) {
    hone_node_id loop;
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &loop));
    HONE_TRY(check_constant(sch, loop, "unrolled"));
    set_kind(sch, loop, HONE_LOOP_UNROLLED);
    return sch_record(sch, HONE_INST_UNROLL, SCH_ARGS(SCH_RV(loop_rv)));
}

static bool is_thread_axis(const char *tag) {
    static const char *const known[] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z", "threadIdx.x",
                                        "threadIdx.y", "threadIdx.z", "vthread",    "vthread.x",
                                        "vthread.y",   "vthread.z"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(tag, known[i]) == 0) return true;
    }
    return false;
}

static bool uses_var(const hone_expr *e, hone_var var) {
    return e && hone_expr_uses_var(e, var);
}

/* Does what runs in a node, and over what, depend on the variable? */
static bool depends_on(const hone_schedule *sch, hone_node_id id, hone_var var) {
    const hone_node *node = sch_node(sch, id);
    if (node->kind == HONE_NODE_FOR) {
        return uses_var(node->u.loop.range.min, var) || uses_var(node->u.loop.range.extent, var);
    }
    if (node->kind == HONE_NODE_IF) return uses_var(node->u.eval.value, var);
    return node->kind == HONE_NODE_BLOCK && uses_var(node->u.block.predicate, var);
}

/* The threads of the outer loop share the work of the inner one: the copy of a tile to shared
 * memory. What is below does not know which thread of the outer loop it is. */
static bool shares_work(hone_schedule *sch, hone_node_id outer, hone_node_id inner) {
    if (!hone_prove_equal(&sch->arith, sch_node(sch, outer)->u.loop.range.extent,
                          sch_node(sch, inner)->u.loop.range.extent)) {
        return false;
    }
    SCH_EACH_BLOCK (sch, inner, n) {
        if (sch_uses_loop(sch, n, outer)) return false;
    }
    hone_var var = sch_node(sch, outer)->u.loop.var;
    for (hone_node_id n = inner; n != HONE_NO_ID; n = hone_tree_next(sch->func, inner, n)) {
        if (depends_on(sch, n, var)) return false;
    }
    for (hone_node_id n = sch_node(sch, inner)->parent; n != outer; n = sch_node(sch, n)->parent) {
        bool is_block = sch_node(sch, n)->kind == HONE_NODE_BLOCK;
        if (depends_on(sch, n, var) || (is_block && sch_uses_loop(sch, n, outer))) return false;
    }
    return true;
}

/* A thread axis is one loop deep, but for threads that share the work of an inner loop. */
static hone_status check_unbound(hone_schedule *sch, hone_node_id loop, const char *tag) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        const hone_node *node = sch_node(sch, n);
        if (n == loop || node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_THREAD)
            continue;
        if (strcmp(node->u.loop.thread_tag, tag) != 0) continue;
        bool is_outer = hone_tree_is_ancestor(sch->func, n, loop);
        if (!is_outer && !hone_tree_is_ancestor(sch->func, loop, n)) continue;
        if (is_outer ? shares_work(sch, n, loop) : shares_work(sch, loop, n)) continue;
        return sch_refuse(sch, n,
                          "%s is bound to %s already, around or inside %s, and the inner one's "
                          "work is not the same for all threads, or for another number of them",
                          sch_loop_name(sch, n), tag, sch_loop_name(sch, loop));
    }
    return HONE_OK;
}

static hone_node_id next_thread_loop(const hone_schedule *sch, hone_node_id top, hone_node_id n,
                                     hone_node_id fresh) {
    for (n = hone_tree_next(sch->func, top, n); n != HONE_NO_ID;
         n = hone_tree_next(sch->func, top, n)) {
        const hone_node *node = sch_node(sch, n);
        if (n == fresh) return n;
        if (node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD) return n;
    }
    return HONE_NO_ID;
}

/* What stands below one outermost thread loop is launched together, with one extent per axis. The
 * loop may bring together what was apart before. */
static hone_status check_launch(hone_schedule *sch, hone_node_id loop, const char *tag) {
    hone_node_id kernel = loop;
    for (hone_node_id n = sch_node(sch, loop)->parent; n != HONE_NO_ID;
         n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD) kernel = n;
    }
    for (hone_node_id a = kernel; a != HONE_NO_ID; a = next_thread_loop(sch, kernel, a, loop)) {
        const char *a_tag = a == loop ? tag : sch_node(sch, a)->u.loop.thread_tag;
        int64_t a_extent = hone_expr_const(sch_node(sch, a)->u.loop.range.extent);
        if (a_extent < 0 || strncmp(a_tag, "vthread", 7) == 0) continue;
        for (hone_node_id b = next_thread_loop(sch, kernel, a, loop); b != HONE_NO_ID;
             b = next_thread_loop(sch, kernel, b, loop)) {
            const char *b_tag = b == loop ? tag : sch_node(sch, b)->u.loop.thread_tag;
            int64_t b_extent = hone_expr_const(sch_node(sch, b)->u.loop.range.extent);
            if (b_extent < 0 || a_extent == b_extent || strcmp(a_tag, b_tag) != 0) continue;
            return sch_refuse(sch, b,
                              "%s and %s would be launched together, both bound to %s, with "
                              "extents %lld and %lld",
                              sch_loop_name(sch, a), sch_loop_name(sch, b), a_tag,
                              (long long)a_extent, (long long)b_extent);
        }
    }
    return HONE_OK;
}

hone_status sch_check_thread_loop(hone_schedule *sch, hone_node_id loop, const char *tag) {
    HONE_TRY(check_unbound(sch, loop, tag));
    return check_launch(sch, loop, tag);
}

hone_status hone_sch_bind(hone_schedule *sch, hone_rv loop_rv, const char *thread_axis) {
    hone_node_id loop;
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &loop));
    if (!is_thread_axis(thread_axis)) {
        return sch_refuse(sch, loop,
                          "'%s' is no thread axis; expected blockIdx, threadIdx or "
                          "vthread with .x, .y or .z",
                          thread_axis);
    }
    HONE_TRY(sch_check_thread_loop(sch, loop, thread_axis));
    HONE_TRY(check_independent(sch, loop, strncmp(thread_axis, "threadIdx", 9) == 0));
    const char *tag = hone_arena_strdup(sch->arena, thread_axis);
    if (!tag) return sch_no_memory();
    sch_node(sch, loop)->loop_kind = HONE_LOOP_THREAD;
    sch_node(sch, loop)->u.loop.thread_tag = tag;
    return sch_record(sch, HONE_INST_BIND, SCH_ARGS(SCH_RV(loop_rv), SCH_TEXT(tag)));
}

SCH_STEP(PARALLEL, hone_sch_parallel(sch, a[0].rv), .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_LOOP(0)});

SCH_STEP(VECTORIZE, hone_sch_vectorize(sch, a[0].rv), .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_LOOP(0)});

SCH_STEP(UNROLL, hone_sch_unroll(sch, a[0].rv), .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_LOOP(0)});

SCH_STEP(BIND, hone_sch_bind(sch, a[0].rv, a[1].text), .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_LOOP(0), SCH_ARG_STRING("thread_axis", 0)});
