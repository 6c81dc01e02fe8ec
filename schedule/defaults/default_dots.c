/* schedule/defaults/default_dots.c - how large tiles of products along their sum are (dots.h). */
#include <math.h>

#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/dots.h"

enum { MOST_ROWS = 16 };

/* Operations that add up the lanes of a sum. */
static const double COLLECTING = 8;

static const double WORTH_A_REST = 1.15; /* how much longer tiles that divide may take */

typedef struct tile {
    int64_t rows, columns;
    double time; /* of a sum: its product, and its part of the loads */
} tile;

static tile choose_tile(const hone_dots *d) {
    int64_t all_rows = d->row < 0 ? 1 : d->f.extents[d->row];
    tile best = {.time = HUGE_VAL};
    for (int64_t rows = 1; rows <= all_rows && rows <= MOST_ROWS; rows++) {
        if (!hone_dots_divides(d, rows)) continue;
        int64_t most = hone_dots_most_columns(d, rows);
        for (int64_t columns = 1; columns <= most; columns++) {
            bool has_rest = d->f.extents[d->column] % columns != 0;
            double time = 1 + (double)(rows + columns) / (double)(rows * columns);
            if (has_rest) time *= WORTH_A_REST;
            if (time < best.time) best = (tile){rows, columns, time};
        }
    }
    return best;
}

static bool find_tile(const hone_default_nest *n, hone_dots *out, tile *out_tile) {
    if (!hone_dots_find(n->sch, n->facts.block, n->lanes, n->limits->vector_registers, out))
        return false;
    *out_tile = choose_tile(out);
    return out_tile->rows * out_tile->columns > 1;
}

double hone_default_dots_time(const hone_default_nest *n, double sums) {
    hone_dots d;
    tile t;
    if (!find_tile(n, &d, &t)) return HUGE_VAL;
    return sums * (t.time / (double)n->lanes + COLLECTING / (double)n->facts.reduce);
}

hone_status hone_default_dots(hone_default_nest *n, bool *out_is_done) {
    hone_dots d;
    tile t;
    *out_is_done = find_tile(n, &d, &t);
    return *out_is_done ? hone_dots_apply(&d, n->block, t.rows, t.columns) : HONE_OK;
}
