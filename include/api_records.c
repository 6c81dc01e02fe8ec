/* include/api_records.c - hone_records: what a database holds. */
#include <hone/records.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "database/database.h"
#include "database/db_targets.h"
#include "include/api.h"
#include "support/core/alloc.h"
#include "support/core/number.h"
#include "target/target.h"

struct hone_records {
    hone_db *db;
};

hone_error *hone_records_open(const char *path, hone_records **out_records) {
    HONE_API_NEED(out_records);
    *out_records = NULL;
    HONE_API_NEED(path);
    hone_records *records = hone_calloc(1, sizeof *records);
    if (!records) return hone_api_error(HONE_ERROR(HONE_CODE_NO_MEMORY, "records"));
    hone_status st =
        hone_db_open_sqlite(&(hone_db_options){.path = path, .mode = HONE_DB_READ}, &records->db);
    if (st)
        hone_free(records);
    else
        *out_records = records;
    return hone_api_error(st);
}

void hone_records_close(hone_records *records) {
    if (!records) return;
    hone_db_close(records->db);
    hone_free(records);
}

/* ---- which records ---- */

typedef struct scope {
    hone_hash128 workload;
    hone_db_alikes targets; /* count 0 = all */
    bool has_workload;
} scope;

static hone_status scope_init(hone_db *db, const char *workload, const char *target,
                              hone_arena *arena, scope *out_scope) {
    *out_scope = (scope){.has_workload = workload != NULL};
    if (workload && !hone_hash128_parse(workload, &out_scope->workload))
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is no hash of 32 digits", workload);
    if (target) {
        hone_target parsed;
        HONE_TRY(hone_target_parse(target, &parsed));
        HONE_TRY(hone_db_targets_alike(db, &parsed, arena, &out_scope->targets));
    }
    return HONE_OK;
}

typedef struct collected {
    hone_arena *arena;
    hone_record *items;
    hone_hash128 *targets, *workloads;
    size_t count, capacity;
    bool failed;
} collected;

static bool grow(collected *c) {
    size_t capacity = c->capacity ? 2 * c->capacity : 16;
    hone_record *items = hone_arena_alloc(c->arena, capacity * sizeof *items);
    hone_hash128 *targets = hone_arena_alloc(c->arena, capacity * sizeof *targets);
    hone_hash128 *workloads = hone_arena_alloc(c->arena, capacity * sizeof *workloads);
    if (!items || !targets || !workloads) return false;
    if (c->count) {
        memcpy(items, c->items, c->count * sizeof *items);
        memcpy(targets, c->targets, c->count * sizeof *targets);
        memcpy(workloads, c->workloads, c->count * sizeof *workloads);
    }
    c->items = items;
    c->targets = targets;
    c->workloads = workloads;
    c->capacity = capacity;
    return true;
}

static bool collect(void *ctx, const hone_db_trial *trial) {
    collected *c = ctx;
    const char *trace = hone_arena_strdup(c->arena, trial->trace ? trial->trace : "");
    if (!trace || (c->count == c->capacity && !grow(c))) {
        c->failed = true;
        return false;
    }
    c->targets[c->count] = trial->target;
    c->workloads[c->count] = trial->workload;
    hone_record *r = &c->items[c->count++];
    *r = (hone_record){.number = trial->record,
                       .workload_name = "",
                       .target = "",
                       .trace = trace,
                       .median_ns = trial->median_ns,
                       .spread = trial->spread,
                       .is_confirmed = !isnan(trial->confirmed_ns)};
    hone_hash128_print(trial->workload, r->workload);
    return true;
}

typedef struct name_of {
    collected *c;
    const char **field; /* where the text goes */
} name_of;

static bool take_workload(void *ctx, const hone_db_workload *workload) {
    name_of *n = ctx;
    *n->field = hone_arena_strdup(n->c->arena, workload->name ? workload->name : "");
    return false;
}

static bool take_target(void *ctx, const hone_db_target *target) {
    name_of *n = ctx;
    *n->field = hone_arena_strdup(n->c->arena, target->text);
    return false;
}

/* Callbacks must not call into a database: names are looked up when the trials are collected. */
static hone_status name_and_visit(hone_db *db, collected *c, hone_record_visit visit, void *ctx) {
    for (size_t i = 0; i < c->count; i++) {
        hone_record *r = &c->items[i];
        name_of workload = {c, &r->workload_name}, target = {c, &r->target};
        HONE_TRY(hone_db_workloads(db, &c->workloads[i], take_workload, &workload));
        HONE_TRY(hone_db_targets(db, &c->targets[i], take_target, &target));
        if (!r->workload_name || !r->target) return HONE_ERROR(HONE_CODE_NO_MEMORY, "records");
        if (visit(ctx, r) != 0) break;
    }
    return HONE_OK;
}

static hone_status top_of(hone_db *db, const scope *s, int64_t limit, collected *c,
                          hone_record_visit visit, void *ctx) {
    hone_db_filter filter = {.workload = s->has_workload ? &s->workload : NULL,
                             .target = s->targets.hashes,
                             .target_count = s->targets.count,
                             .outcome = HONE_DB_OUTCOME_OK,
                             .limit = limit,
                             .order = HONE_DB_ORDER_BEST};
    HONE_TRY(hone_db_trials(db, &filter, collect, c));
    if (c->failed) return HONE_ERROR(HONE_CODE_NO_MEMORY, "records");
    return name_and_visit(db, c, visit, ctx);
}

hone_error *hone_records_top(hone_records *records, const char *workload, const char *target,
                             size_t limit, hone_record_visit visit, void *ctx) {
    HONE_API_NEED(records);
    HONE_API_NEED(visit);
    scope s;
    collected c = {.arena = hone_arena_create(1 << 14)};
    if (!c.arena) return hone_api_error(HONE_ERROR(HONE_CODE_NO_MEMORY, "records"));
    hone_status st = scope_init(records->db, workload, target, c.arena, &s);
    int64_t most = limit > INT64_MAX ? 0 : (int64_t)limit;
    if (!st) st = top_of(records->db, &s, most, &c, visit, ctx);
    hone_arena_destroy(c.arena);
    return hone_api_error(st);
}

hone_error *hone_records_best(hone_records *records, const char *workload, const char *target,
                              hone_record_visit visit, void *ctx) {
    HONE_API_NEED(records);
    HONE_API_NEED(visit);
    if (!workload || !target) {
        return hone_api_error(
            HONE_ERROR(HONE_CODE_INVALID, "the best record is that of a workload and a target"));
    }
    return hone_records_top(records, workload, target, 1, visit, ctx);
}

/* ---- SQL ---- */

enum { MAX_COLUMNS = 512, NUMBER_BYTES = 32 };

static const int cell_kinds[] = {
    [HONE_SQL_NULL] = HONE_DB_CELL_NULL, [HONE_SQL_INTEGER] = HONE_DB_CELL_INT,
    [HONE_SQL_REAL] = HONE_DB_CELL_REAL, [HONE_SQL_TEXT] = HONE_DB_CELL_TEXT,
    [HONE_SQL_BLOB] = HONE_DB_CELL_BLOB,
};

static const hone_sql_kind sql_kinds[] = {
    [HONE_DB_CELL_NULL] = HONE_SQL_NULL, [HONE_DB_CELL_INT] = HONE_SQL_INTEGER,
    [HONE_DB_CELL_REAL] = HONE_SQL_REAL, [HONE_DB_CELL_TEXT] = HONE_SQL_TEXT,
    [HONE_DB_CELL_BLOB] = HONE_SQL_BLOB,
};

typedef struct selection {
    hone_sql_visit visit;
    void *ctx;
    hone_sql_value values[MAX_COLUMNS];
    bool is_too_wide;
} selection;

static bool visit_row(void *ctx, const hone_db_row *row) {
    selection *s = ctx;
    if (row->count > MAX_COLUMNS) {
        s->is_too_wide = true;
        return false;
    }
    for (size_t i = 0; i < row->count; i++) {
        static const hone_db_cell nothing = {.kind = HONE_DB_CELL_NULL};
        const hone_db_cell *cell = row->cells ? &row->cells[i] : &nothing;
        s->values[i] = (hone_sql_value){.name = row->names[i],
                                        .kind = sql_kinds[cell->kind],
                                        .integer = cell->i,
                                        .real = cell->f,
                                        .text = cell->text,
                                        .length = cell->length};
    }
    return s->visit(s->ctx, row->cells != NULL, row->count, s->values) == 0;
}

static hone_status take_parameters(size_t count, const hone_sql_value *from,
                                   hone_db_parameter *to) {
    for (size_t i = 0; i < count; i++) {
        const hone_sql_value *value = &from[i];
        if ((size_t)value->kind >= HONE_COUNT(cell_kinds))
            return HONE_ERROR(HONE_CODE_INVALID, "parameters[%zu]: kind %d", i, (int)value->kind);
        if (value->kind >= HONE_SQL_TEXT && !value->text)
            return HONE_ERROR(HONE_CODE_INVALID, "parameters[%zu].text is NULL", i);
        to[i] = (hone_db_parameter){
            value->name,
            {.kind = (hone_db_cell_kind)cell_kinds[value->kind],
                    .i = value->integer,
                    .f = value->real,
                    .text = value->text,
                    .length = value->length}
        };
    }
    return HONE_OK;
}

static hone_status run_selection(hone_db *db, const char *sql, size_t count,
                                 const hone_sql_value *values, hone_db_parameter *parameters,
                                 selection *s) {
    HONE_TRY(take_parameters(count, values, parameters));
    hone_db_statement statement = {.sql = sql, .parameters = parameters, .parameter_count = count};
    HONE_TRY(hone_db_select(db, &statement, visit_row, s));
    if (s->is_too_wide)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than %d columns", MAX_COLUMNS);
    return HONE_OK;
}

hone_error *hone_records_select(hone_records *records, const char *sql, size_t parameter_count,
                                const hone_sql_value *parameters, hone_sql_visit visit, void *ctx) {
    HONE_API_NEED(records);
    HONE_API_NEED(sql);
    HONE_API_NEED(visit);
    if (parameter_count) HONE_API_NEED(parameters);
    selection *s = hone_calloc(1, sizeof *s);
    hone_db_parameter *taken = hone_calloc(parameter_count + 1, sizeof *taken);
    hone_status st = HONE_OK;
    if (s && taken) {
        s->visit = visit;
        s->ctx = ctx;
        st = run_selection(records->db, sql, parameter_count, parameters, taken, s);
    } else {
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "query");
    }
    hone_free(taken);
    hone_free(s);
    return hone_api_error(st);
}

/* ---- SQL whose cells are texts ---- */

typedef struct text_rows {
    hone_row_visit visit;
    void *ctx;
    const char *names[MAX_COLUMNS], *cells[MAX_COLUMNS];
    char numbers[MAX_COLUMNS][NUMBER_BYTES];
} text_rows;

static const char *cell_text(const hone_sql_value *cell, char number[NUMBER_BYTES]) {
    switch (cell->kind) {
    case HONE_SQL_NULL:
        return NULL;
    case HONE_SQL_INTEGER:
        snprintf(number, NUMBER_BYTES, "%" PRId64, cell->integer);
        return number;
    case HONE_SQL_REAL:
        hone_number_print(cell->real, 17, number);
        return number;
    case HONE_SQL_TEXT:
        return cell->text;
    case HONE_SQL_BLOB:
        break;
    }
    snprintf(number, NUMBER_BYTES, "(%zu bytes)", cell->length);
    return number;
}

static int visit_texts(void *ctx, int is_row, size_t count, const hone_sql_value *values) {
    text_rows *t = ctx;
    for (size_t i = 0; i < count; i++) {
        t->names[i] = values[i].name;
        t->cells[i] = cell_text(&values[i], t->numbers[i]);
    }
    return t->visit(t->ctx, count, t->names, is_row ? t->cells : NULL);
}

hone_error *hone_records_query(hone_records *records, const char *sql, hone_row_visit visit,
                               void *ctx) {
    HONE_API_NEED(records);
    HONE_API_NEED(sql);
    HONE_API_NEED(visit);
    text_rows *t = hone_calloc(1, sizeof *t);
    if (!t) return hone_api_error(HONE_ERROR(HONE_CODE_NO_MEMORY, "query"));
    t->visit = visit;
    t->ctx = ctx;
    hone_error *error = hone_records_select(records, sql, 0, NULL, visit_texts, t);
    hone_free(t);
    return error;
}
