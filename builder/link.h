/* builder/link.h - an object file in memory to a shared library on disk, by the system's ld. */
#ifndef HONE_BUILDER_LINK_H
#define HONE_BUILDER_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "support/core/status.h"
#include "target/target.h"

/* Writes the library under its final name only when it is whole; with keeps_symbols its symbol
 * table and debug information stay in it. UNAVAILABLE: there is no ld for this target; INVALID: ld
 * refused, with what it said; IO. */
HONE_NODISCARD hone_status hone_link_shared(const hone_target *target, const void *object,
                                            size_t count, bool keeps_symbols,
                                            const char *output_path);

#endif
