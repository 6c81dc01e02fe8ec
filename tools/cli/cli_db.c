/* tools/cli/cli_db.c - rows of a database, copied out of its callbacks. */
#include "tools/cli/cli_db.h"

#include <math.h>
#include <string.h>

#include "database/db_targets.h"
#include "support/core/attributes.h"
#include "support/core/strbuf.h"
#include "support/os/fs.h"
#include "tools/cli/cli_model.h"

hone_status hone_cli_open_db(const char *path, hone_db_mode mode, hone_db **out_db) {
    hone_db_options options = {.path = path, .mode = mode};
    return hone_db_open_sqlite(&options, out_db);
}

void hone_cli_put_news(hone_cli *cli, const hone_db_merge_counts *counts) {
    if (counts->changed) {
        hone_str_printf(&cli->out, "; %lld rows took news", (long long)counts->changed);
    }
    hone_str_append(&cli->out, "\n");
}

/* Room for one more item of `bytes`; the array pointer is at *items. NULL when memory is short. */
static void *grow(hone_db_rows *rows, void **items, size_t bytes) {
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? 2 * rows->capacity : 32;
        void *bigger = hone_arena_alloc(rows->arena, capacity * bytes);
        if (!bigger) {
            rows->failed = true;
            return NULL;
        }
        if (rows->count) memcpy(bigger, *items, rows->count * bytes);
        *items = bigger;
        rows->capacity = capacity;
    }
    return (char *)*items + rows->count++ * bytes;
}

static void keep(hone_db_rows *rows, const char **text) {
    if (!*text) return;
    *text = hone_arena_strdup(rows->arena, *text);
    if (!*text) rows->failed = true;
}

#define COPY_ROW(type, member)                                                                     \
    void *items = rows->member;                                                                    \
    type *copy = grow(rows, &items, sizeof *copy);                                                 \
    rows->member = items;                                                                          \
    if (!copy) return false;                                                                       \
    *copy = *row

static bool take_task(void *ctx, const hone_db_task *row) {
    hone_db_rows *rows = ctx;
    COPY_ROW(hone_db_task, tasks);
    keep(rows, &copy->name);
    keep(rows, &copy->target_text);
    return !rows->failed;
}

static bool take_session(void *ctx, const hone_db_session *row) {
    hone_db_rows *rows = ctx;
    COPY_ROW(hone_db_session, sessions);
    keep(rows, &copy->id);
    keep(rows, &copy->model);
    keep(rows, &copy->command_line);
    keep(rows, &copy->hone_version);
    keep(rows, &copy->options_json);
    keep(rows, &copy->state);
    return !rows->failed;
}

static bool take_target(void *ctx, const hone_db_target *row) {
    hone_db_rows *rows = ctx;
    COPY_ROW(hone_db_target, targets);
    keep(rows, &copy->text);
    return !rows->failed;
}

static bool take_failure(void *ctx, const hone_db_failure_count *row) {
    hone_db_rows *rows = ctx;
    COPY_ROW(hone_db_failure_count, failures);
    keep(rows, &copy->outcome);
    keep(rows, &copy->workload_name);
    keep(rows, &copy->last_message);
    return !rows->failed;
}

static bool take_trial(void *ctx, const hone_db_trial *row) {
    hone_db_rows *rows = ctx;
    COPY_ROW(hone_db_trial, trials);
    copy->samples_ns = NULL;
    copy->features = NULL;
    copy->sample_count = 0;
    keep(rows, &copy->session);
    keep(rows, &copy->trace);
    keep(rows, &copy->outcome);
    keep(rows, &copy->message);
    keep(rows, &copy->drift);
    keep(rows, &copy->device);
    return !rows->failed;
}

static hone_status listed(const hone_db_rows *rows, hone_status st) {
    if (st) return st;
    return rows->failed ? HONE_ERROR(HONE_CODE_NO_MEMORY, "rows of the database") : HONE_OK;
}

hone_status hone_cli_list_tasks(hone_db *db, hone_db_rows *rows) {
    return listed(rows, hone_db_tasks(db, take_task, rows));
}

hone_status hone_cli_list_sessions(hone_db *db, hone_db_rows *rows) {
    return listed(rows, hone_db_sessions(db, NULL, take_session, rows));
}

hone_status hone_cli_list_targets(hone_db *db, hone_db_rows *rows) {
    return listed(rows, hone_db_targets(db, NULL, take_target, rows));
}

hone_status hone_cli_list_failures(hone_db *db, hone_db_rows *rows) {
    return listed(rows, hone_db_failures(db, take_failure, rows));
}

hone_status hone_cli_list_trials(hone_db *db, const hone_db_filter *filter, hone_db_rows *rows) {
    return listed(rows, hone_db_trials(db, filter, take_trial, rows));
}

/* Adds what is known for one target that serves; its place among the best (confirmed or not, then
 * by target) says whether its best record is the one to use. */
static void add_known(hone_db_task *known, size_t *io_best, const hone_db_task *row, size_t at,
                      size_t targets) {
    size_t place = at + (row->confirmed ? 0 : targets);
    if (row->ok && place < *io_best) {
        *io_best = place;
        known->best_ns = row->best_ns;
    }
    known->trials += row->trials;
    known->ok += row->ok;
    known->failed += row->failed;
    known->confirmed += row->confirmed;
}

hone_status hone_cli_known_tasks(hone_db *db, const hone_task_list *tasks,
                                 const hone_target *target, hone_arena *arena,
                                 hone_db_task **out_known) {
    *out_known = NULL;
    hone_db_rows rows = {.arena = arena};
    hone_db_alikes alikes;
    HONE_TRY(hone_cli_list_tasks(db, &rows));
    HONE_TRY(hone_db_targets_alike(db, target, arena, &alikes));
    hone_db_task *known = hone_arena_zalloc(arena, (tasks->count + 1) * sizeof *known);
    if (!known) return HONE_ERROR(HONE_CODE_NO_MEMORY, "rows of the database");
    for (uint32_t i = 0; i < tasks->count; i++) {
        size_t best = SIZE_MAX;
        known[i].best_ns = NAN;
        for (size_t j = 0; j < rows.count; j++) {
            const hone_db_task *row = &rows.tasks[j];
            size_t at = hone_db_alikes_find(&alikes, row->target);
            bool serves = at < alikes.count;
            if (serves && hone_hash128_equal(row->workload, tasks->items[i].hash)) {
                add_known(&known[i], &best, row, at, alikes.count);
            }
        }
    }
    *out_known = known;
    return HONE_OK;
}

hone_status hone_cli_remove_db(const char *path) {
    static const char *const endings[] = {"-wal", "-shm", "-journal", ""};
    hone_status st = HONE_OK;
    for (size_t i = 0; hone_fs_exists(path) && i < HONE_COUNT(endings); i++) {
        hone_str file = {0};
        hone_str_printf(&file, "%s%s", path, endings[i]);
        hone_status one = hone_str_check(&file);
        if (!one) one = hone_fs_remove_file(hone_str_text(&file));
        st = hone_status_join(st, one);
        hone_str_deinit(&file);
    }
    return st;
}

/* ---- a target by its hash ---- */

typedef struct target_search {
    const char *prefix;
    hone_str text;
    int64_t count;
} target_search;

static bool look_at_target(void *ctx, const hone_db_target *target) {
    target_search *s = ctx;
    char hash[HONE_HASH_HEX_BYTES];
    hone_hash128_print(target->hash, hash);
    if (strncmp(hash, s->prefix, strlen(s->prefix)) != 0) return true;
    if (s->count++ == 0) hone_str_append(&s->text, target->text);
    return true;
}

hone_status hone_cli_find_target(hone_db *db, const char *text, int64_t threads,
                                 hone_target *out_target, bool *out_found) {
    size_t length = strlen(text);
    target_search s = {.prefix = text};
    *out_found = false;
    if (length < 4 || strspn(text, "0123456789abcdef") != length) return HONE_OK;
    hone_status st = hone_db_targets(db, NULL, look_at_target, &s);
    if (!st) st = hone_str_check(&s.text);
    if (!st && s.count > 1) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%lld targets of the database begin with '%s'",
                        (long long)s.count, text);
    }
    if (!st && s.count == 1) {
        *out_found = true;
        st = hone_target_read(hone_str_text(&s.text), threads, out_target);
    }
    hone_str_deinit(&s.text);
    return st;
}

/* ---- a target in a column ---- */

enum { SHORT_TARGET = 60 };

const char *hone_cli_short_target(hone_arena *arena, const char *text) {
    hone_target t;
    if (strlen(text) <= SHORT_TARGET) return hone_arena_strdup(arena, text);
    hone_status st = hone_target_parse(text, &t);
    if (st || hone_target_is_gpu(&t)) {
        hone_status_free(st);
        return hone_arena_printf(arena, "%.*s...", SHORT_TARGET - 3, text);
    }
    return hone_arena_printf(arena, "%s (%.*s)%s, %d bits, %d threads, %d cores", t.cpu,
                             (int)strcspn(t.triple, "-"), t.triple,
                             t.features[0] ? " with -mattr" : "", (int)t.vector_bits,
                             (int)t.num_threads, (int)t.num_cores);
}
