/* lower/lower.c - the ordered list of passes and the loop that runs it. */
#include "lower/lower.h"

#include <string.h>

#include "ir/verify.h"
#include "lower/passes.h"
#include "support/attributes.h"

static const hone_lower_pass pipeline[] = {
    {"widen",       lower_widen,       "packed pairs of bytes become 16-bit numbers",                 false},
    {"stages",      lower_stages,      "marks the statements of loops that are to be pipelined",      false},
    {"hoist_init",  lower_hoist_init,  "moves the init of reductions in front of their loops",        false},
    {"lower_init",  lower_init,        "turns what is left of init into a condition on the axes",     false},
    {"lower_match", lower_match,       "replaces matched buffers by what they view",                  false},
    {"blocks",      lower_blocks,      "removes blocks: axes become bindings, predicates ifs",        false},
    {"threads",     lower_threads,     "refuses thread-bound loops where there are no such threads",  false},
    {"simplify",    lower_simplify,    "simplifies every expression by the ranges of loops",          false},
    {"plan_allocs", lower_plan_allocs, "moves allocations to the innermost scope of use",             false},
    {"compact",     lower_compact,     "shrinks buffers to the region that is touched",               false},
    {"pipeline",    lower_pipeline,    "lets iterations of annotated loops overlap",                  false},
    {"clip",        lower_clip,        "ends reduction loops early instead of guarding their bodies", false},
    {"partition",   lower_partition,   "gives first and last iterations bodies of their own",         false},
    {"version",     lower_version,     "copies tiles without conditions, for where all hold",         false},
    {"flatten",     lower_flatten,     "makes every buffer one-dimensional",                          false},
    {"dot",         lower_dot,         "sums of products of small integers become dot4 and dot2",     true },
    {"reduce",      lower_reduce,      "collects reductions in vectors where a loop asks for it",     true },
    {"interleave",  lower_interleave,  "packs a few rows side by side as vectors",                    true },
    {"transpose",   lower_transpose,   "reads tiles along their rows and turns them around",          true },
    {"vectorize",   lower_vectorize,   "turns vectorized loops into vector operations",               true },
    {"unroll",      lower_unroll,      "repeats the bodies of unrolled loops",                        true },
    {"prefetch",    lower_prefetch,    "asks early for what loops with a pragma read later",          true },
    {"stream",      lower_stream,      "lets vectors that nobody reads soon go past the caches",      true },
    {"cleanup",     lower_cleanup,     "simplifies again and removes what does nothing",              false},
    {"cse",         lower_cse,         "what is computed several times gets a name",                  false},
};

const hone_lower_pass *hone_lower_pipeline(size_t *out_count) {
    *out_count = HONE_COUNT(pipeline);
    return pipeline;
}

static hone_status run_pass(hone_lower *lower, const hone_lower_pass *pass) {
    hone_status st = pass->run(lower);
    if (st) {
        hone_status_free(hone_ir_finish(&lower->ir));
        return hone_status_annotate(st, "%s", pass->name);
    }
    HONE_TRY(hone_ir_finish(&lower->ir));
#ifndef NDEBUG
    st = hone_check_func(lower->func);
    if (st) return hone_status_annotate(st, "after pass '%s'", pass->name);
#endif
    const hone_lower_options *options = lower->options;
    return options->after ? options->after(options->ctx, pass->name, lower->func) : HONE_OK;
}

/* Whether somebody shaped the program: the code generator keeps its own choices out then. */
static bool is_shaped(const hone_func *func) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        if (node->loop_kind == HONE_LOOP_VECTORIZED || node->loop_kind == HONE_LOOP_UNROLLED) {
            return true;
        }
        for (uint32_t i = 0; i < node->u.loop.annotations.count; i++) {
            if (strncmp(node->u.loop.annotations.items[i].key, "pragma_", 7) == 0) return true;
        }
    }
    return false;
}

hone_status hone_lower_func(const hone_func *func, const hone_lower_options *options,
                            hone_arena *arena, hone_func **out_func) {
    *out_func = NULL;
    hone_lower lower = {.ir = {.arena = arena}, .options = options};
    lower.func = hone_func_clone(arena, func);
    if (!lower.func) return LOWER_NO_MEMORY();
    if (is_shaped(func) && !hone_attrs_with(arena, &lower.func->attrs, "hone.scheduled",
                                            HONE_VALUE_OF_BOOL(true), &lower.func->attrs)) {
        return LOWER_NO_MEMORY();
    }
    HONE_TRY(lower_collect_imports(&lower));
    for (size_t i = 0; i < HONE_COUNT(pipeline); i++) {
        if (pipeline[i].makes_vectors && options->keeps_loops) continue;
        HONE_TRY(run_pass(&lower, &pipeline[i]));
    }
    *out_func = lower.func;
    return HONE_OK;
}
