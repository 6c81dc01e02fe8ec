/* support/data/map.c - see map.h.
 *
 * One table serves all three key types: an entry holds its full hash, a 128-bit key (for text: the
 * owned copy and its length) and the value. `slots` maps a hash to an entry by linear probing: 0 is
 * free, n is entry n - 1. A removed entry stays as a tombstone until the table is rebuilt, which
 * happens when 3/4 of the slots are taken.
 */
#include "support/data/map.h"

#include <string.h>

#include "support/core/alloc.h"

struct hone_map_entry {
    union {
        uint64_t words[2];
        struct {
            char *text; /* owned */
            size_t length;
        } s;
    } key;
    uint64_t hash;
    uint64_t value;
    uint32_t is_live, is_text;
};

enum { MIN_SLOTS = 16 };

/* What is looked for; text is borrowed. */
typedef struct probe {
    uint64_t hash;
    uint64_t words[2];
    const char *text; /* NULL: the words are the key */
} probe;

static bool matches(const hone_map_entry *entry, const probe *key) {
    if (entry->hash != key->hash || !entry->is_live) return false;
    if (!key->text) {
        return entry->key.words[0] == key->words[0] && entry->key.words[1] == key->words[1];
    }
    return entry->key.s.length == key->words[1] &&
           memcmp(entry->key.s.text, key->text, key->words[1]) == 0;
}

static hone_map_entry *find(const hone_map *map, const probe *key) {
    if (!map->slot_count) return NULL;
    size_t mask = map->slot_count - 1;
    for (size_t i = key->hash & mask; map->slots[i]; i = (i + 1) & mask) {
        hone_map_entry *entry = &map->entries[map->slots[i] - 1];
        if (matches(entry, key)) return entry;
    }
    return NULL;
}

static void place(hone_map *map, size_t index) {
    size_t mask = map->slot_count - 1;
    size_t i = map->entries[index].hash & mask;
    while (map->slots[i])
        i = (i + 1) & mask;
    map->slots[i] = (uint32_t)index + 1;
}

/* Doubles the table when it is full of live entries; drops the tombstones in any case. */
static bool rebuild(hone_map *map) {
    size_t slot_count = map->slot_count ? map->slot_count : MIN_SLOTS;
    while (map->count * 2 >= slot_count)
        slot_count *= 2;
    if (slot_count > UINT32_MAX) return false;
    uint32_t *slots = hone_calloc(slot_count, sizeof *slots);
    hone_map_entry *entries = hone_malloc(slot_count / 4 * 3 * sizeof *entries);
    if (!slots || !entries) {
        hone_free(slots);
        hone_free(entries);
        return false;
    }
    size_t used = 0;
    for (size_t i = 0; i < map->used; i++) {
        if (map->entries[i].is_live) entries[used++] = map->entries[i];
    }
    hone_free(map->slots);
    hone_free(map->entries);
    *map = (hone_map){entries, slots, used, used, slot_count};
    for (size_t i = 0; i < used; i++)
        place(map, i);
    return true;
}

static bool put(hone_map *map, const probe *key, uint64_t value) {
    hone_map_entry *entry = find(map, key);
    if (entry) {
        entry->value = value;
        return true;
    }
    if (map->used >= map->slot_count / 4 * 3 && !rebuild(map)) return false;
    entry = &map->entries[map->used];
    *entry = (hone_map_entry){.hash = key->hash, .value = value, .is_live = 1};
    if (key->text) {
        char *copy = hone_malloc(key->words[1] + 1);
        if (!copy) return false;
        memcpy(copy, key->text, key->words[1]);
        copy[key->words[1]] = '\0';
        entry->key.s.text = copy;
        entry->key.s.length = key->words[1];
        entry->is_text = 1;
    } else {
        memcpy(entry->key.words, key->words, sizeof key->words);
    }
    place(map, map->used++);
    map->count++;
    return true;
}

static bool get(const hone_map *map, const probe *key, uint64_t *out_value) {
    const hone_map_entry *entry = find(map, key);
    if (out_value) *out_value = entry ? entry->value : 0;
    return entry != NULL;
}

static bool remove_key(hone_map *map, const probe *key) {
    hone_map_entry *entry = find(map, key);
    if (!entry) return false;
    if (entry->is_text) hone_free(entry->key.s.text);
    entry->is_live = 0;
    map->count--;
    return true;
}

static const hone_map_entry *next(const hone_map *map, size_t *cursor) {
    while (*cursor < map->used) {
        const hone_map_entry *entry = &map->entries[(*cursor)++];
        if (entry->is_live) return entry;
    }
    return NULL;
}

static void free_texts(hone_map *map) {
    for (size_t i = 0; i < map->used; i++) {
        hone_map_entry *entry = &map->entries[i];
        if (entry->is_live && entry->is_text) hone_free(entry->key.s.text);
    }
}

static void clear(hone_map *map) {
    free_texts(map);
    if (map->slots) memset(map->slots, 0, map->slot_count * sizeof *map->slots);
    map->used = map->count = 0;
}

static void deinit(hone_map *map) {
    free_texts(map);
    hone_free(map->entries);
    hone_free(map->slots);
    *map = (hone_map){0};
}

static probe text_probe(const char *text, size_t length) {
    return (probe){
        .hash = hone_hash64(text, length), .words = {0, length},
              .text = text
    };
}

static probe u64_probe(uint64_t key) {
    return (probe){
        .hash = hone_hash_mix(key + UINT64_C(0x9e3779b97f4a7c15)), .words = {key, 0}
    };
}

static probe hash_probe(hone_hash128 key) {
    return (probe){
        .hash = hone_hash_mix(key.lo ^ key.hi), .words = {key.lo, key.hi}
    };
}

void hone_strmap_deinit(hone_strmap *map) {
    deinit(&map->map);
}

void hone_strmap_clear(hone_strmap *map) {
    clear(&map->map);
}

size_t hone_strmap_count(const hone_strmap *map) {
    return map->map.count;
}

bool hone_strmap_put(hone_strmap *map, const char *key, uint64_t value) {
    probe p = text_probe(key, strlen(key));
    return put(&map->map, &p, value);
}

bool hone_strmap_find(const hone_strmap *map, const char *key, uint64_t *out_value) {
    probe p = text_probe(key, strlen(key));
    return get(&map->map, &p, out_value);
}

bool hone_strmap_remove(hone_strmap *map, const char *key) {
    probe p = text_probe(key, strlen(key));
    return remove_key(&map->map, &p);
}

bool hone_strmap_next(const hone_strmap *map, size_t *cursor, const char **out_key,
                      uint64_t *out_value) {
    const hone_map_entry *entry = next(&map->map, cursor);
    if (out_key) *out_key = entry ? entry->key.s.text : NULL;
    if (out_value) *out_value = entry ? entry->value : 0;
    return entry != NULL;
}

void hone_u64map_deinit(hone_u64map *map) {
    deinit(&map->map);
}

size_t hone_u64map_count(const hone_u64map *map) {
    return map->map.count;
}

bool hone_u64map_put(hone_u64map *map, uint64_t key, uint64_t value) {
    probe p = u64_probe(key);
    return put(&map->map, &p, value);
}

bool hone_u64map_find(const hone_u64map *map, uint64_t key, uint64_t *out_value) {
    probe p = u64_probe(key);
    return get(&map->map, &p, out_value);
}

bool hone_u64map_remove(hone_u64map *map, uint64_t key) {
    probe p = u64_probe(key);
    return remove_key(&map->map, &p);
}

bool hone_u64map_next(const hone_u64map *map, size_t *cursor, uint64_t *out_key,
                      uint64_t *out_value) {
    const hone_map_entry *entry = next(&map->map, cursor);
    if (out_key) *out_key = entry ? entry->key.words[0] : 0;
    if (out_value) *out_value = entry ? entry->value : 0;
    return entry != NULL;
}

void hone_map128_deinit(hone_map128 *map) {
    deinit(&map->map);
}

void hone_map128_clear(hone_map128 *map) {
    clear(&map->map);
}

size_t hone_map128_count(const hone_map128 *map) {
    return map->map.count;
}

bool hone_map128_put(hone_map128 *map, hone_hash128 key, uint64_t value) {
    probe p = hash_probe(key);
    return put(&map->map, &p, value);
}

bool hone_map128_find(const hone_map128 *map, hone_hash128 key, uint64_t *out_value) {
    probe p = hash_probe(key);
    return get(&map->map, &p, out_value);
}

bool hone_map128_remove(hone_map128 *map, hone_hash128 key) {
    probe p = hash_probe(key);
    return remove_key(&map->map, &p);
}

bool hone_map128_next(const hone_map128 *map, size_t *cursor, hone_hash128 *out_key,
                      uint64_t *out_value) {
    const hone_map_entry *entry = next(&map->map, cursor);
    if (out_key) {
        *out_key =
            entry ? (hone_hash128){entry->key.words[0], entry->key.words[1]} : (hone_hash128){0, 0};
    }
    if (out_value) *out_value = entry ? entry->value : 0;
    return entry != NULL;
}
