/* A pass of one's own: counts what a function does, writes "x + x" where it says "x * 2", notes
 * that in an attribute, and puts the result into the module in the place of the old function.
 *     own_pass PROGRAM.py */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <hone/hone.h>

typedef struct counts {
    int loops, blocks, stores, products;
} counts;

static void see_statement(void *context, unsigned depth, const char *kind, const char *name) {
    counts *c = context;
    c->loops += strcmp(kind, "for") == 0;
    c->blocks += strcmp(kind, "block") == 0;
    c->stores += strcmp(kind, "store") == 0;
    printf("# %*s%s%s%s\n", (int)(2 * depth), "", kind, name ? " " : "", name ? name : "");
}

static void see_term(void *context, const hone_term *term) {
    counts *c = context;
    const char *name = hone_term_name(term);
    c->products += hone_term_get_kind(term) == HONE_TERM_BINARY && strcmp(name, "*") == 0;
    for (size_t i = 0; i < hone_term_arg_count(term); i++)
        see_term(context, hone_term_arg(term, i));
}

/* x * 2 → x + x, where it is a sum of floats */
static const hone_term *add_twice(void *context, hone_terms *terms, const hone_term *term) {
    (void)context;
    const char *name = hone_term_name(term);
    if (hone_term_get_kind(term) != HONE_TERM_BINARY || strcmp(name, "*") != 0) return term;
    const hone_term *x = hone_term_arg(term, 0), *factor = hone_term_arg(term, 1);
    bool is_two =
        hone_term_get_kind(factor) == HONE_TERM_FLOAT && hone_term_float_value(factor) == 2;
    return is_two ? hone_term_binary(terms, "+", x, x) : term;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: own_pass PROGRAM.py\n");
        return 2;
    }
    hone_program *program = NULL, *rewritten = NULL, *marked = NULL, *alone = NULL, *joined = NULL;
    char *text = NULL;
    counts seen = {0};
    hone_visitor visitor = {see_statement, see_term, &seen};
    hone_error *error = hone_program_load(argv[1], &program);
    if (!error) error = hone_program_visit(program, NULL, &visitor);
    if (!error) error = hone_program_rewrite(program, NULL, add_twice, NULL, &rewritten);
    if (!error) {
        error = hone_program_set_attribute(rewritten, NULL, "rewritten_by", "own_pass", &marked);
    }
    if (!error) {
        error = hone_program_get(marked, hone_program_function_name(program, 0), &alone);
    }
    if (!error) error = hone_program_update(program, alone, &joined);
    if (!error) error = hone_program_print(joined, &text);
    if (error) {
        fprintf(stderr, "%s\n", hone_error_message(error));
    } else {
        printf("# %d loops, %d blocks, %d stores, %d products\n%s", seen.loops, seen.blocks,
               seen.stores, seen.products, text);
    }
    int code = error ? 1 : 0;
    hone_error_free(error);
    hone_text_free(text);
    hone_program_free(joined);
    hone_program_free(alone);
    hone_program_free(marked);
    hone_program_free(rewritten);
    hone_program_free(program);
    return code;
}
