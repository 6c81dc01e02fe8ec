/* runtime/model/device/driver_library.h - a library that is opened at run time, as a table of
 * functions: neither it nor its headers are needed to build. */
#ifndef HONE_RUNTIME_MODEL_DEVICE_DRIVER_LIBRARY_H
#define HONE_RUNTIME_MODEL_DEVICE_DRIVER_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* One function: its symbol, and where in the table its pointer goes. */
typedef struct hone_library_row {
    const char *symbol;
    size_t offset; /* bytes */
} hone_library_row;

typedef struct hone_driver_library {
    const char *file; /* as the loader finds it */
    const char *name; /* for messages */
    const char *hint; /* behind "has no 'symbol'": why that may be; "" */
    const hone_library_row *rows;
    size_t count, table_bytes;
} hone_driver_library;

/* Fills the table from `path` (NULL: the library's file), which stays loaded until the process
 * ends: drivers keep threads. false: out_why says what lacks. */
bool hone_driver_library_open(const hone_driver_library *of, const char *path, void *out_table,
                              char *out_why, size_t why_capacity);

#endif
