/* tuner/task/tune_names.c - programs that are equal but for names share their records, and a trace
 * finds blocks by name: the database keeps all traces of a workload under the names of its stored
 * program. */
#include <string.h>

#include "compile/records/stored_program.h"
#include "ir/identity/structural.h"
#include "tuner/task/tune_task.h"

typedef struct looking {
    hone_tune_task *task;
    hone_status st;
} looking;

static bool read_stored(void *ctx, const hone_db_workload *workload) {
    looking *l = ctx;
    const hone_func *func;
    const char *text = workload->program;
    if (!text || strcmp(text, l->task->program) == 0) return false;
    l->st = hone_stored_program_read(text, &l->task->stored_module, &func);
    bool is_same = !l->st && hone_hash128_equal(hone_func_hash(func), workload->hash);
    if (is_same) l->task->stored = func;
    return false;
}

hone_status hone_tune_task_learn_names(hone_tune_task *task, hone_db *db) {
    looking l = {.task = task};
    HONE_TRY(hone_db_workloads(db, &task->task->hash, read_stored, &l));
    if (hone_status_code(l.st) == HONE_CODE_NO_MEMORY) return l.st;
    hone_status_free(l.st); /* what an older Hone stored and nobody can read has no names */
    return HONE_OK;
}

static hone_status rename(const char *json, const hone_func *from, const hone_func *to,
                          hone_arena *arena, const char **out_json) {
    hone_trace trace;
    hone_str text = {0};
    hone_status st = hone_trace_parse_json(arena, json, strlen(json), "trace", &trace);
    if (st && hone_status_code(st) != HONE_CODE_NO_MEMORY) {
        hone_status_free(st); /* stays as it is: who builds it will say why */
        return HONE_OK;
    }
    if (!st) st = hone_trace_rename_blocks(arena, from, to, &trace);
    if (!st) st = hone_trace_print_json(&trace, &text);
    if (!st) {
        *out_json = hone_arena_strdup(arena, hone_str_text(&text));
        if (!*out_json) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "trace");
    }
    hone_str_deinit(&text);
    return st;
}

hone_status hone_tune_task_to_stored(const hone_tune_task *task, const char *json,
                                     hone_arena *arena, const char **out_json) {
    *out_json = json;
    return task->stored ? rename(json, task->task->func, task->stored, arena, out_json) : HONE_OK;
}

hone_status hone_tune_task_from_stored(const hone_tune_task *task, const char *json,
                                       hone_arena *arena, const char **out_json) {
    *out_json = json;
    return task->stored ? rename(json, task->stored, task->task->func, arena, out_json) : HONE_OK;
}
