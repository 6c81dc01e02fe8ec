/* builder/link.h - an object file in memory to a shared library on disk, by the system's ld. */
#ifndef HONE_BUILDER_LINK_H
#define HONE_BUILDER_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "support/status.h"
#include "target/target.h"

/* Writes the library under its final name only when it is whole; with keeps_symbols its symbol
 * table and debug information stay in it. UNAVAILABLE: there is no ld for this target; INVALID: ld
 * refused, with what it said; IO. */
HONE_NODISCARD hone_status hone_link_shared(const hone_target *target, const void *object,
                                            size_t count, bool keeps_symbols,
                                            const char *output_path);

/* The same for object files and archives on disk, in this order: compiled models are linked so.
 * options: further words for ld, ended by NULL ("-soname", …), or NULL. */
HONE_NODISCARD hone_status hone_link_files(const hone_target *target, const char *const *inputs,
                                           size_t count, const char *const *options,
                                           const char *output_path);

#endif
