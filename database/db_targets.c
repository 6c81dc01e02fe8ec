/* database/db_targets.c - the targets of a database compared with one. */
#include "database/db_targets.h"

#include <stdlib.h>

#include "support/data/vec.h"

typedef struct alike {
    hone_hash128 hash;
    const char *difference;
    size_t distance; /* facts that differ */
} alike;

typedef struct searching {
    const hone_target *target;
    hone_hash128 own, identity;
    hone_arena *arena;
    HONE_VEC(alike) found; /* without the target itself */
    bool is_known, failed;
} searching;

static bool read_alike(const searching *s, const char *text, hone_target *out) {
    hone_status st = hone_target_parse(text, out);
    bool is_read = !st;
    hone_status_free(st);
    return is_read && hone_hash128_equal(hone_target_identity(out), s->identity);
}

static size_t count_facts(const char *words) {
    size_t count = 1;
    for (; *words; words++)
        count += *words == ';';
    return count;
}

static void add(searching *s, hone_hash128 hash, const hone_target *there) {
    hone_str words = {0};
    hone_target_print_differences(there, s->target, &words);
    alike one = {hash, hone_arena_strdup(s->arena, hone_str_text(&words)),
                 count_facts(hone_str_text(&words))};
    s->failed |= words.failed || !one.difference || !hone_vec_push(&s->found, one);
    hone_str_deinit(&words);
}

static bool look(void *ctx, const hone_db_target *target) {
    searching *s = ctx;
    hone_target there;
    if (hone_hash128_equal(target->hash, s->own)) {
        s->is_known = true;
    } else if (read_alike(s, target->text, &there)) {
        add(s, target->hash, &there);
    }
    return !s->failed;
}

static int by_distance(const void *a, const void *b) {
    const alike *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return hone_hash128_compare(x->hash, y->hash);
}

static hone_status list(searching *s, hone_db_alikes *out) {
    size_t count = s->found.count + 1;
    hone_hash128 *hashes = hone_arena_alloc(s->arena, count * sizeof *hashes);
    const char **differences = hone_arena_zalloc(s->arena, count * sizeof *differences);
    if (!hashes || !differences) return HONE_NO_MEMORY("targets of the database");
    hashes[0] = s->own;
    if (s->found.count) qsort(s->found.data, s->found.count, sizeof *s->found.data, by_distance);
    for (size_t i = 1; i < count; i++) {
        hashes[i] = s->found.data[i - 1].hash;
        differences[i] = s->found.data[i - 1].difference;
    }
    *out = (hone_db_alikes){count, hashes, differences, s->is_known};
    return HONE_OK;
}

hone_status hone_db_targets_alike(hone_db *db, const hone_target *target, hone_arena *arena,
                                  hone_db_alikes *out) {
    searching s = {.target = target,
                   .own = hone_target_hash(target),
                   .identity = hone_target_identity(target),
                   .arena = arena};
    *out = (hone_db_alikes){0};
    hone_status st = hone_db_targets(db, NULL, look, &s);
    if (!st) st = s.failed ? HONE_NO_MEMORY("targets of the database") : list(&s, out);
    hone_vec_deinit(&s.found);
    return st;
}

size_t hone_db_alikes_find(const hone_db_alikes *alikes, hone_hash128 hash) {
    size_t at = 0;
    while (at < alikes->count && !hone_hash128_equal(alikes->hashes[at], hash))
        at++;
    return at;
}
