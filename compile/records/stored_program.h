/* compile/records/stored_program.h - the programs that databases store as text.
 *
 * Threads: reentrant.
 */
#ifndef HONE_COMPILE_RECORDS_STORED_PROGRAM_H
#define HONE_COMPILE_RECORDS_STORED_PROGRAM_H

#include "database/database.h"
#include "ir/core/module.h"

/* Reads the only function of a text; *out_func is the module's, which the caller releases. INVALID:
 * the text cannot be read, or is no PrimFunc. NULLs then. */
HONE_NODISCARD hone_status hone_stored_program_read(const char *text, hone_module **out_module,
                                                    const hone_func **out_func);
/* A hone_db_workload_check: INVALID where the text is another program than the hash says. What was
 * hashed by another version of the serialisation is not compared, nor is a text that cannot be
 * read: who wants it (explain) says so. */
HONE_NODISCARD hone_status hone_stored_program_check(const hone_db_workload *workload);

#endif
