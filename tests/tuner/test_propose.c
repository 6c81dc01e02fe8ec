/* tests/tuner/test_propose.c - proposals of a program from outside: they are tried, recorded under
 * its name and told of; one that hangs, floods, lies or dies costs its own proposals only. */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/tuner/tune_world.h"

enum { TRIALS = 24, LINE_BYTES = 256 };

typedef struct counts {
    int64_t trials, outside, sources;
    const char *source;
} counts;

static bool note(void *ctx, const hone_db_trial *trial) {
    counts *c = ctx;
    bool is_outside = trial->message && strncmp(trial->message, "proposed by '", 13) == 0;
    c->trials++;
    c->outside += is_outside;
    c->sources += is_outside && strstr(trial->message, c->source);
    return true;
}

static counts tune_beside(const char *command, const char *source) {
    tune_world w;
    hone_tune_result result;
    counts c = {.source = source};
    tune_world_open(&w);
    w.options.trials = TRIALS;
    w.options.evaluations = 64;
    w.options.propose = command;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(result.trials, TRIALS);
    HONE_ASSERT_OK(hone_db_trials(w.db, NULL, note, &c));
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
    assert_int_equal(c.trials, TRIALS);
    return c;
}

/* The example climbs, and its records name it. */
static void the_example_proposes(void **state) {
    (void)state;
    hone_str command = {0};
    hone_str_printf(&command, "python3 %s", hone_test_source_path("examples/propose/hill.py"));
    counts c = tune_beside(hone_str_text(&command), "hill.py");
    hone_str_deinit(&command);
    assert_true(c.outside > 0);
    assert_int_equal(c.sources, c.outside);
}

/* ---- what may go wrong ---- */

static const struct row {
    const char *name, *command;
} rows[] = {
    {"there is no such program", "exec /no/such/program 2>/dev/null"                    },
    {"dies at once",             "exit 3"                                               },
    {"dies when asked",          "read line; kill -9 $$"                                },
    {"hangs",                    "exec sleep 1000"                                      },
    {"does not stop",            "trap '' TERM PIPE; while :; do sleep 1; done"         },
    {"floods with words",        "exec yes no"                                          },
    {"floods without lines",     "exec tr '\\0' x < /dev/zero"                          },
    {"floods with passes",       "exec yes '{\"pass\": true}'"                          },
    {"says null",                "exec yes null"                                        },
    {"says numbers",             "exec yes '[1, 2, 3]'"                                 },
    {"sends empty traces",       "exec yes '{\"trace\": [[], []]}'"                     },
    {"sends no traces",          "exec yes '{\"trace\": [[\"GetBlock\"], 3]}'"          },
    {"sends programs",           "exec yes '{\"trace\": \"import os\"}'"                },
    {"is for nobody",            "exec yes '{\"task\": \"x\", \"trace\": []}'"          },
    {"drips words",              "while echo no; do sleep 0.2; done"                    },
    {"has long names",           "exec yes \"{\\\"id\\\": \\\"$(printf %0300d 0)\\\"}\""},
};

static void costs_its_own_proposals_only(void **state) {
    const struct row *row = *state;
    tune_beside(row->command, "");
}

/* ---- what is said ---- */

/* Runs a program that is asked, answers by a command, and writes down what it is told then. */
static void talk_by(const char *answer, char *out_text, size_t bytes) {
    char *dir = NULL, *text = NULL;
    size_t length;
    hone_str command = {0}, path = {0};
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-test", &dir));
    hone_str_printf(&path, "%s/told", dir);
    hone_str_printf(&command, "read a; read b; %s; read c; echo \"$c\" > %s; cat >/dev/null",
                    answer, hone_str_text(&path));
    tune_beside(hone_str_text(&command), "");
    HONE_ASSERT_OK(hone_fs_read(hone_str_text(&path), 1 << 20, &text, &length));
    snprintf(out_text, bytes, "%s", text);
    hone_free(text);
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(dir);
    hone_str_deinit(&command);
    hone_str_deinit(&path);
}

static void talk(const char *line, char *out_text, size_t bytes) {
    hone_str answer = {0};
    hone_str_printf(&answer, "printf '%%s\\n' '%s'", line);
    talk_by(hone_str_text(&answer), out_text, bytes);
    hone_str_deinit(&answer);
}

static void a_refusal_has_reason_and_place(void **state) {
    (void)state;
    char told[4096];
    talk("{\"id\": \"mine\", \"trace\": "
         "\"sch.vectorize(sch.get_loops(sch.get_block(\\\"C\\\"))[2])\"}",
         told, sizeof told);
    assert_non_null(strstr(told, "\"id\":\"mine\""));
    assert_non_null(strstr(told, "\"legal\":false"));
    assert_non_null(strstr(told, "sch.vectorize("));
    talk("{\"trace\": \"b = sch.get_block(\\\"C\\\")\\nsch.unsafe_set_dtype(b, 0, "
         "\\\"float16\\\")\"}",
         told, sizeof told);
    assert_non_null(strstr(told, "step 2: sch.unsafe_set_dtype("));
    talk("{\"id\": \"yours\", \"trace\": \"sch.split(sch.get_loops(sch.get_block(\\\"C\\\"))[0], "
         "[None, 3])\"}",
         told, sizeof told);
    assert_non_null(strstr(told, "\"legal\":true,\"taken\":true"));
}

/* A name may be of any kind, and comes back as it was. */
static void a_name_comes_back(void **state) {
    (void)state;
    char told[4096];
    talk("{\"id\": 7, \"trace\": \"sch.nothing()\"}", told, sizeof told);
    assert_non_null(strstr(told, "\"id\":7,"));
    talk("{\"id\": [1, \"b\"], \"trace\": \"sch.nothing()\"}", told, sizeof told);
    assert_non_null(strstr(told, "\"id\":[1,\"b\"],"));
}

/* It comes in many pieces. */
static void a_long_line_is_read(void **state) {
    (void)state;
    char told[4096];
    talk_by(
        "printf '{\"id\": \"long\", \"trace\": \"sch.split(sch.get_loops(sch.get_block(name=\\\\\"C"
        "\\\\\"))[0], [None, 3])\", \"why\": \"'; printf %0700000d 0; echo '\"}'",
        told, sizeof told);
    assert_non_null(strstr(told, "\"id\":\"long\""));
    assert_non_null(strstr(told, "\"legal\":true,\"taken\":true"));
}

static void keep_line(void *context, hone_log_level level, const char *text) {
    char *kept = context;
    if (level == HONE_LOG_WARNING) snprintf(kept, LINE_BYTES, "%s", text);
}

/* Who does not look at what the program is told hears of it at the end. */
static void refusals_are_counted_at_the_end(void **state) {
    (void)state;
    char line[LINE_BYTES] = "";
    hone_log log = {.level = HONE_LOG_WARNING, .write = keep_line, .context = line};
    tune_world w;
    hone_tune_result result;
    tune_world_open(&w);
    w.options.trials = TRIALS;
    w.options.evaluations = 64;
    w.options.propose = "exec yes '[1, 2, 3]'";
    w.options.log = &log;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
    assert_non_null(strstr(line, " proposals of 'exec yes '[1, 2, 3]'' were refused; the last: "));
}

int main(void) {
    int failed = HONE_RUN_ROWS("tuner/propose", rows, costs_its_own_proposals_only);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_proposes),
        cmocka_unit_test(a_refusal_has_reason_and_place),
        cmocka_unit_test(a_name_comes_back),
        cmocka_unit_test(a_long_line_is_read),
        cmocka_unit_test(refusals_are_counted_at_the_end),
    };
    return failed + cmocka_run_group_tests_name("tuner/propose", tests, NULL, NULL);
}
