/* target/target_read.h - targets as users name them: text, or a file that holds it. */
#ifndef HONE_TARGET_TARGET_READ_H
#define HONE_TARGET_TARGET_READ_H

#include "target/target.h"

/* "host" when text is NULL. With threads > 0 the target's number of threads is replaced. A path of
 * a file holding a target is read ("target.json"). What says nothing of cores or threads, and has
 * this machine's triple, gets all of its cores. */
HONE_NODISCARD hone_status hone_target_read(const char *text_or_null, int64_t threads,
                                            hone_target *out_target);
/* hone_target_read for a machine that is not this one. */
HONE_NODISCARD hone_status hone_target_read_on(const hone_target *machine, const char *text_or_null,
                                               int64_t threads, hone_target *out_target);

#endif
