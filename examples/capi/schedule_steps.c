/* Schedules a program step by step: tiles a matrix product, computes its positive part close to it,
 * and takes the beginning of the sum out. Prints what a refused step says, then the program.
 *     schedule_steps PROGRAM.py */
#include <stdio.h>
#include <string.h>

#include <hone/hone.h>

static const char *const steps[] = {
    "b = sch.get_sblock(\"M\")\ni, j, k = sch.get_loops(b)",
    "j0, j1 = sch.split(j, [None, 4])",
    "sch.reorder(j0, k, j1)",
    "sch.compute_inline(b)", /* is refused: the block sums up */
    "r = sch.get_sblock(\"R0\")\nsch.reverse_compute_at(r, j0)",
    "sch.decompose_reduction(b, k)",
};

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: schedule_steps PROGRAM.py\n");
        return 2;
    }
    hone_program *program = NULL, *scheduled = NULL;
    hone_steps *schedule = NULL;
    char *text = NULL;
    hone_error *error = hone_program_load(argv[1], &program);
    if (!error) error = hone_steps_create(program, NULL, 0, &schedule);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !error; i++) {
        hone_error *refused = hone_steps_add(schedule, steps[i]);
        if (refused && strcmp(hone_error_kind(refused), "illegal") != 0) {
            error = refused;
        } else if (refused) {
            size_t line = strcspn(hone_error_message(refused), "\n");
            printf("# refused: %.*s\n", (int)line, hone_error_message(refused));
            hone_error_free(refused);
        }
    }
    if (!error) error = hone_steps_program(schedule, &scheduled);
    if (!error) error = hone_program_print(scheduled, &text);
    if (error)
        fprintf(stderr, "%s\n", hone_error_message(error));
    else
        printf("%s", text);
    int code = error ? 1 : 0;
    hone_error_free(error);
    hone_text_free(text);
    hone_program_free(scheduled);
    hone_program_free(program);
    hone_steps_free(schedule);
    return code;
}
