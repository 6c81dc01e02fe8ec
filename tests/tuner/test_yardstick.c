/* tests/tuner/test_yardstick.c - the space holds what the best wrote by hand: for works of
 * bench/schedules there are decisions under which a sketch, postprocessed and lowered, is the very
 * program that the schedule written by hand gives. */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <string.h>

#include "compile/first_schedule.h"
#include "ir/identity/structural.h"
#include "lower/ground/lower.h"
#include "schedule/nests/auto_loops.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/program_text.h"
#include "tuner/space/space.h"

enum { MAX_CHOICES = 8 };

static const struct row {
    const char *work;
    const char *set;     /* of schedules */
    const char *columns; /* a text of the sketches to look at */
    int64_t rows;        /* of the tile by hand; all else is tried; 0: all is */
} rows[] = {
    {"matmul_128",         "avx2",   ", 16],", 6},
    {"matmul_1024",        "avx2",   ", 16],", 6},
    {"matmul_512",         "avx512", ", 32],", 8},
    {"dense_64x1024x1024", "avx2",   ", 16],", 6},
};

typedef struct fixture {
    hone_arena *arena;
    hone_module *module;
    const hone_func *func;
    hone_target target;
    hone_schedule *sch;
    hone_space space;
} fixture;

static void load_program(fixture *f, const char *work) {
    char *text = NULL;
    size_t length;
    hone_str path = {0};
    hone_str_printf(&path, "bench/programs/%s.py", work);
    HONE_ASSERT_OK(
        hone_fs_read(hone_test_source_path(hone_str_text(&path)), 1 << 20, &text, &length));
    f->func = hone_test_parse(text, &f->module);
    hone_free(text);
    hone_str_deinit(&path);
}

/* Two threads: parallel loops are parts of schedules. */
static void set_up(fixture *f, const struct row *row) {
    *f = (fixture){.arena = hone_arena_create(1 << 16)};
    bool is_wide = strcmp(row->set, "avx512") == 0;
    HONE_ASSERT_OK(hone_target_parse(
        is_wide ? "llvm -mcpu=znver4 -num-cores=2" : "llvm -mcpu=znver3 -num-cores=2", &f->target));
    load_program(f, row->work);
    HONE_ASSERT_OK(hone_schedule_create(f->func, &f->sch));
    HONE_ASSERT_OK(hone_space_generate(f->func, &f->target, &f->space));
}

static void tear_down(fixture *f) {
    hone_space_deinit(&f->space);
    hone_schedule_destroy(f->sch);
    hone_module_release(f->module);
    hone_arena_destroy(f->arena);
}

static hone_hash128 lowered_hash(fixture *f) {
    hone_func *lowered = NULL;
    hone_lower_options how = {.target = &f->target};
    HONE_ASSERT_OK(hone_lower_func(f->sch->func, &how, f->arena, &lowered));
    return hone_func_hash(lowered);
}

static hone_hash128 by_hand(fixture *f, const struct row *row) {
    hone_str path = {0};
    hone_trace trace;
    hone_trace_context context = {.func = f->func};
    hone_str_printf(&path, "bench/schedules/%s/%s.py", row->set, row->work);
    HONE_ASSERT_OK(hone_trace_load(f->arena, hone_test_source_path(hone_str_text(&path)), &context,
                                   NULL, &trace));
    hone_str_deinit(&path);
    HONE_ASSERT_OK(hone_schedule_reset(f->sch));
    HONE_ASSERT_OK(hone_trace_apply(&trace, f->sch, NULL));
    return lowered_hash(f);
}

/* The choices of a sketch, as digits of a number; one that may be 0 stays 0 (no unrolling). */
typedef struct choices {
    uint32_t count;
    uint32_t at[MAX_CHOICES], candidates[MAX_CHOICES];
    int64_t chosen[MAX_CHOICES];
} choices;

/* False: there is something else to decide. */
static bool read_choices(const hone_trace *sketch, choices *out) {
    *out = (choices){0};
    for (uint32_t i = 0; i < sketch->count; i++) {
        const hone_inst *inst = &sketch->insts[i];
        if (!hone_inst_is_sampling(inst->kind)) continue;
        if (inst->kind != HONE_INST_SAMPLE_CATEGORICAL || out->count == MAX_CHOICES) return false;
        const hone_value *values = &inst->attrs[0];
        out->at[out->count] = i;
        out->candidates[out->count++] = values->u.items[0].u.i == 0 ? 1 : values->count;
    }
    return true;
}

static bool next_choice(choices *c) {
    for (uint32_t k = 0; k < c->count; k++) {
        if (c->candidates[k] == 0) continue;
        if (++c->chosen[k] < c->candidates[k]) return true;
        c->chosen[k] = 0;
    }
    return false;
}

/* The first choice is that of rows: it is made, and no other one. */
static bool fix_rows(const hone_trace *sketch, choices *io, int64_t wanted) {
    const hone_value *values = &sketch->insts[io->at[0]].attrs[0];
    for (uint32_t i = 0; i < values->count; i++) {
        if (values->u.items[i].u.i == wanted) io->chosen[0] = i;
    }
    io->candidates[0] = 0;
    return values->u.items[io->chosen[0]].u.i == wanted;
}

static bool has_text(const hone_trace *sketch, const char *text) {
    hone_str all = {0};
    HONE_ASSERT_OK(hone_trace_print_python(sketch, &all));
    bool is_there = strstr(hone_str_text(&all), text) != NULL;
    hone_str_deinit(&all);
    return is_there;
}

/* Do these decisions make the wanted program? */
static bool gives(fixture *f, const hone_trace *sketch, const hone_decision *decisions,
                  hone_hash128 wanted) {
    HONE_ASSERT_OK(hone_schedule_reset(f->sch));
    hone_apply_options options = {.decisions = decisions};
    hone_status st = hone_trace_apply(sketch, f->sch, &options);
    if (!st) st = hone_postprocess(f->sch, &f->target);
    bool is_there = !st && hone_hash128_equal(lowered_hash(f), wanted);
    hone_status_free(st);
    return is_there;
}

static bool comes_to(fixture *f, const hone_trace *sketch, const struct row *row,
                     hone_hash128 wanted) {
    choices c;
    if (!has_text(sketch, row->columns) || !read_choices(sketch, &c)) return false;
    if (c.count == 0 || !fix_rows(sketch, &c, row->rows)) return false;
    hone_decision *decisions = hone_arena_zalloc(f->arena, (sketch->count + 1) * sizeof *decisions);
    for (uint32_t k = 0; k < c.count; k++)
        decisions[c.at[k]] = (hone_decision){1, &c.chosen[k]};
    do {
        if (gives(f, sketch, decisions, wanted)) return true;
    } while (next_choice(&c));
    return false;
}

static void check_row(void **state) {
    const struct row *row = *state;
    fixture f;
    set_up(&f, row);
    hone_hash128 wanted = by_hand(&f, row);
    bool is_held = false;
    for (uint32_t i = 0; i < f.space.count && !is_held; i++)
        is_held = comes_to(&f, &f.space.sketches[i], row, wanted);
    tear_down(&f);
    assert_true(is_held);
}

/* ---- elementwise work and transposes ---- */

static const struct row map_rows[] = {
    {"gelu_1000000",        "avx512", "hone.chunk",                            0},
    {"gelu_1000000",        "avx2",   "hone.chunk",                            0},
    {"chain_1000000",       "avx512", "hone.chunk",                            0},
    {"copy_1000000",        "avx2",   "hone.chunk",                            0},
    {"transpose_1024x1024", "avx512", "reverse_compute_at(block=b11, loop=l8", 4},
};

static bool is_of_jobs(const hone_trace *sketch, uint32_t sampling) {
    const hone_inst *next = sampling + 1 < sketch->count ? &sketch->insts[sampling + 1] : NULL;
    return next && next->kind == HONE_INST_ANNOTATE && next->attrs[0].kind == HONE_VALUE_STRING &&
           strcmp(next->attrs[0].u.s, HONE_ANNOTATION_PARALLEL) == 0;
}

/* Jobs are the last but one of what they may be, four for each thread; else all is tried. */

static bool read_map_choices(const hone_trace *sketch, choices *out) {
    *out = (choices){0};
    for (uint32_t i = 0; i < sketch->count; i++) {
        const hone_inst *inst = &sketch->insts[i];
        if (!hone_inst_is_sampling(inst->kind)) continue;
        if (inst->kind != HONE_INST_SAMPLE_CATEGORICAL || out->count == MAX_CHOICES) return false;
        bool is_made = is_of_jobs(sketch, i);
        out->at[out->count] = i;
        out->chosen[out->count] = is_made ? (int64_t)inst->attrs[0].count - 2 : 0;
        out->candidates[out->count++] = is_made ? 0 : inst->attrs[0].count;
    }
    return out->count > 0;
}

static bool map_comes_to(fixture *f, const hone_trace *sketch, const struct row *row,
                         hone_hash128 wanted) {
    choices c;
    if (!has_text(sketch, row->columns) || !read_map_choices(sketch, &c)) return false;
    if (row->rows && !fix_rows(sketch, &c, row->rows)) return false;
    hone_decision *decisions = hone_arena_zalloc(f->arena, (sketch->count + 1) * sizeof *decisions);
    for (uint32_t k = 0; k < c.count; k++)
        decisions[c.at[k]] = (hone_decision){1, &c.chosen[k]};
    do {
        if (gives(f, sketch, decisions, wanted)) return true;
    } while (next_choice(&c));
    return false;
}

static void check_map_row(void **state) {
    const struct row *row = *state;
    fixture f;
    set_up(&f, row);
    hone_hash128 wanted = by_hand(&f, row);
    bool is_held = false;
    for (uint32_t i = 0; i < f.space.count && !is_held; i++)
        is_held = map_comes_to(&f, &f.space.sketches[i], row, wanted);
    tear_down(&f);
    assert_true(is_held);
}

/* ---- default schedules of products with constants ---- */

/* Three threads, so that numbers of jobs are no powers of two. */
static const struct constant_row {
    const char *work, *target;
    uint64_t constants;
    const char *columns; /* a text of the sketches to look at */
    int64_t rows;        /* of the tile by default; all else is tried */
} constant_rows[] = {
    {"conv2d_256x14", "llvm -mcpu=znver4 -num-cores=3", 2, "v0 // 64", 3},
    {"conv2d_64x56",  "llvm -mcpu=znver4 -num-cores=3", 2, "v0 // 64", 6},
    {"conv2d_256x14", "llvm -mcpu=znver3 -num-cores=3", 2, "v0 // 16", 3},
    {"conv2d_64x56",  "llvm -mcpu=znver3 -num-cores=3", 2, "v0 // 16", 3},
};

enum { UNROLLED = 64, JOBS = 12, PLACES = 1 };

/* All choices are tried, but for unrolling and jobs, which are the default's. */
static bool read_all_choices(const hone_trace *sketch, choices *out) {
    *out = (choices){0};
    for (uint32_t i = 0; i < sketch->count; i++) {
        const hone_inst *inst = &sketch->insts[i];
        if (!hone_inst_is_sampling(inst->kind)) continue;
        uint32_t n = out->count++;
        if (n == MAX_CHOICES) return false;
        out->at[n] = i;
        out->candidates[n] = PLACES;
        if (inst->kind == HONE_INST_SAMPLE_COMPUTE_LOCATION) continue;
        if (inst->kind != HONE_INST_SAMPLE_CATEGORICAL) return false;
        const hone_value *values = &inst->attrs[0];
        out->candidates[n] = values->count;
        for (uint32_t k = 0; k < values->count; k++) {
            int64_t first = values->u.items[0].u.i, value = values->u.items[k].u.i;
            bool is_made = (first == 0 && value == UNROLLED) || (first == 1 && value == JOBS);
            if (!is_made) continue;
            out->chosen[n] = k;
            out->candidates[n] = 0;
        }
    }
    return true;
}

/* Places of computing begin at -1, that of the root. */
static void decide(const hone_trace *sketch, const choices *c, int64_t *values,
                   hone_decision *decisions) {
    for (uint32_t k = 0; k < c->count; k++) {
        bool is_place = sketch->insts[c->at[k]].kind == HONE_INST_SAMPLE_COMPUTE_LOCATION;
        values[k] = c->chosen[k] - is_place;
        decisions[c->at[k]] = (hone_decision){1, &values[k]};
    }
}

static bool reaches(fixture *f, const hone_trace *sketch, const struct constant_row *row,
                    hone_hash128 wanted) {
    choices c;
    int64_t values[MAX_CHOICES];
    if (!has_text(sketch, row->columns) || !read_all_choices(sketch, &c)) return false;
    if (!fix_rows(sketch, &c, row->rows)) return false;
    hone_decision *decisions = hone_arena_zalloc(f->arena, (sketch->count + 1) * sizeof *decisions);
    do {
        decide(sketch, &c, values, decisions);
        if (gives(f, sketch, decisions, wanted)) return true;
    } while (next_choice(&c));
    return false;
}

static void holds_default(fixture *f, const struct constant_row *row) {
    HONE_ASSERT_OK(hone_target_parse(row->target, &f->target));
    HONE_ASSERT_OK(hone_schedule_create(f->func, &f->sch));
    HONE_ASSERT_OK(hone_space_generate(f->func, &f->target, &f->space));
    HONE_ASSERT_OK(hone_first_schedule(f->sch, &f->target, row->constants));
    hone_hash128 wanted = lowered_hash(f);
    bool is_held = false;
    for (uint32_t i = 0; i < f->space.count && !is_held; i++)
        is_held = reaches(f, &f->space.sketches[i], row, wanted);
    tear_down(f);
    assert_true(is_held);
}

static void check_constant_row(void **state) {
    const struct constant_row *row = *state;
    fixture f = {.arena = hone_arena_create(1 << 16)};
    load_program(&f, row->work);
    holds_default(&f, row);
}

/* ---- default schedules of products along their sum ---- */

static const struct turned_row {
    const char *name;
    int rows, columns, sum;
    struct constant_row wanted; /* rows: columns of a tile, the first choice */
} turned_rows[] = {
    {"one row, AVX-512",
     1, 384,
     200, {"", "llvm -mcpu=znver4 -num-cores=3", 0, "pragma_vector_reduce", 8}},
    {"three rows, AVX-512",
     3, 96,
     200, {"", "llvm -mcpu=znver4 -num-cores=3", 0, "factors=[None, 3]", 4}   },
    {"five rows, AVX2",
     5, 96,
     133, {"", "llvm -mcpu=znver3 -num-cores=3", 0, "factors=[None, 5]", 2}   },
    {"four rows, columns with a rest, AVX2",
     4, 97,
     133, {"", "llvm -mcpu=znver3 -num-cores=3", 0, "factors=[None, 4]", 3}   },
};

static void check_turned_row(void **state) {
    const struct turned_row *row = *state;
    char text[1024];
    fixture f = {.arena = hone_arena_create(1 << 16)};
    snprintf(text, sizeof text,
             "@T.prim_func\n"
             "def main(A: T.Buffer((%d, %d), \"float32\"), B: T.Buffer((%d, %d), \"float32\"), "
             "C: T.Buffer((%d, %d), \"float32\")):\n"
             "    for i, j, k in T.grid(%d, %d, %d):\n"
             "        with T.block(\"C\"):\n"
             "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
             "            with T.init():\n"
             "                C[vi, vj] = T.float32(0)\n"
             "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]\n",
             row->rows, row->sum, row->columns, row->sum, row->rows, row->columns, row->rows,
             row->columns, row->sum);
    f.func = hone_test_parse(text, &f.module);
    holds_default(&f, &row->wanted);
}

int main(void) {
    int failed = HONE_RUN_ROWS("tuner/yardstick", rows, check_row);
    failed += HONE_RUN_ROWS("tuner/yardstick, maps", map_rows, check_map_row);
    failed += HONE_RUN_ROWS("tuner/yardstick, constants", constant_rows, check_constant_row);
    return failed + HONE_RUN_ROWS("tuner/yardstick, turned", turned_rows, check_turned_row);
}
