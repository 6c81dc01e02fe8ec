/* schedule/defaults/default_product.c - how large a tile of a product is: its sums are held in
 * registers, beside a vector of each column and what of a row they are multiplied with.
 *
 *     columns: vectors ─►          a step of the reduction loads rows + vectors and adds
 *   rows  + + +                    rows * vectors products; what is left over at the
 *     │   + + +                    right and at the bottom are tiles of their own
 *     ▼
 *
 * A step takes as long as its sums, and as its loads beside them; few sums wait for each other.
 */
#include <math.h>

#include "schedule/defaults/default_impl.h"

enum { MAX_VECTORS = 4, SUMS_IN_FLIGHT = 10, LINE_BITS = 512, MANY_REGISTERS = 32 };
enum { CHANGE_TIME = 256 };

static const double WORTH_IT = 17.0 / 16; /* from where on tiles are left over */
static const double FAR_VECTOR = 4; /* from beyond the second cache, in operations of vectors */

static int64_t vectors_of(const hone_default_nest *n, int64_t columns) {
    return (columns + n->lanes - 1) / n->lanes;
}

/* Whether loads have a mask that is a vector itself. */
static bool has_mask(const hone_default_nest *n, int64_t columns) {
    return columns % n->lanes != 0 && n->limits->vector_registers < MANY_REGISTERS;
}

static bool fits(const hone_default_nest *n, int64_t rows, int64_t columns) {
    int64_t vectors = vectors_of(n, columns);
    return rows * vectors + vectors + 1 + has_mask(n, columns) <= n->limits->vector_registers;
}

/* Three quarters of the registers at most: compilers begin to spill sums beyond. */
static bool leaves_registers(const hone_default_nest *n, int64_t rows, int64_t columns) {
    return 4 * rows * vectors_of(n, columns) <= 3 * (int64_t)n->limits->vector_registers;
}

bool hone_default_tile_fits(const hone_default_nest *n, int64_t rows, int64_t columns) {
    return fits(n, rows, columns) && leaves_registers(n, rows, columns);
}

double hone_default_step_time(const hone_default_nest *n, int64_t rows, int64_t columns) {
    int64_t vectors = vectors_of(n, columns), sums = rows * vectors;
    bool shares_line = vectors * n->lanes * n->facts.element_bits % LINE_BITS != 0;
    if (sums == 0) return 0;
    int64_t loads = rows + vectors + shares_line + has_mask(n, columns);
    return (double)((sums > SUMS_IN_FLIGHT ? sums : SUMS_IN_FLIGHT) + loads);
}

/* What a tile of rows has to wait for where a panel of columns and what its rows are multiplied
 * with are more than three quarters of the second cache, for a step: vectors come from beyond it.
 */
static double far_time(const hone_default_nest *n, hone_default_sides tile) {
    double bytes =
        (double)(tile.rows + tile.columns) * (double)n->facts.reduce * n->facts.element_bits / 8;
    bool is_far = n->limits->l2_bytes > 0 && 4 * bytes > 3 * (double)n->limits->l2_bytes;
    return is_far ? FAR_VECTOR * (double)vectors_of(n, tile.columns) : 0;
}

/* Of all tiles; other code than that of the last tile has to be found first. */
static double product_time(const hone_default_nest *n, hone_default_sides all,
                           hone_default_sides tile) {
    int64_t down = all.rows / tile.rows, right = all.columns / tile.columns;
    int64_t rest_rows = all.rows % tile.rows, rest_columns = all.columns % tile.columns;
    double whole = hone_default_step_time(n, tile.rows, tile.columns) + far_time(n, tile);
    double step = (double)down *
                      ((double)right * whole + hone_default_step_time(n, tile.rows, rest_columns)) +
                  (double)right * hone_default_step_time(n, rest_rows, tile.columns) +
                  hone_default_step_time(n, rest_rows, rest_columns);
    int64_t changes = (rest_rows > 0 ? right : 0) + (rest_columns > 0);
    return step * (double)n->facts.reduce + (double)(changes * CHANGE_TIME);
}

hone_default_sides hone_default_product_tile(const hone_default_nest *n, hone_default_sides all,
                                             hone_default_sides divides) {
    hone_default_sides best = divides;
    double least = HUGE_VAL;
    if (fits(n, divides.rows, divides.columns)) least = product_time(n, all, divides) / WORTH_IT;
    for (int64_t vectors = 1; vectors <= MAX_VECTORS; vectors++) {
        hone_default_sides tile = {1, vectors * n->lanes};
        if (tile.columns > all.columns) tile.columns = all.columns;
        for (; tile.rows <= all.rows; tile.rows++) {
            if (!hone_default_tile_fits(n, tile.rows, tile.columns)) break;
            double time = product_time(n, all, tile);
            if (time >= least) continue;
            least = time;
            best = tile;
        }
    }
    return best;
}

double hone_default_least_time(const hone_default_nest *n, hone_default_sides all) {
    hone_default_sides first = {1, all.columns < n->lanes ? all.columns : n->lanes};
    hone_default_sides tile = hone_default_product_tile(n, all, first);
    return product_time(n, all, tile) / (double)n->facts.reduce;
}
