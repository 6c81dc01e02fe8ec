/* schedule/primitive/choose/sample.h - drawing tile factors, independent of any schedule: search
 * mutates decisions with the functions that sampling instructions draw with.
 *
 * A tile is an array of `parts` factors (at most HONE_MAX_TILE_PARTS), outermost first, whose
 * product is the extent. No function allocates or fails.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_CHOOSE_SAMPLE_H
#define HONE_SCHEDULE_PRIMITIVE_CHOOSE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "support/data/rng.h"

enum { HONE_MAX_TILE_PARTS = 16, HONE_MAX_PRIMES = 64 };

/* n = primes[0]^powers[0] · primes[1]^powers[1] · …; returns how many there are. n >= 1. What is
 * left without factors below 2^22 counts as a prime. */
uint32_t hone_factorize(int64_t n, int64_t primes[HONE_MAX_PRIMES],
                        int32_t powers[HONE_MAX_PRIMES]);
/* The divisors of n in ascending order, at most `capacity` of them; returns how many were written.
 */
uint32_t hone_divisors(int64_t n, uint32_t capacity, int64_t *out);
/* Draws a tile, uniformly among all whose last factor is at most max_innermost (-1: no limit).
 * After 200 draws with a larger one, the last factor goes into the first. */
void hone_sample_perfect_tile(hone_rng *rng, int64_t extent, uint32_t parts, int64_t max_innermost,
                              int64_t *out);
/* hone_sample_perfect_tile without a limit, uniformly among the tiles whose factors from number
 * `pos` on multiply to a multiple of `inner`, which divides the extent. After 200 draws without
 * success: extent / inner at the front, inner at pos, 1 elsewhere. */
void hone_sample_partitioned_tile(hone_rng *rng, int64_t extent, uint32_t parts, uint32_t pos,
                                  int64_t inner, int64_t *out);
/* hone_repair_perfect_tile, and then, where the factors from pos on do not multiply to a multiple
 * of inner, the tile that hone_sample_partitioned_tile falls back on. */
bool hone_repair_partitioned_tile(int64_t extent, uint32_t parts, uint32_t pos, int64_t inner,
                                  int64_t *io);
/* Makes factors that were drawn for another extent fit this one. From the last to the second: a
 * factor that does not divide what is left of the extent takes all of it; the first takes the rest.
 * Returns whether something changed. */
bool hone_repair_perfect_tile(int64_t extent, uint32_t parts, int64_t *io);
/* Makes factors that were good for another extent fit this one: from the last to the second each
 * becomes the largest divisor of what is left that is no larger, the last one at most `limit` (-1:
 * no limit); the first takes the rest. */
void hone_fit_perfect_tile(int64_t extent, uint32_t parts, int64_t limit, int64_t *io);

#endif
