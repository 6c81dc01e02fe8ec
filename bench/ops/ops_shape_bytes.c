/* bench/ops/ops_shape_bytes.c - schedules of products of bytes of any size: W lies in panels of the
 * columns of a tile, with the rows that one instruction sums side by side: four of them with
 * AVX-512, where there is vpdpbusd; else two, and X is copied, so that lowering widens both to 16
 * bits (lower/dot/lower_widen.c). */
#include <inttypes.h>

#include "bench/ops/ops_shape.h"

enum { MOST_VECTORS = 5, MOST_ROWS = 14, COPIED_TILES = 16 };

typedef struct plan {
    int64_t m, n, k;
    int rows, columns; /* of a tile */
    int together;      /* rows of W in an instruction */
    int64_t tiles;     /* of rows, that X is copied for at a time */
    bool by_rows;      /* the outermost loop */
    bool packs_steps;  /* W at run time is laid out in registers, step by step */
    bool is_parallel;
} plan;

static void choose_tile(const ops_machine *machine, plan *p) {
    double best = 1e300;
    int lanes = machine->lanes;
    for (int vectors = 1; vectors <= MOST_VECTORS && p->n > lanes * (vectors - 1); vectors++) {
        /* Without dot products of one instruction, products and halves need registers, too. */
        int most = (machine->registers - vectors - 1 - (p->together == 2 ? 2 : 0)) / vectors;
        for (int rows = 1; rows <= most && rows <= MOST_ROWS && rows <= p->m; rows++) {
            double time = ops_product_time(machine, p->m, p->n, rows, vectors);
            if (time >= best) continue;
            best = time;
            p->rows = rows;
            p->columns = vectors * lanes;
        }
    }
    if (p->n < p->columns) p->columns = (int)p->n;
}

static void print_trace(const plan *p, bool is_constant, hone_str *t) {
    bool copies_x = p->together == 2;
    hone_str_printf(t,
                    "b = sch.get_block(name=\"matmul\", func_name=\"main\")\n"
                    "w = sch.reindex_cache_read(block=b, read_buffer_index=1, "
                    "storage_scope=\"global\", index_map=lambda i, j, k: "
                    "(j // %d, k // %d, j %% %d, k %% %d))\n",
                    p->columns, p->together, p->columns, p->together);
    if (copies_x) {
        hone_str_append(t, "x = sch.cache_read(block=b, read_buffer_index=0, "
                           "storage_scope=\"global\")\n");
    }
    hone_str_printf(t,
                    "i, j, k = sch.get_loops(block=b)\n"
                    "i0, i1, i2 = sch.split(loop=i, factors=[None, %" PRId64 ", %d])\n"
                    "j0, j1 = sch.split(loop=j, factors=[None, %d])\n"
                    "k0, k1 = sch.split(loop=k, factors=[None, %d])\n"
                    "sch.reorder(%s, i1, k0, i2, k1, j1)\n",
                    p->tiles, p->rows, p->columns, p->together, p->by_rows ? "i0, j0" : "j0, i0");
    if (copies_x) {
        hone_str_append(t, "sch.compute_at(block=x, loop=i0)\n"
                           "q = sch.get_loops(block=x)[-1]\n"
                           "q0, q1 = sch.split(loop=q, factors=[None, 16])\n"
                           "sch.vectorize(loop=q1)\n");
    }
    hone_str_append(t, "sch.vectorize(loop=j1)\n"
                       "sch.unroll(loop=k1)\n"
                       "sch.unroll(loop=i2)\n"
                       "y = sch.cache_write(block=b, write_buffer_index=0, "
                       "storage_scope=\"local\")\n"
                       "sch.reverse_compute_at(block=y, loop=i1, preserve_unit_loops=True)\n"
                       "_, _, _, y0, y1 = sch.get_loops(block=y)\n"
                       "sch.vectorize(loop=y1)\n"
                       "sch.unroll(loop=y0)\n"
                       "sch.decompose_reduction(block=b, loop=k0)\n");
    if (p->is_parallel) hone_str_printf(t, "sch.parallel(loop=%s)\n", p->by_rows ? "i0" : "j0");
    if (is_constant) return;
    if (p->packs_steps || !p->by_rows) { /* by whom it is for, when its turn comes */
        hone_str_printf(t, "sch.compute_at(block=w, loop=%s)\n", p->packs_steps ? "k0" : "j0");
        hone_str_printf(t,
                        "p, q = sch.get_loops(block=w)[-2:]\n"
                        "q0, q1 = sch.split(loop=q, factors=[None, %d])\n"
                        "sch.reorder(q0, p, q1)\n"
                        "sch.vectorize(loop=q1)\n",
                        p->together);
        return;
    }
    hone_str_printf(t,
                    "p, q = sch.get_loops(block=w)\n"
                    "p0, p1 = sch.split(loop=p, factors=[None, %d])\n"
                    "q0, q1 = sch.split(loop=q, factors=[None, %d])\n"
                    "sch.reorder(p0, q0, p1, q1)\n"
                    "sch.vectorize(loop=q1)\n"
                    "%s",
                    p->columns, p->together, p->is_parallel ? "sch.parallel(loop=p0)\n" : "");
}

void ops_bytes_traces(const ops_machine *machine, int64_t m, int64_t n, int64_t k,
                      ops_shape_text *out) {
    plan p = {.m = m, .n = n, .k = k, .together = machine->registers == 32 ? 4 : 2};
    int64_t threads = machine->threads;
    choose_tile(machine, &p);
    int64_t panels = (n + p.columns - 1) / p.columns, tiles = (m + p.rows - 1) / p.rows;
    p.tiles = (tiles + 2 * threads - 1) / (2 * threads);
    if (p.tiles > COPIED_TILES) p.tiles = COPIED_TILES;
    p.by_rows = tiles >= 2 * threads && (p.together == 2 || panels < 2 * threads);
    p.packs_steps = tiles * p.together <= 4; /* shuffles for a tile or two of rows */
    p.is_parallel = m * n * k > 4 * OPS_SMALL_WORK;
    print_trace(&p, true, &out->trace);
    print_trace(&p, false, &out->runtime_trace);
}
