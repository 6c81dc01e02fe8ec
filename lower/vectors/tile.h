/* lower/vectors/tile.h - a tile that is read across its rows; inside lower/ only.
 *
 *   for i in N: for j in vectorized(M): Y[a + step * i + j] = f(X[b + j * stride + i])    stride >
 * 1
 */
#ifndef HONE_LOWER_VECTORS_TILE_H
#define HONE_LOWER_VECTORS_TILE_H

#include "lower/ground/passes.h"

#define LOWER_TILE_ANY_STEP INT64_MAX

typedef struct lower_tile {
    hone_lower *lower;
    hone_arith *arith;
    hone_node_id rows, lanes, store;     /* the loops, the statement */
    hone_node_id branch;                 /* an IF around it, or HONE_NO_ID */
    const hone_expr *of_rows, *of_lanes; /* what it asks of each, and of neither; NULL = nothing */
    int64_t row_count, lane_count;       /* -1: not constant */
    int64_t row_step;                    /* of what is stored; LOWER_TILE_ANY_STEP: no constant */
    int64_t load_step;                   /* of what is loaded, from lane to lane; the same */
    int64_t size;                        /* lanes of the vectors that are turned around */
    int64_t side;                        /* of the squares in them, side by side */
    const hone_expr *load;               /* what is read across */
    hone_buffer result;
} lower_tile;

/* Whether the loop at rows is the outer one of such a tile, which may stand under conditions that
 * ask of rows or of lanes alone; lower and arith are the caller's. */
bool lower_tile_match(lower_tile *t, hone_node_id rows);
/* X[b + k * stride + i:i + count]; NULL = the ir has failed. */
const hone_expr *lower_tile_row(const lower_tile *t, const hone_expr *i, int64_t k, int64_t count);

#endif
