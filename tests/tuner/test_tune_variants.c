/* tests/tuner/test_tune_variants.c - other algorithms in a search over a simulated device: which
 * are tried is the user's, records say which they are, and none is used that is not allowed,
 * wherever the database goes. */
#include "tests/support/hone_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compile/records/record_choice.h"
#include "compile/records/record_variant.h"
#include "compile/records/variant_check.h"
#include "tests/support/program_text.h"
#include "tests/tuner/tune_world.h"
#include "tuner/task/tune_task.h"

static const char program[] =
    "@T.prim_func\n"
    "def main(X: T.Buffer((1, 6, 11, 13)), W: T.Buffer((20, 6, 3, 3)),\n"
    "         Y: T.Buffer((1, 20, 9, 11))):\n"
    "    for n, f, y, x, c, r, s in T.grid(1, 20, 9, 11, 6, 3, 3):\n"
    "        with T.block(\"conv\"):\n"
    "            vn, vf, vy, vx, vc, vr, vs = T.axis.remap(\"SSSSRRR\", [n, f, y, x, c, r, s])\n"
    "            with T.init():\n"
    "                Y[vn, vf, vy, vx] = T.float32(0)\n"
    "            Y[vn, vf, vy, vx] = Y[vn, vf, vy, vx] + X[vn, vc, vy + vr, vx + vs] * "
    "W[vf, vc, vr, vs]\n";

/* The sum in an order of its own. */
#define OWN(added)                                                                                 \
    "@T.prim_func\n"                                                                               \
    "def main(X: T.Buffer((1, 6, 11, 13)), W: T.Buffer((20, 6, 3, 3)),\n"                          \
    "         Y: T.Buffer((1, 20, 9, 11))):\n"                                                     \
    "    T.func_attr({\"error\": 1e-6})\n"                                                         \
    "    for x, y, f, s, r, c in T.grid(11, 9, 20, 3, 3, 6):\n"                                    \
    "        with T.block(\"own\"):\n"                                                             \
    "            vx, vy, vf, vs, vr, vc = T.axis.remap(\"SSSRRR\", [x, y, f, s, r, c])\n"          \
    "            with T.init():\n"                                                                 \
    "                Y[0, vf, vy, vx] = T.float32(0)\n"                                            \
    "            Y[0, vf, vy, vx] = Y[0, vf, vy, vx] + X[0, vc, vy + vr, vx + vs] * " added "\n"

static const char own_program[] = OWN("W[vf, vc, vr, vs]");
static const char wrong_program[] = OWN("W[vf, vc, vs, vr]");

/* ---- what is in a database ---- */

typedef struct seen {
    int64_t natural, exact, other; /* records by what their variant declares */
    int64_t record;                /* the last one that is neither natural nor exact */
} seen;

static bool note(void *ctx, const hone_db_trial *trial) {
    seen *s = ctx;
    hone_variant variant;
    bool has;
    hone_arena *arena = hone_arena_create(1 << 14);
    HONE_ASSERT_OK(hone_record_variant(trial->trace, arena, &variant, &has));
    hone_arena_destroy(arena);
    s->natural += !has;
    s->exact += has && variant.error == 0;
    if (has && variant.error > 0) {
        s->other++;
        s->record = trial->record;
    }
    return true;
}

static seen look(hone_db *db) {
    seen s = {0};
    const hone_db_filter all = {0};
    HONE_ASSERT_OK(hone_db_trials(db, &all, note, &s));
    return s;
}

static void tune(tune_world *w, double variant_error) {
    hone_tune_result result;
    w->options.variant_rules.most_error = variant_error;
    w->options.trials = 24;
    HONE_ASSERT_OK(hone_tune(&w->tasks, &w->options, &result));
    assert_int_equal(result.trials, 24);
    hone_tune_result_deinit(&result);
}

static const struct row {
    const char *name;
    double variant_error;
    bool has_exact, has_other;
} rows[] = {
    {"none",          HONE_VARIANTS_NONE,  false, false},
    {"exact",         HONE_VARIANTS_EXACT, true,  false},
    {"all",           INFINITY,            true,  true },
    {"a small error", 4e-6,                true,  true },
};

static void tries_what_is_allowed(void **state) {
    const struct row *row = *state;
    tune_world w;
    tune_world_open_program(&w, program);
    tune(&w, row->variant_error);
    seen s = look(w.db);
    assert_true(s.natural > 0);
    assert_int_equal(s.exact > 0, row->has_exact);
    assert_int_equal(s.other > 0, row->has_other);
    tune_world_close(&w);
}

static void same_seed_gives_the_same_trials(void **state) {
    (void)state;
    uint64_t fingerprints[2];
    for (int i = 0; i < 2; i++) {
        tune_world w;
        tune_trials all;
        tune_world_open_program(&w, program);
        tune(&w, INFINITY);
        tune_trials_list(&w, NULL, &all);
        fingerprints[i] = all.fingerprint;
        hone_vec_deinit(&all.programs);
        tune_world_close(&w);
    }
    assert_true(fingerprints[0] == fingerprints[1]);
}

/* ---- who uses which record ---- */

/* The variant of the record that compiling would use; the natural program: "". */
static const char *chosen(const tune_world *w, hone_db *db, double variant_error) {
    hone_record_chooser *chooser;
    hone_record_choice choice;
    hone_arena *arena = hone_arena_create(1 << 14);
    HONE_ASSERT_OK(hone_record_chooser_create(db, &w->options.target, NULL, &chooser));
    const hone_variant_rules rules = {.most_error = variant_error};
    hone_record_chooser_allow(chooser, &rules);
    HONE_ASSERT_OK(hone_record_choose(chooser, w->tasks.items[0].func, arena, &choice));
    assert_int_equal(choice.match, HONE_RECORD_EXACT);
    const char *name = choice.variant ? hone_variant_find(choice.variant)->name : "";
    assert_int_equal(choice.left_out > 0, variant_error == 0);
    hone_record_chooser_destroy(chooser);
    hone_arena_destroy(arena);
    return name;
}

/* A record of Winograd's becomes the best one. */
static void make_best(hone_db *db) {
    seen s = look(db);
    assert_true(s.other > 0);
    HONE_ASSERT_OK(hone_db_confirm(db, s.record, 1, 1));
}

static void records_are_used_as_allowed(void **state) {
    (void)state;
    tune_world w;
    tune_world_open_program(&w, program);
    tune(&w, INFINITY);
    make_best(w.db);
    assert_memory_equal(chosen(&w, w.db, INFINITY), "winograd", 8);
    assert_memory_not_equal(chosen(&w, w.db, HONE_VARIANTS_EXACT), "winogr", 1);
    tune_world_close(&w);
}

static void databases_are_merged(void **state) {
    (void)state;
    tune_world w;
    hone_db *other;
    hone_db_merge_counts counts;
    tune_world_open_program(&w, program);
    tune(&w, INFINITY);
    make_best(w.db);
    HONE_ASSERT_OK(hone_db_create_memory(&other));
    HONE_ASSERT_OK(hone_db_merge(other, w.db, &counts));
    seen first = look(w.db), second = look(other);
    assert_int_equal(first.other, second.other);
    assert_string_equal(chosen(&w, other, INFINITY), chosen(&w, w.db, INFINITY));
    assert_string_equal(chosen(&w, other, 0), chosen(&w, w.db, 0));
    hone_db_close(other);
    tune_world_close(&w);
}

/* A run that allows less goes on from what it may use. */
static void a_stricter_run_goes_on(void **state) {
    (void)state;
    tune_world w;
    tune_world_open_program(&w, program);
    tune(&w, INFINITY);
    make_best(w.db);
    seen before = look(w.db);
    hone_tune_result result;
    w.options.variant_rules.most_error = 0;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_true(result.tasks[0].best_ns > 1); /* not Winograd's */
    hone_tune_result_deinit(&result);
    assert_int_equal(look(w.db).other, before.other);
    tune_world_close(&w);
}

/* ---- the user's ---- */

typedef struct named {
    const char *name;
    int64_t record;
} named;

static bool find_named(void *ctx, const hone_db_trial *trial) {
    named *n = ctx;
    hone_variant variant;
    bool has;
    hone_arena *arena = hone_arena_create(1 << 14);
    HONE_ASSERT_OK(hone_record_variant(trial->trace, arena, &variant, &has));
    if (has && strcmp(variant.name, n->name) == 0) n->record = trial->record;
    hone_arena_destroy(arena);
    return true;
}

static const char *chosen_by(const tune_world *w, const hone_variant_rules *rules,
                             hone_arena *arena) {
    hone_record_chooser *chooser;
    hone_record_choice choice;
    HONE_ASSERT_OK(hone_record_chooser_create(w->db, &w->options.target, NULL, &chooser));
    hone_record_chooser_allow(chooser, rules);
    HONE_ASSERT_OK(hone_record_choose(chooser, w->tasks.items[0].func, arena, &choice));
    hone_record_chooser_destroy(chooser);
    return choice.variant ? choice.variant : "";
}

static void the_users_own_are_searched_and_used(void **state) {
    (void)state;
    tune_world w;
    hone_variant own;
    named found = {.name = "own"};
    const hone_db_filter all = {0};
    hone_arena *arena = hone_arena_create(1 << 14);
    HONE_ASSERT_OK(hone_variant_read("own", own_program, "own.py", &own));
    assert_true(own.error == 1e-6);
    const hone_variant_rules rules = {.most_error = 1e-6, .given = &own, .given_count = 1};
    const hone_variant_rules without = {.most_error = 1e-6};
    tune_world_open_program(&w, program);
    w.options.variant_rules = rules;
    tune(&w, 1e-6);
    HONE_ASSERT_OK(hone_db_trials(w.db, &all, find_named, &found));
    assert_true(found.record > 0);
    HONE_ASSERT_OK(hone_db_confirm(w.db, found.record, 1, 1));
    assert_string_equal(chosen_by(&w, &rules, arena), "own");
    assert_string_not_equal(chosen_by(&w, &without, arena), "own");
    hone_arena_destroy(arena);
    tune_world_close(&w);
}

/* Each begins with its default schedule, beside those of the project's that serve. */
static void as_many_as_may_be_given(void **state) {
    (void)state;
    enum { EXACT = 1 /* im2col */ };
    tune_world w;
    hone_variant own[HONE_MAX_GIVEN];
    char names[HONE_MAX_GIVEN][16];
    hone_tune_task *task;
    for (size_t i = 0; i < HONE_MAX_GIVEN; i++) {
        snprintf(names[i], sizeof names[i], "own%zu", i);
        HONE_ASSERT_OK(hone_variant_read(names[i], own_program, "own.py", &own[i]));
    }
    const hone_variant_rules rules = {
        .most_error = 1e-6, .given = own, .given_count = HONE_MAX_GIVEN};
    const hone_tune_task_options options = {.rules = &rules};
    tune_world_open_program(&w, program);
    HONE_ASSERT_OK(hone_tune_task_create(&w.tasks.items[0], &w.options.target, &options, &task));
    assert_int_equal(task->start_count, HONE_MAX_GIVEN + EXACT);
    hone_tune_task_destroy(task);
    tune_world_close(&w);
}

static void one_that_is_wrong_is_refused(void **state) {
    (void)state;
    tune_world w;
    hone_variant own;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_variant_read("own", wrong_program, "own.py", &own));
    tune_world_open_program(&w, program);
    w.options.variant_rules =
        (hone_variant_rules){.most_error = INFINITY, .given = &own, .given_count = 1};
    HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_INVALID,
                      "computes something else");
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
    tune_world_open(&w); /* whose parameters are others */
    w.options.variant_rules =
        (hone_variant_rules){.most_error = INFINITY, .given = &own, .given_count = 1};
    HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_INVALID,
                      "other types or sizes");
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

/* 0 and 1 would be their own squares. */
static void whole_numbers_are_told_apart(void **state) {
#define SQUARE(of)                                                                                 \
    "@T.prim_func\n"                                                                               \
    "def main(X: T.Buffer((40,), \"int32\"), Y: T.Buffer((40,), \"int32\")):\n"                    \
    "    for i in range(40):\n"                                                                    \
    "        with T.block(\"Y\"):\n"                                                               \
    "            v = T.axis.spatial(40, i)\n"                                                      \
    "            Y[v] = " of "\n"
    (void)state;
    hone_variant own;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(SQUARE("X[v] * X[v]"), &module);
    HONE_ASSERT_OK(hone_variant_read("own", SQUARE("X[v]"), "own.py", &own));
    HONE_ASSERT_ERROR(hone_variant_check(&own, func), HONE_CODE_INVALID, "something else");
    HONE_ASSERT_OK(hone_variant_read("own", SQUARE("(X[v] + 1) * X[v] - X[v]"), "own.py", &own));
    HONE_ASSERT_OK(hone_variant_check(&own, func));
    hone_module_release(module);
#undef SQUARE
}

static void one_without_end_is_refused(void **state) {
#define COUNTING(step)                                                                             \
    "@T.prim_func\n"                                                                               \
    "def main(X: T.Buffer((4,), \"int32\"), Y: T.Buffer((4,), \"int32\")):\n"                      \
    "    for i in range(4):\n"                                                                     \
    "        with T.block(\"Y\"):\n"                                                               \
    "            v = T.axis.spatial(4, i)\n"                                                       \
    "            Y[v] = X[v]\n"                                                                    \
    "            while Y[v] < 9:\n"                                                                \
    "                Y[v] = " step "\n"
    (void)state;
    hone_variant own;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(COUNTING("Y[v] + 1"), &module);
    HONE_ASSERT_OK(hone_variant_read("own", COUNTING("Y[v] // 2"), "own.py", &own));
    HONE_ASSERT_ERROR(hone_variant_check(&own, func), HONE_CODE_INVALID, "has not ended");
    HONE_ASSERT_OK(hone_variant_read("own", COUNTING("T.max(Y[v], 9)"), "own.py", &own));
    HONE_ASSERT_OK(hone_variant_check(&own, func));
    hone_module_release(module);
#undef COUNTING
}

static void texts_that_are_none(void **state) {
    (void)state;
    static const char *const texts[] = {
        "x = (",
        "@T.prim_func\ndef main(A: T.Buffer((2,))):\n    T.func_attr({\"error\": -1})\n"
        "    for i in range(2):\n        with T.block(\"A\"):\n"
        "            v = T.axis.spatial(2, i)\n            A[v] = T.float32(0)\n",
    };
    for (size_t i = 0; i < HONE_COUNT(texts); i++) {
        hone_variant own;
        hone_status st = hone_variant_read("own", texts[i], "own.py", &own);
        assert_non_null(st);
        assert_non_null(strstr(hone_status_message(st), "own.py"));
        hone_status_free(st);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_gives_the_same_trials),
        cmocka_unit_test(records_are_used_as_allowed),
        cmocka_unit_test(databases_are_merged),
        cmocka_unit_test(a_stricter_run_goes_on),
        cmocka_unit_test(the_users_own_are_searched_and_used),
        cmocka_unit_test(as_many_as_may_be_given),
        cmocka_unit_test(one_that_is_wrong_is_refused),
        cmocka_unit_test(whole_numbers_are_told_apart),
        cmocka_unit_test(one_without_end_is_refused),
        cmocka_unit_test(texts_that_are_none),
    };
    int failed = HONE_RUN_ROWS("tuner/variants", rows, tries_what_is_allowed);
    return failed + cmocka_run_group_tests_name("tuner/variants", tests, NULL, NULL);
}
