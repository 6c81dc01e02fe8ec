/* tests/schedule/same_meaning.h - do a program and its schedule compute the same? Also for programs
 * with symbolic sizes, which get small values of their own. */
#ifndef HONE_TESTS_SCHEDULE_SAME_MEANING_H
#define HONE_TESTS_SCHEDULE_SAME_MEANING_H

#include "ir/func.h"
#include "support/strbuf.h"

/* Runs both in the interpreter on the same random arguments (reads of what was never written are
 * errors). False with the reason. */
bool hone_same_meaning(const hone_func *base, const hone_func *scheduled, uint64_t seed,
                       hone_str *out_why);

#endif
