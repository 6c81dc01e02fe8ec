/* bench/bench_growth.c - what one primitive costs in programs of 1, 10, 100 and 1,000 stages.
 *
 *   stage 0: S0 = A + 1      stage k: Sk = S(k-1) * 2      the one in the middle: row sums as well
 *
 * The primitive works on the middle of the program. Each time is that of the primitive alone, on a
 * schedule that was reset and, where it needs a tile to work on, split before (not timed). The last
 * row of each primitive is the growth: the time at 1,000 stages over that at 10, over 100; 1 is
 * linear, less is better. `memory` is what a schedule's arena holds after all of them. `chain` is
 * the default schedule of Sk = S(k-1) * sigmoid(S(k-1)), where each stage is read twice;
 * `lower` and `verify` take the whole program.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench_util.h"
#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "lower/ground/lower.h"
#include "schedule/defaults/default_schedule.h"
#include "schedule/primitive/primitives.h"
#include "support/core/arena.h"

enum { MAX_SAMPLES = 2001, MIN_SAMPLES = 7 };

static const int stage_counts[] = {1, 10, 100, 1000};

/* The blocks that primitives work on, and the loops of the middle one. */
typedef struct place {
    hone_schedule *sch;
    hone_rv middle, before, sum; /* before: produces what middle reads */
    const hone_rv *loops, *sum_loops;
} place;

/* ---- programs ---- */

static void append_stage(hone_str *text, int k, const char *from, bool is_read_twice) {
    hone_str_printf(text,
                    "    for i, j in T.grid(64, 64):\n"
                    "        with T.sblock(\"S%d\"):\n"
                    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                    "            S%d[vi, vj] = %s[vi, vj] * ",
                    k, k, from);
    if (is_read_twice)
        hone_str_printf(text, "T.sigmoid(%s[vi, vj])\n", from);
    else
        hone_str_append(text, "T.float32(2)\n");
}

/* Stages 0 to count, and the sums over the rows of the middle one. */
static void print_program(int count, bool is_read_twice, hone_str *text) {
    hone_str_append(text,
                    "from tvm.script import tirx as T\n\n"
                    "@T.prim_func(s_tir=True)\n"
                    "def main(A: T.Buffer((64, 64), \"float32\"), "
                    "R: T.Buffer((64,), \"float32\"), Out: T.Buffer((64, 64), \"float32\")):\n");
    for (int k = 0; k <= count; k++)
        hone_str_printf(text, "    S%d = T.sblock_alloc_buffer((64, 64))\n", k);
    for (int k = 0; k <= count; k++) {
        char from[32];
        snprintf(from, sizeof from, k ? "S%d" : "A", k - 1);
        append_stage(text, k, from, is_read_twice);
    }
    hone_str_printf(text,
                    "    for i, k in T.grid(64, 64):\n"
                    "        with T.sblock(\"sum\"):\n"
                    "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                    "            with T.init():\n"
                    "                R[vi] = T.float32(0)\n"
                    "            R[vi] = R[vi] + S%d[vi, vk]\n"
                    "    for i, j in T.grid(64, 64):\n"
                    "        with T.sblock(\"out\"):\n"
                    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                    "            Out[vi, vj] = S%d[vi, vj] + T.float32(1)\n",
                    (count + 1) / 2, count);
}

static hone_schedule *make_schedule(int count, bool is_read_twice, hone_module **out_module) {
    const hone_member *member;
    hone_schedule *sch = NULL;
    hone_str text = {0};
    print_program(count, is_read_twice, &text);
    bench_must(hone_str_check(&text));
    bench_must(hone_script_parse(text.data, text.length, "growth.py", out_module));
    hone_str_deinit(&text);
    bench_must(hone_module_pick(*out_module, NULL, &member));
    bench_must(hone_schedule_create(member->func, &sch));
    sch->wants_reasons = false;
    return sch;
}

static void find_place(hone_schedule *sch, int count, place *out) {
    char name[32];
    uint32_t ignored;
    *out = (place){.sch = sch};
    bench_must(hone_schedule_reset(sch));
    snprintf(name, sizeof name, "S%d", (count + 1) / 2);
    bench_must(hone_sch_get_block(sch, name, &out->middle));
    snprintf(name, sizeof name, "S%d", (count - 1) / 2);
    bench_must(hone_sch_get_block(sch, name, &out->before));
    bench_must(hone_sch_get_block(sch, "sum", &out->sum));
    bench_must(hone_sch_get_loops(sch, out->middle, &ignored, &out->loops));
    bench_must(hone_sch_get_loops(sch, out->sum, &ignored, &out->sum_loops));
}

/* ---- primitives ---- */

static hone_status get_block(place *p) {
    hone_rv rv;
    return hone_sch_get_block(p->sch, "sum", &rv);
}
static hone_status split(place *p) {
    const hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(8)};
    return hone_sch_split(p->sch, p->loops[1], 2, factors, true, false, &p->loops);
}
static hone_status fuse(place *p) {
    hone_rv rv;
    return hone_sch_fuse(p->sch, 2, p->loops, true, &rv);
}
static hone_status reorder(place *p) {
    const hone_rv order[] = {p->loops[1], p->loops[0]};
    return hone_sch_reorder(p->sch, 2, order);
}
static hone_status parallel(place *p) {
    return hone_sch_parallel(p->sch, p->loops[0]);
}
static hone_status vectorize(place *p) {
    return hone_sch_vectorize(p->sch, p->loops[1]);
}
static hone_status cache_read(place *p) {
    hone_rv rv;
    return hone_sch_cache_read(p->sch, p->middle, 0, "global", 0, NULL, &rv);
}
static hone_status cache_write(place *p) {
    hone_rv rv;
    return hone_sch_cache_write(p->sch, p->middle, 0, "global", 0, NULL, &rv);
}
static hone_status compute_at(place *p) {
    return hone_sch_compute_at(p->sch, p->before, p->loops[0], false, -1);
}
static hone_status reverse_compute_at(place *p) {
    const hone_rv *loops;
    uint32_t count;
    HONE_TRY(hone_sch_get_loops(p->sch, p->before, &count, &loops));
    return hone_sch_reverse_compute_at(p->sch, p->middle, loops[0], false, -1);
}
static hone_status compute_inline(place *p) {
    return hone_sch_compute_inline(p->sch, p->before);
}
static hone_status reverse_compute_inline(place *p) {
    hone_rv rv;
    HONE_TRY(hone_sch_get_block(p->sch, "out", &rv));
    return hone_sch_reverse_compute_inline(p->sch, rv);
}
static hone_status decompose_reduction(place *p) {
    hone_rv rv;
    return hone_sch_decompose_reduction(p->sch, p->sum, p->sum_loops[0], &rv);
}
static hone_status rfactor(place *p) {
    hone_rv rv;
    return hone_sch_rfactor(p->sch, p->sum_loops[1], 0, &rv);
}
static hone_status blockize(place *p) {
    hone_rv rv;
    return hone_sch_blockize_loop(p->sch, p->loops[1], true, &rv);
}

typedef struct primitive {
    const char *name;
    hone_status (*apply)(place *p);
    int least; /* stages that it needs */
} primitive;

static const primitive primitives[] = {
    {"get_block",              get_block,              1 },
    {"split",                  split,                  1 },
    {"fuse",                   fuse,                   1 },
    {"reorder",                reorder,                1 },
    {"parallel",               parallel,               1 },
    {"vectorize",              vectorize,              1 },
    {"cache_read",             cache_read,             1 },
    {"cache_write",            cache_write,            1 },
    {"compute_at",             compute_at,             10},
    {"reverse_compute_at",     reverse_compute_at,     10},
    {"compute_inline",         compute_inline,         10},
    {"reverse_compute_inline", reverse_compute_inline, 10},
    {"decompose_reduction",    decompose_reduction,    1 },
    {"rfactor",                rfactor,                1 },
    {"blockize",               blockize,               1 },
};

static hone_status default_schedule(place *p) {
    static const hone_default_limits limits = {.threads = 1,
                                               .vector_lanes = 8,
                                               .vector_registers = 16,
                                               .l1_bytes = 32768,
                                               .l2_bytes = 1 << 20};
    HONE_TRY(hone_schedule_reset(p->sch));
    return hone_default_schedule(p->sch, &limits);
}

static const primitive chain = {"chain", default_schedule, 1};

static hone_status lower(place *p) {
    static const hone_target target = {.kind = HONE_TARGET_LLVM,
                                       .triple = "x86_64-linux-gnu",
                                       .vector_bits = 256,
                                       .num_cores = 1,
                                       .num_threads = 1,
                                       .cache_line_bytes = 64};
    const hone_lower_options options = {.target = &target};
    hone_arena *arena = hone_arena_create(1 << 20);
    hone_func *lowered;
    hone_status st = hone_lower_func(p->sch->func, &options, arena, &lowered);
    hone_arena_destroy(arena);
    return st;
}

static hone_status verify(place *p) {
    return hone_check_func(p->sch->func);
}

static const primitive programs[] = {
    {"lower",  lower,  1},
    {"verify", verify, 1},
};

/* ---- rows ---- */

/* Median of one application, in ns. */
static double time_of(const bench *b, hone_schedule *sch, int count, const primitive *prim,
                      double *out_spread) {
    static double samples[MAX_SAMPLES];
    double seconds = b->seconds > 0 ? b->seconds : b->is_quick ? 0.02 : 0.2;
    int64_t end = bench_now_ns() + (int64_t)(seconds * 1e9);
    int n = 0;
    for (; n < MAX_SAMPLES && (n < MIN_SAMPLES || bench_now_ns() < end); n++) {
        place p;
        find_place(sch, count, &p);
        int64_t start = bench_now_ns();
        bench_must(hone_status_annotate(prim->apply(&p), "%s of %d stages", prim->name, count));
        samples[n] = (double)(bench_now_ns() - start);
    }
    double median = bench_quantile(samples, n, 0.5);
    *out_spread = (bench_quantile(samples, n, 0.75) - bench_quantile(samples, n, 0.25)) / median;
    return median;
}

static void add_row(bench *b, const char *work, const char *metric, const char *unit, double value,
                    double spread) {
    bench_add(b,
              &(bench_row){
                  .work = work, .metric = metric, .unit = unit, .hone = value, .spread = spread});
}

static void bench_primitive(bench *b, hone_schedule *const *schedules, const primitive *prim) {
    double times[HONE_COUNT(stage_counts)] = {0}, spread = 0;
    for (size_t i = 0; i < HONE_COUNT(stage_counts); i++) {
        char metric[32];
        if (stage_counts[i] < prim->least) continue;
        times[i] = time_of(b, schedules[i], stage_counts[i], prim, &spread);
        snprintf(metric, sizeof metric, "%d", stage_counts[i]);
        add_row(b, prim->name, metric, "us", times[i] / 1e3, spread);
    }
    add_row(b, prim->name, "growth", "", times[3] / times[1] / 100, spread);
}

static void bench_chain(bench *b) {
    hone_schedule *schedules[HONE_COUNT(stage_counts)];
    hone_module *modules[HONE_COUNT(stage_counts)];
    for (size_t i = 0; i < HONE_COUNT(stage_counts); i++)
        schedules[i] = make_schedule(stage_counts[i], true, &modules[i]);
    bench_primitive(b, schedules, &chain);
    for (size_t i = 0; i < HONE_COUNT(stage_counts); i++) {
        hone_schedule_destroy(schedules[i]);
        hone_module_release(modules[i]);
    }
}

int main(int argc, char **argv) {
    bench b;
    hone_schedule *schedules[HONE_COUNT(stage_counts)];
    hone_module *modules[HONE_COUNT(stage_counts)];
    bench_begin(&b, "growth", argc, argv);
    for (size_t i = 0; i < HONE_COUNT(stage_counts); i++)
        schedules[i] = make_schedule(stage_counts[i], false, &modules[i]);
    for (size_t i = 0; i < HONE_COUNT(primitives); i++) {
        if (bench_wants(&b, primitives[i].name)) bench_primitive(&b, schedules, &primitives[i]);
    }
    for (size_t i = 0; i < HONE_COUNT(programs); i++) {
        if (bench_wants(&b, programs[i].name)) bench_primitive(&b, schedules, &programs[i]);
    }
    for (size_t i = 0; i < HONE_COUNT(stage_counts); i++) {
        char metric[32];
        snprintf(metric, sizeof metric, "%d", stage_counts[i]);
        add_row(&b, "memory", metric, "KiB",
                (double)hone_arena_reserved(schedules[i]->arena) / 1024, 0);
        hone_schedule_destroy(schedules[i]);
        hone_module_release(modules[i]);
    }
    if (bench_wants(&b, chain.name)) bench_chain(&b);
    return bench_finish(&b);
}
