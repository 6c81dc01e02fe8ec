/* tests/package/test_public_variants.c - which other algorithms a tune searches and a compilation
 * uses, and what is refused. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/package/public_test.h"

/* What a thousand and twenty-four parts of each number come to, and what that is. */
static const char parts[] = "@T.prim_func\n"
                            "def main(X: T.Buffer((64,)), Y: T.Buffer((64,))):\n"
                            "    for i, p in T.grid(64, 1024):\n"
                            "        with T.block(\"Y\"):\n"
                            "            vi, vp = T.axis.remap(\"SR\", [i, p])\n"
                            "            with T.init():\n"
                            "                Y[vi] = T.float32(0)\n"
                            "            Y[vi] = Y[vi] + X[vi] * T.float32(0.0009765625)\n";
static const char whole[] = "@T.prim_func\n"
                            "def main(X: T.Buffer((64,)), Y: T.Buffer((64,))):\n"
                            "    T.func_attr({\"error\": 1e-6})\n"
                            "    for i in range(64):\n"
                            "        with T.block(\"Y\"):\n"
                            "            vi = T.axis.spatial(64, i)\n"
                            "            Y[vi] = X[vi]\n";

/* A file with the variant `whole`, which is its name, too. */
static void write_variant(char *out_path, size_t bytes) {
    char folder[400];
    public_path(folder, sizeof folder, "variants");
    snprintf(out_path, bytes, "%s/whole.py", folder);
    hone_program *program = public_parse(whole);
    assert_true(mkdir(folder, 0700) == 0 || errno == EEXIST);
    public_ok(hone_program_save(program, out_path));
    hone_program_free(program);
}

static void remove_variant(char *path) {
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

static int64_t tuned_with(const hone_program *program, const char *database,
                          const hone_variant_options *variants) {
    const hone_tuning_options options = {
        .database = database, .threads = 1, .trials = 4, .strategy = "random", .builders = 1};
    const hone_tuning_outside outside = {.size = sizeof outside, .variants = variants};
    hone_tuned *tuned = NULL;
    public_ok(hone_program_tune_with(program, &options, &outside, &tuned));
    int64_t trials = hone_tuned_summary(tuned)->trials;
    hone_tuned_free(tuned);
    return trials;
}

static int see_variant(void *context, const hone_record *record) {
    int *count = context;
    *count += strstr(record->trace, "UseVariant") != NULL;
    return 0;
}

static int count_variants(const char *database) {
    hone_records *records = NULL;
    int count = 0;
    public_ok(hone_records_open(database, &records));
    public_ok(hone_records_top(records, NULL, NULL, 0, see_variant, &count));
    hone_records_close(records);
    return count;
}

static void compiles_to(const hone_program *program, const char *database,
                        const hone_variant_options *variants, const char *part) {
    char output[400], file[420], *report = NULL;
    public_path(output, sizeof output, "variant");
    const hone_compilation_options options = {.output = output, .database = database, .threads = 1};
    public_ok(hone_program_compile_with(program, &options, variants, &report));
    if (!strstr(report, part)) print_message("no '%s' in %s\n", part, report);
    assert_non_null(strstr(report, part));
    hone_text_free(report);
    snprintf(file, sizeof file, "%s.so", output);
    unlink(file);
    snprintf(file, sizeof file, "%s.h", output);
    unlink(file);
}

static void runs_variant(const hone_program *program, const char *database,
                         const hone_variant_options *variants) {
    const hone_compilation_options options = {.database = database, .threads = 1};
    hone_model *model = NULL;
    int64_t shape[] = {64};
    _Alignas(64) float x[64], y[64];
    DLTensor from = {
        .data = x, .device = {1,   0},
             .ndim = 1, .dtype = { 2, 32, 1},
             .shape = shape
    };
    DLTensor to = from, *in[] = {&from}, *out[] = {&to};
    to.data = y;
    for (int i = 0; i < 64; i++)
        x[i] = (float)i - 4;
    public_ok(hone_program_build_with(program, &options, variants, &model));
    public_ok(hone_model_run(model, hone_model_find(model, NULL), in, out));
    assert_memory_equal(x, y, sizeof x);
    hone_model_close(model);
}

static void tunes_variants(void **state) {
    (void)state;
    char database[400], path[420];
    public_path(database, sizeof database, "variants.db");
    public_remove_database(database);
    write_variant(path, sizeof path);
    hone_program *program = public_parse(parts);
    const char *const files[] = {path};
    const hone_variant_options all = {sizeof all, "all", NULL, 1, files};
    const hone_variant_options none = {sizeof none, "none", NULL, 0, NULL};
    tuned_with(program, database, &none);
    assert_int_equal(count_variants(database), 0);
    assert_true(tuned_with(program, database, &all) > 0);
    assert_true(count_variants(database) > 0);
    compiles_to(program, database, &all, "\"variant\": \"whole\"");
    compiles_to(program, database, NULL, "\"variant\": null");
    runs_variant(program, database, &all);
    hone_program_free(program);
    public_remove_database(database);
    remove_variant(path);
}

static const double enough = 1e-5, little = 1e-7, below = -1;
static const char *const missing[] = {"/nowhere/a.py"};
static const char *const many[17] = {"a.py"};

static const struct variant_refusal {
    const char *name, *variants;
    const double *max_error;
    size_t count;
    const char *const *files;
    const char *kind, *part;
} variant_refusals[] = {
    {"word",    "some",  NULL,    0,  NULL,    "invalid",   "variants is 'some', must be none"},
    {"exact",   "exact", &enough, 0,  NULL,    "invalid",   "max_error is for variants all"   },
    {"below 0", NULL,    &below,  0,  NULL,    "invalid",   "max_error is -1"                 },
    {"file",    NULL,    NULL,    1,  missing, "not_found", "/nowhere/a.py"                   },
    {"NULL",    NULL,    NULL,    17, many,    "invalid",   "variant 1 is NULL"               },
};

/* Tuning and compiling refuse in the same words. */
static void refuses_variants(void **state) {
    const struct variant_refusal *row = *state;
    const hone_variant_options variants = {sizeof variants, row->variants, row->max_error,
                                           row->count, row->files};
    const hone_tuning_options tuning = {.database = "x.db"};
    const hone_tuning_outside outside = {.size = sizeof outside, .variants = &variants};
    const hone_compilation_options compilation = {.output = "x", .database = "x.db"};
    hone_program *program = public_parse(product);
    hone_tuned *tuned = (hone_tuned *)state;
    char *report = (char *)state;
    hone_model *model = (hone_model *)state;
    public_expect(hone_program_tune_with(program, &tuning, &outside, &tuned), row->kind, row->part);
    public_expect(hone_program_compile_with(program, &compilation, &variants, &report), row->kind,
                  row->part);
    public_expect(hone_program_build_with(program, &compilation, &variants, &model), row->kind,
                  row->part);
    assert_true(!tuned && !report && !model);
    hone_program_free(program);
}

/* More than is allowed, too many, of another program, and said in vain. */
static void refuses_variants_of_files(void **state) {
    (void)state;
    char database[400], path[420];
    public_path(database, sizeof database, "refused.db");
    write_variant(path, sizeof path);
    const char *files[17];
    for (size_t i = 0; i < HONE_COUNT(files); i++)
        files[i] = path;
    const hone_variant_options sizeless = {0}, exact = {sizeof exact, NULL, NULL, 1, files},
                               small = {sizeof small, NULL, &little, 1, files},
                               fits = {sizeof fits, NULL, &enough, 1, files},
                               often = {sizeof often, NULL, &enough, 17, files};
    const hone_tuning_options tuning = {.database = database, .trials = 1};
    hone_tuning_outside outside = {.size = sizeof outside, .variants = &exact};
    hone_compilation_options compilation = {.output = "x"};
    hone_program *program = public_parse(product);
    hone_tuned *tuned = NULL;
    char *report = NULL;
    public_expect(hone_program_tune_with(program, &tuning, &outside, &tuned), "invalid",
                  "declares an error of 1e-06, more than variants and max_error allow");
    outside.variants = &sizeless;
    public_expect(hone_program_tune_with(program, &tuning, &outside, &tuned), "invalid",
                  "sizeof(hone_variant_options)");
    outside.variants = &often;
    public_expect(hone_program_tune_with(program, &tuning, &outside, &tuned), "invalid",
                  "17 files of variant, at most 16");
    outside.variants = &small;
    public_expect(hone_program_tune_with(program, &tuning, &outside, &tuned), "invalid", "1e-06");
    outside.variants = &fits;
    public_expect(hone_program_tune_with(program, &tuning, &outside, &tuned), "invalid",
                  "variant 'whole' serves no task");
    public_expect(hone_program_compile_with(program, &compilation, &fits, &report), "invalid",
                  "without records");
    compilation.database = database;
    compilation.no_schedule = 1;
    public_expect(hone_program_compile_with(program, &compilation, &fits, &report), "invalid",
                  "without a schedule");
    public_remove_database(database);
    remove_variant(path);
    hone_program_free(program);
}

/* Programs that were built with the structure as it was go on. */
static void takes_earlier_structure(void **state) {
    (void)state;
    char database[400];
    public_path(database, sizeof database, "earlier.db");
    public_remove_database(database);
    hone_program *program = public_parse(product);
    const hone_tuning_options options = {
        .database = database, .threads = 1, .trials = 1, .strategy = "random", .builders = 1};
    const hone_tuning_outside outside = {
        .size = offsetof(hone_tuning_outside, variants),
        .variants = (const hone_variant_options *)state}; /* is not looked at */
    hone_tuned *tuned = NULL;
    public_ok(hone_program_tune_with(program, &options, &outside, &tuned));
    hone_tuned_free(tuned);
    hone_program_free(program);
    public_remove_database(database);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tunes_variants),
        cmocka_unit_test(refuses_variants_of_files),
        cmocka_unit_test(takes_earlier_structure),
    };
    int failed = cmocka_run_group_tests_name("package/public_variants", tests, NULL, NULL);
    failed += HONE_RUN_ROWS("package/public_variants_refused", variant_refusals, refuses_variants);
    return failed;
}
