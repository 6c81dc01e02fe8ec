/* database/db_targets.c - the targets of a database compared with one. */
#include "database/db_targets.h"

#include <string.h>

typedef struct searching {
    const hone_target *target;
    hone_hash128 own, identity;
    hone_arena *arena;   /* NULL: no words are wanted */
    hone_db_alikes *out; /* without the target itself; NULL likewise */
    bool is_known, has_first, failed;
    hone_hash128 first;
} searching;

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "targets of the database");
}

static bool read_alike(const searching *s, const char *text, hone_target *out) {
    hone_status st = hone_target_parse(text, out);
    bool is_read = !st;
    hone_status_free(st);
    return is_read && hone_hash128_equal(hone_target_identity(out), s->identity);
}

static void add(searching *s, hone_hash128 hash, const hone_target *there) {
    hone_str words = {0};
    hone_target_print_differences(there, s->target, &words);
    hone_db_alike one = {hash, hone_arena_strdup(s->arena, hone_str_text(&words))};
    s->failed |= words.failed || !one.difference || !hone_vec_push(s->out, one);
    hone_str_deinit(&words);
}

static bool look(void *ctx, const hone_db_target *target) {
    searching *s = ctx;
    hone_target there;
    if (hone_hash128_equal(target->hash, s->own)) {
        s->is_known = true;
    } else if (read_alike(s, target->text, &there)) {
        if (!s->has_first) s->first = target->hash;
        s->has_first = true;
        if (s->out) add(s, target->hash, &there);
    }
    return !s->failed;
}

hone_status hone_db_targets_alike(hone_db *db, const hone_target *target, hone_arena *arena,
                                  hone_db_alikes *out) {
    searching s = {.target = target,
                   .own = hone_target_hash(target),
                   .identity = hone_target_identity(target),
                   .arena = arena,
                   .out = out};
    hone_db_alike own = {s.own, NULL};
    if (!hone_vec_push(out, own)) return no_memory();
    HONE_TRY(hone_db_targets(db, NULL, look, &s));
    return s.failed ? no_memory() : HONE_OK;
}

bool hone_db_alikes_have(const hone_db_alikes *alikes, hone_hash128 hash) {
    for (size_t i = 0; i < alikes->count; i++) {
        if (hone_hash128_equal(alikes->data[i].hash, hash)) return true;
    }
    return false;
}

hone_status hone_db_target_kept(hone_db *db, const hone_target *target, hone_hash128 *out_hash) {
    searching s = {.target = target,
                   .own = hone_target_hash(target),
                   .identity = hone_target_identity(target)};
    *out_hash = s.own;
    HONE_TRY(hone_db_targets(db, NULL, look, &s));
    if (!s.is_known && s.has_first) *out_hash = s.first;
    return HONE_OK;
}
