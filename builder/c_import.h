/* builder/c_import.h - C source that a program brings along (pragma_import_c) beside its kernel. */
#ifndef HONE_BUILDER_C_IMPORT_H
#define HONE_BUILDER_C_IMPORT_H

#include "ir/core/value.h"
#include "support/core/status.h"
#include "support/core/strbuf.h"
#include "target/target.h"

/* Compiles the texts (a list of strings) with the system's C compiler and joins them with the
 * object file in io, which becomes the whole; names that the texts define are seen by nobody else.
 * UNAVAILABLE: there is no cc, ld or objcopy for this target; INVALID: a text that does not
 * compile, with what the compiler said. */
HONE_NODISCARD hone_status hone_c_import(const hone_target *target, const hone_value *texts,
                                         hone_str *io_object);

#endif
