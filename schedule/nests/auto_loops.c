/* schedule/nests/auto_loops.c - parallel, vectorized and unrolled loops from the annotations of
 * the root block.
 *
 *   for each block below the root, in program order:
 *       outermost loops of its nest, unless an earlier block did it:  fuse ─► parallel
 *       its own innermost contiguous loops:                           fuse ─► vectorize
 *       an innermost loop of open length that is contiguous:          split ─► vectorize
 *       a reduction: the outermost loop gets the unroll limit as a pragma
 *
 * A block that is one contiguous run through memory becomes one loop, cut into vectors, or two,
 * where chunks are wished for: compilers keep other things in registers then. Everything
 * is done through recorded primitives, so a trace that contains it replays without looking at
 * strides again; what a primitive refuses is left out. Source: MetaSchedule's postprocessor
 * RewriteParallelVectorizeUnroll.
 */
#include "schedule/nests/auto_loops.h"

#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

typedef struct limits {
    int64_t jobs;   /* wanted: parallel iterations; 1 = none */
    int64_t vector; /* elements */
    int64_t chunk;  /* vectors of a run; 1 = there are none */
    int64_t unroll; /* steps; 0 = none */
    bool is_explicit;
    const int64_t *open; /* extents that may be others, up to a 0; NULL = there are none */
} limits;

/* A block with its loops, as nodes and as random variables. */
typedef struct nest {
    hone_schedule *sch;
    const limits *lim;
    hone_node_id block;
    uint32_t count;
    hone_rv *rvs;
    hone_node_id *loops;
} nest;

/* A step that is refused is left out: nothing changed. */
static hone_status optional(hone_status st) {
    if (hone_status_code(st) != HONE_CODE_ILLEGAL) return st;
    hone_status_free(st);
    return HONE_OK;
}

static hone_status get_nest(hone_schedule *sch, const limits *lim, hone_rv block_rv, nest *out) {
    *out = (nest){.sch = sch, .lim = lim};
    HONE_TRY(hone_schedule_node(sch, block_rv, &out->block));
    const hone_rv *rvs = NULL;
    HONE_TRY(hone_sch_get_loops(sch, block_rv, &out->count, &rvs));
    out->rvs = hone_arena_alloc(sch->arena, (out->count + 1) * sizeof *rvs); /* one may be split */
    out->loops = hone_arena_alloc(sch->arena, (out->count + 1) * sizeof *out->loops);
    if (!out->rvs || !out->loops) return sch_no_memory();
    for (uint32_t i = 0; i < out->count; i++) {
        out->rvs[i] = rvs[i];
        HONE_TRY(hone_schedule_node(sch, rvs[i], &out->loops[i]));
    }
    return HONE_OK;
}

/* Makes one loop of first … last; the nest then has it at first. */
static hone_status fuse(nest *n, uint32_t first, uint32_t last) {
    if (first == last) return HONE_OK;
    hone_rv fused;
    HONE_TRY(hone_sch_fuse(n->sch, last - first + 1, n->rvs + first, true, &fused));
    n->rvs[first] = fused;
    HONE_TRY(hone_schedule_node(n->sch, fused, &n->loops[first]));
    for (uint32_t i = last + 1; i < n->count; i++) {
        n->rvs[i - (last - first)] = n->rvs[i];
        n->loops[i - (last - first)] = n->loops[i];
    }
    n->count -= last - first;
    return HONE_OK;
}

/* ---- parallel ---- */

/* How many outermost loops to run in parallel, of the first `end`. */
static uint32_t count_parallel(const nest *n, uint32_t end, int64_t *out_product) {
    int64_t product = 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < end && product < n->lim->jobs; i++) {
        const hone_node *loop = sch_node(n->sch, n->loops[i]);
        int64_t extent = hone_expr_const(loop->u.loop.range.extent);
        if (loop->loop_kind != HONE_LOOP_SERIAL || loop->u.loop.annotations.count || extent < 1 ||
            extent > INT32_MAX / product) {
            break;
        }
        if (i &&
            sch_node(n->sch, n->loops[i - 1])->first != sch_node(n->sch, n->loops[i - 1])->last) {
            break;
        }
        if (sch_loop_type_of(n->sch, n->loops[i]) != SCH_LOOP_DATA_PARALLEL) break;
        product *= extent;
        if (extent > 1) count = i + 1;
    }
    *out_product = product;
    return count;
}

static hone_status make_parallel(nest *n, uint32_t end, uint32_t *out_gone) {
    *out_gone = 0;
    if (n->lim->jobs <= 1) return HONE_OK;
    int64_t product;
    uint32_t count = count_parallel(n, end, &product);
    if (count == 0 || product == 1) return HONE_OK;
    HONE_TRY(fuse(n, 0, count - 1));
    *out_gone = count - 1;
    return optional(hone_sch_parallel(n->sch, n->rvs[0]));
}

/* ---- one loop over a contiguous block ---- */

/* Elements of the vectors that a run of total elements is cut into. A quarter of the limit is taken
 * for a register: vectors are whole ones, several where the run is long, even if the last vector is
 * then a shorter one. The run itself: it is not cut here. */
static int64_t vector_length(int64_t total, int64_t limit) {
    enum { WORTH_A_TAIL = 4 };
    int64_t step = limit >= 4 ? limit / 4 : 1;
    for (int64_t d = limit; d >= 2 * step; d -= step) {
        if (total % d == 0) return d;
    }
    if (total / WORTH_A_TAIL >= limit) return limit;
    return total % step == 0 ? step : total;
}

static hone_status split_in_two(nest *n, int64_t inner) {
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(inner)};
    const hone_rv *parts = NULL;
    HONE_TRY(hone_sch_split(n->sch, n->rvs[0], 2, factors, true, false, &parts));
    n->rvs[0] = parts[0];
    n->rvs[1] = parts[1];
    n->count = 2;
    return HONE_OK;
}

/* The largest divisor of all that is not above most; both are at least 1. */
static int64_t largest_divisor(int64_t all, int64_t most) {
    int64_t largest = 1, d = most < all ? most : all;
    if (d <= all / d) { /* none is found from the other end any sooner */
        while (all % d != 0)
            d--;
        return d;
    }
    for (d = 1; d <= all / d; d++) {
        if (all % d != 0) continue;
        if (all / d <= most) return all / d;
        largest = d;
    }
    return largest;
}

/* for v in all  ⇒  for c in all / chunk: for v in chunk, where some length of them divides all. */
static hone_status cut_chunks(nest *n, int64_t vectors) {
    if (n->lim->chunk <= 1) return HONE_OK;
    int64_t chunk = largest_divisor(vectors, n->lim->chunk);
    return chunk > 1 && chunk < vectors ? split_in_two(n, chunk) : HONE_OK;
}

/* The whole nest is one run of `total` elements. */
static hone_status rewrite_run(nest *n, int64_t total) {
    HONE_TRY(fuse(n, 0, n->count - 1));
    int64_t inner = vector_length(total, n->lim->vector);
    if (inner >= total) return optional(hone_sch_vectorize(n->sch, n->rvs[0]));
    HONE_TRY(split_in_two(n, inner));
    HONE_TRY(optional(hone_sch_vectorize(n->sch, n->rvs[1])));
    HONE_TRY(cut_chunks(n, (total + inner - 1) / inner));
    return n->lim->jobs > 1 ? optional(hone_sch_parallel(n->sch, n->rvs[0])) : HONE_OK;
}

static bool is_one_run(const nest *n, const sch_vector_run *run) {
    if (run->first > run->last) return false;
    for (uint32_t i = 0; i < run->full_first; i++) {
        const hone_node *loop = sch_node(n->sch, n->loops[i]);
        if (!hone_expr_is_int_value(loop->u.loop.range.extent, 1)) return false;
        if (loop->first != loop->last || loop->u.loop.annotations.count) return false;
    }
    return run->last == n->count - 1;
}

/* ---- a row of open length ---- */

/* Vectors of a register, of which the last one is masked. Rows that follow each other are one. */
static hone_status cut_open_row(nest *n, int64_t lanes) {
    uint32_t last = n->count - 1, first = last;
    if (lanes <= 1 || !sch_is_open_row(n->sch, n->block, n->loops[last])) return HONE_OK;
    while (first > 0 && sch_is_open_pair(n->sch, n->block, n->loops[first - 1], n->loops[first]))
        first--;
    HONE_TRY(fuse(n, first, last));
    last = first;
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(lanes)};
    const hone_rv *parts = NULL;
    HONE_TRY(hone_sch_split(n->sch, n->rvs[last], 2, factors, true, false, &parts));
    n->rvs[last] = parts[0];
    HONE_TRY(hone_schedule_node(n->sch, parts[0], &n->loops[last]));
    return optional(hone_sch_vectorize(n->sch, parts[1]));
}

/* ---- unroll ---- */

static bool has_reduce_axis(const nest *n) {
    const hone_block *block = sch_block(n->sch, n->block);
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (block->axes[a].kind == HONE_AXIS_REDUCE) return true;
    }
    return false;
}

static bool is_math(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return e->kind == HONE_EXPR_CALL && hone_intrin_is_math((hone_intrin)e->op);
}

/* A vector of exp is dozens of instructions already: many copies only cost the compiler time. */
static int64_t unroll_step(const nest *n) {
    enum { MATH_STEP = 16 };
    if (n->lim->unroll <= MATH_STEP) return n->lim->unroll;
    bool has_math = hone_tree_find_part(n->sch->func, n->loops[0], false, is_math, NULL);
    return has_math ? MATH_STEP : n->lim->unroll;
}

static hone_status set_unroll(nest *n) {
    if (n->lim->unroll <= 0 || n->count == 0 || !has_reduce_axis(n)) return HONE_OK;
    hone_attrs attrs = sch_node(n->sch, n->loops[0])->u.loop.annotations;
    if (hone_attrs_find(&attrs, HONE_PRAGMA_UNROLL_STEP)) return HONE_OK;
    HONE_TRY(hone_sch_annotate(n->sch, n->rvs[0], HONE_PRAGMA_UNROLL_STEP,
                               HONE_VALUE_OF_INT(unroll_step(n)), HONE_NO_ID));
    return hone_sch_annotate(n->sch, n->rvs[0], HONE_PRAGMA_UNROLL_EXPLICIT,
                             HONE_VALUE_OF_INT(n->lim->is_explicit), HONE_NO_ID);
}

/* ---- a block ---- */

/* Behind the last loop whose extent may be another: 0 where there is none. */
static uint32_t first_known(const nest *n) {
    for (uint32_t i = n->count; i > 0 && n->lim->open; i--) {
        int64_t extent = hone_expr_const(sch_node(n->sch, n->loops[i - 1])->u.loop.range.extent);
        for (const int64_t *open = n->lim->open; *open; open++)
            if (extent == *open) return i;
    }
    return 0;
}

/* The loops that make a vector together, whatever the open extents are. */
static sch_vector_run find_run(nest *n) {
    sch_vector_run run = {1, 0, 1, 1};
    uint32_t first = first_known(n);
    if (n->lim->vector <= 1 || first == n->count) return run;
    run = sch_find_vector_run(n->sch, n->block, n->count - first, n->loops + first, n->lim->vector);
    run.first += first;
    run.last += first;
    run.full_first += first;
    return run;
}

static hone_status rewrite_block(hone_schedule *sch, const limits *lim, hone_rv block_rv) {
    nest n;
    HONE_TRY(get_nest(sch, lim, block_rv, &n));
    if (n.count == 0) return HONE_OK;
    sch_vector_run run = find_run(&n);
    if (is_one_run(&n, &run) && run.full_product > 1) return rewrite_run(&n, run.full_product);
    bool has_run = run.first <= run.last;
    uint32_t gone = 0;
    HONE_TRY(make_parallel(&n, has_run ? run.first : n.count, &gone));
    if (has_run) {
        HONE_TRY(fuse(&n, run.first - gone, run.last - gone));
        HONE_TRY(optional(hone_sch_vectorize(sch, n.rvs[run.first - gone])));
    } else {
        HONE_TRY(cut_open_row(&n, lim->vector >= 8 ? lim->vector / 4 : lim->vector));
    }
    return set_unroll(&n);
}

/* ---- the root's annotations ---- */

static hone_status take(hone_schedule *sch, hone_rv root, const hone_attrs *attrs, const char *key,
                        int64_t absent, int64_t *out) {
    *out = absent;
    if (!hone_attrs_find(attrs, key)) return HONE_OK;
    *out = hone_attrs_int(attrs, key, absent);
    return hone_sch_unannotate(sch, root, key);
}

static bool has_work(const hone_attrs *attrs) {
    return hone_attrs_find(attrs, HONE_ANNOTATION_PARALLEL) ||
           hone_attrs_find(attrs, HONE_ANNOTATION_VECTORIZE) ||
           hone_attrs_find(attrs, HONE_ANNOTATION_CHUNK) ||
           hone_attrs_find(attrs, HONE_ANNOTATION_UNROLL_EXPLICIT) ||
           hone_attrs_find(attrs, HONE_ANNOTATION_UNROLL_IMPLICIT);
}

static hone_status read_limits(hone_schedule *sch, hone_rv root, const hone_attrs *attrs,
                               limits *out) {
    int64_t implicit, explicit;
    HONE_TRY(take(sch, root, attrs, HONE_ANNOTATION_PARALLEL, 1, &out->jobs));
    HONE_TRY(take(sch, root, attrs, HONE_ANNOTATION_VECTORIZE, 1, &out->vector));
    HONE_TRY(take(sch, root, attrs, HONE_ANNOTATION_CHUNK, 1, &out->chunk));
    HONE_TRY(take(sch, root, attrs, HONE_ANNOTATION_UNROLL_EXPLICIT, 0, &explicit));
    HONE_TRY(take(sch, root, attrs, HONE_ANNOTATION_UNROLL_IMPLICIT, 0, &implicit));
    out->is_explicit = explicit > 0;
    out->unroll = out->is_explicit ? explicit : implicit;
    return HONE_OK;
}

static hone_status get_root(hone_schedule *sch, hone_rv *out) {
    hone_node_id root = hone_func_root_block(sch->func);
    return hone_sch_get_block(sch, sch_block(sch, root)->name, out);
}

static hone_status get_blocks_of_root(hone_schedule *sch, uint32_t *out_count,
                                      const hone_rv **out) {
    hone_rv root;
    HONE_TRY(get_root(sch, &root));
    return hone_sch_get_child_blocks(sch, root, out_count, out);
}

hone_status hone_auto_open_rows(hone_schedule *sch, int64_t lanes) {
    const limits lim = {.jobs = 1, .vector = lanes};
    uint32_t count = 0;
    const hone_rv *blocks = NULL;
    HONE_TRY(get_blocks_of_root(sch, &count, &blocks));
    for (uint32_t i = 0; i < count; i++) {
        nest n;
        HONE_TRY(get_nest(sch, &lim, blocks[i], &n));
        if (n.count) HONE_TRY(cut_open_row(&n, lanes));
    }
    return HONE_OK;
}

hone_status hone_auto_loops_for(hone_schedule *sch, const int64_t *open_extents) {
    hone_node_id root = hone_func_root_block(sch->func);
    hone_attrs attrs = sch_block(sch, root)->annotations;
    if (!has_work(&attrs)) return HONE_OK;
    hone_rv root_rv;
    limits lim;
    HONE_TRY(get_root(sch, &root_rv));
    HONE_TRY(read_limits(sch, root_rv, &attrs, &lim));
    lim.open = open_extents;
    uint32_t count = 0;
    const hone_rv *blocks = NULL;
    HONE_TRY(hone_sch_get_child_blocks(sch, root_rv, &count, &blocks));
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(rewrite_block(sch, &lim, blocks[i]));
    return HONE_OK;
}

hone_status hone_auto_loops(hone_schedule *sch) {
    return hone_auto_loops_for(sch, NULL);
}

/* ---- reductions ---- */

static bool feeds(const hone_schedule *sch, hone_node_id block, hone_var var, hone_axis_kind kind) {
    const hone_node *node = sch_node(sch, block);
    for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
        if (node->u.block.block->axes[a].kind != kind) continue;
        if (hone_expr_uses_var(node->u.block.bindings[a], var)) return true;
    }
    return false;
}

/* The init of a vectorized reduction is vectorized as well: the copy of the same loop. */
static hone_status vectorize_init(const nest *n, uint32_t top, hone_rv init) {
    uint32_t spatial_below = 0;
    bool is_vector = false;
    for (uint32_t i = n->count; i-- > top && !is_vector;) {
        const hone_node *loop = sch_node(n->sch, n->loops[i]);
        is_vector = loop->loop_kind == HONE_LOOP_VECTORIZED;
        if (!is_vector)
            spatial_below += feeds(n->sch, n->block, loop->u.loop.var, HONE_AXIS_SPATIAL);
    }
    if (!is_vector) return HONE_OK;
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    HONE_TRY(hone_sch_get_loops(n->sch, init, &count, &loops));
    if (spatial_below >= count) return HONE_OK;
    return optional(hone_sch_vectorize(n->sch, loops[count - 1 - spatial_below]));
}

static hone_status decompose_block(hone_schedule *sch, hone_rv block_rv) {
    nest n;
    HONE_TRY(get_nest(sch, NULL, block_rv, &n));
    for (uint32_t i = 0; i < n.count; i++) {
        const hone_node *loop = sch_node(sch, n.loops[i]);
        if (!feeds(sch, n.block, loop->u.loop.var, HONE_AXIS_REDUCE)) continue;
        if (loop->loop_kind == HONE_LOOP_THREAD) return HONE_OK; /* reduced across threads */
        hone_rv init = HONE_NO_ID;
        HONE_TRY(optional(hone_sch_decompose_reduction(sch, block_rv, n.rvs[i], &init)));
        return init == HONE_NO_ID ? HONE_OK : vectorize_init(&n, i, init);
    }
    return HONE_OK;
}

hone_status hone_auto_decompose(hone_schedule *sch) {
    hone_node_id root = hone_func_root_block(sch->func);
    bool has_init = false;
    SCH_EACH_BLOCK (sch, root, b) {
        has_init = has_init || hone_block_init_of(sch->func, b) != HONE_NO_ID;
    }
    if (!has_init) return HONE_OK;
    uint32_t count = 0;
    const hone_rv *blocks = NULL;
    HONE_TRY(get_blocks_of_root(sch, &count, &blocks));
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id block;
        HONE_TRY(hone_schedule_node(sch, blocks[i], &block));
        if (hone_block_init_of(sch->func, block) == HONE_NO_ID) continue;
        HONE_TRY(decompose_block(sch, blocks[i]));
    }
    return HONE_OK;
}
