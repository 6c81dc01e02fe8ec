/* tests/schedule/test_schedule_bases.c - random steps on the programs of
 * primitive/golden/bases.txt, which the generator of random programs does not make: what is
 * accepted means the same. HONE_SEQUENCES sets how many per program. */
#include "tests/schedule/steps/program_sequences.h"
#include "tests/support/hone_test.h"

enum { DEFAULT_SEQUENCES = 500 };

static void keep_their_meaning(void **state) {
    (void)state;
    hone_check_program_sequences("bases.txt", DEFAULT_SEQUENCES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keep_their_meaning)};
    return cmocka_run_group_tests_name("schedule/bases", tests, NULL, NULL);
}
