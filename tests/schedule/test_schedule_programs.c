/* Random steps on the programs of golden/programs.txt, which are made to be hard for one primitive
 * or another: what is accepted means the same. HONE_SEQUENCES sets how many per program. */
#include "tests/support/hone_test.h"

#include <stdlib.h>
#include <string.h>

#include "support/alloc.h"
#include "support/fs.h"
#include "tests/schedule/random_sequence.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

enum { DEFAULT_SEQUENCES = 60, MOST_FAILURES = 3, MOST_WORK = 4096 };

#define MARK "==== program "

/* Does the program run at all, and soon? Some are there to be refused. */
static bool runs(const hone_func *base) {
    hone_str why = {0};
    if (hone_work_of(base, HONE_NODE_TOP, MOST_WORK) > MOST_WORK) return false;
    bool does = hone_test_agrees(base, base, 1, &why);
    hone_str_deinit(&why);
    return does;
}

static uint64_t number_from(const char *variable, uint64_t otherwise) {
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t try_program(const char *name, const char *text, hone_step_counts *counts) {
    uint64_t count = number_from("HONE_SEQUENCES", DEFAULT_SEQUENCES), failed = 0;
    uint64_t seed = number_from("HONE_FIRST_SEED", 1);
    hone_sequence_options options = {.replay_every = 1};
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(text, &module);
    if (!runs(base)) count = 0;
    for (uint64_t i = 0; i < count && failed < MOST_FAILURES; i++) {
        if (hone_random_sequence(base, seed + i, &options, counts)) continue;
        print_error("in program %s\n", name);
        failed++;
    }
    hone_module_release(module);
    return failed;
}

static void keep_their_meaning(void **state) {
    (void)state;
    char *text = NULL;
    size_t length = 0;
    uint64_t failed = 0;
    hone_step_counts counts = {0};
    const char *path = hone_test_source_path("tests/schedule/golden/programs.txt");
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 22, &text, &length));
    for (char *at = strstr(text, MARK), *next; at; at = next) {
        char *name = at + strlen(MARK), *program = strchr(at, '\n');
        next = strstr(program, MARK);
        *program++ = '\0';
        if (next) next[-1] = '\0'; /* the end of the line before */
        failed += try_program(name, program, &counts);
    }
    print_message("%llu steps accepted of %llu\n", (unsigned long long)counts.accepted,
                  (unsigned long long)counts.tried);
    hone_step_counts_print(&counts);
    hone_free(text);
    assert_true(counts.accepted > 0);
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keep_their_meaning)};
    return cmocka_run_group_tests_name("schedule/programs", tests, NULL, NULL);
}
