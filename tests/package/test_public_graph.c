/* tests/package/test_public_graph.c - graph functions by the public interface: looked at,
 * rewritten, made; and what is refused. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/graph/graph_run.h"
#include "tests/package/graph_model.h"

typedef const hone_argument *argument;
typedef const hone_term *term;

/* ---- looking ---- */

typedef struct seen {
    hone_str text;
} seen;

static void see_parameter(void *context, argument parameter) {
    seen *s = context;
    hone_str_printf(&s->text, "%s: %s\n", hone_argument_name(parameter),
                    hone_argument_describe(parameter));
}

static void see_binding(void *context, const hone_binding *binding) {
    seen *s = context;
    const char *callee = hone_binding_callee(binding);
    hone_str_printf(&s->text, "%s = %d %s(", hone_argument_name(hone_binding_value(binding)),
                    (int)hone_binding_get_kind(binding), callee ? callee : "-");
    for (size_t i = 0; i < hone_binding_arg_count(binding); i++) {
        argument a = hone_binding_arg(binding, i);
        const char *name = hone_argument_name(a);
        hone_str_printf(&s->text, "%s%s", i ? ", " : "", name ? name : hone_argument_describe(a));
        size_t bytes;
        const float *data = hone_argument_data(a, &bytes);
        if (data) hone_str_printf(&s->text, " of %zu bytes, last %g", bytes, (double)data[2]);
    }
    hone_str_printf(&s->text, ") %lld\n", (long long)hone_binding_integer(binding, "axis", -7));
}

static void see_result(void *context, argument result) {
    seen *s = context;
    char type[24];
    hone_argument_type(result, type);
    hone_str_printf(&s->text, "%s %s of rank %d, %lld rows\n", hone_argument_name(result), type,
                    (int)hone_argument_rank(result), (long long)hone_argument_extent(result, 0));
}

static void visits_graphs(void **state) {
    (void)state;
    hone_program *program = public_parse(model);
    seen s = {0};
    hone_graph_visitor visitor = {see_parameter, see_binding, see_result, &s}, nothing = {0};
    public_ok(hone_graph_visit(program, NULL, &visitor));
    public_ok(hone_graph_visit(program, "main", &nothing));
    bool is_right =
        strcmp(hone_str_text(&s.text), "x: float32[2, 3]\n"
                                       "a = 0 nn.relu(x) -7\n"
                                       "b = 1 twice(a) -7\n"
                                       "c = 0 add(b, float32[3] of 12 bytes, last 3) -7\n"
                                       "d = 0 nn.softmax(c) 0\n"
                                       "d float32 of rank 2, 2 rows\n") == 0;
    if (!is_right) print_message("%s", hone_str_text(&s.text));
    hone_str_deinit(&s.text);
    assert_true(is_right);
    public_expect(hone_graph_visit(program, "twice", &visitor), "unsupported", "no graph function");
    public_expect(hone_graph_visit(program, "nobody", &visitor), "not_found", "nobody");
    public_expect(hone_graph_visit(NULL, NULL, &visitor), "invalid", "program is NULL");
    public_expect(hone_graph_visit(program, NULL, NULL), "invalid", "visitor is NULL");
    hone_program_free(program);
}

/* ---- rewriting ---- */

static bool is_call(const hone_binding *binding, const char *op) {
    const char *callee = hone_binding_callee(binding);
    return hone_binding_get_kind(binding) == HONE_BINDING_OPERATOR && strcmp(callee, op) == 0;
}

/* relu(x) → maximum(x, 0) */
static argument relu_to_maximum(void *context, hone_graph *graph, const hone_binding *binding) {
    (void)context;
    static const float zero = 0;
    if (!is_call(binding, "nn.relu")) return NULL;
    argument both[] = {hone_binding_arg(binding, 0),
                       hone_graph_constant(graph, "float32", 0, NULL, &zero)};
    return hone_graph_operator(graph, "maximum", 2, both, 0, NULL);
}

static void rewrites_graphs(void **state) {
    (void)state;
    hone_program *program = public_parse(model), *other = NULL, *again = NULL;
    public_ok(hone_graph_rewrite(program, NULL, relu_to_maximum, NULL, &other));
    public_prints(other, "R.maximum(x, ");
    public_prints(other, "R.call_tir(cls.twice, (a,)"); /* what is new has the old name */
    bool is_same = graph_model_agrees(program, other);
    public_ok(hone_graph_rewrite(other, NULL, relu_to_maximum, NULL, &again));
    int is_equal = hone_program_equal(other, again, NULL);
    hone_program_free(program);
    hone_program_free(other);
    hone_program_free(again);
    assert_true(is_same);
    assert_int_equal(is_equal, 1);
}

/* A sum of what a tensor program gives, not of a parameter: asked of the graph so far. */
static argument sum_behind_program(void *context, hone_graph *graph, const hone_binding *binding) {
    if (is_call(binding, "nn.relu")) {
        assert_null(hone_graph_lookup(graph, hone_binding_arg(binding, 0))); /* a parameter */
    }
    if (!is_call(binding, "add")) return NULL;
    const hone_binding *maker = hone_graph_lookup(graph, hone_binding_arg(binding, 0));
    assert_int_equal(hone_binding_get_kind(maker), HONE_BINDING_TENSOR_PROGRAM);
    assert_string_equal(hone_binding_callee(maker), "twice");
    assert_string_equal(hone_argument_name(hone_binding_value(maker)), "b");
    const hone_binding *before = hone_graph_lookup(graph, hone_binding_arg(maker, 0));
    assert_string_equal(hone_binding_callee(before), "nn.relu");
    assert_null(hone_graph_lookup(graph, hone_binding_arg(binding, 1))); /* a constant */
    assert_null(hone_graph_lookup(graph, hone_binding_value(binding)));  /* not made yet */
    assert_null(hone_graph_lookup(graph, NULL));
    assert_null(hone_graph_lookup(NULL, hone_binding_arg(binding, 0)));
    ++*(int *)context;
    return hone_binding_arg(before, 0);
}

static void looks_behind_arguments(void **state) {
    (void)state;
    int count = 0;
    hone_program *program = public_parse(model), *other = NULL;
    public_ok(hone_graph_rewrite(program, NULL, sum_behind_program, &count, &other));
    public_prints(other, "R.nn.softmax(x, ");
    hone_program_free(other);
    hone_program_free(program);
    assert_int_equal(count, 1);
}

/* Calls of relu become calls of a tensor program, made by a formula for their shape. */
static argument relu_to_program(void *context, hone_graph *graph, const hone_binding *binding) {
    (void)context;
    if (!is_call(binding, "nn.relu")) return NULL;
    argument x = hone_binding_arg(binding, 0);
    term shape[] = {hone_argument_extent_term(x, 0), hone_argument_extent_term(x, 1)};
    return hone_graph_call_program(graph, "relu", 1, &x, "float32", 2, shape);
}

static hone_program *relu_program(void) {
    static const int64_t shape[] = {2, 3};
    hone_formula *f = NULL;
    hone_program *program = NULL;
    public_ok(hone_formula_create("relu", &f));
    hone_array x = hone_formula_input(f, "x", "float32", 2, shape);
    hone_array y = hone_topi_unary(f, "nn.relu", x);
    public_ok(hone_formula_finish(f, 1, &y, &program));
    hone_formula_free(f);
    return program;
}

static void calls_programs_of_formulas(void **state) {
    (void)state;
    hone_program *program = public_parse(model), *kernel = relu_program();
    hone_program *joined = NULL, *other = NULL;
    public_expect(hone_graph_rewrite(program, NULL, relu_to_program, NULL, &other), "invalid",
                  "relu"); /* it is not there yet */
    assert_null(other);
    public_ok(hone_program_update(program, kernel, &joined));
    hone_program_free(kernel);
    public_ok(hone_graph_rewrite(joined, "main", relu_to_program, NULL, &other));
    public_prints(other, "R.call_tir(cls.relu, (x,)");
    bool is_same = graph_model_agrees(program, other);
    hone_program_free(program);
    hone_program_free(joined);
    hone_program_free(other);
    assert_true(is_same);
}

/* The mutator brings along what it calls, once. */
typedef struct bringing {
    hone_program *kernel;
    int count;
} bringing;

static argument bring_program(void *context, hone_graph *graph, const hone_binding *binding) {
    bringing *b = context;
    if (!is_call(binding, "nn.relu")) return NULL;
    if (b->count++ == 0) hone_graph_add(graph, b->kernel);
    return relu_to_program(NULL, graph, binding);
}

static argument bring_twice(void *context, hone_graph *graph, const hone_binding *binding) {
    hone_graph_add(graph, context);
    hone_graph_add(graph, context);
    return relu_to_program(NULL, graph, binding);
}

static argument bring_nothing(void *context, hone_graph *graph, const hone_binding *binding) {
    (void)binding;
    hone_graph_add(graph, context);
    return NULL;
}

static void adds_functions_on_the_way(void **state) {
    (void)state;
    bringing b = {.kernel = relu_program()};
    hone_program *program = public_parse(model), *other = NULL;
    public_ok(hone_graph_rewrite(program, "main", bring_program, &b, &other));
    public_prints(other, "R.call_tir(cls.relu, (x,)");
    bool is_same = graph_model_agrees(program, other);
    hone_program_free(other);
    public_expect(hone_graph_rewrite(program, "main", bring_twice, b.kernel, &other), "invalid",
                  "relu");
    public_expect(hone_graph_rewrite(program, "main", bring_nothing, NULL, &other), "invalid",
                  "is NULL");
    assert_null(other);
    hone_program_free(b.kernel);
    hone_program_free(program);
    assert_true(is_same);
    hone_graph_add(NULL, NULL);
}

/* What follows from another type is inferred anew. */
static argument sum_of_rows(void *context, hone_graph *graph, const hone_binding *binding) {
    (void)context;
    if (!is_call(binding, "nn.relu")) return NULL;
    argument x = hone_binding_arg(binding, 0);
    hone_option options[] = {hone_option_integer("axis", 0)};
    return hone_graph_operator(graph, "sum", 1, &x, 1, options);
}

static void infers_anew(void **state) {
    (void)state;
    hone_program *program = public_parse("from tvm.script import relax as R\n"
                                         "@R.function\n"
                                         "def main(x: R.Tensor((\"n\", 3), \"float32\")) -> "
                                         "R.Tensor((\"n\", 3), \"float32\"):\n"
                                         "    a: R.Tensor((\"n\", 3), \"float32\") = R.nn.relu(x)\n"
                                         "    b: R.Tensor((\"n\", 3), \"float32\") = R.exp(a)\n"
                                         "    return b\n");
    hone_program *other = NULL;
    public_ok(hone_graph_rewrite(program, NULL, sum_of_rows, NULL, &other));
    public_prints(other, "b: R.Tensor((3,), dtype=\"float32\") = R.exp(a)");
    hone_program_free(other);
    hone_program_free(program);
}

/* ---- making ---- */

static void makes_graphs(void **state) {
    (void)state;
    static const float bias_data[] = {0.5f, -0.5f};
    static const int64_t bias_shape[] = {2};
    hone_graph *g = NULL;
    hone_program *program = NULL;
    public_ok(hone_graph_create("main", NULL, &g));
    term n = hone_graph_size(g, "n");
    term three = hone_term_int(hone_graph_terms(g), "int64", 3);
    term two = hone_term_int(hone_graph_terms(g), "int32", 2);
    argument x = hone_graph_parameter(g, "x", "float32", 2, (term[]){n, three});
    argument w = hone_graph_parameter(g, "w", "float32", 2, (term[]){three, two});
    argument bias = hone_graph_constant(g, "float32", 1, bias_shape, bias_data);
    argument xw = hone_graph_operator(g, "matmul", 2, (argument[]){x, w}, 0, NULL);
    argument sum = hone_graph_operator(g, "add", 2, (argument[]){xw, bias}, 0, NULL);
    assert_string_equal(hone_argument_describe(sum), "float32[n, 2]");
    assert_int_equal(hone_argument_extent(sum, 0), -1);
    assert_int_equal(hone_argument_extent(sum, 1), 2);
    term longer[] = {hone_term_binary(hone_graph_terms(g), "*", n, two)};
    hone_option shape = hone_option_terms("shape", 1, longer);
    argument flat = hone_graph_operator(g, "reshape", 1, &sum, 1, &shape);
    argument both = hone_graph_tuple(g, 2, (argument[]){sum, flat});
    assert_int_equal(hone_argument_same(hone_graph_item(g, both, 1), flat), 1);
    public_ok(hone_graph_finish(g, both, &program));
    hone_graph_free(g);
    hone_program *want = public_parse(
        "from tvm.script import relax as R\n"
        "from tvm.script import tir as T\n"
        "@R.function\n"
        "def main(x: R.Tensor((\"n\", 3), \"float32\"), w: R.Tensor((3, 2), \"float32\")):\n"
        "    n = T.int64()\n"
        "    with R.dataflow():\n"
        "        a = R.matmul(x, w)\n"
        "        b = R.add(a, R.const([0.5, -0.5], \"float32\"))\n"
        "        c = R.reshape(b, R.shape([n * 2]))\n"
        "        R.output(b, c)\n"
        "    return (b, c)\n");
    char *difference = NULL;
    int is_equal = hone_program_equal(program, want, &difference);
    if (difference) print_message("%s\n", difference);
    hone_text_free(difference);
    hone_program_free(program);
    hone_program_free(want);
    assert_int_equal(is_equal, 1);
}

static void makes_calls(void **state) {
    (void)state;
    hone_program *with = public_parse(model), *program = NULL, *part = NULL;
    hone_graph *g = NULL;
    public_expect(hone_graph_create("main", with, &g), "invalid", "already");
    assert_null(g);
    public_ok(hone_graph_create("outer", with, &g));
    hone_terms *terms = hone_graph_terms(g);
    term shape[] = {hone_term_int(terms, "int64", 2), hone_term_int(terms, "int64", 3)};
    argument x = hone_graph_parameter(g, "x", "float32", 2, shape);
    argument y = hone_graph_call_function(g, "main", 1, &x);
    assert_string_equal(hone_argument_describe(y), "float32[2, 3]");
    y = hone_graph_call_program(g, "twice", 1, &y, "float32", 2, shape);
    y = hone_graph_call_external(g, "my_kernel", 1, &y, "float32", 2, shape);
    public_ok(hone_graph_finish(g, y, &program));
    hone_graph_free(g);
    public_prints(program, "cls.main(x)");
    public_prints(program, "R.call_dps_packed(\"my_kernel\"");
    public_ok(hone_program_get(program, "outer", &part)); /* with what it calls */
    assert_int_equal(hone_program_function_count(part), 3);
    hone_program_free(part);
    hone_program_free(program);
    hone_program_free(with);
}

/* ---- mutators that make mistakes ---- */

typedef struct wrong {
    const char *name;
    hone_graph_mutator mutator;
    const char *kind, *part;
} wrong;

static argument x_of(const hone_binding *binding) {
    return hone_binding_arg(binding, 0);
}
static argument no_operator(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_operator(g, "nn.rely", 1, (argument[]){x_of(b)}, 0, NULL);
}
static argument null_operator(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_operator(g, NULL, 1, (argument[]){x_of(b)}, 0, NULL);
}
static argument null_args(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    (void)b;
    return hone_graph_operator(g, "nn.relu", 1, NULL, 0, NULL);
}
static argument null_arg(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_operator(g, "add", 2, (argument[]){x_of(b), NULL}, 0, NULL);
}
static argument null_options(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_operator(g, "nn.softmax", 1, (argument[]){x_of(b)}, 1, NULL);
}
static argument bad_option(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    hone_option option = hone_option_integer("ax", 1);
    return hone_graph_operator(g, "nn.softmax", 1, (argument[]){x_of(b)}, 1, &option);
}
static argument bad_shapes(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_operator(g, "matmul", 2, (argument[]){x_of(b), x_of(b)}, 0, NULL);
}
static argument old_value(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_operator(g, "nn.relu", 1, (argument[]){hone_binding_value(b)}, 0, NULL);
}
static argument other_graph(void *context, hone_graph *g, const hone_binding *b) {
    (void)g;
    (void)b;
    return context;
}
static argument no_program(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_call_program(g, "nobody", 1, (argument[]){x_of(b)}, "float32", 0, NULL);
}
static argument other_extent(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    term four = hone_term_int(hone_graph_terms(g), "int64", 4);
    return hone_graph_call_program(g, "twice", 1, (argument[]){x_of(b)}, "float32", 2,
                                   (term[]){four, four});
}
static argument other_rank(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_call_program(g, "twice", 1, (argument[]){x_of(b)}, "float32", 0, NULL);
}
static argument no_type(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_call_program(g, "twice", 1, (argument[]){x_of(b)}, "float31", 0, NULL);
}
static argument null_extent(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_call_program(g, "twice", 1, (argument[]){x_of(b)}, "float32", 1,
                                   (term[]){NULL});
}
static argument null_shape(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_call_external(g, "f", 1, (argument[]){x_of(b)}, "float32", 1, NULL);
}
static argument no_function(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_call_function(g, "twice", 1, (argument[]){x_of(b)});
}
static argument no_item(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    return hone_graph_item(g, x_of(b), 0);
}
static argument null_data(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    (void)b;
    return hone_graph_constant(g, "float32", 0, NULL, NULL);
}
static argument negative_constant(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    (void)b;
    static const int64_t shape[] = {-4};
    return hone_graph_constant(g, "float32", 1, shape, shape);
}
static argument late_size(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    (void)b;
    hone_graph_size(g, "n");
    return NULL;
}
static argument late_parameter(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    (void)b;
    return hone_graph_parameter(g, "n", "float32", 0, NULL);
}

static const wrong wrongs[] = {
    {"no operator",       no_operator,       "not_found", "nn.rely"                     },
    {"NULL operator",     null_operator,     "invalid",   "an operator is NULL"         },
    {"NULL arguments",    null_args,         "invalid",   "arguments of 'nn.relu' are"  },
    {"NULL argument",     null_arg,          "invalid",   "argument 1 of 'add' is NULL" },
    {"NULL options",      null_options,      "invalid",   "options of 'nn.softmax' are" },
    {"bad option",        bad_option,        "invalid",   "no option 'ax'"              },
    {"bad shapes",        bad_shapes,        "type",      "'matmul' of float32[2, 3]"   },
    {"old value",         old_value,         "invalid",   "of another graph"            },
    {"other graph",       other_graph,       "invalid",   "of another graph"            },
    {"no program",        no_program,        "invalid",   "'nobody'"                    },
    {"other extent",      other_extent,      "invalid",   "extent"                      },
    {"other rank",        other_rank,        "invalid",   "dimensions"                  },
    {"no type",           no_type,           "type",      "float31"                     },
    {"NULL extent",       null_extent,       "invalid",   "an extent is NULL"           },
    {"NULL shape",        null_shape,        "invalid",   "no shape"                    },
    {"no function",       no_function,       "not_found", "no graph function"           },
    {"no item",           no_item,           "type",      "item 0"                      },
    {"NULL data",         null_data,         "invalid",   "without data"                },
    {"negative constant", negative_constant, "invalid",   "-4"                          },
    {"late size",         late_size,         "invalid",   "a mutator adds no sizes"     },
    {"late parameter",    late_parameter,    "invalid",   "a mutator adds no parameters"},
};

static void refuses_mutations(void **state) {
    const wrong *row = *state;
    hone_program *program = public_parse(model), *out = program;
    hone_graph *g = NULL;
    public_ok(hone_graph_create("other", NULL, &g));
    argument foreign = hone_graph_parameter(g, "x", "float32", 0, NULL);
    union {
        argument from;
        void *to;
    } context = {.from = foreign};
    hone_error *error = hone_graph_rewrite(program, NULL, row->mutator, context.to, &out);
    hone_graph_free(g);
    hone_program_free(program);
    assert_null(out);
    public_expect(error, row->kind, row->part);
}

static argument keep(void *context, hone_graph *g, const hone_binding *b) {
    (void)context;
    (void)g;
    return hone_binding_value(b); /* what it was: as NULL */
}

static void needs_graphs(void **state) {
    (void)state;
    hone_program *program = public_parse(model), *out = program;
    hone_graph *g = NULL;
    public_ok(hone_graph_rewrite(program, NULL, keep, NULL, &out));
    assert_int_equal(hone_program_equal(program, out, NULL), 1);
    hone_program_free(out);
    public_expect(hone_graph_rewrite(NULL, NULL, keep, NULL, &out), "invalid", "program is NULL");
    assert_null(out);
    public_expect(hone_graph_rewrite(program, NULL, NULL, NULL, &out), "invalid", "mutator");
    public_expect(hone_graph_rewrite(program, NULL, keep, NULL, NULL), "invalid", "out_program");
    public_expect(hone_graph_rewrite(program, "twice", keep, NULL, &out), "unsupported", "twice");
    public_expect(hone_graph_create(NULL, NULL, &g), "invalid", "NULL");
    public_expect(hone_graph_create("a b", NULL, &g), "invalid", "'a b'");
    public_expect(hone_graph_create("a", NULL, NULL), "invalid", "out_graph is NULL");
    public_expect(hone_graph_finish(NULL, NULL, &out), "invalid", "graph is NULL");
    public_ok(hone_graph_create("a", NULL, &g));
    hone_terms *terms = hone_graph_terms(g);
    public_expect(hone_graph_finish(g, NULL, NULL), "invalid", "out_program is NULL");
    public_expect(hone_graph_finish(g, NULL, &out), "invalid", "result is NULL");
    public_expect(hone_graph_finish(g, NULL, &out), "invalid", "finished");
    assert_null(hone_graph_terms(g));
    assert_null(hone_graph_size(g, "n"));
    assert_non_null(hone_term_int(terms, "int64", 1)); /* goes nowhere */
    hone_graph_free(g);
    hone_graph_free(NULL);
    public_ok(hone_graph_create("a", NULL, &g)); /* a size that nothing defines */
    term n = hone_graph_size(g, "n");
    argument y = hone_graph_call_external(g, "f", 0, NULL, "float32", 1, &n);
    public_expect(hone_graph_finish(g, y, &out), "invalid", "a size that nothing defines");
    hone_graph_free(g);
    public_ok(hone_graph_create("a", NULL, &g));
    y = hone_graph_call_external(g, "f", 0, NULL, "float32", 0, NULL);
    hone_graph_parameter(g, "x", "float32", 0, NULL);
    public_expect(hone_graph_finish(g, y, &out), "invalid", "after bindings");
    hone_graph_free(g);
    assert_null(hone_graph_operator(NULL, "exp", 0, NULL, 0, NULL));
    assert_null(hone_graph_tuple(NULL, 0, NULL));
    assert_null(hone_graph_terms(NULL));
    hone_program_free(program);
}

static void says_nothing_of_nothing(void **state) {
    (void)state;
    char type[24] = "x";
    size_t bytes = 1;
    assert_int_equal(hone_binding_get_kind(NULL), HONE_BINDING_OTHER);
    assert_null(hone_binding_callee(NULL));
    assert_null(hone_binding_value(NULL));
    assert_int_equal(hone_binding_arg_count(NULL), 0);
    assert_null(hone_binding_arg(NULL, 0));
    assert_int_equal(hone_binding_index(NULL), 0);
    assert_int_equal(hone_binding_integer(NULL, "axis", 5), 5);
    assert_null(hone_binding_text(NULL, "layout"));
    assert_int_equal(hone_argument_get_kind(NULL), HONE_ARGUMENT_OTHER);
    assert_null(hone_argument_name(NULL));
    assert_null(hone_argument_describe(NULL));
    hone_argument_type(NULL, type);
    assert_string_equal(type, "");
    hone_argument_type(NULL, NULL);
    assert_int_equal(hone_argument_rank(NULL), -1);
    assert_int_equal(hone_argument_extent(NULL, 0), -1);
    assert_null(hone_argument_extent_term(NULL, 0));
    assert_true(hone_argument_number(NULL) == 0);
    assert_int_equal(hone_argument_item_count(NULL), 0);
    assert_null(hone_argument_item(NULL, 0));
    assert_null(hone_argument_data(NULL, &bytes));
    assert_int_equal(bytes, 0);
    assert_int_equal(hone_argument_same(NULL, NULL), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_graphs),
        cmocka_unit_test(rewrites_graphs),
        cmocka_unit_test(looks_behind_arguments),
        cmocka_unit_test(calls_programs_of_formulas),
        cmocka_unit_test(adds_functions_on_the_way),
        cmocka_unit_test(infers_anew),
        cmocka_unit_test(makes_graphs),
        cmocka_unit_test(makes_calls),
        cmocka_unit_test(needs_graphs),
        cmocka_unit_test(says_nothing_of_nothing),
    };
    int failed = cmocka_run_group_tests_name("package/graph", tests, NULL, NULL);
    return failed + HONE_RUN_ROWS("package/graph_mistakes", wrongs, refuses_mutations);
}
