/* database/sqlite/db_sqlite_sum.c - checksums of rows, as functions of SQL.
 *
 *   hone_sum(a, b, …)      of the values of one row, types included
 *   hone_sum_all(a, b, …)  of a set of rows, in any order; 0 of none
 */
#include "database/sqlite/db_sqlite_impl.h"

enum { ROW_SEED = 3 }; /* part of the file form, as those in db_identity.c */

static void add_value(hone_hasher *hasher, sqlite3_value *value) {
    int type = sqlite3_value_type(value);
    hone_hasher_u8(hasher, (uint8_t)type);
    if (type == SQLITE_INTEGER) {
        hone_hasher_i64(hasher, sqlite3_value_int64(value));
    } else if (type == SQLITE_FLOAT) {
        hone_hasher_f64(hasher, sqlite3_value_double(value));
    } else if (type != SQLITE_NULL) {
        const void *bytes = sqlite3_value_blob(value);
        int count = sqlite3_value_bytes(value);
        hone_hasher_i64(hasher, count);
        if (count) hone_hasher_bytes(hasher, bytes, (size_t)count);
    }
}

static int64_t sum_of(int count, sqlite3_value **values) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, ROW_SEED);
    for (int i = 0; i < count; i++)
        add_value(&hasher, values[i]);
    return (int64_t)hone_hasher_finish(&hasher).lo;
}

static void sum_row(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3_result_int64(context, sum_of(count, values));
}

static void add_row(sqlite3_context *context, int count, sqlite3_value **values) {
    uint64_t *sum = sqlite3_aggregate_context(context, sizeof *sum);
    if (sum) *sum += (uint64_t)sum_of(count, values);
}

static void finish_rows(sqlite3_context *context) {
    const uint64_t *sum = sqlite3_aggregate_context(context, 0);
    sqlite3_result_int64(context, sum ? (int64_t)*sum : 0);
}

hone_status db_sqlite_add_sums(db_sqlite *db) {
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
    int rc =
        sqlite3_create_function_v2(db->sql, "hone_sum", -1, flags, NULL, sum_row, NULL, NULL, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_create_function_v2(db->sql, "hone_sum_all", -1, flags, NULL, NULL, add_row,
                                        finish_rows, NULL);
    }
    return rc == SQLITE_OK ? HONE_OK : db_sqlite_error(db, rc, "add functions");
}
