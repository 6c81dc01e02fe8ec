/* Schedules a program: applies a trace, with a seed draws its decisions anew, prints the result.
 *     replay_trace PROGRAM.py TRACE.py [SEED] */
#include <stdio.h>
#include <stdlib.h>

#include <hone/hone.h>

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!file || !text || fread(text, 1, (1 << 20) - 1, file) == 0) {
        perror(path);
        free(text);
        text = NULL;
    }
    if (file) fclose(file);
    return text;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: replay_trace PROGRAM.py TRACE [SEED]\n");
        return 2;
    }
    char *trace = read_file(argv[2]);
    if (!trace) return 1;
    hone_replay_options options = {0};
    if (argc > 3) {
        options.resample = 1;
        options.seed = strtoull(argv[3], NULL, 10);
    }
    hone_program *program = NULL, *scheduled = NULL;
    char *text = NULL, *made = NULL;
    hone_error *error = hone_program_load(argv[1], &program);
    if (!error) error = hone_program_replay(program, trace, &options, &scheduled, &made);
    if (!error) error = hone_program_print(scheduled, &text);
    if (error)
        fprintf(stderr, "%s\n", hone_error_message(error));
    else
        printf("%s# decisions: %s\n", text, made);
    int code = error ? 1 : 0;
    hone_error_free(error);
    hone_text_free(made);
    hone_text_free(text);
    hone_program_free(scheduled);
    hone_program_free(program);
    free(trace);
    return code;
}
