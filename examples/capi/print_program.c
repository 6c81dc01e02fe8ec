/* Reads a program (TVMScript or ONNX), says whether it is well formed, prints it with its hash.
 *     print_program examples/fashion_mnist/mlp.onnx */
#include <stdio.h>

#include <hone/hone.h>

static int fail(const char *what, hone_error *error) {
    fprintf(stderr, "%s: %s (%s)\n", what, hone_error_message(error), hone_error_kind(error));
    hone_error_free(error);
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: print_program FILE (libhone %s)\n", hone_version());
        return 2;
    }
    hone_program *program;
    hone_error *error = hone_program_load(argv[1], &program);
    if (error) return fail(argv[1], error);

    char *text = NULL, *findings = NULL, hash[33];
    error = hone_program_verify(program, &findings);
    if (!error) error = hone_program_hash(program, NULL, hash);
    if (!error) error = hone_program_print(program, &text);
    if (!error) {
        printf("%s", text);
        printf("# hash: %s, functions: %zu\n", hash, hone_program_function_count(program));
        printf("# %s\n", findings ? findings : "well formed");
    }
    int is_good = !error && !findings;
    hone_text_free(text);
    hone_text_free(findings);
    hone_program_free(program);
    if (error) return fail(argv[1], error);
    return is_good ? 0 : 1;
}
