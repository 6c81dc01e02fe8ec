/* tests/codegen/test_dot_random.c - sums of products of small numbers in random nests: loops over
 * rows, columns and terms in any order, some parallel or unrolled, B packed and A copied at any
 * depth, C touched in between, factors less a zero point. After each pass the program means the
 * same, and so does the machine code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "lower/ground/lower.h"
#include "tests/support/compiled.h"
#include "tests/support/elsewhere.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

enum { SEEDS = 200, COMPILED_EACH = 8, LOOPS = 7 };

typedef enum point_kind {
    POINT_NONE,
    POINT_NUMBER,
    POINT_PARAMETER,
    POINT_OF_16_BITS, /* a byte and a number, taken away before it is widened to 32 bits */
    POINT_KINDS,
} point_kind;

/* Rows i, columns j, terms k; j has lanes and k has groups of terms further in. */
typedef struct nest {
    char names[LOOPS][4];
    int extents[LOOPS]; /* i0 i1 i2 j0 j1 k0 k1, before they are shuffled */
    int order[LOOPS];
    int lanes, group;
    const char *a, *b, *c;
    int packed_at; /* depth; LOOPS + 1 = B is not packed */
    int copied_at; /* depth at which the part of A that is used is copied; the same */
    int touched_at;
    bool is_turned; /* the loop over lanes is around the one over terms */
    bool touch_adds;
    point_kind a_point, b_point;
    bool is_float, is_wished; /* bfloat16; may be computed by the CPU's own instruction */
} nest;

static int pick(hone_rng *rng, int count) {
    return (int)hone_rng_below(rng, (uint64_t)count);
}

static void make_nest(hone_rng *rng, nest *n) {
    static const char *const names[] = {"i0", "i1", "i2", "j0", "j1", "k0", "k1"};
    static const char *const bytes[] = {"int8", "uint8"};
    static const int odd_lanes[] = {1, 80, 100, 128}; /* one column; longer than vectors */
    for (int i = 0; i < LOOPS; i++) {
        snprintf(n->names[i], sizeof n->names[i], "%s", names[i]);
        n->extents[i] = 1 + pick(rng, 3);
        n->order[i] = i;
    }
    hone_test_shuffle(rng, n->order, LOOPS, sizeof n->order[0]);
    n->lanes = pick(rng, 2) ? 4 << pick(rng, 4) : 2 + pick(rng, 38);
    n->group = pick(rng, 3) ? 4 : 2;
    bool is_wide = n->group == 2 && pick(rng, 2);
    n->a = is_wide && pick(rng, 2) ? "int16" : bytes[pick(rng, 4) == 0];
    n->b = is_wide && pick(rng, 2) ? "int16" : bytes[pick(rng, 4) == 0];
    n->is_float = n->group == 2 && pick(rng, 2);
    n->is_wished = n->is_float && pick(rng, 2);
    n->c = n->is_float ? "float32" : pick(rng, 4) ? "int32" : "uint32";
    if (n->is_float) n->a = n->b = "bfloat16";
    n->packed_at = pick(rng, 2) ? pick(rng, LOOPS) : LOOPS + 1;
    n->touched_at = pick(rng, 3) ? LOOPS + 1 : 1 + pick(rng, LOOPS - 1);
    n->copied_at = pick(rng, 3) ? LOOPS + 1 : pick(rng, LOOPS);
    if (pick(rng, 4) == 0) n->extents[5] = 1 + pick(rng, 20);
    n->is_turned = pick(rng, 2);
    n->touch_adds = pick(rng, 2);
    n->a_point = n->is_float || pick(rng, 2) ? POINT_NONE : (point_kind)pick(rng, POINT_KINDS);
    n->b_point = n->is_float || pick(rng, 3) ? POINT_NONE : (point_kind)pick(rng, POINT_KINDS);
    if (pick(rng, 5) == 0) n->lanes = odd_lanes[pick(rng, (int)HONE_COUNT(odd_lanes))];
}

static void indent(hone_str *out, int depth) {
    hone_str_printf(out, "%*s", 4 + 4 * depth, "");
}

/* A copy of A or of B, whose dimensions are those of the loops from first to last, for what the
 * loops outside of depth have not fixed. */
typedef struct copy {
    const char *to, *from;
    int first, last;
    bool is_b;
} copy;

static bool is_of(const copy *c, int loop) {
    return loop >= c->first && loop <= c->last && (c->is_b || loop < 3 || loop > 4);
}

static void write_copy(const nest *n, const copy *c, int depth, hone_rng *rng, hone_str *out) {
    bool is_open[LOOPS];
    for (int i = 0; i < LOOPS; i++)
        is_open[n->order[i]] = i >= depth && is_of(c, n->order[i]);
    int at = depth;
    for (int i = 0; i < LOOPS; i++) {
        if (!is_open[i]) continue;
        indent(out, at++);
        hone_str_printf(out, "for p%s in range(%d):\n", n->names[i], n->extents[i]);
    }
    if (c->is_b) {
        indent(out, at++);
        hone_str_printf(out, "for l in range(%d):\n", n->lanes);
    }
    indent(out, at);
    const char *kind = pick(rng, 2) ? "T.vectorized" : "range";
    hone_str_printf(out, "for t in %s(%d):\n", kind, n->group);
    indent(out, at + 1);
    for (int side = 0; side < 2; side++) {
        hone_str_printf(out, "%s%s[", side ? " = " : "", side ? c->from : c->to);
        for (int i = 0; i < LOOPS; i++)
            if (is_of(c, i)) hone_str_printf(out, "%s%s, ", is_open[i] ? "p" : "", n->names[i]);
        hone_str_printf(out, !c->is_b ? "t]" : side ? "t, l]" : "l, t]");
    }
    hone_str_printf(out, "\n");
}

static void write_loop(const nest *n, int depth, hone_rng *rng, hone_str *out) {
    static const char *const kinds[] = {"range", "range", "T.unroll"};
    int loop = n->order[depth];
    bool may_be_parallel = depth == 0 && loop < 5 && n->packed_at > LOOPS && n->copied_at > LOOPS &&
                           n->touched_at > LOOPS;
    const char *kind = may_be_parallel && pick(rng, 2) ? "T.parallel" : kinds[pick(rng, 3)];
    indent(out, depth);
    const char *wish = depth == 1 && n->is_wished ? ", annotations={\"pragma_bf16_dot\": 1}" : "";
    if (wish[0] && strcmp(kind, "range") == 0) kind = "T.serial";
    hone_str_printf(out, "for %s in %s(%d%s):\n", n->names[loop], kind, n->extents[loop], wish);
}

/* A factor, widened and less a zero point. */
static void write_factor(const nest *n, const char *load, point_kind kind, hone_rng *rng,
                         hone_str *out) {
    int number = pick(rng, 300) - 150;
    switch (kind) {
    case POINT_NUMBER:
        hone_str_printf(out, "(T.Cast(\"%s\", %s) - T.%s(%d))", n->c, load, n->c, abs(number));
        return;
    case POINT_PARAMETER:
        hone_str_printf(out, "(T.Cast(\"%s\", %s) - T.Cast(\"%s\", Z[%d]))", n->c, load, n->c,
                        pick(rng, 2));
        return;
    case POINT_OF_16_BITS:
        hone_str_printf(out, "T.Cast(\"%s\", T.Cast(\"int16\", %s) - T.int16(%d))", n->c, load,
                        number);
        return;
    default:
        hone_str_printf(out, "T.Cast(\"%s\", %s)", n->c, load);
        return;
    }
}

static void write_dot(const nest *n, hone_rng *rng, hone_str *out) {
    const char *lane_loop = pick(rng, 2) ? "T.vectorized" : "range";
    const char *term_loop = pick(rng, 2) ? "T.unroll" : "range";
    for (int i = 0; i < 2; i++) {
        bool is_lanes = (i == 0) == n->is_turned;
        indent(out, LOOPS + i);
        hone_str_printf(out, "for %s in %s(%d):\n", is_lanes ? "l" : "t",
                        is_lanes ? lane_loop : term_loop, is_lanes ? n->lanes : n->group);
    }
    indent(out, LOOPS + 2);
    hone_str_printf(out, "C[i0, i1, i2, j0, j1, l] = C[i0, i1, i2, j0, j1, l] + ");
    const char *a = n->copied_at <= LOOPS ? "Q[i0, i1, i2, k0, k1, t]" : "A[i0, i1, i2, k0, k1, t]";
    write_factor(n, a, n->a_point, rng, out);
    hone_str_printf(out, " * ");
    const char *b = n->packed_at <= LOOPS ? "P[j0, j1, k0, k1, l, t]" : "B[j0, j1, k0, k1, l, t]";
    write_factor(n, b, n->b_point, rng, out);
    hone_str_printf(out, "\n");
}

static void write_program(const nest *n, hone_rng *rng, hone_str *out) {
    static const copy packing = {"P", "B", 3, LOOPS - 1, true};
    static const copy copying = {"Q", "A", 0, LOOPS - 1, false};
    const int *e = n->extents;
    char b[64], p[64];
    bool is_packed = n->packed_at <= LOOPS;
    snprintf(p, sizeof p, "(%d, %d, %d, %d, %d, %d), \"%s\"", e[3], e[4], e[5], e[6], n->lanes,
             n->group, n->b);
    snprintf(b, sizeof b, "(%d, %d, %d, %d, %d, %d), \"%s\"", e[3], e[4], e[5], e[6],
             is_packed ? n->group : n->lanes, is_packed ? n->lanes : n->group, n->b);
    hone_str_printf(
        out,
        "from tvm.script import tir as T\n@T.prim_func\n"
        "def main(A: T.Buffer((%d, %d, %d, %d, %d, %d), \"%s\"), B: T.Buffer(%s), "
        "Z: T.Buffer((2,), \"int8\"), C: T.Buffer((%d, %d, %d, %d, %d, %d), \"%s\")):\n",
        e[0], e[1], e[2], e[5], e[6], n->group, n->a, b, e[0], e[1], e[2], e[3], e[4], n->lanes,
        n->c);
    if (is_packed) hone_str_printf(out, "    P = T.alloc_buffer(%s)\n", p);
    if (n->copied_at <= LOOPS) {
        hone_str_printf(out, "    Q = T.alloc_buffer((%d, %d, %d, %d, %d, %d), \"%s\")\n", e[0],
                        e[1], e[2], e[5], e[6], n->group, n->a);
    }
    for (int depth = 0; depth < LOOPS; depth++) {
        if (n->packed_at == depth) write_copy(n, &packing, depth, rng, out);
        if (n->copied_at == depth) write_copy(n, &copying, depth, rng, out);
        if (n->touched_at == depth) {
            indent(out, depth);
            hone_str_printf(out, "C[0, 0, 0, 0, 0, 0] = C[0, 0, 0, 0, 0, 0] %s T.%s(3)\n",
                            n->touch_adds ? "+" : "*", n->c);
        }
        write_loop(n, depth, rng, out);
    }
    write_dot(n, rng, out);
}

/* ---- checks ---- */

typedef struct after_pass {
    const hone_func *original;
    uint64_t seed;
    hone_tensor **want;
    bool has_lack, is_raised, is_dot;
} after_pass;

typedef struct tally {
    uint32_t lacks, raised, dots, points; /* points: dots with zero points */
} tally;

static hone_status check_pass(void *ctx, const char *pass, const hone_func *func) {
    after_pass *a = ctx;
    hone_tensor **got = hone_test_make_args(a->original, a->seed);
    hone_interp_options options = {.check_uninitialised = true};
    hone_status st = hone_interp_func(func, got, func->param_count, &options);
    hone_str text = {0};
    if (!st && !hone_test_args_agree(a->original, a->seed, got, a->want, &text)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s", hone_str_text(&text));
    }
    hone_str_clear(&text);
    if (strcmp(pass, "cleanup") == 0) {
        hone_status_free(hone_func_print(func, NULL, &text));
        a->is_dot |= strstr(hone_str_text(&text), "T.dot") != NULL;
        a->has_lack |= strstr(hone_str_text(&text), "lack") != NULL;
        a->is_raised |= strstr(hone_str_text(&text), "raised") != NULL;
    }
    hone_str_deinit(&text);
    hone_test_free_args(a->original, got);
    return hone_status_annotate(st, "after %s", pass);
}

static hone_status check_passes(const hone_func *func, uint64_t seed, hone_arena *arena,
                                after_pass *out) {
    hone_target target;
    HONE_TRY(hone_target_parse("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4", &target));
    *out = (after_pass){.original = func, .seed = seed, .want = hone_test_make_args(func, seed)};
    hone_interp_options interp = {0};
    hone_status st = hone_interp_func(func, out->want, func->param_count, &interp);
    hone_lower_options options = {.target = &target, .after = check_pass, .ctx = out};
    hone_func *lowered;
    if (!st) st = hone_lower_func(func, &options, arena, &lowered);
    hone_test_free_args(func, out->want);
    return st;
}

static hone_status check_code(const hone_func *func, uint64_t seed) {
    static const char *const targets[] = {"host -num-threads=2",
                                          "llvm -mcpu=x86-64-v4",
                                          "llvm -mcpu=x86-64-v3",
                                          "llvm -mcpu=sandybridge",
                                          "llvm -mcpu=x86-64",
                                          "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1",
                                          "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72"};
    for (size_t i = 0; i < HONE_COUNT(targets); i++) {
        hone_target target;
        HONE_TRY(hone_target_parse(targets[i], &target));
        bool is_here = hone_target_is_native_arch(&target);
        if (!is_here && (seed / COMPILED_EACH + i) % 2 != 0) continue; /* emulation is slow */
        if (!test_can_run(&target)) continue;
        HONE_TRY(hone_status_annotate(test_compare(func, &target, seed, 1e-5), "%s", targets[i]));
    }
    return HONE_OK;
}

static hone_status check_seed(uint64_t seed, tally *io_tally) {
    nest n;
    hone_str text = {0};
    hone_module *module;
    const hone_member *member;
    after_pass passes = {0};
    hone_rng rng = hone_rng_from_seed(seed);
    make_nest(&rng, &n);
    write_program(&n, &rng, &text);
    hone_status st =
        hone_script_parse(hone_str_text(&text), strlen(hone_str_text(&text)), "program", &module);
    if (!st) {
        hone_arena *arena = hone_arena_create(1 << 16);
        st = hone_module_pick(module, NULL, &member);
        if (!st) st = check_passes(member->func, seed, arena, &passes);
        if (!st && seed % COMPILED_EACH == 0) st = check_code(member->func, seed);
        hone_arena_destroy(arena);
        hone_module_release(module);
    }
    io_tally->lacks += passes.has_lack;
    io_tally->raised += passes.is_raised;
    io_tally->dots += passes.is_dot;
    io_tally->points += passes.is_dot && (n.a_point || n.b_point);
    st = hone_status_annotate(st, "seed %llu:\n%s", (unsigned long long)seed, hone_str_text(&text));
    hone_str_deinit(&text);
    return st;
}

static void means_the_same(void **state) {
    (void)state;
    tally t = {0};
    uint64_t begin = hone_test_seed(0), count = hone_test_count(SEEDS);
    for (uint64_t seed = begin; seed < begin + count; seed++)
        HONE_ASSERT_OK(check_seed(seed, &t));
    assert_true(t.lacks >= count / 8);
    assert_true(t.raised >= count / 16);
    assert_true(t.dots >= count / 2);
    assert_true(t.points >= count / 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(means_the_same)};
    return cmocka_run_group_tests_name("codegen/dot random", tests, NULL, NULL);
}
