/* tests/package/test_public_misuse.c - every function of the public headers with what it cannot
 * work with: NULL, texts that are none, functions that are not there. Each says so, clears what it
 * gives, and goes on. (Formulas and terms: test_public_formula.c.) */
#include <stdint.h>
#include <stdio.h>

#include "tests/package/public_test.h"

static void needs(hone_error *error, const char *argument) {
    char words[64];
    snprintf(words, sizeof words, "%s is NULL", argument);
    public_expect(error, "invalid", words);
}

static void programs(void **state) {
    (void)state;
    hone_program *program = public_parse(product), *out = program;
    char *text = NULL, hash[33] = "x";
    needs(hone_program_load(NULL, &out), "path");
    assert_null(out);
    needs(hone_program_load("a.py", NULL), "out_program");
    needs(hone_program_parse(NULL, "a.py", &out), "text");
    needs(hone_program_parse("", "a.py", NULL), "out_program");
    public_ok(hone_program_parse(product, NULL, &out)); /* the name is for messages only */
    hone_program_free(out);
    public_expect(hone_program_parse("\xff\xfe", "a.py", &out), "invalid", "a.py:1");
    needs(hone_program_print(NULL, &text), "program");
    needs(hone_program_print(program, NULL), "out_text");
    needs(hone_program_save(NULL, "a.py"), "program");
    needs(hone_program_save(program, NULL), "path");
    public_expect(hone_program_save(program, "/nowhere/a.py"), "io", "/nowhere/a.py");
    needs(hone_program_verify(NULL, &text), "program");
    needs(hone_program_verify(program, NULL), "out_findings");
    needs(hone_program_hash(NULL, NULL, hash), "program");
    assert_string_equal(hash, "");
    needs(hone_program_hash(program, NULL, NULL), "out_hash");
    assert_int_equal(hone_program_function_count(NULL), 0);
    assert_null(hone_program_function_name(NULL, 0));
    assert_null(hone_program_function_name(program, SIZE_MAX));
    assert_int_equal(hone_program_equal(program, NULL, &text), 0);
    assert_null(text);
    assert_int_equal(hone_program_equal(NULL, NULL, NULL), 1);
    needs(hone_program_replay(NULL, "", NULL, &out, NULL), "program");
    needs(hone_program_replay(program, NULL, NULL, &out, NULL), "trace");
    needs(hone_program_replay(program, "", NULL, NULL, NULL), "out_program");
    assert_null(out);
    hone_program_free(program);
    hone_text_free(NULL);
}

/* Programs may have more dimensions than operators do. */
static void deep_tensors(void **state) {
    (void)state;
    static const char *const calls[] = {
        "sum(x)",          "nn.softmax(x)",    "split(x, indices_or_sections=1)",
        "concat((x, x))",  "permute_dims(x)",  "strided_slice(x, (0,), (0,), (1,))",
        "squeeze(x)",      "add(x, x)",        "nn.pad(x, pad_width=[0, 0])",
        "flatten(x)",      "matmul(x, x)",     "nn.layer_norm(x, x, x, axes=[0])",
        "argmax(x)",       "take(x, x)",       "broadcast_to(x, R.shape([1]))",
        "nn.conv2d(x, x)", "nn.max_pool2d(x)", "expand_dims(x, axis=0)"};
    static const char *const passes[] = {"infer", "legalize_all"};
    for (size_t i = 0; i < HONE_COUNT(calls); i++) {
        char text[512], *findings = NULL;
        hone_program *program = NULL, *made = NULL;
        snprintf(text, sizeof text,
                 "from tvm.script import relax as R\n@R.function\n"
                 "def main(x: R.Tensor((1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), \"float32\")):\n"
                 "    y = R.%s\n    return y\n",
                 calls[i]);
        public_ok(hone_program_parse(text, "deep.py", &program));
        public_ok(hone_program_verify(program, &findings));
        hone_error *error = hone_program_run_passes(program, 2, passes, &made);
        bool is_refused = error && !made;
        hone_error_free(error);
        hone_text_free(findings);
        hone_program_free(program);
        hone_program_free(made);
        if (!is_refused) print_message("%s\n", calls[i]);
        assert_true(is_refused);
    }
}

static void steps(void **state) {
    (void)state;
    hone_program *program = public_parse(product), *out = program;
    hone_steps *made = NULL;
    char *trace = NULL;
    needs(hone_steps_create(NULL, NULL, 0, &made), "program");
    needs(hone_steps_create(program, NULL, 0, NULL), "out_steps");
    public_expect(hone_steps_create(program, "nobody", 0, &made), "not_found", "nobody");
    assert_null(made);
    public_ok(hone_steps_create(program, NULL, 0, &made));
    needs(hone_steps_add(NULL, "pass"), "steps");
    needs(hone_steps_add(made, NULL), "text");
    public_expect(hone_steps_add(made, "what is this"), "invalid", "steps:1");
    needs(hone_steps_add_intrin(NULL, "a", "b"), "steps");
    needs(hone_steps_add_intrin(made, NULL, "b"), "name");
    needs(hone_steps_add_intrin(made, "a", NULL), "text");
    public_expect(hone_steps_add_intrin(made, "a", "def"), "invalid", "a:1");
    needs(hone_steps_program(NULL, &out), "steps");
    assert_null(out);
    needs(hone_steps_program(made, NULL), "out_program");
    needs(hone_steps_script(NULL, &trace), "steps");
    needs(hone_steps_script(made, NULL), "out_text");
    needs(hone_trace_script(NULL, &trace), "trace");
    needs(hone_trace_script("[]", NULL), "out_text");
    public_expect(hone_trace_script("{]", &trace), "invalid", "trace");
    needs(hone_step_signature(0, NULL), "out_text");
    public_expect(hone_step_signature(SIZE_MAX, &trace), "not_found", "no step");
    assert_null(trace);
    needs(hone_steps_trace(NULL, &trace), "steps");
    needs(hone_steps_trace(made, NULL), "out_trace");
    hone_steps_free(made);
    hone_steps_free(NULL);
    hone_program_free(program);
}

static int nothing(void *ctx, const hone_record *record) {
    (void)ctx;
    (void)record;
    return 0;
}

static void records(void **state) {
    (void)state;
    hone_records *made = NULL;
    needs(hone_records_open(NULL, &made), "path");
    needs(hone_records_open("a.db", NULL), "out_records");
    needs(hone_records_top(NULL, NULL, NULL, 0, nothing, NULL), "records");
    needs(hone_records_best(NULL, "a", "b", nothing, NULL), "records");
    needs(hone_records_query(NULL, "SELECT 1", NULL, NULL), "records");
    needs(hone_records_select(NULL, "SELECT 1", 0, NULL, NULL, NULL), "records");
}

static void models(void **state) {
    (void)state;
    hone_model *made = NULL;
    needs(hone_extern_register(NULL, NULL, HONE_EXTERN_PLAIN), "name");
    public_expect(hone_extern_register("", NULL, HONE_EXTERN_PLAIN), "invalid", "empty");
    public_expect(hone_extern_register("a", (hone_extern_function)models, (hone_extern_form)9),
                  "invalid", "form 9");
    assert_null(hone_extern_find(NULL));
    needs(hone_model_open(NULL, &made), "path");
    needs(hone_model_open("a.so", NULL), "out_model");
    needs(hone_model_run(NULL, NULL, NULL, NULL), "model");
    assert_null(hone_model_describe(NULL));
    assert_null(hone_model_find(NULL, NULL));
}

static int no_task(void *context, const hone_tuning_task *task) {
    (void)context;
    (void)task;
    return 0;
}

static void tuning(void **state) {
    (void)state;
    hone_program *program = public_parse(product);
    hone_tuned *tuned = NULL;
    size_t skipped = 9;
    const hone_tuning_options options = {.database = "x.db"};
    needs(hone_program_visit_tasks(NULL, 0, NULL, no_task, NULL, &skipped), "program");
    assert_int_equal(skipped, 0);
    needs(hone_program_visit_tasks(program, 0, NULL, NULL, NULL, NULL), "visit");
    needs(hone_program_tune(NULL, &options, &tuned), "program");
    needs(hone_program_tune(program, NULL, &tuned), "options");
    needs(hone_program_tune(program, &options, NULL), "out_tuned");
    needs(hone_program_tune_with(program, NULL, NULL, &tuned), "options");
    assert_null(hone_tuned_summary(NULL));
    assert_null(hone_tuned_task_at(NULL, 0));
    hone_tuned_free(NULL);
    hone_program_free(program);
}

static void compiling(void **state) {
    (void)state;
    hone_program *program = public_parse(product), *out = program;
    hone_model *model = NULL;
    hone_results *results = NULL;
    DLTensor *nothing_given[] = {NULL};
    const hone_named_tensor nameless = {0}, dataless = {"A", NULL};
    needs(hone_program_compile(NULL, NULL, NULL), "program");
    needs(hone_program_compile(program, NULL, NULL), "options");
    needs(hone_program_compile_with(program, NULL, NULL, NULL), "options");
    needs(hone_program_build(NULL, NULL, &model), "program");
    needs(hone_program_build_with(NULL, NULL, NULL, &model), "program");
    needs(hone_program_build_with(program, NULL, NULL, NULL), "out_model");
    needs(hone_program_build(program, NULL, NULL), "out_model");
    needs(hone_program_bind_sizes(NULL, 0, NULL, &out), "program");
    assert_null(out);
    needs(hone_program_bind_sizes(program, 0, NULL, NULL), "out_program");
    public_expect(hone_program_bind_sizes(program, 1, NULL, &out), "invalid", "size 0 is NULL");
    needs(hone_program_bind_parameters(NULL, 0, NULL, &out), "program");
    needs(hone_program_bind_parameters(program, 1, NULL, &out), "values");
    needs(hone_program_bind_parameters(program, 1, &nameless, NULL), "out_program");
    public_expect(hone_program_bind_parameters(program, 1, &nameless, &out), "invalid", "no name");
    public_expect(hone_program_bind_parameters(program, 1, &dataless, &out), "invalid", "A is");
    needs(hone_program_interpret(NULL, NULL, 0, NULL, &results), "program");
    needs(hone_program_interpret(program, NULL, 1, NULL, &results), "arguments");
    public_expect(hone_program_interpret(program, NULL, 1, nothing_given, NULL), "invalid",
                  "argument 0 is NULL");
    public_expect(hone_program_interpret(program, "nobody", 0, NULL, NULL), "not_found", "nobody");
    assert_int_equal(hone_results_count(NULL), 0);
    assert_null(hone_results_at(NULL, 0));
    hone_results_free(NULL);
    hone_program_free(program);
}

static void databases(void **state) {
    (void)state;
    hone_database_news news = {.trials = 9};
    int64_t removed = 9;
    needs(hone_database_merge(NULL, "a.db", &news), "into");
    assert_int_equal(news.trials, 0);
    needs(hone_database_merge("a.db", NULL, NULL), "from");
    needs(hone_database_export(NULL, "a"), "database");
    needs(hone_database_export("a.db", NULL), "path");
    needs(hone_database_import(NULL, "a", NULL), "into");
    needs(hone_database_import("a.db", NULL, &news), "path");
    needs(hone_database_prune(NULL, 1, &removed), "database");
    assert_int_equal(removed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(databases), cmocka_unit_test(tuning),       cmocka_unit_test(compiling),
        cmocka_unit_test(programs),  cmocka_unit_test(deep_tensors), cmocka_unit_test(steps),
        cmocka_unit_test(records),   cmocka_unit_test(models),
    };
    return cmocka_run_group_tests_name("package/misuse", tests, NULL, NULL);
}
