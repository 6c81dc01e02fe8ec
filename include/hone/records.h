/* hone/records.h - what a tuning database knows. Reading only: nothing here changes the file.
 *
 * Times are nanoseconds. A hone_records belongs to one thread at a time; a tune may write to the
 * file meanwhile. Callbacks run in the calling thread, before the call returns.
 */
#ifndef HONE_RECORDS_H
#define HONE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include <hone/error.h>

HONE_BEGIN_DECLS

typedef struct hone_records hone_records;

/* One measured candidate. Texts live during the callback. */
typedef struct hone_record {
    int64_t number;            /* in this file: what `hone db show` takes */
    char workload[33];         /* structural hash of the program: hone_program_hash */
    const char *workload_name; /* "" when the database has none */
    const char *target;        /* canonical text of the device */
    const char *trace;         /* JSON: what hone_program_replay takes */
    double median_ns;          /* of one run */
    double spread;             /* relative; NAN = not known */
    int is_confirmed;          /* its time was confirmed in interleaved order */
} hone_record;

/* Opens a database for reading. Errors: not_found, invalid (not a database of Hone's, damaged),
 * version (made by a newer Hone), io. */
HONE_API hone_error *hone_records_open(const char *path, hone_records **out_records);

/* NULL is allowed. */
HONE_API void hone_records_close(hone_records *records);

/* Called for each record; anything but 0 stops. It must not use the same hone_records. */
typedef int (*hone_record_visit)(void *ctx, const hone_record *record);

/* The best correct records, best first: those whose time was confirmed, by that time, then the
 * others by their median; at most `limit` (0 = all). `workload` is a hash of 32 digits; NULL does
 * not restrict. `target` is a target's text in any form ("host"): its records and those of targets
 * like it, whose times are not compared (docs/database.md); NULL: all, by their times. */
HONE_API hone_error *hone_records_top(hone_records *records, const char *workload,
                                      const char *target, size_t limit, hone_record_visit visit,
                                      void *ctx);

/* Calls back with the one record that a compilation would use for a program on a target, or not at
 * all when there is none. */
HONE_API hone_error *hone_records_best(hone_records *records, const char *workload,
                                       const char *target, hone_record_visit visit, void *ctx);

/* Called once with cells NULL and the names of the columns, then for each row; cells[i] is the text
 * of a value, NULL for SQL's NULL. Anything but 0 stops. */
typedef int (*hone_row_visit)(void *ctx, size_t count, const char *const *names,
                              const char *const *cells);

/* Runs one read-only SQL statement over the documented views (docs/database.md). */
HONE_API hone_error *hone_records_query(hone_records *records, const char *sql,
                                        hone_row_visit visit, void *ctx);

typedef enum hone_sql_kind {
    HONE_SQL_NULL,
    HONE_SQL_INTEGER,
    HONE_SQL_REAL,
    HONE_SQL_TEXT,
    HONE_SQL_BLOB,
} hone_sql_kind;

/* A value of a row, or one for a parameter. */
typedef struct hone_sql_value {
    const char *name; /* of the column; of a parameter, without its sign: NULL = by its place */
    hone_sql_kind kind;
    int64_t integer;
    double real;
    const char *text; /* TEXT, BLOB: `length` bytes; a text in a row ends with NUL */
    size_t length;
} hone_sql_value;

/* Called once with the names of the columns, `is_row` 0 and all values NULL, then for each row.
 * Values live during the callback. Anything but 0 stops. */
typedef int (*hone_sql_visit)(void *ctx, int is_row, size_t count, const hone_sql_value *values);

/* hone_records_query with values for parameters, and typed cells. `?` takes the value at its place
 * among `parameters`; `:name`, `@name` and `$name` take the one of that name, or the one at their
 * place when that has no name. Errors: invalid: a parameter without a value, values by place that
 * no parameter takes. */
HONE_API hone_error *hone_records_select(hone_records *records, const char *sql,
                                         size_t parameter_count, const hone_sql_value *parameters,
                                         hone_sql_visit visit, void *ctx);

HONE_END_DECLS

#endif
