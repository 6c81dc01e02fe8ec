/* bench/bench_arith.c - nanoseconds per operation of the index arithmetic that replay leans on.
 *
 * One thread; the arena is reset between operations, as a search thread does between replays.
 */
#include <stdlib.h>

#include "bench/bench_util.h"
#include "ir/arith/itermap.h"

typedef struct state {
    hone_arena *arena;
    hone_arith arith;
    hone_ir keep; /* inputs live here */
    const hone_expr *v[8];
    const hone_expr *affine, *divmod, *guard, *guard_other, *relaxed;
    const hone_expr *indices[4];
    const hone_expr *split_indices[2], *predicate;
    hone_iter iters[8], split_iters[4];
} state;

static const hone_expr *num(state *s, int64_t x) {
    return hone_expr_i32(&s->keep, x);
}

static const hone_expr *mul_add(state *s, const hone_expr *x, int64_t c, const hone_expr *y) {
    return hone_expr_add(&s->keep, hone_expr_mul(&s->keep, x, num(s, c)), y);
}

static void make_inputs(state *s) {
    hone_ir *ir = &s->keep;
    for (uint32_t v = 0; v < 8; v++)
        s->v[v] = hone_expr_var(ir, HONE_DTYPE_I32, v);
    s->affine = mul_add(s, s->v[0], 64, mul_add(s, s->v[1], 8, s->v[2]));
    s->divmod = hone_expr_add(
        ir, hone_expr_mul(ir, hone_expr_floordiv(ir, s->affine, num(s, 8)), num(s, 8)),
        hone_expr_floormod(ir, s->affine, num(s, 8)));
    s->guard = hone_expr_binary(ir, HONE_OP_LT, s->affine, num(s, 512));
    s->guard_other = hone_expr_binary(ir, HONE_OP_LT, s->affine, num(s, 500));
    s->relaxed = hone_expr_add(ir, s->affine, num(s, 3));
    for (uint32_t i = 0; i < 4; i++)
        s->indices[i] = mul_add(s, s->v[2 * i], 8, s->v[2 * i + 1]);
    for (uint32_t v = 0; v < 8; v++)
        s->iters[v] = (hone_iter){
            v, {num(s, 0), num(s, 8)}
        };
    s->split_indices[0] = mul_add(s, s->v[0], 4, s->v[1]);
    s->split_indices[1] = s->v[2];
    s->predicate = hone_expr_binary(ir, HONE_OP_LT, s->split_indices[0], num(s, 30));
    s->split_iters[0] = (hone_iter){
        0, {num(s, 0), num(s, 8)}
    };
    s->split_iters[1] = (hone_iter){
        1, {num(s, 0), num(s, 4)}
    };
    s->split_iters[2] = (hone_iter){
        2, {num(s, 0), num(s, 16)}
    };
}

static void bind_all(state *s) {
    hone_arith_init(&s->arith, s->arena);
    for (uint32_t v = 0; v < 8; v++)
        hone_arith_bind_const(&s->arith, v, 0, 7);
}

static void run_affine(state *s) {
    hone_simplify(&s->arith, s->affine);
}
static void run_divmod(state *s) {
    hone_simplify(&s->arith, s->divmod);
}
static void run_guard(state *s) {
    hone_simplify(&s->arith, s->guard);
}
static void run_guard_other(state *s) {
    hone_simplify(&s->arith, s->guard_other);
}
static void run_bound(state *s) {
    hone_arith_bound(&s->arith, s->affine);
}

static void run_relax(state *s) {
    static const bool relax[8] = {false, true, true};
    bool exact = false;
    hone_arith_relax(&s->arith, s->relaxed, relax, 8, &exact);
}

static void run_detect(state *s, uint32_t count) {
    hone_itermap map;
    if (!hone_itermap_detect(&s->arith, count, s->indices, 2 * count, s->iters, NULL,
                             HONE_ITERMAP_BIJECTIVE, true, &map)) {
        abort();
    }
}
static void run_detect_2(state *s) {
    run_detect(s, 2);
}
static void run_detect_4(state *s) {
    run_detect(s, 4);
}

static void run_detect_predicate(state *s) {
    hone_itermap map;
    if (!hone_itermap_detect(&s->arith, 2, s->split_indices, 3, s->split_iters, s->predicate,
                             HONE_ITERMAP_BIJECTIVE, true, &map)) {
        abort();
    }
}

static void run_nothing(state *s) {
    (void)s;
}

static const struct row {
    const char *name;
    void (*run)(state *s);
} rows[] = {
    {"bind 8 variables",                 run_nothing         },
    {"simplify i*64 + j*8 + k",          run_affine          },
    {"simplify x//8*8 + x%8",            run_divmod          },
    {"simplify x < 512 (decided)",       run_guard           },
    {"simplify x < 500 (undecided)",     run_guard_other     },
    {"bound of i*64 + j*8 + k",          run_bound           },
    {"relax j, k in i*64 + j*8 + k + 3", run_relax           },
    {"detect 2 affine indices, 4 loops", run_detect_2        },
    {"detect 4 affine indices, 8 loops", run_detect_4        },
    {"detect a split with predicate",    run_detect_predicate},
};

typedef struct job {
    state *s;
    const struct row *row;
} job;

static void run_job(void *ctx) {
    const job *j = ctx;
    hone_arena_reset(j->s->arena);
    bind_all(j->s);
    j->row->run(j->s);
}

int main(int argc, char **argv) {
    bench b;
    bench_begin(&b, "arith", argc, argv);
    double seconds = b.seconds > 0 ? b.seconds : b.is_quick ? 0.02 : 0.3;
    state s = {.arena = hone_arena_create(1 << 16)};
    s.keep.arena = hone_arena_create(1 << 16);
    if (!s.arena || !s.keep.arena) return 1;
    make_inputs(&s);
    double base = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double spread, ns = bench_run_one(
                           (bench_work){
                               .run = run_job, .ctx = &(job){&s, &rows[i]}
        },
                           seconds, &spread);
        if (i == 0) base = ns;
        bench_row row = {.work = rows[i].name,
                         .metric = "time",
                         .unit = "ns",
                         .hone = i ? ns - base : ns,
                         .spread = spread};
        bench_add(&b, &row);
    }
    hone_arena_destroy(s.arena);
    hone_arena_destroy(s.keep.arena);
    return bench_finish(&b);
}
