/* tools/cli/cli_shapes.c - without --shape: the sizes that a database was tuned for. */
#include "tools/cli/cli_shapes.h"

#include <string.h>

typedef struct shape_finder {
    hone_cli *cli;
    hone_cli_list found;
    hone_status st;
} shape_finder;

/* Whether the spec "N=1,64" has this size. */
static bool has_size(const char *spec, const char *size, size_t length) {
    const char *at = strchr(spec, '=');
    while (at) {
        at++;
        if (strcspn(at, ",") == length && memcmp(at, size, length) == 0) return true;
        at = strchr(at, ',');
    }
    return false;
}

/* One size of one name: into the spec of that name, or a new one. */
static hone_status note_size(shape_finder *f, const char *name, size_t name_length,
                             const char *size, size_t length) {
    const char **items = f->found.items;
    hone_arena *arena = f->cli->arena;
    size_t at = 0;
    while (at < f->found.count &&
           (strncmp(items[at], name, name_length) != 0 || items[at][name_length] != '=')) {
        at++;
    }
    if (at < f->found.count && has_size(items[at], size, length)) return HONE_OK;
    if (at == f->found.count) {
        items = hone_arena_alloc(arena, (at + 1) * sizeof *items);
        if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "sizes");
        for (size_t i = 0; i < at; i++)
            items[i] = f->found.items[i];
        items[at] =
            hone_arena_printf(arena, "%.*s=%.*s", (int)name_length, name, (int)length, size);
        f->found.count++;
        f->found.items = items;
    } else {
        items[at] = hone_arena_printf(arena, "%s,%.*s", items[at], (int)length, size);
    }
    return items[at] ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "sizes");
}

/* "N=1,64" in a command line. */
static hone_status note_shape(shape_finder *f, const char *text, size_t length) {
    size_t name_length = strcspn(text, "= ");
    size_t at = name_length + 1;
    while (at < length) {
        size_t size_length = strcspn(text + at, ", ");
        if (size_length) HONE_TRY(note_size(f, text, name_length, text + at, size_length));
        at += size_length + 1;
    }
    return HONE_OK;
}

/* `hone tune` keeps its command line with the session. */
static bool note_session(void *ctx, const hone_db_session *session) {
    shape_finder *f = ctx;
    const char *at = session->command_line ? session->command_line : "";
    while (!f->st && (at = strstr(at, " --shape")) != NULL) {
        at += strlen(" --shape");
        if (*at != ' ' && *at != '=') continue;
        size_t length = strcspn(++at, " ");
        if (length) f->st = note_shape(f, at, length);
    }
    return !f->st;
}

hone_status hone_cli_recorded_shapes(hone_cli *cli, hone_db *db, hone_dim_variants *variants,
                                     bool *out_are_found) {
    shape_finder f = {.cli = cli};
    *out_are_found = false;
    hone_status st = hone_db_sessions(db, NULL, note_session, &f);
    HONE_TRY(hone_status_join(st, f.st));
    if (f.found.count == 0) return HONE_OK;
    hone_dim_variants_deinit(variants);
    st = hone_dim_variants_parse(f.found.items, f.found.count, variants);
    if (hone_status_code(st) == HONE_CODE_INVALID) { /* they do not go together: give --shape */
        HONE_LOG(&cli->log, HONE_LOG_WARNING, "sizes of the database: %s", hone_status_message(st));
        hone_status_free(st);
        hone_dim_variants_deinit(variants);
        return HONE_OK;
    }
    *out_are_found = !st;
    return st;
}
