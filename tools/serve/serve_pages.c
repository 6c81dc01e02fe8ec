/* tools/serve/serve_pages.c - see serve_pages.h. */
#include "tools/serve/serve_pages.h"

#include <string.h>

#include "tools/cli/cli_record.h"

enum { ARENA_BLOCK_BYTES = 64 * 1024 };

static const char json_type[] = "application/json; charset=utf-8";

/* ---- failures ---- */

static unsigned http_code(hone_code code) {
    switch (code) {
    case HONE_CODE_INVALID:
        return 400;
    case HONE_CODE_NOT_FOUND:
        return 404;
    case HONE_CODE_TIMEOUT:
    case HONE_CODE_IO:
        return 503;
    default:
        return 500;
    }
}

static void fail(hone_http_answer *answer, hone_status failed) {
    hone_str_clear(&answer->text);
    answer->code = http_code(hone_status_code(failed));
    answer->type = "text/plain; charset=utf-8";
    hone_str_printf(&answer->text, "%s\n", hone_status_message(failed));
    hone_status_free(failed);
}

/* ---- data ---- */

/* The data begin with '{', which the members before them take the place of. */
static void join(hone_serve_pages *p, const hone_str *tag, const hone_str *data, hone_str *out) {
    hone_str_printf(out, "{\"tag\":\"%s\",\"farm\":", hone_str_text(tag));
    if (p->farm) {
        hone_serve_farm_print(p->farm, out);
    } else {
        hone_str_append(out, "null");
    }
    if (!data->length) {
        hone_str_append_char(out, '}');
    } else {
        hone_str_printf(out, ",%s", data->data + 1);
    }
}

static hone_status put_data(hone_serve_pages *p, const char *tag, hone_str *out) {
    hone_str now = {0}, data = {0};
    hone_status st = hone_serve_maker_put(p->maker, tag, &now, &data);
    if (!st) join(p, &now, &data, out);
    hone_str_deinit(&now);
    hone_str_deinit(&data);
    return st ? st : hone_str_check(out);
}

/* ---- records ---- */

static hone_status find_source(const hone_serve_pages *p, const char *text, hone_db **out_db) {
    bool is_digit = text && text[0] >= '0' && text[0] <= '9' && !text[1];
    size_t at = is_digit ? (size_t)(text[0] - '0') : 0;
    if (text && (!is_digit || at >= p->count)) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "there is no such database here; there are %zu",
                          p->count);
    }
    *out_db = p->sources[at].db;
    return HONE_OK;
}

static hone_status put_record(hone_db *db, const char *record, hone_str *out) {
    hone_record_view view;
    hone_arena *arena = hone_arena_create(ARENA_BLOCK_BYTES);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "record");
    hone_status st = hone_record_view_read(db, arena, record, NULL, &view);
    hone_json *json = st ? NULL : hone_record_view_json(&view, true);
    if (!st && !json) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "record");
    if (!st) hone_json_print(json, &(hone_json_style){.is_compact = true}, out);
    hone_json_destroy(json);
    hone_record_view_deinit(&view);
    hone_arena_destroy(arena);
    return st ? st : hone_str_check(out);
}

static hone_status answer_record(const hone_serve_pages *p, const hone_http_request *request,
                                 hone_str *out) {
    hone_db *db = NULL;
    const char *record = hone_http_query(request, "record");
    if (!record) return HONE_ERROR(HONE_CODE_INVALID, "which record? give ?record=NUMBER");
    HONE_TRY(find_source(p, hone_http_query(request, "db"), &db));
    return put_record(db, record, out);
}

/* ---- all of them ---- */

void hone_serve_answer(void *ctx, const hone_http_request *request, hone_http_answer *answer) {
    hone_serve_pages *p = ctx;
    hone_status st = HONE_OK;
    if (!hone_serve_door_opens(&p->door, request, answer)) return;
    if (strcmp(request->path, "/") == 0) {
        answer->type = "text/html; charset=utf-8";
        st = hone_report_page(p->sources[0].title, NULL, &answer->text);
    } else if (strcmp(request->path, "/data.json") == 0) {
        answer->type = json_type;
        st = put_data(p, hone_http_query(request, "tag"), &answer->text);
    } else if (strcmp(request->path, "/record.json") == 0) {
        answer->type = json_type;
        st = answer_record(p, request, &answer->text);
    } else {
        st = HONE_ERROR(HONE_CODE_NOT_FOUND,
                        "there is no such page; there are /, /data.json and /record.json");
    }
    if (st) fail(answer, st);
}
