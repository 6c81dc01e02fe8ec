/* tests/package/test_public_many.c - several arrays at once: formulas that compute or reduce to
 * several, arrays that a C function fills, calls of programs with several outputs; and every
 * mistake on the way. */
#include "ir/interp/interp.h"
#include "ir/text/read/script.h"
#include "tests/graph/graph_run.h"
#include "tests/package/public_test.h"

typedef const hone_term *term;
typedef const hone_argument *argument;

static const int64_t rows_by_columns[] = {3, 5};

static hone_formula *begin(void) {
    hone_formula *f = NULL;
    public_ok(hone_formula_create("kernel", &f));
    return f;
}

static hone_program *finish(hone_formula *f, size_t count, const hone_array *outputs) {
    hone_program *program = NULL;
    public_ok(hone_formula_finish(f, count, outputs, &program));
    hone_formula_free(f);
    char *findings = NULL;
    public_ok(hone_program_verify(program, &findings));
    if (findings) print_message("%s", findings);
    assert_null(findings);
    return program;
}

static const char *const places_and_numbers[] = {"int32", "float32"};
static const char *const two_types[] = {"float32", "int32"};

/* For each row of X the column of its largest element, and that element. */
static hone_program *largest_of_rows(void) {
    hone_formula *f = begin();
    hone_terms *t = hone_formula_terms(f);
    hone_array x = hone_formula_input(f, "X", "float32", 2, rows_by_columns), best[2];
    hone_formula_axes(f, 1, (int64_t[]){3}, 1, (int64_t[]){5});
    term i = hone_formula_axis(f, 0), k = hone_formula_axis(f, 1), so_far[2];
    hone_formula_reduce_begin_many(f, "best", 2, places_and_numbers, so_far);
    term value = hone_formula_load(f, x, (term[]){i, k});
    term keeps = hone_term_binary(t, ">=", so_far[1], value);
    term start[] = {hone_term_int(t, "int32", -1), hone_term_lowest(t, "float32")};
    term now[] = {hone_term_select(t, keeps, so_far[0], k),
                  hone_term_select(t, keeps, so_far[1], value)};
    hone_formula_reduce_end_many(f, 2, start, now, best);
    assert_int_equal(hone_formula_rank(f, best[1]), 1);
    return finish(f, 2, best);
}

/* X[r, c] of the graphs below */
static double element(int64_t r, int64_t c) {
    return (double)((r * 7 + c * 3) % 11);
}

/* main of the graph gives two tensors of these elements. Takes the program. */
static void gives(hone_program *program, double (*want)(size_t result, int64_t at)) {
    char *text = NULL;
    hone_module *module;
    hone_tensor *x;
    run_results results;
    public_ok(hone_program_print(program, &text));
    hone_program_free(program);
    HONE_ASSERT_OK(hone_script_parse(text, strlen(text), "printed.py", &module));
    hone_text_free(text);
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, rows_by_columns, &x));
    for (int64_t i = 0; i < 15; i++)
        hone_tensor_set_f64(x, i, element(i / 5, i % 5));
    HONE_ASSERT_OK(run_plain(module, NULL, &x, 1, 0, &results));
    hone_tensor_destroy(x);
    hone_module_release(module);
    bool is_right = results.count == 2;
    for (size_t r = 0; r < 2 && is_right; r++) {
        for (int64_t i = 0; i < hone_tensor_count(results.items[r]); i++)
            is_right &= hone_tensor_get_f64(results.items[r], i) == want(r, i);
    }
    run_results_deinit(&results);
    assert_true(is_right);
}

/* A graph that calls kernel of the program, and returns its two tensors: of rows, or of rows and
 * columns. Takes the program. */
static hone_program *call_for_two(hone_program *with, const char *const types[2], uint32_t rank) {
    hone_graph *g = NULL;
    hone_program *program = NULL;
    public_ok(hone_graph_create("main", with, &g));
    hone_terms *t = hone_graph_terms(g);
    term shape[] = {hone_term_int(t, "int64", 3), hone_term_int(t, "int64", 5)};
    const hone_graph_output outputs[] = {
        {types[0], rank, shape},
        {types[1], rank, shape},
    };
    argument x = hone_graph_parameter(g, "x", "float32", 2, shape);
    argument both = hone_graph_call_program_many(g, "kernel", 1, &x, 2, outputs);
    assert_int_equal(hone_argument_get_kind(both), HONE_ARGUMENT_VALUE);
    argument items[] = {hone_graph_item(g, both, 0), hone_graph_item(g, both, 1)};
    public_ok(hone_graph_finish(g, hone_graph_tuple(g, 2, items), &program));
    hone_graph_free(g);
    hone_program_free(with);
    return program;
}

static double largest_of(size_t result, int64_t row) {
    double most = -1, at = -1;
    for (int64_t c = 0; c < 5; c++) {
        double v = element(row, c);
        if (v > most) most = v, at = (double)c;
    }
    return result == 0 ? at : most;
}

static void reduces_to_two(void **state) {
    (void)state;
    hone_program *program = call_for_two(largest_of_rows(), places_and_numbers, 1);
    public_prints(program, "with T.sblock(\"best\")");
    public_prints(program, "v_best_v0: T.let");
    gives(program, largest_of);
}

/* It is the reduction of pairs that rfactor and decompose_reduction know. */
static void schedules_what_reduces_to_two(void **state) {
    (void)state;
    static const char text[] = "b = sch.get_sblock(\"best\")\n"
                               "i, k = sch.get_loops(b)\n"
                               "k0, k1 = sch.split(k, [5, None])\n"
                               "rf = sch.rfactor(k0, 0)\n"
                               "sch.decompose_reduction(b, sch.get_loops(b)[0])\n";
    hone_program *program = largest_of_rows(), *scheduled = NULL;
    hone_steps *steps = NULL;
    public_ok(hone_steps_create(program, NULL, 0, &steps));
    hone_program_free(program);
    public_ok(hone_steps_add(steps, text));
    public_ok(hone_steps_program(steps, &scheduled));
    hone_steps_free(steps);
    public_prints(scheduled, "T.sblock(\"best_rf\")");
    public_prints(scheduled, "T.sblock(\"best_init\")");
    hone_program_free(scheduled);
}

static double square_and_double(size_t result, int64_t at) {
    double v = element(at / 5, at % 5);
    return result == 0 ? v * v : 2 * v;
}

/* Both values are computed from what was there: X is read once for each. */
static void computes_two(void **state) {
    (void)state;
    hone_formula *f = begin();
    hone_terms *t = hone_formula_terms(f);
    hone_array x = hone_formula_input(f, "X", "float32", 2, rows_by_columns), made[2];
    hone_formula_axes(f, 2, rows_by_columns, 0, NULL);
    term at[] = {hone_formula_axis(f, 0), hone_formula_axis(f, 1)};
    term value = hone_formula_load(f, x, at);
    term two[] = {hone_term_binary(t, "*", value, value),
                  hone_term_cast(t, "int32", hone_term_binary(t, "+", value, value))};
    hone_formula_compute_many(f, "pair", 2, two, made);
    hone_program *program = call_for_two(finish(f, 2, made), two_types, 2);
    public_prints(program, "pair_v0: T.Buffer((3, 5), \"float32\")");
    gives(program, square_and_double);
}

/* ---- what a C function fills ---- */

static hone_status halve(void *ctx, const char *name, hone_tensor *const *args, size_t count) {
    (void)ctx;
    if (strcmp(name, "halve_all") != 0 || count != 2) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "%s of %zu", name, count);
    }
    for (int64_t i = 0; i < hone_tensor_count(args[0]); i++)
        hone_tensor_set_f64(args[1], i, hone_tensor_get_f64(args[0], i) / 2);
    return HONE_OK;
}

static void takes_what_others_compute(void **state) {
    (void)state;
    hone_formula *f = begin();
    hone_terms *t = hone_formula_terms(f);
    term n = hone_formula_size(f, "n");
    hone_array x = hone_formula_input_sized(f, "X", "float32", 1, &n);
    hone_array half = hone_formula_extern_sized(f, "half", "halve_all", 1, &x, "float32", 1, &n);
    hone_formula_axes_sized(f, 1, &n, 0, NULL);
    term i = hone_formula_axis(f, 0);
    hone_array y = hone_formula_compute(
        f, "Y",
        hone_term_binary(t, "+", hone_formula_load(f, half, &i), hone_term_int(t, "int32", 1)));
    hone_program *program = finish(f, 1, &y);
    public_prints(program, "T.call_extern(\"int32\", \"halve_all\", X.data, half.data)");
    public_prints(program, "T.writes(half[0:n])");
    char *text = NULL;
    public_ok(hone_program_print(program, &text));
    hone_program_free(program);
    hone_module *module;
    HONE_ASSERT_OK(hone_script_parse(text, strlen(text), "printed.py", &module));
    hone_text_free(text);
    hone_tensor *args[2];
    int64_t six = 6;
    for (int a = 0; a < 2; a++)
        HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 1, &six, &args[a]));
    for (int64_t k = 0; k < six; k++)
        hone_tensor_set_f64(args[0], k, (double)k);
    const hone_interp_options options = {.call_extern = halve, .check_uninitialised = true};
    HONE_ASSERT_OK(hone_interp_func(module->members[0].func, args, 2, &options));
    bool is_right = true;
    for (int64_t k = 0; k < six; k++)
        is_right &= hone_tensor_get_f64(args[1], k) == (double)k / 2 + 1;
    hone_tensor_destroy(args[0]);
    hone_tensor_destroy(args[1]);
    hone_module_release(module);
    assert_true(is_right);
}

/* ---- mistakes ---- */

typedef struct mistaken {
    hone_formula *f;
    hone_terms *terms;
    hone_array x;
    hone_array made[17];
    term element[17];
} mistaken;

static void axes(mistaken *m, uint32_t reduce_count) {
    hone_formula_axes(m->f, 1, (int64_t[]){3}, reduce_count, (int64_t[]){5});
}
static void reduce(mistaken *m) {
    axes(m, 1);
    hone_formula_reduce_begin_many(m->f, "best", 2, two_types, m->element);
}
static void no_axes(mistaken *m) {
    term two[] = {hone_term_int(m->terms, "int32", 1), hone_term_int(m->terms, "int32", 2)};
    hone_formula_compute_many(m->f, "pair", 2, two, m->made);
}
static void no_arrays(mistaken *m) {
    axes(m, 0);
    hone_formula_compute_many(m->f, "pair", 0, m->element, m->made);
}
static void null_values(mistaken *m) {
    axes(m, 0);
    hone_formula_compute_many(m->f, "pair", 2, NULL, m->made);
}
static void null_value(mistaken *m) {
    term two[] = {hone_term_int(m->terms, "int32", 1), NULL};
    axes(m, 0);
    hone_formula_compute_many(m->f, "pair", 2, two, m->made);
}
static void null_out(mistaken *m) {
    term one = hone_term_int(m->terms, "int32", 1);
    axes(m, 0);
    hone_formula_compute_many(m->f, "pair", 1, &one, NULL);
}
static void many_arrays(mistaken *m) {
    axes(m, 1);
    hone_formula_reduce_begin_many(m->f, "best", 17, two_types, m->element);
}
static void null_types(mistaken *m) {
    axes(m, 1);
    hone_formula_reduce_begin_many(m->f, "best", 2, NULL, m->element);
}
static void wrong_count(mistaken *m) {
    reduce(m);
    hone_formula_reduce_end(m->f, m->element[0], m->element[0]);
}
static void no_beginning(mistaken *m) {
    hone_formula_reduce_end_many(m->f, 2, m->element, m->element, m->made);
}
static void wrong_type(mistaken *m) {
    reduce(m);
    term two[] = {hone_term_float(m->terms, "float32", 0), hone_term_float(m->terms, "float32", 0)};
    hone_formula_reduce_end_many(m->f, 2, two, two, m->made);
}
static void starts_as_itself(mistaken *m) {
    reduce(m);
    hone_formula_reduce_end_many(m->f, 2, m->element, m->element, m->made);
}
static void no_end(mistaken *m) {
    reduce(m);
    axes(m, 0);
}
static void extern_inside(mistaken *m) {
    axes(m, 0);
    hone_formula_extern(m->f, "e", "f", 1, &m->x, "float32", 1, (int64_t[]){3});
}
static void extern_of_nothing(mistaken *m) {
    hone_formula_extern(m->f, "e", "f", 1, NULL, "float32", 1, (int64_t[]){3});
}
static void extern_without_name(mistaken *m) {
    hone_formula_extern(m->f, "e", "a b", 1, &m->x, "float32", 1, (int64_t[]){3});
}
static void extern_null(mistaken *m) {
    hone_formula_extern(m->f, "e", NULL, 1, &m->x, "float32", 1, (int64_t[]){3});
}
static void extern_of_wrong_array(mistaken *m) {
    hone_formula_extern(m->f, "e", "f", 1, &(hone_array){7}, "float32", 1, (int64_t[]){3});
}
static void extern_without_type(mistaken *m) {
    hone_formula_extern(m->f, "e", "f", 1, &m->x, NULL, 1, (int64_t[]){3});
}

static const struct mistake {
    const char *name;
    void (*make)(mistaken *m);
    const char *kind, *part;
} mistakes[] = {
    {"no axes",               no_axes,               "invalid", "array 'pair' has no axes"                        },
    {"no arrays",             no_arrays,             "invalid", "0 arrays at once, must be 1 to 16"               },
    {"null values",           null_values,           "invalid", "in lists that are NULL"                          },
    {"null value",            null_value,            "invalid", "the value of 'pair' is NULL"                     },
    {"null out",              null_out,              "invalid", "in lists that are NULL"                          },
    {"many arrays",           many_arrays,           "invalid", "17 arrays at once, must be 1 to 16"              },
    {"null types",            null_types,            "invalid", "in lists that are NULL"                          },
    {"wrong count",           wrong_count,           "invalid", "the reduction of 2 arrays is ended with 1"       },
    {"no beginning",          no_beginning,          "invalid", "no reduction was begun"                          },
    {"wrong type",            wrong_type,            "type",    "'best_v1' is int32, what it starts as is float32"},
    {"starts as itself",      starts_as_itself,      "invalid", "'best' starts as what it is so far"              },
    {"no end",                no_end,                "invalid", "the reduction before has no end"                 },
    {"extern inside",         extern_inside,         "invalid", "the array before 'e' has no end"                 },
    {"extern of nothing",     extern_of_nothing,     "invalid", "'f' gets 1 arrays, which are NULL"               },
    {"extern without name",   extern_without_name,   "invalid", "a function"                                      },
    {"extern of NULL",        extern_null,           "invalid", "a function"                                      },
    {"extern of wrong array", extern_of_wrong_array, "invalid", "there is no array 7"                             },
    {"extern without type",   extern_without_type,   "invalid", "the type of 'e' is NULL"                         },
};

static void refuses(void **state) {
    const struct mistake *row = *state;
    hone_program *program = NULL;
    mistaken m = {.f = begin()};
    m.terms = hone_formula_terms(m.f);
    m.x = hone_formula_input(m.f, "X", "float32", 1, (int64_t[]){5});
    m.made[0] = m.made[1] = m.x;
    row->make(&m);
    hone_array y = m.x;
    hone_error *error = hone_formula_finish(m.f, 1, &y, &program);
    hone_formula_free(m.f);
    assert_null(program);
    public_expect(error, row->kind, row->part);
}

static void refuses_calls(void **state) {
    (void)state;
    for (int which = 0; which < 3; which++) {
        hone_graph *g = NULL;
        hone_program *program = NULL;
        public_ok(hone_graph_create("main", NULL, &g));
        term n = hone_term_int(hone_graph_terms(g), "int64", 3);
        argument x = hone_graph_parameter(g, "x", "float32", 1, &n);
        const hone_graph_output good = {"float32", 1, &n}, bad = {"float", 1, &n};
        argument y = which == 0   ? hone_graph_call_external_many(g, "f", 1, &x, 0, &good)
                     : which == 1 ? hone_graph_call_external_many(g, "f", 1, &x, 1, NULL)
                                  : hone_graph_call_external_many(g, "f", 1, &x, 1, &bad);
        assert_null(y);
        public_expect(hone_graph_finish(g, y, &program), which < 2 ? "invalid" : "type", "'f'");
        hone_graph_free(g);
    }
    assert_null(hone_term_lowest(NULL, "float32"));
    assert_null(hone_term_highest(NULL, "float32"));
    assert_null(hone_graph_call_program_many(NULL, "f", 0, NULL, 0, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduces_to_two), cmocka_unit_test(schedules_what_reduces_to_two),
        cmocka_unit_test(computes_two),   cmocka_unit_test(takes_what_others_compute),
        cmocka_unit_test(refuses_calls),
    };
    int failed = cmocka_run_group_tests_name("package/many", tests, NULL, NULL);
    return failed + HONE_RUN_ROWS("package/many_mistakes", mistakes, refuses);
}
