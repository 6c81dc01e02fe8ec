/* tests/ir/arith/arith_random.h - random integer expressions, their values, and their text.
 *
 * Variables are numbered from 0; a world gives each a small domain that tests run through.
 */
#ifndef HONE_TESTS_IR_ARITH_ARITH_RANDOM_H
#define HONE_TESTS_IR_ARITH_ARITH_RANDOM_H

#include "ir/arith/arith.h"
#include "support/core/strbuf.h"
#include "support/data/rng.h"

enum { WORLD_MAX_VARS = 4 };

typedef struct world {
    hone_ir ir;
    hone_rng rng;
    uint32_t var_count;
    int64_t min[WORLD_MAX_VARS], extent[WORLD_MAX_VARS];
    int64_t value[WORLD_MAX_VARS];
    bool is_wide;     /* constants near the limits of int64 */
    bool is_wrapping; /* constants that take int32 out of its range */
} world;

/* New domains: at most max_points points in all. */
void world_roll(world *w, uint32_t max_vars, uint64_t max_points);
/* First point; next point (false after the last). */
void world_first(world *w);
bool world_next(world *w);

const hone_expr *world_var(world *w, uint32_t v);
const hone_expr *world_int_expr(world *w, int depth);
const hone_expr *world_bool_expr(world *w, int depth);
/* Only + - * by constants, // and % by positive constants. */
const hone_expr *world_affine_expr(world *w, int depth);

__extension__ typedef __int128 world_wide;

/* The value at the current point; false where it has none (division by zero, beyond int64). What is
 * in between may leave int64: integers are mathematical. */
bool world_eval(const world *w, const hone_expr *e, int64_t *out);
/* world_eval, also where the value itself leaves int64. */
bool world_eval_wide(const world *w, const hone_expr *e, world_wide *out);

/* Appends the expression as text, variables being a, b, c, ... */
void world_print(const hone_expr *e, hone_str *out);

#endif
