/* farm/allow_list.c - see allow_list.h. */
#include "farm/allow_list.h"

#include <assert.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/data/vec.h"
#include "support/os/fs.h"

#define MAX_FILE_BYTES (4u << 20)

typedef HONE_VEC(hone_allowed) allowed_vec;

struct hone_allow_list {
    char *path; /* owned */
    allowed_vec entries;
};

/* ---- lines ---- */

typedef struct word {
    const char *text;
    size_t count;
} word;

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static word next_word(const char **at, const char *end) {
    while (*at < end && is_space(**at))
        (*at)++;
    word w = {*at, 0};
    while (*at < end && !is_space(**at))
        (*at)++;
    w.count = (size_t)(*at - w.text);
    return w;
}

/* What is left of the line, without white space around it. */
static word rest_of(const char *at, const char *end) {
    while (at < end && is_space(*at))
        at++;
    while (end > at && is_space(end[-1]))
        end--;
    return (word){at, (size_t)(end - at)};
}

static bool is_name(word w) {
    if (w.count >= HONE_FARM_NAME_BYTES) return false;
    for (size_t i = 0; i < w.count; i++) {
        if (w.text[i] < ' ' || w.text[i] > '~') return false;
    }
    return true;
}

static hone_status parse_line(const char *at, const char *end, hone_allowed *out, bool *out_has) {
    *out = (hone_allowed){.role = HONE_FARM_RUNNER};
    word key = next_word(&at, end), role = next_word(&at, end), name = rest_of(at, end);
    *out_has = key.count > 0 && key.text[0] != '#';
    if (!*out_has) return HONE_OK;
    HONE_TRY(hone_key_parse(key.text, key.count, &out->key));
    char text[16] = "";
    if (role.count < sizeof text) memcpy(text, role.text, role.count);
    if (!hone_farm_role_parse(text, &out->role)) {
        return HONE_ERROR(HONE_CODE_INVALID, "a key and then 'runner', 'tuner' or 'admin' is "
                                             "expected");
    }
    if (!is_name(name)) {
        return HONE_ERROR(HONE_CODE_INVALID, "the name is too long or has odd characters");
    }
    memcpy(out->name, name.text, name.count);
    return HONE_OK;
}

/* ---- the file ---- */

static const hone_allowed *find_in(const allowed_vec *entries, const hone_key *key) {
    for (size_t i = 0; i < entries->count; i++) {
        if (hone_key_equal(&entries->data[i].key, key)) return &entries->data[i];
    }
    return NULL;
}

static hone_status add_line(allowed_vec *entries, const char *at, const char *end) {
    hone_allowed entry;
    bool has;
    HONE_TRY(parse_line(at, end, &entry, &has));
    if (!has) return HONE_OK;
    if (find_in(entries, &entry.key)) return HONE_ERROR(HONE_CODE_INVALID, "this key comes twice");
    if (entries->count == HONE_FARM_MAX_KEYS) {
        return HONE_ERROR(HONE_CODE_INVALID, "at most %d keys are allowed", HONE_FARM_MAX_KEYS);
    }
    return hone_vec_push(entries, entry) ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "keys");
}

static hone_status parse_file(const char *path, const char *text, size_t count,
                              allowed_vec *entries) {
    const char *end = text + count;
    for (int line = 1; text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop) stop = end;
        hone_status st = add_line(entries, text, stop);
        if (st) return hone_status_annotate(st, "%s:%d", path, line);
        text = stop + 1;
    }
    return HONE_OK;
}

/* No file is an empty one. */
static hone_status read_file(const hone_allow_list *list, char **out_text, size_t *out_count) {
    *out_text = NULL;
    *out_count = 0;
    if (!hone_fs_exists(list->path)) return HONE_OK;
    return hone_fs_read(list->path, MAX_FILE_BYTES, out_text, out_count);
}

hone_status hone_allow_list_reload(hone_allow_list *list) {
    char *text;
    size_t count;
    allowed_vec entries = {0};
    HONE_TRY(read_file(list, &text, &count));
    hone_status st = parse_file(list->path, text, count, &entries);
    hone_free(text);
    if (st) {
        hone_vec_deinit(&entries);
        return st;
    }
    hone_vec_deinit(&list->entries);
    list->entries = entries;
    return HONE_OK;
}

hone_status hone_allow_list_open(const char *dir, hone_allow_list **out_list) {
    assert(dir && out_list);
    *out_list = NULL;
    hone_allow_list *list = hone_calloc(1, sizeof *list);
    if (!list) return HONE_ERROR(HONE_CODE_NO_MEMORY, "allow-list");
    list->path = hone_path_join(dir, HONE_ALLOW_LIST_FILE);
    hone_status st =
        list->path ? hone_allow_list_reload(list) : HONE_ERROR(HONE_CODE_NO_MEMORY, "path");
    if (st) {
        hone_allow_list_close(list);
        return st;
    }
    *out_list = list;
    return HONE_OK;
}

void hone_allow_list_close(hone_allow_list *list) {
    if (!list) return;
    hone_vec_deinit(&list->entries);
    hone_free(list->path);
    hone_free(list);
}

/* ---- looking ---- */

size_t hone_allow_list_count(const hone_allow_list *list) {
    return list->entries.count;
}

const hone_allowed *hone_allow_list_at(const hone_allow_list *list, size_t index) {
    assert(index < list->entries.count);
    return &list->entries.data[index];
}

const hone_allowed *hone_allow_list_find(const hone_allow_list *list, const hone_key *key) {
    return find_in(&list->entries, key);
}

bool hone_allow_list_allows(void *list, const hone_key *key) {
    return hone_allow_list_find(list, key) != NULL;
}

/* ---- changing ---- */

/* The file's lines without that of `key`, each with its end. */
static void copy_other_lines(const char *text, size_t count, const hone_key *key, hone_str *out) {
    const char *end = text + count;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop) stop = end;
        hone_allowed entry;
        bool has;
        hone_code code = hone_status_consume(parse_line(text, stop, &entry, &has));
        if (code != HONE_CODE_OK || !has || !hone_key_equal(&entry.key, key)) {
            hone_str_append_n(out, text, (size_t)(stop - text));
            hone_str_append_char(out, '\n');
        }
        text = stop + 1;
    }
}

/* Writes the file anew, with `line` (or nothing) in place of the key's line, and reads it. */
static hone_status rewrite(hone_allow_list *list, const hone_key *key, const char *line) {
    char *text;
    size_t count;
    hone_str out = {0};
    HONE_TRY(read_file(list, &text, &count));
    copy_other_lines(text, count, key, &out);
    hone_free(text);
    hone_str_append(&out, line);
    hone_status st = hone_str_check(&out);
    if (!st) st = hone_fs_write_atomic(list->path, hone_str_text(&out), out.length);
    hone_str_deinit(&out);
    if (!st) st = hone_allow_list_reload(list);
    return st;
}

hone_status hone_allow_list_allow(hone_allow_list *list, const hone_key *key, hone_farm_role role,
                                  const char *name) {
    if (!is_name((word){name, strlen(name)})) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "the name of a key has up to %d printable ASCII characters",
                          HONE_FARM_NAME_BYTES - 1);
    }
    char text[HONE_KEY_TEXT_BYTES];
    hone_str line = {0};
    hone_str_printf(&line, "%s %s %s\n", hone_key_print(key, text), hone_farm_role_name(role),
                    name);
    hone_status st = hone_str_check(&line);
    if (!st) st = rewrite(list, key, hone_str_text(&line));
    hone_str_deinit(&line);
    return st;
}

hone_status hone_allow_list_revoke(hone_allow_list *list, const hone_key *key) {
    if (!hone_allow_list_find(list, key)) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "this key is not in the list");
    }
    return rewrite(list, key, "");
}
