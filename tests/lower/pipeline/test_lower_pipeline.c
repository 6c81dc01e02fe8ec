/* tests/lower/pipeline/test_lower_pipeline.c - software pipelines: what is refused and why, how
 * many copies of a buffer there are, and that random pipelines mean what the loop did, after every
 * pass. HONE_SEQUENCES sets how many. */
#include <stdio.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "lower/ground/lower.h"
#include "support/data/rng.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

enum { PROGRAMS = 500 };

typedef struct oracle {
    const hone_func *base;
    hone_tensor **want;
    uint64_t seed;
    hone_str *text; /* after the pass `pipeline` */
} oracle;

static hone_status check_pass(void *ctx, const char *pass, const hone_func *func) {
    oracle *o = ctx;
    hone_tensor **got = hone_test_make_args(o->base, o->seed);
    hone_interp_options options = {.check_uninitialised = true};
    hone_status st = hone_interp_func(func, got, func->param_count, &options);
    st = hone_test_compare(o->base, o->seed, o->want, got, st, func);
    if (strcmp(pass, "pipeline") == 0) {
        hone_status_free(hone_func_print(func, &(hone_print_options){.mark = HONE_NO_ID}, o->text));
    }
    return hone_status_annotate(st, "after %s", pass);
}

/* Lowers a program and compares it after each pass. */
static hone_status lower_text(const char *program, uint64_t seed, hone_str *out_text) {
    hone_module *module;
    hone_target target;
    hone_str_clear(out_text);
    HONE_TRY(hone_target_parse("x86-64-v3", &target));
    HONE_TRY(hone_script_parse(program, strlen(program), "program", &module));
    const hone_member *member;
    hone_status st = hone_module_pick(module, NULL, &member);
    hone_arena *arena = hone_arena_create(1 << 16);
    if (!st) {
        const hone_func *base = member->func;
        oracle o = {base, hone_test_make_args(base, seed), seed, out_text};
        hone_interp_options interp = {0};
        st = hone_interp_func(base, o.want, base->param_count, &interp);
        hone_lower_options options = {.target = &target, .after = check_pass, .ctx = &o};
        hone_func *lowered;
        if (!st) st = hone_lower_func(base, &options, arena, &lowered);
        hone_test_free_args(base, o.want);
    }
    hone_arena_destroy(arena);
    hone_module_release(module);
    return st;
}

/* ---- examples ---- */

#define HEAD                                                                                       \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((16, 4), \"float32\"), D: T.Buffer((16, 4), \"float32\")):\n"
#define LOOP(extent, stage, order)                                                                 \
    "    for i in T.serial(" extent ", annotations={\"software_pipeline_stage\": " stage           \
    ", \"software_pipeline_order\": " order "}):\n"
#define FRESH                                                                                      \
    "        with T.block(\"body\"):\n"                                                            \
    "            B = T.alloc_buffer((4,))\n"                                                       \
    "            C = T.alloc_buffer((4,))\n"
#define STEP(target, value)                                                                        \
    "            for j in range(4):\n"                                                             \
    "                with T.block():\n"                                                            \
    "                    " target " = " value "\n"
#define COPY STEP("B[j]", "A[i, j] * T.float32(2)")
#define CHAIN                                                                                      \
    FRESH COPY STEP("C[j]", "B[j] + T.float32(2)") STEP("D[i, j]", "C[3 - j] * T.float32(3)")
#define PAIR FRESH COPY STEP("D[i, j]", "B[3 - j]")
#define NESTED(stage, order)                                                                       \
    HEAD LOOP("16", stage, order)                                                                  \
    FRESH COPY                                                                                     \
        "            for k in T.serial(4, annotations={\"software_pipeline_stage\": [0, 1], "      \
        "\"software_pipeline_order\": [0, 1]}):\n"                                                 \
        "                with T.block():\n"                                                        \
        "                    E = T.alloc_buffer((1,))\n"                                           \
        "                    with T.block():\n"                                                    \
        "                        E[0] = B[k] + T.float32(1)\n"                                     \
        "                    with T.block():\n"                                                    \
        "                        D[i, k] = E[0] * T.float32(2)\n"
#define WISH(memory)                                                                               \
    "        with T.attr(" memory ", \"double_buffer_scope\", 1):\n"                               \
    "            for j in range(4):\n                B[j] = A[i, j] * T.float32(2)\n"              \
    "        for j in range(4):\n            D[i, j] = B[3 - j]\n"

static const struct row {
    const char *name, *program, *want; /* what is printed after the pass, or the message */
    bool is_refused;
} examples[] = {
  /* clang-format off */
    {"two stages", HEAD LOOP("16", "[0, 1]", "[0, 1]") PAIR, "B = T.alloc_buffer((2, 4)", false},
    {"one stage", HEAD LOOP("16", "[0, 0]", "[0, 1]") PAIR, "B = T.alloc_buffer((4,)", false},
    {"three stages", HEAD LOOP("16", "[0, 1, 2]", "[0, 1, 2]") CHAIN, "C = T.alloc_buffer((2, 4)", false},
    {"two stages apart", HEAD LOOP("16", "[0, 3]", "[0, 1]") PAIR, "B = T.alloc_buffer((4, 4)", false},
    {"consumer first needs no copy", HEAD LOOP("16", "[0, 1]", "[1, 0]") PAIR, "B = T.alloc_buffer((4,)", false},
    {"fewer iterations than stages", HEAD LOOP("2", "[0, 3]", "[0, 1]") PAIR, "B[0, j]", false},
    {"one iteration", HEAD LOOP("1", "[0, 1]", "[0, 1]") PAIR, "D[0, j]", false},
    {"from another number on", HEAD LOOP("3, 11", "[0, 1]", "[0, 1]") PAIR, "B[0, j] = A[3, j]", false},
    {"asked for two copies", HEAD LOOP("16", "[0, 0]", "[0, 1]")
     FRESH "            for j in range(4):\n                with T.block():\n"
     "                    T.writes(B[j])\n                    T.block_attr({\"double_buffer_scope\": 0})\n"
     "                    B[j] = A[i, j]\n" STEP("D[i, j]", "B[3 - j]"), "B = T.alloc_buffer((2, 4)", false},
    {"asked for what it does not write", HEAD LOOP("16", "[0, 0]", "[0, 1]")
     FRESH "            for j in range(4):\n                with T.block(\"copy\"):\n"
     "                    T.writes(B[j])\n                    T.block_attr({\"double_buffer_scope\": 1})\n"
     "                    B[j] = A[i, j]\n" STEP("D[i, j]", "B[3 - j]"), "block 'copy' has 'double_buffer_scope' 1", true},
    {"nested", NESTED("[0, 1, 1, 1]", "[0, 1, 2, 3]"), "E = T.alloc_buffer((2, 1)", false},
    {"nested, spread", NESTED("[0, 0, 0, 1]", "[0, 1, 2, 3]"), "E = T.alloc_buffer((2, 2, 1)", false},
    {"nested counts as three", NESTED("[0, 1]", "[0, 1]"), "loop 'i' has 2 numbers in 'software_pipeline_stage', but 4", true},
    {"too few stages", HEAD LOOP("16", "[0]", "[0, 1]") PAIR, "loop 'i' has 1 numbers in 'software_pipeline_stage', but 2", true},
    {"no list", HEAD LOOP("16", "1", "[0, 1]") PAIR, "'software_pipeline_stage'", true},
    {"an order twice", HEAD LOOP("16", "[0, 1]", "[0, 0]") PAIR, "loop 'i' gives statements 0 and 1 of its body the same order, 0", true},
    {"an order beyond", HEAD LOOP("16", "[0, 1]", "[0, 2]") PAIR, "loop 'i' has 2 in 'software_pipeline_order'", true},
    {"a stage below", HEAD LOOP("16", "[0, -1]", "[0, 1]") PAIR, "loop 'i' has -1 in 'software_pipeline_stage'", true},
    {"consumer in an earlier stage", HEAD LOOP("16", "[1, 0]", "[0, 1]") PAIR, "statement 1 (stage 0, order 1) would overtake statement 0", true},
    {"consumer first in a stage", HEAD LOOP("16", "[0, 0]", "[1, 0]") PAIR, "they meet in buffer 'B'", true},
    {"carried from the iteration before", HEAD LOOP("1, 16", "[0, 1]", "[0, 1]")
     FRESH STEP("B[j]", "D[i - 1, j]") STEP("D[i, j]", "B[j]"), "they meet in buffer 'D'", true},
    {"carried, in time", HEAD LOOP("1, 16", "[0, 1]", "[1, 0]")
     FRESH STEP("B[j]", "D[i - 1, j]") STEP("D[i, j]", "B[j]"), "B = T.alloc_buffer((4,)", false},
    {"carried from two before", HEAD LOOP("2, 16", "[0, 1]", "[0, 1]")
     FRESH STEP("B[j]", "D[i - 2, j]") STEP("D[i, j]", "B[j]"), "B = T.alloc_buffer((2, 4)", false},
    {"one statement", HEAD LOOP("16", "[0]", "[0]") FRESH STEP("D[i, j]", "A[i, j]"), "its body is not a sequence", true},
    {"a parallel loop", HEAD "    for i in T.parallel(16, annotations={\"software_pipeline_stage\": [0, 1], "
     "\"software_pipeline_order\": [0, 1]}):\n" PAIR, "loop 'i' cannot be pipelined: its iterations have no order", true},
    {"no order", HEAD "    for i in T.serial(16, annotations={\"software_pipeline_stage\": [0, 1]}):\n" PAIR,
     "loop 'i' has no 'software_pipeline_order'", true},
    {"a reduction in a part", HEAD LOOP("16", "[0, 1]", "[0, 1]") FRESH COPY
     "            for k in range(4):\n                with T.block(\"sum\"):\n"
     "                    vi = T.axis.spatial(16, i)\n                    vk = T.axis.reduce(4, k)\n"
     "                    with T.init():\n                        D[vi, 0] = T.float32(0)\n"
     "                    D[vi, 0] = D[vi, 0] + B[vk]\n", "B = T.alloc_buffer((2, 4)", false},
    {"an init counts", HEAD LOOP("4", "[0, 1, 1]", "[0, 1, 2]") FRESH COPY
     "            with T.block(\"sum\"):\n                vk = T.axis.reduce(4, i)\n"
     "                with T.init():\n                    D[0, 0] = T.float32(0)\n"
     "                D[0, 0] = D[0, 0] + B[vk]\n", "B = T.alloc_buffer((2, 4)", false},
    {"attribute", HEAD "    for i in range(16):\n        B = T.alloc_buffer((4,))\n" WISH("B.data"),
     "B = T.alloc_buffer((2, 4)", false},
    {"attribute, allocated outside", HEAD "    B = T.alloc_buffer((4,))\n    for i in range(16):\n" WISH("B.data"),
     "B = T.alloc_buffer((2, 4)", false},
    {"attribute, a buffer declared", HEAD "    for i in range(16):\n        B = T.decl_buffer((4,))\n" WISH("B.data"),
     "B = T.alloc_buffer((2, 4)", false},
    {"attribute, memory and its view", HEAD "    for i in range(16):\n        p = T.allocate([4], \"float32\", \"global\")\n"
     "        B = T.Buffer((4,), data=p)\n" WISH("p"), "p = T.alloc_buffer((2, 4)", false},
    {"attribute, one iteration", HEAD "    for i in range(1):\n        B = T.alloc_buffer((4,))\n" WISH("B.data"), "D[0, j]", false},
    {"attribute, no iteration", HEAD "    for i in range(0):\n        B = T.alloc_buffer((4,))\n" WISH("B.data"), "def main", false},
    {"attribute, stages given", HEAD LOOP("16", "[0, 0]", "[0, 1]") "        B = T.alloc_buffer((4,))\n" WISH("B.data"),
     "B = T.alloc_buffer((2, 4)", false},
    {"attribute, of a parameter", HEAD "    for i in range(16):\n        B = T.alloc_buffer((4,))\n" WISH("D.data"),
     "for i in range(16)", false},
    {"attribute around everything", HEAD "    for i in range(16):\n        B = T.alloc_buffer((4,))\n"
     "        T.attr(B.data, \"double_buffer_scope\", 1)\n        for j in range(4):\n            B[j] = A[i, j]\n"
     "        for j in range(4):\n            D[i, j] = B[3 - j]\n", "for i in range(16)", false},
    {"attribute under a condition", HEAD "    for i in range(16):\n        B = T.alloc_buffer((4,))\n        for j in range(4):\n"
     "            B[j] = T.float32(1)\n        if i % 3 == 1:\n            with T.attr(B.data, \"double_buffer_scope\", 1):\n"
     "                for j in range(4):\n                    B[j] = A[i, j]\n"
     "        for j in range(4):\n            D[i, j] = B[3 - j]\n", "for i in range(16)", false},
    {"attribute, carried", HEAD "    for i in range(1, 16):\n        B = T.alloc_buffer((4,))\n"
     "        with T.attr(B.data, \"double_buffer_scope\", 1):\n            for j in range(4):\n                B[j] = D[i - 1, j]\n"
     "        for j in range(4):\n            D[i, j] = B[3 - j]\n", "for i in range(1, 16)", false},
  /* clang-format on */
};

static void is_as_expected(void **state) {
    const struct row *row = *state;
    hone_str text = {0};
    hone_status st = lower_text(row->program, 1, &text);
    hone_code code = hone_status_code(st);
    char got[4096];
    snprintf(got, sizeof got, "%s", st ? hone_status_message(st) : hone_str_text(&text));
    hone_status_free(st);
    hone_str_deinit(&text);
    assert_int_equal(code, row->is_refused ? HONE_CODE_INVALID : HONE_CODE_OK);
    if (!strstr(got, row->want)) fail_msg("'%s' is not in:\n%s", row->want, got);
}

/* ---- random programs ---- */

enum { WIDTH = 4, ROWS = 9 };

typedef struct writer {
    hone_rng rng;
    hone_str body;
    uint32_t own, parts, depth; /* buffers of the body; statements; indentation */
    uint32_t written;           /* bits of own buffers that have a value */
    bool wishes;                /* T.attr in place of annotations */
} writer;

static uint32_t dice(writer *w, uint32_t sides) {
    return (uint32_t)(hone_rng_next(&w->rng) % sides);
}

static void line(writer *w, uint32_t depth, const char *text) {
    hone_str_printf(&w->body, "%*s%s\n", (int)((w->depth + depth) * 4), "", text);
}

/* A value from inputs, from what the loop carries, and from buffers of the body. */
static void value(writer *w, const char *column, char *out, size_t size) {
    char own[32];
    uint32_t b = dice(w, w->own);
    bool is_there = (w->written >> b & 1) != 0;
    snprintf(own, sizeof own, dice(w, 2) ? "B%u[%s]" : "B%u[3 - %s]", b, column);
    char other[32];
    uint32_t pick = dice(w, 8);
    snprintf(other, sizeof other, "A[i, %s]", column);
    if (pick == 0) snprintf(other, sizeof other, "S[%s]", column);
    if (pick == 1) snprintf(other, sizeof other, "R[i, %s]", column);
    if (pick == 2) snprintf(other, sizeof other, "(i * 3 + %s)", column);
    snprintf(out, size, "(%s + %s * 3) %% 1009", is_there ? own : other, other);
}

static void statement(writer *w, const char *target, const char *guard, const char *what) {
    char text[256];
    line(w, 0, "for j in range(4):");
    snprintf(text, sizeof text, "with T.block(\"p%u\"):", w->parts);
    line(w, 1, text);
    if (guard) line(w, 2, guard);
    snprintf(text, sizeof text, "%s = %s", target, what);
    line(w, 2, text);
}

/* A pipelined loop inside: it counts as three statements. */
static void nested(writer *w) {
    char what[128], text[256];
    value(w, "k", what, sizeof what);
    line(w, 0,
         "for k in T.serial(4, annotations={\"software_pipeline_stage\": [0, 1], "
         "\"software_pipeline_order\": [0, 1]}):");
    line(w, 1, "with T.block(\"inner\"):");
    line(w, 2, "E = T.alloc_buffer((1,), \"int32\")");
    line(w, 2, "with T.block(\"fill\"):");
    snprintf(text, sizeof text, "E[0] = %s", what);
    line(w, 3, text);
    line(w, 2, "with T.block(\"take\"):");
    line(w, 3, "P[i, k] = E[0] * 2");
    w->parts += 2;
}

static void part(writer *w) {
    char what[128], target[32];
    value(w, "j", what, sizeof what);
    uint32_t kind = dice(w, 9), b = dice(w, w->own);
    if (kind < 4) {
        snprintf(target, sizeof target, "B%u[j]", b);
        bool is_wish = w->wishes && dice(w, 4) != 0;
        char attr[64];
        snprintf(attr, sizeof attr, "with T.attr(B%u.data, \"double_buffer_scope\", 1):", b);
        if (is_wish) line(w, 0, attr);
        w->depth += is_wish;
        statement(w, target, NULL, what);
        w->depth -= is_wish;
        w->written |= 1u << b;
    } else if (kind == 4) {
        statement(w, "O[i, j]", dice(w, 2) ? "T.where(i % 2 == 0)" : NULL, what);
    } else if (kind == 5) {
        snprintf(what, sizeof what, "(S[j] * 3 + i) %% 1009");
        statement(w, "S[j]", NULL, what);
    } else if (kind == 6) {
        statement(w, "R[i + 1, j]", NULL, what);
    } else if (kind == 7) {
        nested(w);
    } else {
        snprintf(target, sizeof target, "Q%u[i, j]", w->parts % 4);
        statement(w, target, NULL, what);
    }
    w->parts++;
}

/* Stages that go up, or any; an order that goes up, or any. */
static void numbers(writer *w, const char *key, bool is_order, hone_str *out) {
    uint32_t all[32] = {0};
    bool any = dice(w, 3) == 0;
    for (uint32_t i = 0; i < w->parts; i++) {
        if (is_order) {
            all[i] = i;
            uint32_t with = any ? dice(w, i + 1) : i;
            all[i] = all[with];
            all[with] = i;
        } else {
            uint32_t last = i ? all[i - 1] : 0;
            all[i] = any ? dice(w, 4) : last + (dice(w, 3) == 0 ? 1 + dice(w, 2) : 0);
        }
    }
    hone_str_printf(out, "\"%s\": [", key);
    for (uint32_t i = 0; i < w->parts; i++)
        hone_str_printf(out, "%s%u", i ? ", " : "", all[i]);
    hone_str_append(out, "]");
}

static void write_program(uint64_t seed, bool wishes, hone_str *out) {
    writer w = {.rng = hone_rng_from_seed(seed), .wishes = wishes};
    w.own = 1 + dice(&w, 3);
    bool in_block = dice(&w, 2) != 0;
    w.depth = in_block ? 3 : 2;
    uint32_t count = 2 + dice(&w, 4);
    for (uint32_t i = 0; i < count; i++)
        part(&w);
    hone_str_append(out, "from tvm.script import tir as T\n@T.prim_func\ndef main(n: T.int32");
    static const char *const names[] = {"A", "O", "P", "R", "Q0", "Q1", "Q2", "Q3"};
    for (size_t i = 0; i < HONE_COUNT(names); i++)
        hone_str_printf(out, ", %s: T.Buffer((%d, %d), \"int32\")", names[i], ROWS + 1, WIDTH);
    hone_str_printf(out, ", S: T.Buffer((%d,), \"int32\")):\n", WIDTH);
    for (uint32_t b = 0; b < w.own && !in_block; b++)
        hone_str_printf(out, "    B%u = T.alloc_buffer((%d,), \"int32\")\n", b, WIDTH);
    hone_str_append(out, "    for i in T.serial(");
    uint32_t extent = dice(&w, 10), from = dice(&w, 2);
    if (extent == 0) hone_str_append(out, "n");
    if (extent > 0 && from == 0) hone_str_printf(out, "%u", extent < ROWS ? extent : ROWS);
    if (extent > 0 && from == 1) hone_str_printf(out, "2, %u", 2 + (extent < 7 ? extent : 7));
    if (!wishes) {
        hone_str_append(out, ", annotations={");
        numbers(&w, "software_pipeline_stage", false, out);
        hone_str_append(out, ", ");
        numbers(&w, "software_pipeline_order", true, out);
        hone_str_append(out, ", \"software_pipeline_async_stages\": [0]}");
    }
    hone_str_append(out, "):\n");
    if (in_block) hone_str_append(out, "        with T.block(\"body\"):\n");
    for (uint32_t b = 0; b < w.own && in_block; b++)
        hone_str_printf(out, "            B%u = T.alloc_buffer((%d,), \"int32\")\n", b, WIDTH);
    hone_str_append(out, hone_str_text(&w.body));
    hone_str_deinit(&w.body);
}

static void random_pipelines_keep_the_meaning(void **state) {
    bool wishes = *state != NULL;
    uint64_t count = hone_test_count(PROGRAMS);
    uint64_t seed = hone_test_seed(1);
    uint64_t lowered = 0, failed = 0, overlapped = 0;
    hone_str program = {0}, text = {0};
    for (uint64_t i = 0; i < count; i++) {
        hone_str_clear(&program);
        write_program(seed + i, wishes, &program);
        hone_status st = lower_text(hone_str_text(&program), seed + i, &text);
        hone_code code = hone_status_code(st);
        lowered += code == HONE_CODE_OK;
        overlapped += strstr(hone_str_text(&text), "T.alloc_buffer((2, 4)") != NULL;
        if (code != HONE_CODE_OK && (wishes || code != HONE_CODE_INVALID)) {
            fprintf(stderr, "seed %llu: %s\n%s\n", (unsigned long long)(seed + i),
                    hone_status_message(st), hone_str_text(&program));
            failed++;
        }
        hone_status_free(st);
    }
    hone_str_deinit(&program);
    hone_str_deinit(&text);
    print_message("%llu of %llu lowered, %llu with two copies\n", (unsigned long long)lowered,
                  (unsigned long long)count, (unsigned long long)overlapped);
    assert_int_equal(failed, 0);
    assert_true(lowered > count / 4);
    assert_true(!wishes || overlapped > count / 8);
}

int main(void) {
    static bool yes = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_pipelines_keep_the_meaning),
        cmocka_unit_test_prestate(random_pipelines_keep_the_meaning, &yes),
    };
    int failed = HONE_RUN_ROWS("lower/pipeline", examples, is_as_expected);
    return failed + cmocka_run_group_tests_name("lower/pipeline_random", tests, NULL, NULL);
}
