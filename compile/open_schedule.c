/* compile/open_schedule.c - see open_schedule.h.
 *
 * Open sizes tell a schedule little. For sums what is good for a size that fills tiles is tried on
 * the open program. Where tiles would fill that size alone, schedules are told which extents it
 * stands in for, so that tiles are some registers with a rest; then come sizes that are longer than
 * tiles are, then what is good for size 1: each step checks that it is legal there. What sums
 * nothing (transposes) has tiles that are told alone, or what is good for the open program.
 */
#include "compile/open_schedule.h"

#include "compile/first_schedule.h"
#include "graph/passes/specialize.h"
#include "schedule/nests/auto_loops.h"
#include "schedule/nests/nest_facts.h"
#include "schedule/replay/trace_apply.h"

/* The function with every open size this number. */
static hone_status bind_all(parts *p, const hone_func *func, int64_t number, hone_func **out_func) {
    hone_ir ir = {.arena = p->arena};
    const hone_expr **values = hone_arena_zalloc(p->arena, (func->var_count + 1) * sizeof *values);
    *out_func = hone_func_copy_deep(p->arena, func);
    if (!values || !*out_func) return parts_no_memory();
    for (uint32_t v = 0; v < func->var_count; v++) {
        if (func->vars[v].is_size) values[v] = hone_expr_int(&ir, func->vars[v].dtype, number);
    }
    HONE_TRY(hone_ir_finish(&ir));
    return hone_func_bind_sizes(*out_func, values);
}

static bool is_open(const hone_func *func, hone_buffer buffer, int32_t dim) {
    return hone_expr_const(func->buffers[buffer].shape[dim]) < 0;
}

static bool uses(const hone_region *region, uint32_t rank, hone_var axis) {
    for (uint32_t d = 0; d < rank; d++)
        if (hone_expr_uses_var(region->ranges[d].min, axis)) return true;
    return false;
}

/* An axis that what is read at r has, and nothing else that is read: filters. */
static bool has_own_axis(const hone_func *func, const hone_block *block, uint32_t r) {
    for (uint32_t a = 0; a < block->axis_count; a++) {
        bool is_own = block->axes[a].kind == HONE_AXIS_SPATIAL;
        for (uint32_t i = 0; i < block->read_count && is_own; i++) {
            const hone_region *read = &block->reads[i];
            if (i != r && read->buffer == block->writes[0].buffer) continue;
            is_own = uses(read, func->buffers[read->buffer].rank, block->axes[a].var) == (i == r);
        }
        if (is_own) return true;
    }
    return false;
}

/* Weights: a tensor, of which nothing is open, with filters of its own. */
static bool reads_weights(const hone_func *func, const hone_block *block) {
    for (uint32_t r = 0; r < block->read_count; r++) {
        const hone_buffer buffer = block->reads[r].buffer;
        int32_t rank = func->buffers[buffer].rank, known = 0;
        while (known < rank && !is_open(func, buffer, known))
            known++;
        if (rank > 1 && known == rank && has_own_axis(func, block, r)) return true;
    }
    return false;
}

/* Weights along rows whose length is open: convolutions. Gives how many axes they sum over; 0:
 * there are none. */
static uint32_t axes_of_open_rows(const hone_func *func) {
    for (uint32_t n = 0; n < func->node_count; n++) {
        if (func->nodes[n].kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = func->nodes[n].u.block.block;
        uint32_t sums = 0;
        for (uint32_t a = 0; a < block->axis_count; a++)
            sums += block->axes[a].kind == HONE_AXIS_REDUCE;
        if (!sums || !block->write_count) continue;
        const hone_buffer to = block->writes[0].buffer;
        int32_t rank = func->buffers[to].rank;
        if (rank && is_open(func, to, rank - 1) && reads_weights(func, block)) return sums;
    }
    return 0;
}

/* The extent is a multiple of one that is open, which is a number in bound. */
static bool is_of_open(const hone_func *open_one, const hone_func *bound, int64_t extent) {
    enum { LEAST = 8 }; /* less divides everything */
    for (uint32_t i = 0; i < open_one->buffer_count && i < bound->buffer_count; i++) {
        const hone_buffer_info *info = &bound->buffers[i];
        for (uint32_t d = 0; d < info->rank && d < open_one->buffers[i].rank; d++) {
            int64_t number = is_open(open_one, i, (int32_t)d) ? hone_expr_const(info->shape[d]) : 0;
            if (number >= LEAST && extent % number == 0) return true;
        }
    }
    return false;
}

/* Tiles that fill a loop of an open extent: they divide its number by chance, and others not at
 * all. */
static bool fills_by_chance(const hone_trace *trace, const hone_func *open_one,
                            const hone_func *bound) {
    for (uint32_t i = 0; i < trace->count; i++) {
        const hone_decision *tiles = &trace->decisions[i];
        int64_t extent = 1;
        if (trace->insts[i].kind != HONE_INST_SAMPLE_PERFECT_TILE) continue;
        for (uint32_t d = 0; d < tiles->count; d++)
            if (__builtin_mul_overflow(extent, tiles->values[d], &extent)) return true;
        if (is_of_open(open_one, bound, extent)) return true;
    }
    return false;
}

/* A loop that is a vector where its size is known is cut into vectors where it is not. */
static hone_status apply_open(parts *p, const hone_trace *trace, hone_schedule *open_one) {
    enum { MOST = 16 };
    bool *is_left_out = hone_arena_zalloc(p->arena, trace->count + 1);
    uint32_t failed = 0;
    hone_apply_options options = {.is_left_out = is_left_out, .out_failed = &failed};
    if (!is_left_out) return parts_no_memory();
    hone_status st = hone_trace_apply(trace, open_one, &options);
    for (int i = 0; i < MOST && hone_status_code(st) == HONE_CODE_ILLEGAL; i++) {
        if (failed >= trace->count || trace->insts[failed].kind != HONE_INST_VECTORIZE) break;
        hone_status_free(st);
        is_left_out[failed] = true;
        HONE_TRY(hone_schedule_reset(open_one));
        st = hone_trace_apply(trace, open_one, &options);
    }
    return st ? st : hone_auto_open_rows(open_one, hone_target_lanes(&p->options->target, 32));
}

/* Adds an extent that is open to those that end with 0. */
static void note_open(int64_t *out, uint32_t *io_count, const hone_expr *open_one,
                      const hone_expr *bound) {
    int64_t extent = hone_expr_const(open_one) < 0 ? hone_expr_const(bound) : 0;
    if (extent > 1) out[(*io_count)++] = extent;
}

/* What stands in bound for the open extents of loops, and of dimensions, over which loops will go,
 * behind the number that stands for a size; 0 ends them. */
static const int64_t *list_open_extents(parts *p, const hone_func *open_one, const hone_func *bound,
                                        int64_t number) {
    size_t most = open_one->node_count + (size_t)open_one->buffer_count * HONE_MAX_RANK + 2;
    int64_t *out = hone_arena_zalloc(p->arena, most * sizeof *out);
    uint32_t count = 0;
    if (out) out[count++] = number;
    for (uint32_t n = 0; out && n < open_one->node_count && n < bound->node_count; n++) {
        const hone_node *a = &open_one->nodes[n], *b = &bound->nodes[n];
        if (a->kind == HONE_NODE_FOR && b->kind == HONE_NODE_FOR)
            note_open(out, &count, a->u.loop.range.extent, b->u.loop.range.extent);
    }
    for (uint32_t i = 0; out && i < open_one->buffer_count && i < bound->buffer_count; i++) {
        const hone_buffer_info *a = &open_one->buffers[i], *b = &bound->buffers[i];
        for (uint32_t d = 0; d < a->rank && d < b->rank && d < HONE_MAX_RANK; d++)
            note_open(out, &count, a->shape[d], b->shape[d]);
    }
    return out;
}

/* A number in the place of open sizes. */
typedef struct stand_in {
    int64_t number;
    bool is_told; /* which extents are open, so that tiles are made for any */
} stand_in;

static hone_status schedule_as(parts *p, const part_kernel *k, stand_in as,
                               hone_schedule *open_one) {
    hone_func *bound;
    const hone_func *func = open_one->func;
    const int64_t *extents = NULL;
    hone_schedule *sch;
    HONE_TRY(bind_all(p, func, as.number, &bound));
    if (as.is_told && !(extents = list_open_extents(p, func, bound, as.number)))
        return parts_no_memory();
    HONE_TRY(hone_schedule_create(bound, &sch));
    hone_status st = hone_first_open_schedule(sch, &p->options->target, k->constants, extents);
    if (!st && as.number > 1 && fills_by_chance(&sch->trace, func, bound))
        st = HONE_ERROR(HONE_CODE_ILLEGAL, "tiles of the size %lld alone", (long long)as.number);
    if (!st) st = apply_open(p, &sch->trace, open_one);
    hone_schedule_destroy(sch);
    return st;
}

/* Sums, or running ones. */
static bool has_sums(const hone_schedule *sch) {
    hone_node_id root = hone_func_root_block(sch->func);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(sch->func, root, n)) {
        bool is_block = hone_func_node(sch->func, n)->kind == HONE_NODE_BLOCK;
        if (is_block && (hone_nest_has_reduce_axis(sch, n) || hone_nest_has_scan_axis(sch, n)))
            return true;
    }
    return false;
}

enum { VOLUME_SUMS = 4 }; /* channels, and a window in three dimensions */

/* What to try, one after the other; 0 ends it. */
static const stand_in *list_stand_ins(const hone_schedule *open_one) {
    /* Primes: what divides them by chance need not divide others. Of open rows 17 as well, which
     * fills vectors badly, so that they go along something else (filters). 157 and 167 for extents
     * of one more or less (windows of an even length), which are twice a prime. */
    static const stand_in others[] = {
        {61,  true },
        {61,  false},
        {251, false},
        {157, false},
        {167, false},
        {1,   false},
        {0,   false}
    };
    static const stand_in of_rows[] = {
        {61,  false},
        {17,  false},
        {17,  true },
        {61,  true },
        {251, false},
        {157, false},
        {167, false},
        {1,   false},
        {0,   false}
    };
    /* Of volumes rows are cut short in two directions where filters are vectors. */
    static const stand_in of_volumes[] = {
        {61,  true },
        {61,  false},
        {17,  false},
        {17,  true },
        {251, false},
        {157, false},
        {167, false},
        {1,   false},
        {0,   false}
    };
    static const stand_in of_maps[] = {
        {61,  true },
        {157, true },
        {0,   false}
    };
    if (!has_sums(open_one)) return of_maps;
    uint32_t sums = axes_of_open_rows(open_one->func);
    return sums >= VOLUME_SUMS ? of_volumes : sums > 0 ? of_rows : others;
}

hone_status parts_schedule_open(parts *p, const part_kernel *k, hone_schedule *open_one,
                                bool *out_done) {
    *out_done = false;
    for (const stand_in *as = list_stand_ins(open_one); as->number && !*out_done; as++) {
        hone_status st = schedule_as(p, k, *as, open_one);
        *out_done = !st;
        if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
        hone_status_free(st);
        HONE_TRY(hone_schedule_reset(open_one));
    }
    return HONE_OK;
}
