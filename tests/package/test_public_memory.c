/* tests/package/test_public_memory.c - the public interface when memory runs out at any place: an
 * error of kind "no_memory", nothing leaked, nothing half made. The sources of the library are
 * linked in, so that its allocations can be made to fail. */
#include "tests/package/public_test.h"

typedef const hone_term *term;
typedef const hone_argument *argument;

/* A public error is a status under another name. */
static hone_status status_of(hone_error *error) {
    return (hone_status)error;
}

static hone_status build(hone_program **out) {
    static const int64_t w[] = {4, 6}, b[] = {4};
    hone_formula *f = NULL;
    HONE_TRY(status_of(hone_formula_create("layer", &f)));
    hone_terms *terms = hone_formula_terms(f);
    term n = hone_formula_size(f, "n");
    hone_array x = hone_formula_input_sized(f, "x", "float32", 2,
                                            (term[]){n, hone_term_int(terms, "int32", 6)});
    hone_array y = hone_topi_dense(f, x, hone_formula_input(f, "w", "float32", 2, w),
                                   hone_formula_input(f, "b", "float32", 1, b));
    y = hone_topi_softmax(f, hone_topi_unary(f, "nn.relu", y), -1);
    hone_formula_axes_sized(f, 1, &n, 1, (term[]){hone_term_int(terms, "int32", 4)});
    term at[] = {hone_formula_axis(f, 0), hone_formula_axis(f, 1)};
    y = hone_formula_reduce(f, "r", "sum", hone_formula_load(f, y, at));
    hone_status st = status_of(hone_formula_finish(f, 1, &y, out));
    hone_formula_free(f);
    return st;
}

static hone_status build_many(hone_program **out) {
    static const int64_t eight[] = {8}, four[] = {4};
    static const char *const types[] = {"int32", "float32"};
    hone_formula *f = NULL;
    HONE_TRY(status_of(hone_formula_create("many", &f)));
    hone_terms *t = hone_formula_terms(f);
    hone_array x = hone_formula_input(f, "x", "float32", 1, eight), most[2], pair[2];
    hone_array y = hone_formula_extern(f, "y", "fill", 1, &x, "float32", 1, eight);
    hone_formula_axes(f, 1, four, 1, eight);
    term k = hone_formula_axis(f, 1), so_far[2], value = hone_formula_load(f, y, &k);
    hone_formula_reduce_begin_many(f, "most", 2, types, so_far);
    term start[] = {hone_term_int(t, "int32", 0), hone_term_float(t, "float32", 0)};
    term is_more = hone_term_binary(t, ">", value, so_far[1]);
    term now[] = {hone_term_select(t, is_more, k, so_far[0]),
                  hone_term_select(t, is_more, value, so_far[1])};
    hone_formula_reduce_end_many(f, 2, start, now, most);
    hone_formula_axes(f, 1, four, 0, NULL);
    term i = hone_formula_axis(f, 0);
    term both[] = {hone_formula_load(f, most[0], &i), hone_formula_load(f, most[1], &i)};
    hone_formula_compute_many(f, "pair", 2, both, pair);
    hone_status st = status_of(hone_formula_finish(f, 2, pair, out));
    hone_formula_free(f);
    return st;
}

static const hone_term *same(void *context, hone_terms *terms, const hone_term *item) {
    (void)context;
    if (hone_term_get_kind(item) != HONE_TERM_FLOAT) return item;
    return hone_term_float(terms, "float32", hone_term_float_value(item) + 1);
}

static hone_status builds(void *context) {
    (void)context;
    hone_program *program = NULL, *other = NULL, *marked = NULL;
    char *text = NULL, *findings = NULL;
    hone_status st = build_many(&program);
    hone_program_free(program);
    program = NULL;
    if (!st) st = build(&program);
    if (!st) st = status_of(hone_program_print(program, &text));
    if (!st) st = status_of(hone_program_verify(program, &findings));
    if (!st) st = status_of(hone_program_rewrite(program, NULL, same, NULL, &other));
    if (!st) st = status_of(hone_program_set_attribute(other, NULL, "note", "two", &marked));
    hone_text_free(text);
    hone_text_free(findings);
    hone_program_free(program);
    hone_program_free(other);
    hone_program_free(marked);
    return st;
}

static argument to_abs(void *context, hone_graph *graph, const hone_binding *binding) {
    (void)context;
    argument x = hone_binding_arg(binding, 0);
    return hone_graph_operator(graph, "abs", 1, &x, 0, NULL);
}

static hone_status graphs(void *context) {
    (void)context;
    static const float numbers[] = {1, 2};
    static const int64_t shape[] = {2};
    hone_graph *g = NULL;
    hone_program *program = NULL, *other = NULL, *part = NULL, *joined = NULL;
    HONE_TRY(status_of(hone_graph_create("main", NULL, &g)));
    term two[] = {hone_term_int(hone_graph_terms(g), "int64", 2)};
    argument x = hone_graph_parameter(g, "x", "float32", 1, two);
    argument both[] = {x, hone_graph_constant(g, "float32", 1, shape, numbers)};
    argument y = hone_graph_operator(g, "add", 2, both, 0, NULL);
    y = hone_graph_operator(g, "nn.relu", 1, &y, 0, NULL);
    hone_status st = status_of(hone_graph_finish(g, y, &program));
    hone_graph_free(g);
    if (!st) st = status_of(hone_graph_rewrite(program, NULL, to_abs, NULL, &other));
    if (!st) st = status_of(hone_program_get(program, "main", &part));
    if (!st) st = status_of(hone_program_update(other, part, &joined));
    hone_program_free(program);
    hone_program_free(other);
    hone_program_free(part);
    hone_program_free(joined);
    return st;
}

static void survives(void **state) {
    (void)state;
    hone_test_sweep_allocs(builds, NULL);
    hone_test_sweep_allocs(graphs, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(survives)};
    return cmocka_run_group_tests_name("package/memory", tests, NULL, NULL);
}
