/* tests/ir/arith/random_map.h - random indices over a few loops, mostly digits of numbers that
 * loops make, under conditions as splits leave them behind. */
#ifndef HONE_TESTS_IR_ARITH_RANDOM_MAP_H
#define HONE_TESTS_IR_ARITH_RANDOM_MAP_H

#include "ir/arith/itermap.h"
#include "tests/ir/arith/arith_random.h"

enum { RANDOM_MAP_INDICES = 3 };

typedef struct random_map {
    world w; /* its variables are the loops; at most 96 points */
    hone_iter iters[WORLD_MAX_VARS];
    uint32_t index_count;
    const hone_expr *indices[RANDOM_MAP_INDICES];
    const hone_expr *predicate; /* NULL = true */
} random_map;

/* Everything of the map lies in the arena. */
void random_map_make(random_map *map, hone_arena *arena, uint64_t seed);
/* The predicate holds at the current point of the world. */
bool random_map_counts(const random_map *map);

#endif
