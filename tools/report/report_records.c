/* tools/report/report_records.c - records in full, as many as there is room for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/cli/cli_record.h"
#include "tools/report/report_impl.h"

enum { ARENA_BLOCK_BYTES = 64 * 1024 };

hone_status hone_report_want_record(hone_report *r, int32_t rank, int64_t record) {
    hone_report_place place = {rank, (uint32_t)r->places.count, record};
    for (size_t i = 0; i < r->places.count; i++) {
        if (r->places.data[i].record == record) return HONE_OK; /* what was to beat is best */
    }
    if (hone_vec_push(&r->places, place)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "report");
}

static int by_rank(const void *a, const void *b) {
    const hone_report_place *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static hone_status print_record(hone_report *r, hone_arena *arena, const char *number,
                                hone_str *out) {
    hone_record_view view;
    hone_status st = hone_record_view_read(r->db, arena, number, NULL, &view);
    hone_json *json = st ? NULL : hone_record_view_json(&view, false);
    hone_record_view_deinit(&view);
    HONE_TRY(st);
    if (!json) return HONE_ERROR(HONE_CODE_NO_MEMORY, "report");
    hone_json_print(json, &(hone_json_style){.is_compact = true}, out);
    hone_json_destroy(json);
    return hone_str_check(out);
}

/* Appends one, and says so, if it fits. */
static hone_status put_one(hone_report *r, hone_arena *arena, int64_t record, size_t limit,
                           bool *out_fits) {
    char number[24];
    hone_str text = {0};
    snprintf(number, sizeof number, "%" PRId64, record);
    hone_status st = print_record(r, arena, number, &text);
    *out_fits = r->out->length + text.length < limit;
    if (!st && *out_fits) {
        hone_report_key(r->out, number);
        hone_str_append_n(r->out, text.data, text.length);
    }
    hone_str_deinit(&text);
    return st;
}

static hone_status put_places(hone_report *r, hone_arena *arena, size_t limit, size_t *out_count) {
    bool fits = true;
    *out_count = 0;
    for (size_t i = 0; i < r->places.count && fits; i++) {
        hone_arena_reset(arena);
        HONE_TRY(put_one(r, arena, r->places.data[i].record, limit, &fits));
        *out_count += fits;
    }
    return HONE_OK;
}

hone_status hone_report_put_records(hone_report *r, size_t room) {
    size_t count = 0, limit = r->out->length + room;
    hone_arena *arena = hone_arena_create(ARENA_BLOCK_BYTES);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "report");
    if (r->places.count) {
        qsort(r->places.data, r->places.count, sizeof *r->places.data, by_rank);
    }
    hone_report_key(r->out, "records");
    hone_str_append_char(r->out, '{');
    hone_status st = put_places(r, arena, limit, &count);
    hone_str_append_char(r->out, '}');
    hone_report_put_i64(r->out, "records_left_out", (int64_t)(r->places.count - count));
    hone_arena_destroy(arena);
    return st;
}
