/* tests/package/test_public_module.c - modules by the public interface: their functions and
 * attributes, passes by name, schedules of one function of several; and what is refused. */
#include "tests/package/graph_model.h"

static void changes_modules(void **state) {
    (void)state;
    hone_program *program = public_parse(model), *part = NULL, *other = NULL, *joined = NULL;
    assert_string_equal(hone_program_function_kind(program, "main"), "graph");
    assert_string_equal(hone_program_function_kind(program, "twice"), "tensor program");
    assert_null(hone_program_function_kind(program, "nobody"));
    public_ok(hone_program_get(program, "main", &part));
    assert_int_equal(hone_program_function_count(part), 2); /* it calls twice */
    public_ok(hone_program_get(program, "twice", &other));
    assert_int_equal(hone_program_function_count(other), 1);
    hone_program_free(other);
    public_expect(hone_program_remove(program, "twice", &other), "invalid", "'main' calls 'twice'");
    public_expect(hone_program_remove(program, "nobody", &other), "not_found", "nobody");
    public_ok(hone_program_remove(program, "main", &other));
    assert_int_equal(hone_program_function_count(other), 1);
    hone_program_free(program); /* what was made of it lives on */
    public_ok(hone_program_update(other, part, &joined));
    assert_int_equal(hone_program_function_count(joined), 2);
    hone_program_free(part);
    hone_program_free(other);
    program = public_parse(model);
    char *difference = NULL;
    assert_int_equal(hone_program_equal(program, joined, &difference), 1);
    hone_text_free(difference);
    hone_program_free(program);
    hone_program_free(joined);
}

/* Constants of two modules get numbers of their own. */
static void joins_constants(void **state) {
    (void)state;
    static const char other_text[] = "from tvm.script import relax as R\n"
                                     "@R.function\n"
                                     "def other(x: R.Tensor((2, 3), \"float32\")):\n"
                                     "    a = R.add(x, R.const([7.0, 8.0, 9.0], \"float32\"))\n"
                                     "    return a\n";
    hone_program *program = public_parse(model), *other = public_parse(other_text), *both = NULL;
    public_ok(hone_program_update(program, other, &both));
    public_prints(both, "R.const([1.0, 2.0, 3.0]");
    public_prints(both, "R.const([7.0, 8.0, 9.0]");
    hone_program_free(program);
    hone_program_free(other);
    hone_program *back = NULL;
    public_ok(hone_program_get(both, "other", &back));
    hone_program_free(both);
    public_prints(back, "R.const([7.0, 8.0, 9.0]");
    hone_program_free(back);
}

static void has(const hone_program *program, const char *function, const char *key,
                const char *want) {
    char *value = NULL;
    public_ok(hone_program_get_attribute(program, function, key, &value));
    bool is_right = want ? value && strcmp(value, want) == 0 : !value;
    if (!is_right) print_message("%s: %s\n", key, value ? value : "NULL");
    hone_text_free(value);
    assert_true(is_right);
}

static void keeps_attributes(void **state) {
    (void)state;
    hone_program *program = public_parse(model), *one = NULL, *two = NULL, *three = NULL;
    has(program, "main", "num_input", "1");
    has(program, HONE_THE_MODULE, "version", "2");
    has(program, "main", "nothing", NULL);
    assert_string_equal(hone_program_attribute_key(program, NULL, 0), "num_input");
    assert_null(hone_program_attribute_key(program, NULL, 1));
    public_ok(hone_program_set_attribute(program, "main", "note", "fast", &one));
    public_ok(hone_program_set_attribute_integer(one, "twice", "level", 3, &two));
    public_ok(hone_program_set_attribute(two, HONE_THE_MODULE, "note", "all", &three));
    hone_program_free(one);
    hone_program_free(two);
    has(three, "main", "note", "fast");
    has(three, "twice", "level", "3");
    has(three, HONE_THE_MODULE, "note", "all");
    public_ok(hone_program_set_attribute(three, "main", "note", NULL, &one));
    has(one, "main", "note", NULL);
    has(program, "main", "note", NULL);
    char *value = NULL;
    public_expect(hone_program_get_attribute(program, "nobody", "a", &value), "not_found",
                  "nobody");
    public_expect(hone_program_get_attribute(NULL, NULL, "a", &value), "invalid",
                  "program is NULL");
    public_expect(hone_program_get_attribute(program, NULL, NULL, &value), "invalid",
                  "key is NULL");
    public_expect(hone_program_get_attribute(program, NULL, "a", NULL), "invalid", "out_value");
    public_expect(hone_program_set_attribute(program, "nobody", "a", "b", &two), "not_found", "");
    public_expect(hone_program_set_attribute(program, NULL, NULL, "b", &two), "invalid", "key");
    public_expect(hone_program_set_attribute(program, NULL, "a", "b", NULL), "invalid", "out_");
    public_expect(hone_program_set_attribute_integer(NULL, NULL, "a", 1, &two), "invalid", "NULL");
    assert_null(two);
    assert_null(hone_program_attribute_key(NULL, NULL, 0));
    assert_null(hone_program_attribute_key(program, "nobody", 0));
    hone_program_free(one);
    hone_program_free(three);
    hone_program_free(program);
}

static void runs_passes(void **state) {
    (void)state;
    static const char *const legalize[] = {"infer", "legalize"}, *const prepare[] = {"prepare"};
    static const char *const zero[] = {"zero"}, *const lower[] = {"lower"};
    static const char *const tvm[] = {"LegalizeOps", "relax.transform.FoldConstant"};
    static const char *const bad[] = {"infer", "legalise"}, *const none[] = {NULL};
    hone_program *program = public_parse(model), *other = NULL;
    public_ok(hone_program_run_passes(program, 2, legalize, &other));
    public_prints(other, "R.call_tir(cls.softmax");
    hone_program_free(other);
    public_ok(hone_program_run_passes(program, 1, prepare, &other));
    bool is_same = graph_model_agrees(program, other);
    hone_program_free(other);
    public_ok(hone_program_run_passes(program, 1, zero, &other)); /* TVM's names, and lowered */
    hone_program *lowered = NULL;
    public_ok(hone_program_run_passes(other, 1, lower, &lowered));
    is_same &= graph_model_agrees(program, other) && graph_model_agrees(program, lowered);
    hone_program_free(lowered);
    hone_program_free(other);
    public_ok(hone_program_run_passes(program, 2, tvm, &other));
    is_same &= graph_model_agrees(program, other);
    hone_program_free(other);
    public_ok(hone_program_run_passes(program, 0, NULL, &other)); /* a copy */
    assert_int_equal(hone_program_equal(program, other, NULL), 1);
    hone_program_free(other);
    public_expect(hone_program_run_passes(program, 2, bad, &other), "not_found",
                  "did you mean 'legalize'?");
    public_expect(hone_program_run_passes(program, 1, none, &other), "invalid", "pass 0 is NULL");
    public_expect(hone_program_run_passes(program, 1, NULL, &other), "invalid", "names is NULL");
    public_expect(hone_program_run_passes(NULL, 0, NULL, &other), "invalid", "program is NULL");
    public_expect(hone_program_run_passes(program, 0, NULL, NULL), "invalid", "out_program");
    size_t count = 0;
    while (hone_pass_name(count) && hone_pass_help(count))
        count++;
    assert_true(count > 10);
    assert_null(hone_pass_help(count));
    hone_program_free(program);
    assert_true(is_same);
}

static void needs_modules(void **state) {
    (void)state;
    hone_program *program = public_parse(model), *out = program;
    public_expect(hone_program_get(NULL, "main", &out), "invalid", "program is NULL");
    assert_null(out);
    public_expect(hone_program_get(program, "main", NULL), "invalid", "out_program is NULL");
    public_expect(hone_program_get(program, "nobody", &out), "not_found", "nobody");
    public_expect(hone_program_update(program, NULL, &out), "invalid", "with is NULL");
    public_expect(hone_program_update(NULL, program, &out), "invalid", "program is NULL");
    public_expect(hone_program_remove(program, NULL, &out), "invalid", "function is NULL");
    public_expect(hone_program_remove(NULL, "main", &out), "invalid", "program is NULL");
    assert_null(hone_program_function_kind(NULL, "main"));
    assert_null(hone_program_function_kind(program, NULL));
    hone_visitor visitor = {0};
    public_expect(hone_program_visit(program, "main", &visitor), "unsupported",
                  "no tensor program");
    public_expect(hone_program_visit(program, "main", NULL), "invalid", "visitor is NULL");
    public_expect(hone_program_visit(NULL, "main", &visitor), "invalid", "program is NULL");
    public_expect(hone_program_rewrite(program, "twice", NULL, NULL, &out), "invalid", "mutator");
    hone_program_free(program);
}

/* What a schedule of one function makes is the whole module. */
static void schedules_keep_the_module(void **state) {
    (void)state;
    static const char trace[] = "b = sch.get_sblock(\"y\")\n"
                                "i, j = sch.get_loops(b)\n"
                                "sch.parallel(i)\n";
    hone_program *program = public_parse(model), *replayed = NULL, *stepped = NULL;
    const hone_replay_options twice = {.function = "twice"};
    public_ok(hone_program_replay(program, trace, &twice, &replayed, NULL));
    hone_steps *steps = NULL;
    public_ok(hone_steps_create(program, "twice", 0, &steps));
    public_ok(hone_steps_add(steps, trace));
    hone_program_free(program); /* may end before */
    public_ok(hone_steps_program(steps, &stepped));
    hone_steps_free(steps);
    public_prints(stepped, "T.parallel(2)");
    public_prints(stepped, "I.module_attrs");
    assert_int_equal(hone_program_function_count(stepped), 2);
    assert_int_equal(hone_program_equal(replayed, stepped, NULL), 1);
    program = public_parse(model);
    bool is_same = graph_model_agrees(program, stepped);
    hone_program_free(program);
    hone_program_free(replayed);
    hone_program_free(stepped);
    assert_true(is_same);
}

/* Variables by number, as the trace counts them: block 0, loops 1 and 2, numbers 3 and 4. */
static void says_what_variables_are(void **state) {
    (void)state;
    static const char trace[] = "b = sch.get_sblock(\"y\")\n"
                                "i, j = sch.get_loops(b)\n"
                                "v = sch.sample_perfect_tile(j, n=2, decision=[1, 3])\n"
                                "sch.parallel(i)\n";
    static const struct {
        size_t number;
        const char *want;
    } rows[] = {
        {0, "\"is\": \"block\", \"name\": \"y\""                                 },
        {1, "\"min\": 0, \"extent\": 2, \"kind\": \"parallel\", \"thread\": null"},
        {2, "\"extent\": 3, \"kind\": \"serial\""                                },
        {3, "1"                                                                  },
        {4, "3"                                                                  },
    };
    hone_program *program = public_parse(model);
    hone_steps *steps = NULL;
    char *text = NULL;
    public_ok(hone_steps_create(program, "twice", 7, &steps));
    hone_program_free(program);
    public_ok(hone_steps_add(steps, trace));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        public_ok(hone_steps_get(steps, rows[i].number, &text));
        assert_non_null(strstr(text, rows[i].want));
        hone_text_free(text);
    }
    public_expect(hone_steps_get(steps, 5, &text), "not_found", "no variable 5, of 5");
    assert_null(text);
    public_ok(hone_steps_add(steps, "sch.split(j, v)\n"));
    public_expect(hone_steps_get(steps, 2, &text), "illegal", "");
    public_expect(hone_steps_get(NULL, 0, &text), "invalid", "steps is NULL");
    uint64_t first = (hone_steps_seed(steps, 9), hone_steps_fork_seed(steps));
    uint64_t again = (hone_steps_seed(steps, 9), hone_steps_fork_seed(steps));
    assert_true(first == again && first < (uint64_t)1 << 31);
    hone_steps_seed(NULL, 1);
    assert_true(hone_steps_fork_seed(NULL) == 0);
    hone_steps_free(steps);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_modules),         cmocka_unit_test(joins_constants),
        cmocka_unit_test(keeps_attributes),        cmocka_unit_test(runs_passes),
        cmocka_unit_test(needs_modules),           cmocka_unit_test(schedules_keep_the_module),
        cmocka_unit_test(says_what_variables_are),
    };
    return cmocka_run_group_tests_name("package/module", tests, NULL, NULL);
}
