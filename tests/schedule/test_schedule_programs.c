/* tests/schedule/test_schedule_programs.c - random steps on the programs of
 * primitive/golden/programs.txt, which are made to be hard for one primitive or another: what is
 * accepted means the same. HONE_SEQUENCES sets how many per program. */
#include "tests/schedule/steps/program_sequences.h"
#include "tests/support/hone_test.h"

enum { DEFAULT_SEQUENCES = 60 };

static void keep_their_meaning(void **state) {
    (void)state;
    hone_check_program_sequences("programs.txt", DEFAULT_SEQUENCES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keep_their_meaning)};
    return cmocka_run_group_tests_name("schedule/programs", tests, NULL, NULL);
}
