/* tests/codegen/test_integers.c - integers at the ends of their types, divisors of 0, indices out
 * of range: compiled code finds what the interpreter finds, and where that fails, returns a code.
 */
#include <string.h>

#include "ir/interp/interp.h"
#include "ir/text/read/script.h"
#include "runtime/model/model_rt.h"
#include "support/core/attributes.h"
#include "tests/support/compiled.h"
#include "tests/support/hone_test.h"

enum { COUNT = 32, ROUNDS = 6, SPECIALS = 10 }; /* ROUNDS * COUNT pairs are all of them */

/* A and B have 32 numbers of the type, C as many results, T 10 x 8 more. */
/* clang-format off */
static const struct row {
    const char *name, *body;
} rows[] = {
    {"a hash", "for i in range(32):\n    C[i] = (A[i] * 1103515245 + 12345) % 1000\n"},
    {"a hash, vectors",
     "for i in T.vectorized(32):\n    C[i] = (A[i] * 1103515245 + 12345) % 1000\n"},
    {"a hash, parallel",
     "for i in T.parallel(32):\n    C[i] = (A[i] * 1103515245 + 12345) // 4 % 16\n"},
    {"compared sums",
     "for i in range(32):\n    C[i] = T.if_then_else(A[i] + 1 < B[i] - 1, 1, 2)\n"},
    {"the larger sum",
     "for i in range(32):\n    C[i] = T.max(A[i] + 5, A[i]) - T.min(A[i] * 2, 7)\n"},
    {"bound to a name", "for i in range(32):\n    with T.LetStmt(A[i]) as x:\n"
                        "        C[i] = T.if_then_else(x * 4 < x * 2, x * 8 // 8, x - 3)\n"},
    {"quotients", "for i in range(32):\n    C[i] = A[i] // B[i]\n"},
    {"remainders", "for i in range(32):\n    C[i] = A[i] % B[i]\n"},
    {"quotients to 0", "for i in range(32):\n    C[i] = T.truncdiv(A[i], B[i])\n"},
    {"remainders to 0", "for i in range(32):\n    C[i] = T.truncmod(A[i], B[i])\n"},
    {"quotients, vectors", "for i in T.vectorized(32):\n    C[i] = A[i] // B[i]\n"},
    {"quotients, parallel", "for i in T.parallel(32):\n    C[i] = T.truncdiv(A[i], B[i])\n"},
    {"guarded quotients", "for i in T.vectorized(32):\n"
                          "    C[i] = T.if_then_else(B[i] != 0, A[i] // B[i], -1)\n"},
    {"shifts", "for i in range(32):\n"
               "    C[i] = T.shift_left(A[i], B[i]) + T.shift_right(A[i], B[i])\n"},
    {"shifts, vectors", "for i in T.vectorized(32):\n"
                        "    C[i] = T.shift_left(A[i], B[i]) + T.shift_right(A[i], B[i])\n"},
    {"a place in rows", "for i in range(32):\n    C[i] = T_1[B[i], i % 8]\n"},
    {"a place in columns", "for i in range(32):\n    C[i] = T_1[i % 10, B[i]]\n"},
    {"places, vectors", "for i in T.vectorized(32):\n    C[i] = T_1[i % 10, B[i]]\n"},
    {"places, parallel", "for i in T.parallel(32):\n    C[i] = T_1[B[i], i % 8]\n"},
    {"guarded places", "for i in T.vectorized(32):\n    C[i] = "
                       "T.if_then_else(0 <= B[i] and B[i] < 10, T_1[B[i], i % 8], 5)\n"},
    {"rows from an offset", "for i in range(4):\n    for j in T.vectorized(8):\n"
                            "        C[i * 8 + j] = A[B[i] + j]\n"},
    {"scattered", "for i in range(32):\n    C[B[i]] = A[i]\n"},
    {"a guard that is overwritten", "for i in range(32):\n    if 0 <= B[i] and B[i] < 32:\n"
                                    "        B[i] = B[i] * 5\n        C[i] = A[B[i]]\n"},
};
/* clang-format on */

/* What B holds. */
static const struct kind {
    const char *name;
    bool is_extreme, may_be_zero, is_place,
        is_paired; /* paired: each extreme of A with each of B */
} kinds[] = {
    {"extremes",          true,  false, false, false},
    {"extremes and 0",    true,  true,  false, false},
    {"pairs of extremes", true,  false, false, true },
    {"places",            false, true,  true,  false},
    {"places and others", true,  true,  true,  false},
};

static const char *const targets[] = {"host -num-threads=2", "llvm -mcpu=x86-64-v3 -num-threads=2",
                                      "c -num-threads=2"};

static int64_t special(uint64_t index, unsigned bits) {
    int64_t most = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    const int64_t values[SPECIALS] = {most, -most - 1, -1, 1, 2, -7, most - 1, 1000, 31, 32};
    return values[index % SPECIALS];
}

static int64_t extreme(hone_rng *rng, unsigned bits) {
    uint64_t pick = hone_rng_below(rng, SPECIALS + 4);
    int64_t any = (int64_t)hone_rng_next(rng) >> (64 - bits);
    return pick < SPECIALS ? special(pick, bits) : any ? any : 3;
}

static int64_t number(hone_rng *rng, unsigned bits, const struct kind *kind) {
    if (kind->is_place && (!kind->is_extreme || hone_rng_below(rng, 8))) {
        return (int64_t)hone_rng_below(rng, 8);
    }
    if (kind->may_be_zero && hone_rng_below(rng, 8) == 0) return 0;
    return extreme(rng, bits);
}

static hone_status parse(const char *type, const char *body, hone_module **out) {
    hone_str text = {0};
    hone_str_printf(&text,
                    "@T.prim_func\ndef main(A: T.Buffer((32,), \"%s\"), B: T.Buffer((32,), "
                    "\"%s\"), T_1: T.Buffer((10, 8), \"%s\"), C: T.Buffer((32,), \"%s\")):\n",
                    type, type, type, type);
    for (const char *line = body; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        hone_str_append(&text, "    ");
        hone_str_append_n(&text, line, length);
        line += length;
    }
    hone_status st = hone_script_parse(hone_str_text(&text), text.length, "integers.py", out);
    hone_str_deinit(&text);
    return st;
}

static void fill(hone_tensor *const *args, const struct kind *kind, uint64_t seed) {
    static const struct kind any = {"", true, true, false, false};
    hone_rng rng = hone_rng_from_seed(seed);
    unsigned bits = args[0]->dtype.bits;
    for (int t = 0; t < 4; t++) {
        for (int64_t i = 0; i < hone_tensor_count(args[t]); i++) {
            int64_t value = t == 3 ? 0 : number(&rng, bits, t == 1 ? kind : &any);
            hone_tensor_set_i64(args[t], i, value);
        }
    }
    for (uint64_t i = 0; kind->is_paired && i < COUNT; i++) {
        uint64_t pair = seed / HONE_COUNT(kinds) * COUNT + i;
        hone_tensor_set_i64(args[0], (int64_t)i, special(pair / SPECIALS, bits));
        hone_tensor_set_i64(args[1], (int64_t)i, special(pair, bits));
    }
}

static hone_status make_args(hone_dtype dtype, hone_tensor **out) {
    static const int64_t flat[] = {COUNT}, table[] = {10, 8};
    for (int t = 0; t < 4; t++) {
        HONE_TRY(hone_tensor_create(dtype, t == 2 ? 2 : 1, t == 2 ? table : flat, &out[t]));
    }
    return HONE_OK;
}

/* The interpreter says what must come out, or that it must fail. */
static hone_status agree(const hone_func *func, const test_compiled *compiled,
                         hone_tensor *const *got, hone_tensor *const *want) {
    hone_status st = hone_interp_func(func, want, 4, NULL);
    bool fails = st != NULL;
    bool divides = fails && strstr(hone_status_message(st), "division");
    hone_status_free(st);
    int32_t code = test_compiled_run(compiled, got, NULL);
    char said[128];
    hone_model_rt_take_error(compiled->rt, said, sizeof said);
    if (code != (fails ? (divides ? -4 : -5) : 0)) {
        return HONE_ERROR(HONE_CODE_INVALID, "code %d ('%s'), and the interpreter %s", (int)code,
                          said, fails ? "fails" : "does not");
    }
    const char *words = divides ? "division by zero" : "an index is out of range";
    if (fails) {
        return strcmp(said, words) == 0 ? HONE_OK
                                        : HONE_ERROR(HONE_CODE_INVALID, "says '%s'", said);
    }
    hone_tensor_diff diff = hone_tensor_diff_make(got[3], want[3], 0, 0);
    return diff.bad_count == 0 ? HONE_OK : HONE_ERROR(HONE_CODE_INVALID, "another result");
}

static hone_status check(const struct row *row, hone_dtype dtype, const char *target_text) {
    hone_module *module;
    const hone_member *member;
    hone_target target;
    test_compiled compiled;
    hone_tensor *got[5] = {0}, *want[5] = {0}; /* a NULL ends them */
    HONE_TRY(parse(dtype.bits == 32 ? "int32" : "int64", row->body, &module));
    HONE_TRY(hone_module_pick(module, NULL, &member));
    HONE_TRY(hone_target_parse(target_text, &target));
    if (!hone_target_runs_here(&target)) return HONE_OK;
    HONE_TRY(test_compile(member->func, &target, &compiled));
    hone_status st = make_args(dtype, got);
    if (!st) st = make_args(dtype, want);
    for (uint64_t i = 0; i < ROUNDS * HONE_COUNT(kinds) && !st; i++) {
        const struct kind *kind = &kinds[i % HONE_COUNT(kinds)];
        fill(got, kind, i);
        fill(want, kind, i);
        st = agree(member->func, &compiled, got, want);
        st =
            hone_status_annotate(st, "%s, %s, %s", target_text, HONE_DTYPE_NAME(dtype), kind->name);
    }
    for (int t = 0; t < 4; t++) {
        hone_tensor_destroy(got[t]);
        hone_tensor_destroy(want[t]);
    }
    test_compiled_deinit(&compiled);
    hone_module_release(module);
    return st;
}

static void check_row(void **state) {
    const struct row *row = *state;
    for (size_t t = 0; t < HONE_COUNT(targets); t++) {
        HONE_ASSERT_OK(check(row, HONE_DTYPE_I32, targets[t]));
        HONE_ASSERT_OK(check(row, HONE_DTYPE_I64, targets[t]));
    }
}

int main(void) {
    return HONE_RUN_ROWS("codegen/integers", rows, check_row);
}
