/* runtime/model/driver_library.h - a library that is opened at run time, as a table of functions:
 * neither it nor its headers are needed to build. */
#ifndef HONE_RUNTIME_MODEL_DRIVER_LIBRARY_H
#define HONE_RUNTIME_MODEL_DRIVER_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* One function: its symbol, and where in the table its pointer goes. */
typedef struct hone_library_row {
    const char *symbol;
    size_t offset; /* bytes */
} hone_library_row;

/* Fills the table from the library, which stays loaded until the process ends: drivers keep
 * threads. NULL, or the symbol that lacks; "" where there is no library, and dlerror says why. */
const char *hone_library_fill(const char *path, const hone_library_row *rows, size_t count,
                              void *out_table);

#endif
