/* tests/schedule/program_file.h - the programs of a file of golden/, each behind a line
 * "==== program NAME". */
#ifndef HONE_TESTS_SCHEDULE_PROGRAM_FILE_H
#define HONE_TESTS_SCHEDULE_PROGRAM_FILE_H

#include "ir/func.h"

/* base is gone after the call. */
typedef void (*hone_program_visit)(void *ctx, const char *name, const hone_func *base);

/* Visits those that run to their end, and soon: some are there to be refused. A file that is not
 * there, or a text that does not parse, fails the test. */
void hone_visit_programs(const char *file, hone_program_visit visit, void *ctx);

#endif
