/* Builds a tensor program from formulas: a matrix product, then the positive part of it. Prints it.
 *     build_matmul_relu */
#include <stdio.h>

#include <hone/hone.h>

int main(void) {
    static const int64_t a_shape[] = {128, 96}, b_shape[] = {96, 64}, shape[] = {128, 64};
    static const int64_t reduced[] = {96};
    hone_formula *f = NULL;
    hone_program *program = NULL;
    char *text = NULL;
    hone_error *error = hone_formula_create("main", &f);
    if (!error) {
        hone_terms *terms = hone_formula_terms(f);
        hone_array a = hone_formula_input(f, "A", "float32", 2, a_shape);
        hone_array b = hone_formula_input(f, "B", "float32", 2, b_shape);
        /* Y[i, j] = sum over k of A[i, k] * B[k, j] */
        hone_formula_axes(f, 2, shape, 1, reduced);
        const hone_term *i = hone_formula_axis(f, 0), *j = hone_formula_axis(f, 1);
        const hone_term *k = hone_formula_axis(f, 2);
        const hone_term *left = hone_formula_load(f, a, (const hone_term *[]){i, k});
        const hone_term *right = hone_formula_load(f, b, (const hone_term *[]){k, j});
        hone_array y =
            hone_formula_reduce(f, "Y", "sum", hone_term_binary(terms, "*", left, right));
        /* C[i, j] = max(Y[i, j], 0) */
        hone_formula_axes(f, 2, shape, 0, NULL);
        i = hone_formula_axis(f, 0), j = hone_formula_axis(f, 1);
        const hone_term *value = hone_formula_load(f, y, (const hone_term *[]){i, j});
        const hone_term *zero = hone_term_float(terms, "float32", 0);
        hone_array c = hone_formula_compute(f, "C", hone_term_binary(terms, "max", value, zero));
        error = hone_formula_finish(f, 1, &c, &program);
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
