/* Builds two layers with a softmax behind them out of whole operators, for batches of any size, as
 * one tensor program. Prints it.
 *     build_mlp */
#include <stdio.h>

#include <hone/hone.h>

int main(void) {
    static const int64_t w1[] = {32, 16}, b1[] = {32}, w2[] = {10, 32}, b2[] = {10};
    hone_formula *f = NULL;
    hone_program *program = NULL;
    char *text = NULL;
    hone_error *error = hone_formula_create("mlp", &f);
    if (!error) {
        const hone_term *batch = hone_formula_size(f, "batch");
        const hone_term *width = hone_term_int(hone_formula_terms(f), "int32", 16);
        const hone_term *shape[] = {batch, width};
        hone_array x = hone_formula_input_sized(f, "x", "float32", 2, shape);
        hone_array weight1 = hone_formula_input(f, "weight1", "float32", 2, w1);
        hone_array bias1 = hone_formula_input(f, "bias1", "float32", 1, b1);
        hone_array weight2 = hone_formula_input(f, "weight2", "float32", 2, w2);
        hone_array bias2 = hone_formula_input(f, "bias2", "float32", 1, b2);
        hone_array y = hone_topi_dense(f, x, weight1, bias1);
        y = hone_topi_unary(f, "nn.relu", y);
        y = hone_topi_dense(f, y, weight2, bias2);
        y = hone_topi_softmax(f, y, 1);
        error =
            hone_formula_finish(f, 1, &y, &program); /* the first mistake of all above, if any */
    }
    if (!error) error = hone_program_print(program, &text);
    if (error)
        fprintf(stderr, "%s\n", hone_error_message(error));
    else
        printf("%s", text);
    int code = error ? 1 : 0;
    hone_error_free(error);
    hone_text_free(text);
    hone_program_free(program);
    hone_formula_free(f);
    return code;
}
