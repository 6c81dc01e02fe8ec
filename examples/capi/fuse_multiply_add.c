/* A pass of one's own over a graph: an addition of a product becomes one operator, R.ewise_fma;
 * then what nobody uses any more goes. Prints the function after each. fuse_multiply_add PROGRAM.py
 */
#include <stdio.h>
#include <string.h>

#include <hone/hone.h>

static int is_operator(const hone_binding *binding, const char *name) {
    return hone_binding_get_kind(binding) == HONE_BINDING_OPERATOR &&
           strcmp(hone_binding_callee(binding), name) == 0;
}

/* add(multiply(x, y), z) → ewise_fma(x, y, z) */
static const hone_argument *fuse(void *context, hone_graph *graph, const hone_binding *binding) {
    int *count = context;
    if (!is_operator(binding, "add")) return NULL;
    const hone_binding *product = hone_graph_lookup(graph, hone_binding_arg(binding, 0));
    if (!is_operator(product, "multiply")) return NULL;
    const hone_argument *args[] = {hone_binding_arg(product, 0), hone_binding_arg(product, 1),
                                   hone_binding_arg(binding, 1)};
    (*count)++;
    return hone_graph_operator(graph, "ewise_fma", 3, args, 0, NULL);
}

static hone_error *show(const char *title, const hone_program *program) {
    char *text = NULL;
    hone_error *error = hone_program_print(program, &text);
    if (!error) printf("# %s\n%s\n", title, text);
    hone_text_free(text);
    return error;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: fuse_multiply_add PROGRAM.py\n");
        return 2;
    }
    static const char *const passes[] = {"prune"};
    hone_program *program = NULL, *fused = NULL, *pruned = NULL;
    int count = 0;
    hone_error *error = hone_program_load(argv[1], &program);
    if (!error) error = hone_graph_rewrite(program, NULL, fuse, &count, &fused);
    if (!error) error = show("fused", fused);
    if (!error) error = hone_program_run_passes(fused, 1, passes, &pruned);
    if (!error) error = show("without what is not used", pruned);
    if (error)
        fprintf(stderr, "%s\n", hone_error_message(error));
    else
        printf("# %d of them\n", count);
    int code = error ? 1 : 0;
    hone_error_free(error);
    hone_program_free(pruned);
    hone_program_free(fused);
    hone_program_free(program);
    return code;
}
