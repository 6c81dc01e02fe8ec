/* tests/schedule/steps/program_file.h - the programs of a file of golden/, each behind a line
 * "==== program NAME", under random sequences. */
#ifndef HONE_TESTS_SCHEDULE_STEPS_PROGRAM_FILE_H
#define HONE_TESTS_SCHEDULE_STEPS_PROGRAM_FILE_H

#include "ir/core/func.h"

/* False where the sequence of this seed failed on the program, which is gone after the call. */
typedef bool (*hone_try_sequence)(void *ctx, const hone_func *base, uint64_t seed);

/* Tries count seeds (HONE_SEQUENCES; from HONE_FIRST_SEED on) on each program that runs to its end,
 * and soon: some are there to be refused. Returns how many failed, a few per program at most; their
 * programs are named on stderr. A file that is not there, or a text that does not parse, fails the
 * test. */
uint64_t hone_try_programs(const char *file, uint64_t count, hone_try_sequence try, void *ctx);

#endif
