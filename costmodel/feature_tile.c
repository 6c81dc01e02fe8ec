/* costmodel/feature_tile.c - what the innermost loops of a statement ask of registers and units.
 *
 *     … for k (the deepest reduction that is not unrolled):       sums stay in registers
 *           for i in unroll, j in vectorized, …:                   the tile
 *               C[i, j] += A[i, k] * B[k, j]
 *
 * The tile's sums, what it loads for each of its operations, and cycles by the scarcest of
 * arithmetic, loads and the latency of a chain of sums. Without a reduction the tile is what is
 * unrolled or vectorised innermost. Trees cut one column at a time, so ratios are columns.
 */
#include "costmodel/feature_impl.h"

#define CHAIN_CYCLES 4.0    /* from a sum to the next one in the same register */
#define PER_CYCLE 2.0       /* arithmetic instructions, and loads */
#define PAGE_OF_SETS 4096.0 /* addresses so far apart share a set of a first cache */

typedef struct tile {
    int first;         /* its outermost loop */
    int vector;        /* the loop whose iterations are lanes, or -1 */
    double lanes;      /* that a register has */
    double vectors;    /* registers for the vector loop */
    double iterations; /* of all its loops */
    double sums;       /* registers that hold results */
    double chain;      /* operations behind one another for each of them */
    double loads, gathers, unaligned;
    bool is_rolled;
} tile;

static bool is_unrolled(const hone_feature_state *s, int loop) {
    return s->loops[loop].kind == HONE_LOOP_UNROLLED || s->loops[loop].kind == HONE_LOOP_VECTORIZED;
}

/* Behind the deepest reduction that is a loop; else the loops that are unrolled. */
static int first_of_tile(const hone_feature_state *s) {
    int first = s->depth;
    for (int l = s->depth - 1; l >= 0; l--) {
        if (feature_is_reduce(&s->statement, l) && !is_unrolled(s, l)) return l + 1;
    }
    while (first > 0 && is_unrolled(s, first - 1))
        first--;
    return first;
}

static int vector_loop(const hone_feature_state *s) {
    for (int l = s->depth - 1; l >= 0; l--) {
        if (s->loops[l].kind == HONE_LOOP_VECTORIZED) return l;
    }
    return -1;
}

/* Registers that an access of the tile moves: its runs as vectors, the same for all lanes as one,
 * anything else lane by lane. */
static double moves(const hone_feature_state *s, const tile *t, const feature_access *a) {
    double count = 1;
    for (int l = t->first; l < s->depth; l++) {
        if (!(a->uses >> l & 1)) continue;
        bool is_run = l == t->vector && fabs(a->slope[l]) == 1;
        count *= is_run ? t->vectors : s->loops[l].extent;
    }
    return count;
}

static bool is_vector(const tile *t, const feature_access *a) {
    return t->vector >= 0 && (a->uses >> t->vector & 1);
}

/* Vectors that do not begin where one of its size would. */
static bool is_unaligned(const hone_feature_state *s, const tile *t, const feature_access *a) {
    double bytes = fmax(1, s->target->vector_bits / 8.0);
    for (int l = 0; l < s->depth; l++) {
        if (l != t->vector && fmod(fabs(a->slope[l]) * a->elem_bytes, bytes) != 0) return true;
    }
    return false;
}

static void measure_access(const hone_feature_state *s, const feature_access *a, tile *io) {
    double count = moves(s, io, a);
    if (is_vector(io, a) && fabs(a->slope[io->vector]) != 1) io->gathers += count;
    if (is_vector(io, a) && is_unaligned(s, io, a)) io->unaligned += count;
    io->loads += count;
}

static void measure_loops(const hone_feature_state *s, tile *io) {
    const feature_statement *st = &s->statement;
    io->iterations = io->sums = io->chain = 1;
    double rolled = 1;
    for (int l = io->first; l < s->depth; l++) {
        double extent = s->loops[l].extent, count = l == io->vector ? io->vectors : extent;
        io->iterations *= extent;
        if (feature_is_reduce(st, l)) io->chain *= count;
        if (!feature_is_reduce(st, l)) io->sums *= count;
        if (!is_unrolled(s, l)) rolled *= extent;
    }
    io->is_rolled = rolled > 1 && rolled * io->sums > (double)s->unroll_step;
}

static void measure_tile(const hone_feature_state *s, tile *out) {
    const feature_statement *st = &s->statement;
    double register_bytes = fmax(1, s->target->vector_bits / 8.0);
    double elem_bytes = st->access_count ? st->accesses[0].elem_bytes : 4;
    *out = (tile){.first = first_of_tile(s), .vector = vector_loop(s), .vectors = 1};
    if (out->vector < out->first) out->vector = -1;
    out->lanes = fmax(1, register_bytes / fmax(1, elem_bytes));
    if (out->vector >= 0) out->vectors = ceil(s->loops[out->vector].extent / out->lanes);
    measure_loops(s, out);
    bool keeps_sums = out->first > 0 && feature_is_reduce(st, out->first - 1);
    for (int i = keeps_sums; i < st->access_count; i++)
        measure_access(s, &st->accesses[i], out);
}

/* Of one operation each, those that take several cycles more. */
static double operations(const feature_statement *st) {
    double sum = 0;
    for (int i = 0; i < ARITH_COUNT; i++)
        sum += st->ops[i];
    sum += 7 * (st->ops[ARITH_FLOAT_DIV_MOD] + st->ops[ARITH_INT_DIV_MOD]);
    return sum + 19 * (st->ops[ARITH_FLOAT_MATH] + st->ops[ARITH_INT_MATH]);
}

static double cycles_of(const hone_feature_state *s, const tile *t) {
    const feature_statement *st = &s->statement;
    double arithmetic = operations(st) * t->sums * t->chain / PER_CYCLE;
    double loads = (t->loads + t->unaligned) / PER_CYCLE;
    bool is_chain = t->first > 0 && feature_is_reduce(st, t->first - 1);
    double latency = is_chain ? t->chain * CHAIN_CYCLES : 0;
    return fmax(fmax(arithmetic, loads), latency) * st->iterations / t->iterations;
}

/* How often the sums stay where they are: the loops of the reduction around the tile. */
static double steps(const hone_feature_state *s, const tile *t) {
    double count = 1;
    for (int l = t->first - 1; l >= 0 && feature_is_reduce(&s->statement, l); l--)
        count *= s->loops[l].extent;
    return count;
}

/* The most lines that one loop puts into one set of a first cache. */
static double lines_of_a_set(const hone_feature_state *s) {
    const feature_statement *st = &s->statement;
    double most = 0;
    for (int i = 0; i < st->access_count; i++) {
        const feature_access *a = &st->accesses[i];
        for (int l = 0; l < s->depth; l++) {
            double stride = fabs(a->slope[l]) * a->elem_bytes, step = PAGE_OF_SETS;
            while (step > 64 && fmod(stride, step) != 0)
                step /= 2;
            if (stride >= 64) most = fmax(most, s->loops[l].extent * step / PAGE_OF_SETS);
        }
    }
    return most;
}

double feature_write_tile(const hone_feature_state *s, float *out) {
    tile t;
    measure_tile(s, &t);
    double operation_count = fmax(1, operations(&s->statement) * t.sums * t.chain);
    double registers = fmax(1, s->vector_registers);
    double cycles = cycles_of(s, &t) * fmax(1, s->extra);
    double full = t.vectors * t.lanes;
    out[0] = slog(t.sums);
    out[1] = (float)fmin(4, (t.sums + 2) / registers);
    out[2] = (float)((t.vector >= 0 ? s->loops[t.vector].extent : 1) / full);
    out[3] = (float)fmin(8, t.loads / operation_count);
    out[4] = slog(t.gathers);
    out[5] = (float)(t.unaligned / fmax(1, t.loads));
    out[6] = t.is_rolled;
    out[7] = slog(steps(s, &t));
    out[8] = slog(lines_of_a_set(s));
    out[9] = slog(cycles);
    return cycles;
}
