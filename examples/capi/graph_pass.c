/* A pass of one's own over a graph: lists what the operators give, and replaces each R.nn.silu by a
 * call of a tensor program that a formula makes for its shape.
 *     graph_pass PROGRAM.py */
#include <stdio.h>
#include <string.h>

#include <hone/hone.h>

static int is_silu(const hone_binding *binding) {
    return hone_binding_get_kind(binding) == HONE_BINDING_OPERATOR &&
           strcmp(hone_binding_callee(binding), "nn.silu") == 0;
}

/* x * sigmoid(x), of one shape */
static hone_error *build_kernel(const char *name, const int64_t *shape, hone_program **out) {
    hone_formula *f = NULL;
    hone_error *error = hone_formula_create(name, &f);
    if (error) return error;
    hone_array x = hone_formula_input(f, "x", "float32", 2, shape);
    hone_array y = hone_topi_binary(f, "multiply", x, hone_topi_unary(f, "sigmoid", x));
    error = hone_formula_finish(f, 1, &y, out);
    hone_formula_free(f);
    return error;
}

typedef struct kernels {
    hone_program *program; /* that they are put into */
    hone_error *error;
    int count;
} kernels;

/* Adds a kernel to the program for each silu of two dimensions. */
static void see(void *context, const hone_binding *binding) {
    kernels *k = context;
    const hone_argument *value = hone_binding_value(binding);
    const char *callee = hone_binding_callee(binding);
    printf("# %s = %s: %s\n", hone_argument_name(value), callee ? callee : "…",
           hone_argument_describe(value));
    if (!is_silu(binding) || hone_argument_rank(value) != 2 || k->error) return;
    int64_t shape[] = {hone_argument_extent(value, 0), hone_argument_extent(value, 1)};
    hone_program *kernel = NULL, *joined = NULL;
    char name[32];
    snprintf(name, sizeof name, "silu_%d", k->count++);
    k->error = build_kernel(name, shape, &kernel);
    if (!k->error) k->error = hone_program_update(k->program, kernel, &joined);
    hone_program_free(kernel);
    if (k->error) return;
    hone_program_free(k->program);
    k->program = joined;
}

/* R.nn.silu(x) → R.call_tir(cls.silu_0, (x,), …), in the same order */
static const hone_argument *replace(void *context, hone_graph *graph, const hone_binding *binding) {
    int *count = context;
    if (!is_silu(binding) || hone_argument_rank(hone_binding_value(binding)) != 2) return NULL;
    const hone_argument *x = hone_binding_arg(binding, 0);
    const hone_term *shape[] = {hone_argument_extent_term(x, 0), hone_argument_extent_term(x, 1)};
    char name[32];
    snprintf(name, sizeof name, "silu_%d", (*count)++);
    return hone_graph_call_program(graph, name, 1, &x, "float32", 2, shape);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: graph_pass PROGRAM.py\n");
        return 2;
    }
    hone_program *program = NULL, *rewritten = NULL;
    char *text = NULL;
    int count = 0;
    hone_error *error = hone_program_load(argv[1], &program);
    if (!error) { /* a copy, to which kernels are added */
        kernels k = {0};
        hone_graph_visitor visitor = {NULL, see, NULL, &k};
        error = hone_program_run_passes(program, 0, NULL, &k.program);
        if (!error) error = hone_graph_visit(program, NULL, &visitor);
        if (!error) error = k.error;
        hone_program_free(program);
        program = k.program;
    }
    if (!error) error = hone_graph_rewrite(program, NULL, replace, &count, &rewritten);
    if (!error) error = hone_program_print(rewritten, &text);
    if (error)
        fprintf(stderr, "%s\n", hone_error_message(error));
    else
        printf("%s", text);
    int code = error ? 1 : 0;
    hone_error_free(error);
    hone_text_free(text);
    hone_program_free(rewritten);
    hone_program_free(program);
    return code;
}
