/* tests/schedule/steps/program_sequences.h - random steps on each program of a file of golden/. */
#ifndef HONE_TESTS_SCHEDULE_STEPS_PROGRAM_SEQUENCES_H
#define HONE_TESTS_SCHEDULE_STEPS_PROGRAM_SEQUENCES_H

#include <stdint.h>

/* What is accepted means the same, else the test fails. HONE_SEQUENCES sets how many per program,
 * HONE_FIRST_SEED from where. */
void hone_check_program_sequences(const char *file, uint64_t count);

#endif
