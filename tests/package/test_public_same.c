/* tests/package/test_public_same.c - one kind of error for one mistake, whichever function it
 * reaches: a table of mistakes, each with all functions of the public headers that take such a
 * thing. */
#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

#include "tests/package/public_test.h"

/* ---- who takes what ---- */

typedef hone_error *(*ask)(const char *value);

static hone_error *compile(const hone_compilation_options *options) {
    hone_program *program = public_parse(product);
    char *report = NULL;
    hone_error *error = hone_program_compile(program, options, &report);
    assert_true(!error || !report);
    hone_text_free(report);
    hone_program_free(program);
    return error;
}

static hone_error *build(const hone_compilation_options *options) {
    hone_program *program = public_parse(product);
    hone_model *model = NULL;
    hone_error *error = hone_program_build(program, options, &model);
    assert_true(!error || !model);
    hone_model_close(model);
    hone_program_free(program);
    return error;
}

static hone_error *tune(const hone_tuning_options *options) {
    hone_program *program = public_parse(product);
    hone_tuned *tuned = NULL;
    hone_error *error = hone_program_tune(program, options, &tuned);
    assert_true(!error || !tuned);
    hone_tuned_free(tuned);
    hone_program_free(program);
    return error;
}

static const char *place(const char *name) { /* lives until the next call but three */
    static char paths[4][512];
    static size_t next;
    char *path = paths[next++ % HONE_COUNT(paths)];
    public_path(path, sizeof paths[0], name);
    return path;
}

#define ON_A_PROGRAM(name, call)                                                                   \
    static hone_error *name(const char *value) {                                                   \
        hone_program *program = public_parse(product), *made = NULL;                               \
        hone_error *error = call;                                                                  \
        hone_program_free(made);                                                                   \
        hone_program_free(program);                                                                \
        return error;                                                                              \
    }

/* databases */
static hone_error *compile_database(const char *value) {
    return compile(&(hone_compilation_options){.database = value, .output = place("out")});
}
static hone_error *build_database(const char *value) {
    return build(&(hone_compilation_options){.database = value});
}
static hone_error *tune_database(const char *value) {
    return tune(&(hone_tuning_options){.database = value, .trials = 1});
}
static hone_error *open_records(const char *value) {
    hone_records *records = NULL;
    hone_error *error = hone_records_open(value, &records);
    hone_records_close(records);
    return error;
}
static hone_error *merge_from(const char *value) {
    return hone_database_merge(place("into.db"), value, NULL);
}
static hone_error *merge_into(const char *value) {
    return hone_database_merge(value, place("good.db"), NULL);
}
static hone_error *export_from(const char *value) {
    return hone_database_export(value, place("lines"));
}
static hone_error *import_into(const char *value) {
    return hone_database_import(value, place("good.jsonl"), NULL);
}
static hone_error *prune(const char *value) {
    return hone_database_prune(value, 1, NULL);
}

/* functions */
static hone_error *compile_function(const char *value) {
    return compile(&(hone_compilation_options){.function = value, .output = place("out")});
}
static hone_error *build_function(const char *value) {
    return build(&(hone_compilation_options){.function = value});
}
ON_A_PROGRAM(hash_function, hone_program_hash(program, value, (char[33]){0}))
ON_A_PROGRAM(interpret_function, hone_program_interpret(program, value, 0, NULL, NULL))
ON_A_PROGRAM(replay_function,
             hone_program_replay(program, "[[], []]", &(hone_replay_options){.function = value},
                                 &made, NULL))
static hone_error *steps_function(const char *value) {
    hone_program *program = public_parse(product);
    hone_steps *steps = NULL;
    hone_error *error = hone_steps_create(program, value, 0, &steps);
    hone_steps_free(steps);
    hone_program_free(program);
    return error;
}
static hone_error *tune_task(const char *value) {
    return tune(&(hone_tuning_options){.database = place("good.db"), .task = value, .trials = 1});
}

/* targets */
static hone_error *compile_target(const char *value) {
    return compile(&(hone_compilation_options){.target = value, .output = place("out")});
}
static hone_error *build_target(const char *value) {
    return build(&(hone_compilation_options){.target = value});
}
static hone_error *tune_target(const char *value) {
    return tune(&(hone_tuning_options){.database = place("good.db"), .target = value, .trials = 1});
}
static hone_error *target_text(const char *value) {
    char *text = NULL;
    hone_error *error = hone_target_text(value, &text);
    hone_text_free(text);
    return error;
}
static int no_record(void *ctx, const hone_record *record) {
    (void)ctx;
    (void)record;
    return 0;
}
static hone_error *records_top(const char *value) {
    hone_records *records = NULL;
    public_ok(hone_records_open(place("good.db"), &records));
    hone_error *error = hone_records_top(records, NULL, value, 1, no_record, NULL);
    hone_records_close(records);
    return error;
}
static hone_error *records_best(const char *value) {
    hone_records *records = NULL;
    public_ok(hone_records_open(place("good.db"), &records));
    hone_error *error =
        hone_records_best(records, "00000000000000000000000000000000", value, no_record, NULL);
    hone_records_close(records);
    return error;
}

/* sizes */
ON_A_PROGRAM(bind_size, hone_program_bind_sizes(program, 1, &value, &made))
static hone_error *compile_size(const char *value) {
    return compile(
        &(hone_compilation_options){.size_count = 1, .sizes = &value, .output = place("out")});
}
static hone_error *build_size(const char *value) {
    return build(&(hone_compilation_options){.size_count = 1, .sizes = &value});
}
static hone_error *tune_size(const char *value) {
    return tune(&(hone_tuning_options){
        .database = place("good.db"), .size_count = 1, .sizes = &value, .trials = 1});
}
static int no_task(void *context, const hone_tuning_task *task) {
    (void)context;
    (void)task;
    return 0;
}
ON_A_PROGRAM(visit_size, hone_program_visit_tasks(program, 1, &value, no_task, NULL, NULL))
static hone_error *load_size(const char *value) {
    hone_program *made = NULL;
    hone_error *error = hone_program_load_with(place("product.py"), 1, &value, &made);
    hone_program_free(made);
    return error;
}

/* numbers */
static int32_t number(const char *value) {
    return (int32_t)strtol(value, NULL, 10);
}
static hone_error *compile_threads(const char *value) {
    return compile(&(hone_compilation_options){.threads = number(value), .output = place("out")});
}
static hone_error *build_threads(const char *value) {
    return build(&(hone_compilation_options){.threads = number(value)});
}
static hone_error *tune_threads(const char *value) {
    return tune(&(hone_tuning_options){
        .database = place("good.db"), .threads = number(value), .trials = 1});
}
static hone_error *tune_trials(const char *value) {
    return tune(&(hone_tuning_options){.database = place("good.db"), .trials = number(value)});
}
static hone_error *tune_seconds(const char *value) {
    return tune(&(hone_tuning_options){.database = place("good.db"), .seconds = number(value)});
}
static hone_error *prune_keep(const char *value) {
    return hone_database_prune(place("good.db"), number(value), NULL);
}

/* traces */
ON_A_PROGRAM(replay, hone_program_replay(program, value, NULL, &made, NULL))
static hone_error *trace_script(const char *value) {
    char *text = NULL;
    hone_error *error = hone_trace_script(value, &text);
    hone_text_free(text);
    return error;
}

/* files that are read */
static hone_error *load(const char *value) {
    hone_program *made = NULL;
    hone_error *error = hone_program_load(value, &made);
    hone_program_free(made);
    return error;
}
static hone_error *load_with(const char *value) {
    hone_program *made = NULL;
    hone_error *error = hone_program_load_with(value, 0, NULL, &made);
    hone_program_free(made);
    return error;
}
static hone_error *open_model(const char *value) {
    hone_model *model = NULL;
    hone_error *error = hone_model_open(value, &model);
    hone_model_close(model);
    return error;
}
static hone_error *import_file(const char *value) {
    return hone_database_import(place("into.db"), value, NULL);
}
static hone_error *tune_space(const char *value) {
    return tune(&(hone_tuning_options){.database = place("good.db"), .space = value, .trials = 1});
}

/* files that are written */
ON_A_PROGRAM(save, hone_program_save(program, value))
static hone_error *export_to(const char *value) {
    return hone_database_export(place("good.db"), value);
}

/* ---- the table ---- */

#define READS_DATABASES                                                                            \
    compile_database, build_database, open_records, merge_from, export_from, prune
#define LIST(name, ...) static const ask name[] = {__VA_ARGS__, NULL}

LIST(reads_databases, READS_DATABASES);
LIST(takes_databases, READS_DATABASES, tune_database, merge_into, import_into);
LIST(makes_databases, tune_database, merge_into, import_into);
LIST(takes_functions, compile_function, build_function, hash_function, interpret_function,
     replay_function, steps_function, tune_task);
LIST(takes_targets, compile_target, build_target, tune_target, target_text, records_top,
     records_best);
LIST(takes_sizes, bind_size, compile_size, build_size, tune_size, visit_size, load_size);
LIST(takes_threads, compile_threads, build_threads, tune_threads);
LIST(takes_numbers, tune_trials, tune_seconds, prune_keep);
LIST(takes_traces, replay, trace_script);
LIST(reads_texts, load, load_with, open_model, tune_space);
LIST(reads_files, load, load_with, open_model, tune_space, import_file);
LIST(writes_files, save, export_to);

static const char unknown_step[] = "[[[\"Splot\", [], [], []]], []]";

static const struct row {
    const char *name, *value; /* "@x": the path of the file x of this test */
    const char *kind;
    const ask *who;
} rows[] = {
    {"a database that is not there",  "@none.db",     "not_found",   reads_databases},
    {"a folder as database",          "@folder",      "invalid",     takes_databases},
    {"a text as database",            "@product.py",  "invalid",     takes_databases},
    {"a database of a later version", "@later.db",    "version",     takes_databases},
    {"a database in no folder",       "@none/new.db", "io",          makes_databases},
    {"no such function",              "nobody",       "not_found",   takes_functions},
    {"no target",                     "lvm",          "invalid",     takes_targets  },
    {"a target with a wrong word",    "llvm -mcp=x",  "invalid",     takes_targets  },
    {"no such size",                  "N=4",          "invalid",     takes_sizes    },
    {"a size without a number",       "N",            "invalid",     takes_sizes    },
    {"a size below zero",             "N=-4",         "invalid",     takes_sizes    },
    {"threads below zero",            "-1",           "invalid",     takes_threads  },
    {"threads without end",           "100000",       "invalid",     takes_threads  },
    {"a number below zero",           "-1",           "invalid",     takes_numbers  },
    {"a trace that is none",          "{]",           "invalid",     takes_traces   },
    {"a trace with an unknown step",  unknown_step,   "unsupported", takes_traces   },
    {"a file that is not there",      "@none.file",   "not_found",   reads_files    },
    {"a folder as file",              "@folder",      "invalid",     reads_files    },
    {"a file of another kind",        "@good.jsonl",  "invalid",     reads_texts    },
    {"a place in no folder",          "@none/out",    "io",          writes_files   },
    {"a folder to write over",        "@folder",      "io",          writes_files   },
};

/* Asks all, and shows each that answers otherwise. */
static void check_row(void **state) {
    const struct row *row = *state;
    char value[512];
    size_t others = 0;
    snprintf(value, sizeof value, "%s", row->value[0] == '@' ? place(row->value + 1) : row->value);
    for (size_t i = 0; row->who[i]; i++) {
        hone_error *error = row->who[i](value);
        const char *kind = error ? hone_error_kind(error) : "no error";
        if (strcmp(kind, row->kind) != 0) {
            print_message("function %zu of '%s': %s, wanted %s: %s\n", i, row->name, kind,
                          row->kind, error ? hone_error_message(error) : "");
            others++;
        }
        hone_error_free(error);
    }
    assert_int_equal(others, 0);
}

/* ---- files ---- */

static void put_file(const char *name, const char *text) {
    FILE *file = fopen(place(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* SQLite keeps the version of the tables at byte 60 of a file. */
static void make_later(void) {
    static const unsigned char version[] = {0, 0, 3, 232};
    FILE *from = fopen(place("good.db"), "rb"), *to = fopen(place("later.db"), "wb");
    assert_true(from && to);
    for (int c; (c = fgetc(from)) != EOF;)
        fputc(c, to);
    fclose(from);
    fseek(to, 60, SEEK_SET);
    fwrite(version, 1, sizeof version, to);
    fclose(to);
}

static const char *const databases[] = {"good.db", "later.db", "into.db", "none.db"};
static const char *const files[] = {"product.py", "good.jsonl", "lines", "out.so", "out.h"};

static int set_up(void **state) {
    (void)state;
    put_file("product.py", product);
    put_file("good.jsonl", "{\"kind\":\"hone records\",\"version\":1}\n");
    assert_true(mkdir(place("folder"), 0700) == 0 || errno == EEXIST);
    public_ok(hone_database_import(place("good.db"), place("good.jsonl"), NULL));
    make_later();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(databases); i++)
        public_remove_database(place(databases[i]));
    for (size_t i = 0; i < HONE_COUNT(files); i++)
        unlink(place(files[i]));
    rmdir(place("folder"));
    return 0;
}

int main(void) {
    struct CMUnitTest tests[HONE_COUNT(rows)];
    for (size_t i = 0; i < HONE_COUNT(rows); i++)
        tests[i] =
            (struct CMUnitTest){rows[i].name, check_row, NULL, NULL, (void *)(uintptr_t)&rows[i]};
    return cmocka_run_group_tests_name("package/same", tests, set_up, tear_down);
}
