/* schedule/primitive/choose/sample.h - drawing decisions, apart from any schedule: search mutates
 * with the same functions that sampling instructions draw with. */
#ifndef HONE_SCHEDULE_PRIMITIVE_CHOOSE_SAMPLE_H
#define HONE_SCHEDULE_PRIMITIVE_CHOOSE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "support/rng.h"

enum { HONE_MAX_TILE_PARTS = 16, HONE_MAX_PRIMES = 64 };

/* n = product of prime[i]^power[i]; returns how many. n >= 1. Factors beyond 2^22 are not taken
 * apart. */
uint32_t hone_factorize(int64_t n, int64_t primes[HONE_MAX_PRIMES],
                        int32_t powers[HONE_MAX_PRIMES]);
/* Divisors in ascending order, at most capacity of them; returns how many were written. */
uint32_t hone_divisors(int64_t n, uint32_t capacity, int64_t *out);
/* Ordered factorisation of extent into parts factors, uniform over all whose last factor is at most
 * max_innermost (-1: no limit). After many rejections the surplus moves to the first part. */
void hone_sample_perfect_tile(hone_rng *rng, int64_t extent, uint32_t parts, int64_t max_innermost,
                              int64_t *out);
/* The same where the factors from position pos on shall multiply to a multiple of inner, which
 * divides extent. Repairs, likewise: what no longer fits becomes extent / inner at the front and
 * inner at pos. */
void hone_sample_partitioned_tile(hone_rng *rng, int64_t extent, uint32_t parts, uint32_t pos,
                                  int64_t inner, int64_t *out);
bool hone_repair_partitioned_tile(int64_t extent, uint32_t parts, uint32_t pos, int64_t inner,
                                  int64_t *io);
/* Makes stale factors fit an extent, from the innermost: a factor that does not divide what is left
 * takes all of it. Returns false when nothing had to change. */
bool hone_repair_perfect_tile(int64_t extent, uint32_t parts, int64_t *io);

#endif
