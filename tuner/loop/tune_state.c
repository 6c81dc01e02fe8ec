/* tuner/loop/tune_state.c - times are compared where caches were in the same state: a session says
 * in which it was, and what others say of themselves is looked at once. */
#include <inttypes.h>
#include <string.h>

#include "tuner/loop/tune_impl.h"

typedef struct looking {
    hone_tuning *t;
    const char *own; /* NULL = hot, as of sessions that say nothing */
    bool failed;
} looking;

void hone_tuning_read_distances(hone_tuning *t, const hone_task_list *list) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, 0);
    for (uint32_t i = 0; i < list->count; i++) {
        const hone_task *task = &list->items[i];
        hone_hasher_hash(&hasher, task->hash);
        for (uint32_t k = 0; task->distances && k < task->func->param_count; k++)
            hone_hasher_i64(&hasher, task->distances[k]);
    }
    t->footprint_bytes = list->footprint_bytes;
    hone_hash128_print(hone_hasher_finish(&hasher), t->distances);
}

hone_status hone_tuning_state_text(const hone_tuning *t, const char **out_text) {
    hone_arena *arena = t->result->arena;
    *out_text = NULL;
    if (t->options->cache == HONE_CACHE_HOT) return HONE_OK;
    *out_text = t->options->cache == HONE_CACHE_COLD
                    ? hone_arena_strdup(arena, "{\"cache\": \"cold\"}")
                    : hone_arena_printf(arena,
                                        "{\"cache\": \"model\", \"footprint_bytes\": %" PRId64
                                        ", \"distances\": \"%s\"}",
                                        t->footprint_bytes, t->distances);
    return *out_text ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "tuning");
}

static bool is_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool look(void *ctx, const hone_db_session *session) {
    looking *l = ctx;
    if (is_same(session->options_json, l->own)) return true;
    l->failed = !hone_strmap_put(&l->t->unlike, session->id, 1);
    return !l->failed;
}

hone_status hone_tuning_find_unlike(hone_tuning *t) {
    looking l = {.t = t};
    HONE_TRY(hone_tuning_state_text(t, &l.own));
    HONE_TRY(hone_db_sessions(t->options->db, NULL, look, &l));
    return l.failed ? HONE_ERROR(HONE_CODE_NO_MEMORY, "tuning") : HONE_OK;
}
