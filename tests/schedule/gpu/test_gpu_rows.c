/* tests/schedule/gpu/test_gpu_rows.c - rows, columns and lookups by their schedules for GPUs: right
 * at all lengths, and in the form that is meant. */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <string.h>

#include "ir/text/print/script_print.h"
#include "tests/schedule/gpu/gpu_trial.h"
#include "tests/support/program_text.h"

enum { RANDOM_LENGTHS = 60 };

static const char *const devices[] = {
    "cuda -arch=sm_90 -max_shared_memory_per_block=232448 -num-cores=132",
    "cuda -arch=sm_50 -max_threads_per_block=128 -max_shared_memory_per_block=16384",
    "opencl -max_threads_per_block=256 -max_shared_memory_per_block=32768",
};

#define OWN "E_local"          /* rows in registers */
#define SHARED_ROWS "E_shared" /* rows in shared memory */
#define ONE_THREAD "T.thread_binding(1, thread=\"threadIdx.x\")"
#define COPY "A_local" /* what is read twice is read once */

static const struct row {
    const char *name, *kind, *shape, *dtype;
    const char *has, *has_not; /* in the program that became of it, on the first device */
} rows[] = {
    {"whole vectors of a warp",           "softmax", "3, 256",      "float16", OWN,               SHARED_ROWS   },
    {"rows beside each other",            "softmax", "300, 64",     "float16", "threadIdx.y",     NULL          },
    {"several warps",                     "softmax", "2, 2048",     "float32", OWN,               SHARED_ROWS   },
    {"no vectors",                        "softmax", "5, 197",      "float16", OWN,               SHARED_ROWS   },
    {"few elements",                      "softmax", "9, 7",        "float32", OWN,               NULL          },
    {"one element",                       "softmax", "9, 1",        "float32", NULL,              NULL          },
    {"threads without a vector",          "softmax", "2, 1000",     "float16", OWN,               SHARED_ROWS   },
    {"rows of several axes",              "softmax", "2, 3, 5, 96", "float16", OWN,               SHARED_ROWS   },
    {"a long row",                        "softmax", "1, 20000",    "float32", "rf",              NULL          },
    {"the parameter once",                "squares", "4, 768",      "float16", COPY,              NULL          },
    {"the parameter once, odd",           "squares", "4, 77",       "float32", COPY,              NULL          },
    {"a mask over all rows",              "masked",  "4, 128",      "float16", OWN,               SHARED_ROWS   },
    {"across memory",                     "middle",  "2, 40, 48",   "float32", OWN,               SHARED_ROWS   },
    {"across memory, odd",                "middle",  "3, 7, 33",    "float16", OWN,               SHARED_ROWS   },
    {"all of it",                         "total",   "160, 200",    "float32", "rf",              NULL          },
    {"columns in pieces",                 "columns", "600, 70",     "float32", "threadIdx.y",     NULL          },
    {"columns in pieces, whole",          "columns", "1024, 64",    "float32", "rf",              NULL          },
    {"columns of half floats keep order", "columns", "1024, 8",     "float16", NULL,              "rf"          },
    {"lookups by vectors",                "lookup",  "50, 8192",    "float16", "T.vectorized(8)", NULL          },
    {"lookups of odd rows",               "lookup",  "50, 33",      "float16", NULL,              "T.vectorized"},
    {"a running sum in each row",         "running", "100, 12",     "float32", "blockIdx.x",      ONE_THREAD    },
};

/* ---- their texts ---- */

typedef struct text {
    const struct row *row;
    hone_str out;
    int64_t sizes[4];
    int rank;
} text;

static void read_shape(text *t) {
    t->rank = sscanf(t->row->shape, "%ld, %ld, %ld, %ld", &t->sizes[0], &t->sizes[1], &t->sizes[2],
                     &t->sizes[3]);
}

static void say(text *t, const char *words) {
    hone_str_append(&t->out, words);
}

/* All sizes but that of an axis (-1: all). */
static void say_sizes(text *t, int without) {
    for (int i = 0; i < t->rank; i++) {
        if (i != without) hone_str_printf(&t->out, "%ld, ", t->sizes[i]);
    }
}

static void say_axes(text *t, int without) {
    const char *comma = "";
    for (int i = 0; i < t->rank; i++) {
        if (i == without) continue;
        hone_str_printf(&t->out, "%si%d", comma, i);
        comma = ", ";
    }
}

static void say_buffer(text *t, const char *name, int without, const char *dtype) {
    hone_str_printf(&t->out, "    %s = T.alloc_buffer((", name);
    say_sizes(t, without);
    hone_str_printf(&t->out, "), \"%s\")\n", dtype);
}

/* for all axes: a block that reduces over `reduced` (-1: none). */
static void say_block(text *t, const char *name, int reduced) {
    say(t, "    for ");
    say_axes(t, -1);
    say(t, " in T.grid(");
    say_sizes(t, -1);
    hone_str_printf(&t->out, "):\n        with T.block(\"%s\"):\n            ", name);
    say_axes(t, -1);
    say(t, " = T.axis.remap(\"");
    for (int i = 0; i < t->rank; i++)
        say(t, i == reduced ? "R" : "S");
    say(t, "\", [");
    say_axes(t, -1);
    say(t, "])\n");
}

/* Writes a line with @ for all axes, % for those that are not reduced. */
static void say_line(text *t, int reduced, const char *line) {
    say(t, "            ");
    for (; *line; line++) {
        if (*line == '@' || *line == '%') {
            say_axes(t, *line == '@' ? -1 : reduced);
        } else {
            hone_str_printf(&t->out, "%c", *line);
        }
    }
    say(t, "\n");
}

static void say_head(text *t, int out_without, const char *more) {
    say(t, "@T.prim_func\ndef main(A: T.Buffer((");
    say_sizes(t, -1);
    hone_str_printf(&t->out, "), \"%s\")%s, B: T.Buffer((", t->row->dtype, more);
    say_sizes(t, out_without);
    hone_str_printf(&t->out, "), \"%s\")):\n", t->row->dtype);
}

static void say_sum(text *t, const char *name, int axis, const char *value) {
    say_block(t, name, axis);
    hone_str_printf(&t->out,
                    "            with T.init():\n"
                    "                %s[",
                    name);
    say_axes(t, axis);
    say(t, "] = T.float32(0)\n            ");
    hone_str_printf(&t->out, "%s[", name);
    say_axes(t, axis);
    hone_str_printf(&t->out, "] = %s[", name);
    say_axes(t, axis);
    say(t, "] + ");
    say_line(t, axis, value);
}

static void say_softmax(text *t, int axis, const char *mask) {
    say_head(t, -1, *mask ? ", K: T.Buffer((128,), \"float32\")" : "");
    say_buffer(t, "M", axis, t->row->dtype);
    say_buffer(t, "E", -1, "float32");
    say_buffer(t, "S", axis, "float32");
    say_block(t, "max", axis);
    say_line(t, axis, "with T.init():");
    hone_str_printf(&t->out, "                M[");
    say_axes(t, axis);
    hone_str_printf(&t->out, "] = T.%s(-65504)\n", t->row->dtype);
    say_line(t, axis, "M[%] = T.max(M[%], A[@])");
    say_block(t, "exp", -1);
    hone_str_printf(&t->out, "            E[");
    say_axes(t, -1);
    say(t, "] = T.exp(T.cast(A[");
    say_axes(t, -1);
    say(t, "], \"float32\") - T.cast(M[");
    say_axes(t, axis);
    hone_str_printf(&t->out, "], \"float32\"))%s\n", mask);
    say_sum(t, "S", axis, "E[@]");
    say_block(t, "norm", -1);
    hone_str_printf(&t->out, "            B[");
    say_axes(t, -1);
    say(t, "] = T.cast(E[");
    say_axes(t, -1);
    say(t, "] / S[");
    say_axes(t, axis);
    hone_str_printf(&t->out, "], \"%s\")\n", t->row->dtype);
}

/* B = A / sqrt(sum(A * A)) */
static void say_squares(text *t) {
    int axis = t->rank - 1;
    say_head(t, -1, "");
    say_buffer(t, "S", axis, "float32");
    say_sum(t, "S", axis, "T.cast(A[@], \"float32\") * T.cast(A[@], \"float32\")");
    say_block(t, "norm", -1);
    hone_str_printf(&t->out,
                    "            B[i0, i1] = T.cast(T.cast(A[i0, i1], \"float32\") / "
                    "T.sqrt(S[i0] + T.float32(1)), \"%s\")\n",
                    t->row->dtype);
}

static void say_total(text *t) {
    hone_str_printf(&t->out,
                    "@T.prim_func\ndef main(A: T.Buffer((%s), \"float32\"), "
                    "B: T.Buffer((), \"float32\")):\n"
                    "    for i0, i1 in T.grid(%s):\n"
                    "        with T.block(\"B\"):\n"
                    "            i0, i1 = T.axis.remap(\"RR\", [i0, i1])\n"
                    "            with T.init():\n"
                    "                B[()] = T.float32(0)\n"
                    "            B[()] = B[()] + A[i0, i1]\n",
                    t->row->shape, t->row->shape);
}

static void say_columns(text *t) {
    hone_str_printf(&t->out,
                    "@T.prim_func\ndef main(A: T.Buffer((%s), \"%s\"), "
                    "B: T.Buffer((%ld,), \"%s\")):\n"
                    "    for i1, i0 in T.grid(%ld, %ld):\n"
                    "        with T.block(\"B\"):\n"
                    "            i1, i0 = T.axis.remap(\"SR\", [i1, i0])\n"
                    "            with T.init():\n"
                    "                B[i1] = T.%s(0)\n"
                    "            B[i1] = B[i1] + A[i0, i1]\n",
                    t->row->shape, t->row->dtype, t->sizes[1], t->row->dtype, t->sizes[1],
                    t->sizes[0], t->row->dtype);
}

/* B[i, :] = A[(7 * i) % rows, :], the rows by a table that is computed: arguments are random. */
static void say_lookup(text *t) {
    hone_str_printf(
        &t->out,
        "@T.prim_func\ndef main(A: T.Buffer((%s), \"%s\"), "
        "I: T.Buffer((20,), \"int64\"), B: T.Buffer((20, %ld), \"%s\")):\n"
        "    for i0, i1 in T.grid(20, %ld):\n"
        "        with T.block(\"B\"):\n"
        "            i0, i1 = T.axis.remap(\"SS\", [i0, i1])\n"
        "            B[i0, i1] = A[T.min(T.max(T.cast(I[i0], \"int32\"), 0), %ld), i1]\n",
        t->row->shape, t->row->dtype, t->sizes[1], t->row->dtype, t->sizes[1], t->sizes[0] - 1);
}

/* B[i, :] is the running sum of A[i, :]. */
static void say_running(text *t) {
    hone_str_printf(
        &t->out,
        "@T.prim_func\ndef main(A: T.Buffer((%s), \"%s\"), B: T.Buffer((%s), \"%s\")):\n"
        "    for i0, i1 in T.grid(%s):\n"
        "        with T.block(\"B\"):\n"
        "            i0 = T.axis.spatial(%ld, i0)\n"
        "            i1 = T.axis.scan(%ld, i1)\n"
        "            T.reads(B[i0, 0:%ld], A[i0, i1])\n"
        "            T.writes(B[i0, i1])\n"
        "            B[i0, i1] = T.if_then_else(0 < i1, B[i0, i1 - 1], T.%s(0)) + "
        "A[i0, i1]\n",
        t->row->shape, t->row->dtype, t->row->shape, t->row->dtype, t->row->shape,
        (long)t->sizes[0], (long)t->sizes[1], (long)t->sizes[1], t->row->dtype);
}

static void say_program(text *t) {
    const char *kind = t->row->kind;
    read_shape(t);
    if (strcmp(kind, "softmax") == 0) say_softmax(t, t->rank - 1, "");
    if (strcmp(kind, "masked") == 0) say_softmax(t, 1, " * K[i1]");
    if (strcmp(kind, "middle") == 0) say_softmax(t, 1, "");
    if (strcmp(kind, "squares") == 0) say_squares(t);
    if (strcmp(kind, "total") == 0) say_total(t);
    if (strcmp(kind, "columns") == 0) say_columns(t);
    if (strcmp(kind, "lookup") == 0) say_lookup(t);
    if (strcmp(kind, "running") == 0) say_running(t);
}

/* ---- the check ---- */

static void is_right_and_good(void **state) {
    text t = {.row = *state};
    hone_module *module = NULL;
    hone_str became = {0};
    say_program(&t);
    const hone_func *func = hone_test_parse(hone_str_text(&t.out), &module);
    bool is_right = true;
    for (uint64_t i = 0; i < hone_test_ways(HONE_COUNT(devices)); i++)
        is_right = is_right && gpu_trial_is_right(func, devices[i], i);
    hone_schedule *sch = gpu_trial_schedule(func, devices[0]);
    hone_status_free(hone_func_print(sch->func, NULL, &became));
    const char *words = hone_str_text(&became);
    bool is_good = (!t.row->has || strstr(words, t.row->has)) &&
                   (!t.row->has_not || !strstr(words, t.row->has_not));
    if (!is_good) fprintf(stderr, "%s", words);
    hone_schedule_destroy(sch);
    hone_str_deinit(&became);
    hone_str_deinit(&t.out);
    hone_module_release(module);
    assert_true(is_right);
    assert_true(is_good);
}

/* Lengths at random, short ones and powers of two among them. */
static void random_lengths_are_right(void **state) {
    static const char *const kinds[] = {"softmax", "middle", "squares"};
    static const char *const dtypes[] = {"float16", "float32"};
    hone_rng rng = hone_test_rng(7);
    (void)state;
    for (uint64_t i = 0; i < hone_test_count(RANDOM_LENGTHS); i++) {
        char shape[64];
        uint32_t kind = (uint32_t)hone_rng_below(&rng, HONE_COUNT(kinds));
        int64_t length = 1 + (int64_t)hone_rng_below(&rng, 260),
                beside = 1 + (int64_t)hone_rng_below(&rng, 40);
        if (hone_rng_below(&rng, 3) == 0) length = INT64_C(1) << hone_rng_below(&rng, 9);
        if (kind == 1) {
            snprintf(shape, sizeof shape, "2, %ld, %ld", (long)length, (long)beside);
        } else {
            snprintf(shape, sizeof shape, "%ld, %ld", (long)(beside % 7 + 1), (long)length);
        }
        struct row row = {.name = shape,
                          .kind = kinds[kind],
                          .shape = shape,
                          .dtype = dtypes[hone_rng_below(&rng, 2)]};
        text t = {.row = &row};
        hone_module *module = NULL;
        say_program(&t);
        const hone_func *func = hone_test_parse(hone_str_text(&t.out), &module);
        bool is_right = gpu_trial_is_right(func, devices[i % HONE_COUNT(devices)], i);
        hone_str_deinit(&t.out);
        hone_module_release(module);
        if (!is_right) fail_msg("%s of %s", row.kind, shape);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(random_lengths_are_right)};
    return cmocka_run_group_tests(tests, NULL, NULL) +
           HONE_RUN_ROWS("schedule/gpu_rows", rows, is_right_and_good);
}
