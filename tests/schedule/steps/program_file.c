/* tests/schedule/steps/program_file.c - reads the programs of a file of golden/. */
#include "tests/schedule/steps/program_file.h"

#include <stdio.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/schedule/steps/random_sequence.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

enum { MOST_WORK = 4096, MOST_FAILURES = 3 };

#define MARK "==== program "

static bool runs_soon(const hone_func *base) {
    hone_str why = {0};
    bool does = hone_work_of(base, HONE_NODE_TOP, MOST_WORK) <= MOST_WORK &&
                hone_test_agrees(base, base, 1, &why);
    hone_str_deinit(&why);
    return does;
}

static uint64_t try_text(const char *name, const char *text, uint64_t count, hone_try_sequence try,
                         void *ctx) {
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(text, &module);
    uint64_t failed = 0, seed = hone_test_seed(1);
    if (!runs_soon(base)) count = 0;
    for (uint64_t i = 0; i < count && failed < MOST_FAILURES; i++) {
        if (try(ctx, base, seed + i)) continue;
        print_error("in program %s\n", name);
        failed++;
    }
    hone_module_release(module);
    return failed;
}

uint64_t hone_try_programs(const char *file, uint64_t count, hone_try_sequence try, void *ctx) {
    char *text = NULL, path[128];
    size_t length = 0;
    uint64_t failed = 0;
    count = hone_test_count(count);
    snprintf(path, sizeof path, "tests/schedule/primitive/golden/%s", file);
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path(path), 1 << 22, &text, &length));
    for (char *at = strstr(text, MARK), *next; at; at = next) {
        char *name = at + strlen(MARK), *program = strchr(at, '\n');
        next = strstr(program, MARK);
        *program++ = '\0';
        if (next) next[-1] = '\0'; /* the end of the line before */
        failed += try_text(name, program, count, try, ctx);
    }
    hone_free(text);
    return failed;
}
