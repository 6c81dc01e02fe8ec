/* costmodel/feature_row.c - the columns of one statement.
 *
 * Groups 1 to 5 are those of MetaSchedule's per_store_feature.cc (see the README for what differs);
 * "shape" and "target" are ours. A row describes the buffer's most expensive statement; operations
 * are summed over all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "costmodel/feature_impl.h"

/* Iterations of loops from..to−1. */
static double product(const hone_feature_state *s, int from, int to) {
    double result = 1;
    for (int l = from; l < to; l++)
        result *= s->loops[l].extent;
    return result;
}

/* ---- group 1: loop kinds and threads ---- */

typedef enum position {
    POSITION_NONE,
    POSITION_INNER_SPATIAL,
    POSITION_MIDDLE_SPATIAL,
    POSITION_OUTER_SPATIAL,
    POSITION_INNER_REDUCE,
    POSITION_MIDDLE_REDUCE,
    POSITION_OUTER_REDUCE,
    POSITION_MIXED,
} position;

/* Where a loop stands among those of its own sort. */
static position position_of(const hone_feature_state *s, int loop) {
    const feature_statement *st = &s->statement;
    bool reduce = feature_is_reduce(st, loop), is_first = true, is_last = true;
    for (int l = 0; l < s->depth; l++) {
        if (feature_is_reduce(st, l) != reduce) continue;
        if (l < loop) is_first = false;
        if (l > loop) is_last = false;
    }
    position inner = reduce ? POSITION_INNER_REDUCE : POSITION_INNER_SPATIAL;
    if (is_last) return inner;
    return is_first ? inner + 2 : inner + 1;
}

static void write_loop_kind(const hone_feature_state *s, hone_loop_kind kind, float *out) {
    double count = 0, iterations = 1, innermost = 0;
    position where = POSITION_NONE;
    for (int l = 0; l < s->depth; l++) {
        if (s->loops[l].kind != kind) continue;
        where = count > 0 ? POSITION_MIXED : position_of(s, l);
        count += 1;
        iterations *= s->loops[l].extent;
        innermost = s->loops[l].extent;
    }
    out[0] = slog(count);
    out[1] = slog(count > 0 ? iterations : 0);
    out[2] = slog(innermost);
    out[3 + where] = 1;
}

static void write_threads(const hone_feature_state *s, float *out) {
    double extents[THREAD_AXES];
    for (int i = 0; i < THREAD_AXES; i++)
        extents[i] = 1;
    for (int l = 0; l < s->depth; l++) {
        int thread = s->loops[l].thread;
        if (thread != NO_THREAD && extents[thread] <= 1) extents[thread] = s->loops[l].extent;
    }
    out[0] = hone_target_is_gpu(s->target) ? 1 : 0;
    for (int i = 0; i < THREAD_AXES; i++)
        out[1 + i] = slog(extents[i]);
}

/* ---- group 2: memory ---- */

typedef struct reuse {
    int type; /* 0: a loop reads the same again, 1: an earlier statement touched it, 2: none */
    double iterations, bytes, count;
} reuse;

/* An earlier statement under common loops touched the buffer: how far away is that? */
static reuse reuse_of_earlier(const hone_feature_state *s, const feature_access *a) {
    reuse none = {.type = 2};
    const buffer_facts *facts = &s->buffers.data[a->buffer];
    if (!facts->is_touched) return none;
    hone_node_id path[MAX_LOOPS];
    for (int l = 0; l < s->depth; l++)
        path[l] = s->loops[l].node;
    int shared = feature_shared_depth(path, s->depth, facts->last_path, facts->last_depth);
    return (reuse){.type = 1,
                   .iterations = product(s, shared, s->depth),
                   .bytes = s->statement.bytes[shared] + facts->last_bytes[shared],
                   .count = 1};
}

static reuse reuse_of(const hone_feature_state *s, const feature_access *a) {
    for (int l = s->depth - 1; l >= 0; l--) {
        if (a->uses >> l & 1) continue;
        return (reuse){.type = 0,
                       .iterations = product(s, l + 1, s->depth),
                       .bytes = s->statement.bytes[l + 1],
                       .count = s->loops[l].extent};
    }
    return reuse_of_earlier(s, a);
}

typedef struct access_cost {
    const feature_access *access;
    double bytes, lines, unique_bytes, unique_lines, stride;
} access_cost;

static access_cost cost_of(const hone_feature_state *s, const feature_access *a) {
    double line = s->target->cache_line_bytes > 0 ? s->target->cache_line_bytes : 64;
    double iterations = s->statement.iterations, inside = 1, step = 0;
    int l = s->depth - 1;
    for (; l >= 0 && a->slope[l] == 0; l--)
        inside *= s->loops[l].extent;
    if (l >= 0) step = fabs(a->slope[l]);
    double lines = iterations / inside * fmin(1, step * a->elem_bytes / line);
    double unique_bytes = a->touched[0] * a->elem_bytes;
    return (access_cost){
        .access = a,
        .bytes = iterations * a->elem_bytes,
        .lines = fmax(1, lines),
        .unique_bytes = unique_bytes,
        .unique_lines = fmax(1, unique_bytes / fmin(line, a->run_bytes)),
        .stride = s->depth && l == s->depth - 1 ? step : 0,
    };
}

/* Most lines first, then most bytes; then the order of the statement, which names do not change. */
static int by_cost(const void *a, const void *b) {
    const access_cost *x = a, *y = b;
    if (x->lines != y->lines) return x->lines > y->lines ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    if (x->unique_bytes != y->unique_bytes) return x->unique_bytes > y->unique_bytes ? -1 : 1;
    return (x->access > y->access) - (x->access < y->access);
}

static void write_access(const hone_feature_state *s, const access_cost *cost, float *out) {
    const feature_access *a = cost->access;
    reuse r = reuse_of(s, a);
    double per = r.count > 0 ? r.count : 0.5;
    out[a->reads && a->writes ? 2 : a->writes ? 1 : 0] = 1;
    out[3] = slog(cost->bytes);
    out[4] = slog(cost->unique_bytes);
    out[5] = slog(cost->lines);
    out[6] = slog(cost->unique_lines);
    out[7 + r.type] = 1;
    out[10] = slog(r.iterations);
    out[11] = slog(r.bytes);
    out[12] = slog(r.count);
    out[13] = slog(cost->bytes / per);
    out[14] = slog(cost->unique_bytes / per);
    out[15] = slog(cost->lines / per);
    out[16] = slog(cost->unique_lines / per);
    out[17] = slog(cost->stride);
}

static void write_accesses(const hone_feature_state *s, float *out) {
    access_cost costs[MAX_ACCESSES];
    int count = s->statement.access_count;
    for (int i = 0; i < count; i++)
        costs[i] = cost_of(s, &s->statement.accesses[i]);
    if (count) qsort(costs, (size_t)count, sizeof *costs, by_cost);
    for (int i = 0; i < count && i < HONE_FEATURE_BUFFERS; i++) {
        write_access(s, &costs[i], out + i * ACCESS_COLUMNS);
    }
}

/* ---- group 3: operations per byte, as ever more of the loop nest is looked at ---- */

static double flops_of(const feature_statement *st) {
    double flops = 0;
    for (int i = ARITH_FLOAT_MAD; i <= ARITH_FLOAT_OTHER; i++)
        flops += st->ops[i];
    return flops + st->ops[ARITH_FLOAT_MAD]; /* two each */
}

static void write_curve(const hone_feature_state *s, float *out) {
    const feature_statement *st = &s->statement;
    double flops = flops_of(st), total = flops * product(s, 0, s->depth);
    if (total <= 0) return;
    int k = s->depth;
    for (int i = 0; i < HONE_FEATURE_CURVE; i++) {
        double want = total * (i + 1) / HONE_FEATURE_CURVE;
        while (k > 0 && flops * product(s, k, s->depth) < want * (1 - 1e-9))
            k--;
        double here = flops * product(s, k, s->depth), there = here;
        double intensity = here / fmax(1, st->bytes[k]), before = intensity;
        if (k < s->depth) {
            there = flops * product(s, k + 1, s->depth);
            before = there / fmax(1, st->bytes[k + 1]);
        }
        double part = here > there ? (want - there) / (here - there) : 1;
        out[i] = slog(before + (intensity - before) * part);
    }
}

/* ---- ours: the shape of the nest against the machine ---- */

/* Bytes that must come from beyond a cache: the largest part of the nest that fits, times how often
 * it runs. */
static double traffic(const hone_feature_state *s, double cache_bytes) {
    const feature_statement *st = &s->statement;
    int k = 0;
    if (cache_bytes <= 0) return st->bytes[s->depth] * st->iterations;
    while (k < s->depth && st->bytes[k] > cache_bytes)
        k++;
    return st->bytes[k] * product(s, 0, k) * s->extra;
}

static void write_shape(const hone_feature_state *s, float *out) {
    const feature_statement *st = &s->statement;
    const hone_target *target = s->target;
    double cores = target->num_threads > 0 ? target->num_threads : 1;
    double parallel = 1, vector = 1, unrolled = 1, reduced = 1, ops = 0;
    for (int l = 0; l < s->depth; l++) {
        double extent = s->loops[l].extent;
        if (s->loops[l].kind == HONE_LOOP_PARALLEL) parallel *= extent;
        if (s->loops[l].kind == HONE_LOOP_VECTORIZED) vector *= extent;
        if (s->loops[l].kind == HONE_LOOP_UNROLLED) unrolled *= extent;
        if (feature_is_reduce(st, l)) reduced *= extent;
    }
    for (int i = 0; i < ARITH_COUNT; i++)
        ops += st->ops[i];
    double elem = st->access_count ? st->accesses[0].elem_bytes : 4;
    double register_bytes = fmax(1, target->vector_bits / 8.0);
    out[0] = slog(parallel / cores);
    out[1] = (float)(parallel / (ceil(parallel / cores) * cores)); /* how busy the cores are */
    out[2] = slog(vector * elem / register_bytes);
    out[3] = slog(traffic(s, (double)target->l1d_bytes));
    out[4] = slog(traffic(s, (double)target->l2_bytes));
    out[5] = slog(traffic(s, (double)target->l3_bytes));
    out[6] = slog(st->bytes[0]);
    out[7] = s->guards > 0 ? 1 : 0;
    out[8] = slog(unrolled * ops);
    out[9] = slog(reduced);
    out[10] = s->depth && feature_is_reduce(st, s->depth - 1) ? 1 : 0;
    out[11] = slog(st->iterations);
}

static void write_target(const hone_feature_state *s, float *out) {
    const hone_target *target = s->target;
    out[0] = slog(target->num_threads);
    out[1] = slog(target->vector_bits / 8.0);
    out[2] = slog((double)target->l1d_bytes);
    out[3] = slog((double)target->l2_bytes);
    out[4] = slog((double)target->l3_bytes);
}

/* ---- rows ---- */

static feature_row *find_row(hone_feature_state *s, hone_buffer buffer) {
    buffer_facts *facts = &s->buffers.data[buffer];
    if (!facts->row) {
        feature_row fresh = {.buffer = buffer, .weight = -1};
        size_t cells = (s->rows.count + 1) * COLUMN_COUNT;
        if (!hone_vec_push(&s->rows, fresh) || !hone_vec_resize(&s->columns, cells)) {
            s->failed = true;
            return NULL;
        }
        facts->row = (uint32_t)s->rows.count;
    }
    return &s->rows.data[facts->row - 1];
}

static void describe(hone_feature_state *s, feature_row *row) {
    const feature_statement *st = &s->statement;
    float *out = &s->columns.data[(size_t)(row - s->rows.data) * COLUMN_COUNT];
    memset(out, 0, COLUMN_COUNT * sizeof *out);
    float *kinds = out + COLUMN_FOR_KIND;
    write_loop_kind(s, HONE_LOOP_VECTORIZED, kinds);
    write_loop_kind(s, HONE_LOOP_UNROLLED, kinds + FOR_KIND_COLUMNS);
    write_loop_kind(s, HONE_LOOP_PARALLEL, kinds + 2 * FOR_KIND_COLUMNS);
    write_threads(s, out + COLUMN_GPU);
    write_accesses(s, out + COLUMN_ACCESS);
    write_curve(s, out + COLUMN_CURVE);
    out[COLUMN_OUTER] = slog(product(s, 0, s->depth) * s->extra);
    out[COLUMN_OUTER + 1] = slog(s->depth);
    out[COLUMN_OUTER + 2] = slog((double)s->unroll_step);
    write_shape(s, out + COLUMN_SHAPE);
    write_target(s, out + COLUMN_TARGET);
    for (int i = 0; i < WISH_COUNT; i++)
        out[COLUMN_WISH + i] = slog(s->wishes[i]);
    row->cycles = feature_write_tile(s, out + COLUMN_TILE);
    row->traffic[0] = traffic(s, (double)s->target->l1d_bytes);
    row->traffic[1] = traffic(s, (double)s->target->l2_bytes);
    row->traffic[2] = traffic(s, (double)s->target->l3_bytes);
    row->elem_bytes = st->accesses[0].elem_bytes;
    row->depth = s->depth;
    for (int k = 0; k <= s->depth; k++) {
        row->touched[k] = st->accesses[0].touched[k];
        row->outer[k] = product(s, 0, k);
    }
}

/* Remembers who touched the buffers of the statement, for the statements after it. */
static void note_touches(hone_feature_state *s) {
    const feature_statement *st = &s->statement;
    hone_node_id path[MAX_LOOPS];
    for (int l = 0; l < s->depth; l++)
        path[l] = s->loops[l].node;
    for (int i = 0; i < st->access_count; i++) {
        buffer_facts *facts = &s->buffers.data[st->accesses[i].buffer];
        if (!facts->is_touched) {
            facts->is_touched = true;
            facts->first_depth = facts->shared_depth = s->depth;
            memcpy(facts->first_path, path, sizeof *path * (size_t)s->depth);
        }
        int shared = feature_shared_depth(path, s->depth, facts->first_path, facts->first_depth);
        if (shared < facts->shared_depth) facts->shared_depth = shared;
        facts->last_depth = s->depth;
        memcpy(facts->last_path, path, sizeof *path * (size_t)s->depth);
        memcpy(facts->last_bytes, st->bytes, sizeof *st->bytes * (size_t)(s->depth + 1));
    }
}

void feature_add_statement(hone_feature_state *s) {
    const feature_statement *st = &s->statement;
    if (!st->access_count) return;
    feature_row *row = find_row(s, st->accesses[0].buffer);
    if (!row) return;
    double ops = 1;
    for (int i = 0; i < ARITH_COUNT; i++) {
        row->ops[i] += st->ops[i] * st->iterations;
        ops += st->ops[i];
    }
    if (ops * st->iterations >= row->weight) {
        row->weight = ops * st->iterations;
        describe(s, row);
    }
    note_touches(s);
}

/* ---- group 4: an inner buffer need only hold what is touched under the loops that all its
 * accesses share ---- */

static void write_alloc(const hone_feature_state *s, const feature_row *row, float *out) {
    const buffer_facts *facts = &s->buffers.data[row->buffer];
    if (!facts->is_inner) return;
    int k = facts->shared_depth < row->depth ? facts->shared_depth : row->depth;
    double iterations = row->outer[row->depth];
    out[0] = slog(row->touched[k] * row->elem_bytes);
    out[1] = slog(row->touched[k] * row->outer[k]);
    out[2] = slog(row->outer[k]);
    out[3] = slog(iterations / row->outer[k]);
}

/* ---- ours: the row as a part of the kernel ---- */

static void write_part(const feature_row *row, double kernel_cycles, float *out) {
    double cycles = fmax(1, row->cycles);
    out[0] = slog(kernel_cycles);
    out[1] = (float)(cycles / fmax(1, kernel_cycles));
    for (int i = 0; i < 3; i++)
        out[2 + i] = slog(row->traffic[i] / cycles);
}

void feature_finish_rows(hone_feature_state *s) {
    double cycles = 0;
    for (size_t i = 0; i < s->rows.count; i++)
        cycles += fmax(1, s->rows.data[i].cycles);
    for (size_t i = 0; i < s->rows.count; i++) {
        const feature_row *row = &s->rows.data[i];
        float *out = &s->columns.data[i * COLUMN_COUNT];
        for (int k = 0; k < ARITH_COUNT; k++)
            out[COLUMN_ARITH + k] = slog(row->ops[k]);
        write_alloc(s, row, out + COLUMN_ALLOC);
        write_part(row, cycles, out + COLUMN_KERNEL);
    }
}
