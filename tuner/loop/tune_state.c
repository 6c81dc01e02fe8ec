/* tuner/loop/tune_state.c - what a session says of itself. Times are compared where caches were in
 * the same state: a session says in which it was, and what others say of themselves is looked at
 * once. What the machine can do stands behind that, for people. */
#include <inttypes.h>
#include <string.h>

#include "runtime/roofline.h"
#include "support/os/thread.h"
#include "tuner/loop/tune_impl.h"

static const char machine_key[] = "\"peak_gflops\"";

typedef struct looking {
    hone_tuning *t;
    const char *own; /* "" = hot, as of sessions that say nothing */
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

/* The members that say the state, without brackets; "": hot. */
static hone_status state_members(const hone_tuning *t, const char **out) {
    *out = "";
    if (t->options->cache == HONE_CACHE_HOT) return HONE_OK;
    if (t->options->cache == HONE_CACHE_COLD) {
        *out = "\"cache\": \"cold\"";
        return HONE_OK;
    }
    *out = hone_arena_printf(t->result->arena,
                             "\"cache\": \"model\", \"footprint_bytes\": %" PRId64
                             ", \"distances\": \"%s\"",
                             t->footprint_bytes, t->distances);
    return *out ? HONE_OK : HONE_NO_MEMORY("tuning");
}

hone_status hone_tuning_session_text(const hone_tuning *t, const char **out_text) {
    hone_arena *arena = t->result->arena;
    const char *state;
    *out_text = NULL;
    HONE_TRY(state_members(t, &state));
    if (t->options->is_here) {
        hone_roofline machine;
        int32_t threads = t->options->target.num_threads;
        int32_t cores = (int32_t)hone_thread_cpu_count();
        HONE_TRY(hone_roofline_measure(threads < cores ? threads : cores, &machine));
        *out_text = hone_arena_printf(arena, "{%s%s%s: %.4g, \"bandwidth_gbs\": %.4g}", state,
                                      *state ? ", " : "", machine_key, machine.flops_per_ns,
                                      machine.bytes_per_ns);
    } else if (*state) {
        *out_text = hone_arena_printf(arena, "{%s}", state);
    } else {
        return HONE_OK;
    }
    return *out_text ? HONE_OK : HONE_NO_MEMORY("tuning");
}

/* How many bytes of "{STATE, MACHINE}" or "{STATE}" or NULL say the state, from the second on. */
static size_t state_bytes(const char *text) {
    if (!text || !*text) return 0;
    const char *machine = strstr(text, machine_key);
    size_t end = machine ? (size_t)(machine - text) : strlen(text) - 1;
    while (end > 1 && strchr(", ", text[end - 1]))
        end--;
    return end > 1 ? end - 1 : 0;
}

static bool is_same(const char *options_json, const char *own) {
    size_t count = state_bytes(options_json);
    return count == strlen(own) && (!count || memcmp(options_json + 1, own, count) == 0);
}

static bool look(void *ctx, const hone_db_session *session) {
    looking *l = ctx;
    if (is_same(session->options_json, l->own)) return true;
    l->failed = !hone_strmap_put(&l->t->unlike, session->id, 1);
    return !l->failed;
}

hone_status hone_tuning_find_unlike(hone_tuning *t) {
    looking l = {.t = t};
    HONE_TRY(state_members(t, &l.own));
    HONE_TRY(hone_db_sessions(t->options->db, NULL, look, &l));
    return l.failed ? HONE_ERROR(HONE_CODE_NO_MEMORY, "tuning") : HONE_OK;
}
