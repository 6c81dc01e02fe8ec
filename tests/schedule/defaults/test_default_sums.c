/* tests/schedule/defaults/test_default_sums.c - reductions over any axes: random ones keep their
 * meaning, and those that lie apart are brought into an order in which memory is read as it lies.
 */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <string.h>

#include "tests/schedule/defaults/default_trial.h"
#include "tests/support/program_text.h"

enum { SUMS = 300, MAX_RANK = 5 };

/* Machines with caches of which some data is larger. */
static const hone_default_limits machines[] = {
    {.threads = 1,
     .vector_lanes = 4,
     .vector_registers = 16,
     .l1_bytes = 1 << 8,
     .l2_bytes = 1 << 9 },
    {.threads = 3,
     .vector_lanes = 4,
     .vector_registers = 16,
     .l1_bytes = 1 << 12,
     .l2_bytes = 1 << 10},
    {.threads = 1,
     .vector_lanes = 16,
     .vector_registers = 32,
     .l1_bytes = 1 << 15,
     .l2_bytes = 1 << 20},
};

static int between(hone_rng *rng, int low, int high) {
    return (int)hone_rng_between(rng, low, high);
}

typedef struct sums {
    uint32_t rank;
    int extents[MAX_RANK];
    bool are_reduced[MAX_RANK];
    uint32_t kept; /* axes that are not reduced */
} sums;

static sums draw(hone_rng *rng) {
    sums s = {.rank = (uint32_t)between(rng, 2, MAX_RANK)};
    int most = s.rank < 4 ? 40 : 9;
    for (uint32_t i = 0; i < s.rank; i++) {
        s.extents[i] = between(rng, 1, most);
        s.are_reduced[i] = between(rng, 0, 1);
        s.kept += !s.are_reduced[i];
    }
    if (s.kept == 0) s.are_reduced[s.kept++] = false;
    return s;
}

/* "a0, a2": the letter and the number of each axis, of those that are kept or of all. */
static void print_axes(const sums *s, bool are_kept, const char *letter, hone_str *text) {
    bool is_first = true;
    for (uint32_t i = 0; i < s->rank; i++) {
        if (are_kept && s->are_reduced[i]) continue;
        hone_str_printf(text, "%s%s%u", is_first ? "" : ", ", letter, i);
        is_first = false;
    }
}

static void print_shape(const sums *s, bool are_kept, hone_str *text) {
    for (uint32_t i = 0; i < s->rank; i++)
        if (!are_kept || !s->are_reduced[i]) hone_str_printf(text, "%d, ", s->extents[i]);
}

/* The order of loops is that of memory, or first those that are kept. */
static void print_loops(const sums *s, bool are_kept_first, hone_str *text) {
    uint32_t order[MAX_RANK], n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < s->rank; i++)
            if (are_kept_first ? s->are_reduced[i] == (pass == 1) : pass == 0) order[n++] = i;
    hone_str_append(text, "    for ");
    for (uint32_t i = 0; i < n; i++)
        hone_str_printf(text, "%si%u", i ? ", " : "", order[i]);
    hone_str_append(text, " in T.grid(");
    for (uint32_t i = 0; i < n; i++)
        hone_str_printf(text, "%s%d", i ? ", " : "", s->extents[order[i]]);
    hone_str_append(text, "):\n        with T.block(\"sum\"):\n            ");
    for (uint32_t i = 0; i < n; i++)
        hone_str_printf(text, "%sv%u", i ? ", " : "", order[i]);
    hone_str_append(text, " = T.axis.remap(\"");
    for (uint32_t i = 0; i < n; i++)
        hone_str_append(text, s->are_reduced[order[i]] ? "R" : "S");
    hone_str_append(text, "\", [");
    for (uint32_t i = 0; i < n; i++)
        hone_str_printf(text, "%si%u", i ? ", " : "", order[i]);
    hone_str_append(text, "])\n");
}

static void print_sums(hone_rng *rng, hone_str *text) {
    static const char *const steps[] = {"R[@] + X[%]", "R[@] + X[%] * X[%]", "T.max(R[@], X[%])",
                                        "R[@] + X[%] * Z[%]"};
    sums s = draw(rng);
    const char *step = steps[between(rng, 0, 3)], *type = between(rng, 0, 3) ? "float32" : "int32";
    bool has_taker = between(rng, 0, 1), are_kept_first = between(rng, 0, 2) > 0;
    const char *to = has_taker ? "R" : "Y";
    hone_str_append(text, "@T.prim_func\ndef main(X: T.Buffer((");
    print_shape(&s, false, text);
    hone_str_printf(text, "), \"%s\"), Z: T.Buffer((", type);
    print_shape(&s, false, text);
    hone_str_printf(text, "), \"%s\"), Y: T.Buffer((", type);
    print_shape(&s, true, text);
    hone_str_printf(text, "), \"%s\")):\n", type);
    if (has_taker) {
        hone_str_append(text, "    R = T.alloc_buffer((");
        print_shape(&s, true, text);
        hone_str_printf(text, "), \"%s\")\n", type);
    }
    print_loops(&s, are_kept_first, text);
    hone_str_printf(text, "            with T.init():\n                %s[", to);
    print_axes(&s, true, "v", text);
    hone_str_printf(text, "] = T.%s(0)\n            %s[", type, to);
    print_axes(&s, true, "v", text);
    hone_str_append(text, "] = ");
    for (const char *c = step; *c; c++) {
        if (*c == '@' || *c == '%')
            print_axes(&s, *c == '@', "v", text);
        else if (*c == 'R')
            hone_str_append(text, to);
        else
            hone_str_printf(text, "%c", *c);
    }
    hone_str_append(text, "\n");
    if (!has_taker) return;
    hone_str_append(text, "    for ");
    print_axes(&s, true, "j", text);
    hone_str_append(text, " in T.grid(");
    print_shape(&s, true, text);
    hone_str_append(text, "):\n        with T.block(\"out\"):\n");
    for (uint32_t i = 0; i < s.rank; i++)
        if (!s.are_reduced[i])
            hone_str_printf(text, "            u%u = T.axis.spatial(%d, j%u)\n", i, s.extents[i],
                            i);
    hone_str_append(text, "            Y[");
    print_axes(&s, true, "u", text);
    hone_str_append(text, "] = R[");
    print_axes(&s, true, "u", text);
    hone_str_printf(text, "] * T.%s(3)\n", type);
}

static void sums_are_right(void **state) {
    uint64_t first = hone_test_seed(0), count = hone_test_count(SUMS);
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++) {
        hone_module *module = NULL;
        hone_str text = {0};
        hone_rng rng = hone_rng_from_seed(seed);
        print_sums(&rng, &text);
        const hone_func *func = hone_test_parse(hone_str_text(&text), &module);
        const hone_default_limits *machine = &machines[seed % HONE_COUNT(machines)];
        bool is_good = default_trial_is_right(func, machine, seed);
        hone_module_release(module);
        if (!is_good) fail_msg("seed %llu of\n%s", (unsigned long long)seed, text.data);
        hone_str_deinit(&text);
    }
}

/* ---- in which order ---- */

static const struct row {
    const char *name;
    const char *shape, *kept; /* "12, 50" and which axes stay, as letters from a on */
    const char *some, *none;  /* of the trace; NULL: any */
} rows[] = {
    {"short rows that lie apart",       "12, 50, 20, 33", "ac", "sch.rfactor(", NULL              },
    {"without others around",           "20, 33, 27",     "b",  "sch.rfactor(", NULL              },
    {"rows of the output, too",         "300, 5, 17, 13", "bd", "sch.rfactor(", NULL              },
    {"long rows stay as they are",      "25, 150, 640",   "b",  NULL,           "sch.rfactor("    },
    {"what lies together is one row",   "30, 20, 33",     "a",  NULL,           "sch.rfactor("    },
    {"columns beyond the second cache", "1024, 1024",     "b",  "sch.unroll(",  "sch.cache_write("},
};

static void order_is_found(void **state) {
    const struct row *row = *state;
    hone_module *module = NULL;
    hone_schedule *sch = NULL;
    hone_str text = {0}, trace = {0};
    sums s = {0};
    for (const char *c = row->shape; c; c = strchr(c, ' ') ? strchr(c, ' ') + 1 : NULL) {
        int extent = 0;
        while (*c >= '0' && *c <= '9')
            extent = extent * 10 + (*c++ - '0');
        s.are_reduced[s.rank] = strchr(row->kept, (char)('a' + s.rank)) == NULL;
        s.kept += !s.are_reduced[s.rank];
        s.extents[s.rank++] = extent;
    }
    hone_str_append(&text, "@T.prim_func\ndef main(X: T.Buffer((");
    print_shape(&s, false, &text);
    hone_str_append(&text, ")), Y: T.Buffer((");
    print_shape(&s, true, &text);
    hone_str_append(&text, "))):\n");
    print_loops(&s, true, &text);
    hone_str_append(&text, "            with T.init():\n                Y[");
    print_axes(&s, true, "v", &text);
    hone_str_append(&text, "] = T.float32(0)\n            Y[");
    print_axes(&s, true, "v", &text);
    hone_str_append(&text, "] += X[");
    print_axes(&s, false, "v", &text);
    hone_str_append(&text, "]\n");
    HONE_ASSERT_OK(hone_schedule_create(hone_test_parse(hone_str_text(&text), &module), &sch));
    HONE_ASSERT_OK(hone_default_schedule(sch, &machines[2]));
    HONE_ASSERT_OK(hone_trace_print_python(&sch->trace, &trace));
    bool has_some = !row->some || strstr(hone_str_text(&trace), row->some);
    bool has_none = !row->none || !strstr(hone_str_text(&trace), row->none);
    if (!has_some || !has_none) print_message("%s\n", hone_str_text(&trace));
    hone_str_deinit(&trace);
    hone_str_deinit(&text);
    hone_schedule_destroy(sch);
    hone_module_release(module);
    assert_true(has_some);
    assert_true(has_none);
}

int main(void) {
    int failed = HONE_RUN_ROWS("schedule/default_sums", rows, order_is_found);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_right),
    };
    return failed + cmocka_run_group_tests_name("schedule/default_sums", tests, NULL, NULL);
}
