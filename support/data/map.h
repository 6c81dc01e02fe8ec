/* support/data/map.h - hash maps: text → value, u64 → u64, hash128 → u64.
 *
 * Open addressing over a dense array of entries, which keeps them in the order of insertion: a walk
 * is deterministic. {0} is a valid empty map. Values are 64 bits. Text keys are copied.
 * Thread-compatible.
 *
 *     hone_strmap m = {0};
 *     if (!hone_strmap_put(&m, "x", 1)) …no memory…
 *     for (size_t i = 0; hone_strmap_next(&m, &i, &key, &value);) …
 */
#ifndef HONE_SUPPORT_DATA_MAP_H
#define HONE_SUPPORT_DATA_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/attributes.h"
#include "support/data/hash.h"

typedef struct hone_map_entry hone_map_entry;

/* What the three maps have in common; private. */
typedef struct hone_map {
    hone_map_entry *entries; /* `used` of them, some of them removed */
    uint32_t *slots;         /* slot_count (a power of two) indices into entries, plus one */
    size_t used, count, slot_count;
} hone_map;

typedef struct hone_strmap {
    hone_map map;
} hone_strmap;
typedef struct hone_u64map {
    hone_map map;
} hone_u64map;
typedef struct hone_map128 {
    hone_map map;
} hone_map128;

void hone_strmap_deinit(hone_strmap *map);
void hone_strmap_clear(hone_strmap *map);
size_t hone_strmap_count(const hone_strmap *map);
/* Adds or replaces; false when memory runs out. */
HONE_NODISCARD bool hone_strmap_put(hone_strmap *map, const char *key, uint64_t value);
/* False (and *out_value = 0) when there is no such key. `out_value` may be NULL. */
bool hone_strmap_find(const hone_strmap *map, const char *key, uint64_t *out_value);
bool hone_strmap_remove(hone_strmap *map, const char *key); /* false when absent */
/* Walks in order of insertion: start with *cursor = 0; false at the end. The key belongs to the
 * map. Entries may be removed during a walk, not added. */
bool hone_strmap_next(const hone_strmap *map, size_t *cursor, const char **out_key,
                      uint64_t *out_value);

void hone_u64map_deinit(hone_u64map *map);
size_t hone_u64map_count(const hone_u64map *map);
HONE_NODISCARD bool hone_u64map_put(hone_u64map *map, uint64_t key, uint64_t value);
bool hone_u64map_find(const hone_u64map *map, uint64_t key, uint64_t *out_value);
bool hone_u64map_remove(hone_u64map *map, uint64_t key);
bool hone_u64map_next(const hone_u64map *map, size_t *cursor, uint64_t *out_key,
                      uint64_t *out_value);

void hone_map128_deinit(hone_map128 *map);
void hone_map128_clear(hone_map128 *map);
size_t hone_map128_count(const hone_map128 *map);
HONE_NODISCARD bool hone_map128_put(hone_map128 *map, hone_hash128 key, uint64_t value);
bool hone_map128_find(const hone_map128 *map, hone_hash128 key, uint64_t *out_value);
bool hone_map128_remove(hone_map128 *map, hone_hash128 key);
bool hone_map128_next(const hone_map128 *map, size_t *cursor, hone_hash128 *out_key,
                      uint64_t *out_value);

#endif
