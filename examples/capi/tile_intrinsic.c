/* Maps the tiles of a matrix product to a function of one's own, in three steps: loops become a
 * block of 16 x 16 x 16, its operands go to memory of their own, and the block becomes a call. The
 * steps are written as functions of the text. Prints the trace's calls and the loops that remain.
 *     tile_intrinsic PROGRAM.py INTRINSIC.py */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hone/hone.h>

static const char tile[] = "def tile(sch, name, size=16):\n"
                           "    i, j, k = sch.get_loops(name)\n"
                           "    i0, i1 = sch.split(i, factors=[None, size])\n"
                           "    j0, j1 = sch.split(j, factors=[None, size])\n"
                           "    k0, k1 = sch.split(k, factors=[None, size])\n"
                           "    sch.reorder(i0, j0, k0, i1, j1, k1)\n"
                           "    return sch.blockize(i1), j0, k0\n"
                           "block, j0, k0 = tile(sch, \"product\")\n";
static const char memory[] =
    "for_a = sch.cache_read(block, 0, storage_scope=\"global.A_reg\")\n"
    "for_b = sch.cache_read(block, 1, storage_scope=\"global.B_reg\")\n"
    "sch.compute_at(for_a, k0)\n"
    "sch.compute_at(for_b, k0)\n"
    "back = sch.cache_write(block, 0, storage_scope=\"global.accumulator\")\n"
    "sch.reverse_compute_at(back, j0)\n";
static const char call[] = "sch.decompose_reduction(block, k0)\n"
                           "sch.tensorize(block, \"tile16\")\n";

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    if (!file || !text || fread(text, 1, (1 << 16) - 1, file) == 0) {
        perror(path);
        free(text);
        text = NULL;
    }
    if (file) fclose(file);
    return text;
}

static void see_statement(void *context, unsigned depth, const char *kind, const char *name) {
    (void)context;
    printf("%*s%s%s%s\n", (int)(2 * depth), "", kind, name ? " " : "", name ? name : "");
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: tile_intrinsic PROGRAM.py INTRINSIC.py\n");
        return 2;
    }
    char *intrinsic = read_file(argv[2]), *findings = NULL;
    if (!intrinsic) return 1;
    hone_program *program = NULL, *scheduled = NULL;
    hone_steps *schedule = NULL;
    hone_visitor visitor = {see_statement, NULL, NULL};
    const char *const steps[] = {tile, memory, call};
    hone_error *error = hone_program_load(argv[1], &program);
    if (!error) error = hone_steps_create(program, NULL, 0, &schedule);
    if (!error) error = hone_steps_add_intrin(schedule, "tile16", intrinsic);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !error; i++)
        error = hone_steps_add(schedule, steps[i]);
    if (!error) error = hone_steps_program(schedule, &scheduled);
    if (!error) error = hone_program_verify(scheduled, &findings);
    if (!error) error = hone_program_visit(scheduled, NULL, &visitor);
    if (error)
        fprintf(stderr, "%s\n", hone_error_message(error));
    else
        printf("# %s\n", findings ? findings : "well formed");
    int code = error || findings ? 1 : 0;
    hone_error_free(error);
    hone_text_free(findings);
    hone_program_free(scheduled);
    hone_program_free(program);
    hone_steps_free(schedule);
    free(intrinsic);
    return code;
}
