/* bench/ops/ops_shape_matmul.c - a matrix product of any size: tiles of rows by two to four vectors
 * of columns in registers, W in panels of so many columns one behind the other. A convolution 1x1
 * in plain layout is one as well: rows are filters, columns are pixels. */
#include <inttypes.h>
#include <stdio.h>

#include "bench/ops/ops_shape.h"

enum {
    IN_L1 = 24 * 1024,
    SMALL_W = 128 * 1024,
    RESIDENT_W = 512 * 1024,
    BLOCK_OF_W = 2 * 1024 * 1024,
    LINE_BYTES = 64
}; /* bytes */
enum { L1_SETS = 64, L1_WAYS = 8, L2_SETS = 1024, L2_WAYS = 16 };
enum {
    MAX_ROWS = 14,
    ROWS_OF_A_SET = 8, /* of X, where all share one set of L1 */
    LONG_SUM = 1024,
    FEW_ROWS = 128,
    SOON = 256, /* rows of W that are read one after the other */
    PIECE_COLUMNS = 128,
    AHEAD = 16
};

static void print_program(int64_t m, int64_t n, int64_t k, hone_str *out) {
    hone_str_printf(out,
                    "from tvm.script import tir as T\n\n"
                    "M, N, K = %" PRId64 ", %" PRId64 ", %" PRId64 "\n\n"
                    "@T.prim_func\n"
                    "def main(\n"
                    "    X: T.Buffer((M, K), \"float32\"),\n"
                    "    W: T.Buffer((K, N), \"float32\"),\n"
                    "    Y: T.Buffer((M, N), \"float32\"),\n"
                    "):\n"
                    "    T.func_attr({\"tir.noalias\": True})\n"
                    "    for i, j, k in T.grid(M, N, K):\n"
                    "        with T.block(\"matmul\"):\n"
                    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                    "            with T.init():\n"
                    "                Y[vi, vj] = T.float32(0)\n"
                    "            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]\n",
                    m, n, k);
}

static void print_panels(int columns, bool is_whole, hone_str *out) {
    hone_str_printf(out,
                    "w = sch.reindex_cache_read(block=b, read_buffer_index=1, "
                    "storage_scope=\"global\", index_map=lambda i, j, k: (j // %d, k, j %% %d))\n",
                    columns, columns);
    if (!is_whole) return;
    hone_str_printf(out,
                    "wj, wk = sch.get_loops(block=w)\n"
                    "wp, wl = sch.split(loop=wj, factors=[None, %d])\n"
                    "sch.reorder(wp, wk, wl)\n"
                    "sch.parallel(loop=wp)\n"
                    "sch.vectorize(loop=wl)\n",
                    columns);
}

typedef struct plan {
    const ops_machine *machine;
    int64_t m, n, k;
    int columns, rows; /* of a tile */
    int64_t together;  /* panels that a tile of rows is multiplied with in turn */
    int64_t steps;     /* of k at a time; 0 = all, and sums stay in registers */
    bool has_panels;   /* W is copied */
    bool has_pieces;   /* when the turn of its columns (and steps) comes, not as a whole */
    bool is_pointwise;
    bool packs_rows; /* the rows of a tile side by side */
    int ahead;       /* steps of k that W is asked for before it is needed; 0 = not */
    bool is_parallel;
    bool by_rows; /* the outermost loop is over rows */
} plan;

/* One step of the sum for a tile: products, or loads of W and broadcasts of X. */
static double tile_time(const ops_machine *machine, int64_t rows, int64_t vectors) {
    double time = (double)(rows * vectors), loads = (double)(rows + vectors);
    if (machine->has_halves) loads /= 2;
    if (time < loads) time = loads;
    if (time < machine->fma_in_flight) time = machine->fma_in_flight;
    return time + 0.4 * (double)vectors;
}

double ops_product_time(const ops_machine *machine, int64_t m, int64_t n, int rows, int vectors) {
    int64_t all = (n + machine->lanes - 1) / machine->lanes;
    double time = 0;
    for (int corner = 0; corner < 4; corner++) {
        int64_t r = corner & 1 ? m % rows : rows, v = corner & 2 ? all % vectors : vectors;
        int64_t count = (corner & 1 ? r > 0 : m / rows) * (corner & 2 ? v > 0 : all / vectors);
        if (count) time += (double)count * tile_time(machine, r, v);
    }
    return time;
}

/* What the thread with the most tiles has, beside an equal share; tiles of rows or panels are the
 * parallel loop. */
static double unequal_share(const plan *p, int64_t rows, int64_t columns) {
    int64_t tiles = (p->m + rows - 1) / rows, panels = (p->n + columns - 1) / columns;
    int64_t parts = tiles > panels ? tiles : panels, threads = p->machine->threads;
    if ((double)p->m * (double)p->n * (double)p->k <= OPS_SMALL_WORK) return 1;
    return (double)((parts + threads - 1) / threads * threads) / (double)parts;
}

/* Rows of X of a tile: where they lie a multiple of 4 KB apart they share one set of L1. */
static int most_rows(int64_t k) {
    return k % 1024 == 0 ? ROWS_OF_A_SET : MAX_ROWS;
}

/* Two vectors of columns where that is no slower than another number by more than 3 %. */
static void choose_tile(plan *p) {
    const ops_machine *machine = p->machine;
    double best = 1e300;
    for (int vectors = 2; vectors <= 4 && p->n > machine->lanes * (vectors - 1); vectors++) {
        int most = (machine->registers - vectors - 1) / vectors;
        for (int rows = 1; rows <= most && rows <= most_rows(p->k) && rows <= p->m; rows++) {
            double time = ops_product_time(machine, p->m, p->n, rows, vectors) *
                          unequal_share(p, rows, vectors * machine->lanes);
            if (vectors > 2) time *= 1.03;
            if (time > best || (vectors > 2 && time == best)) continue;
            best = time;
            p->rows = rows;
            p->columns = vectors * machine->lanes;
        }
    }
    if (p->n < p->columns) p->columns = (int)p->n;
}

/* Whether some sets of the first cache get more of the lines of a panel than they hold, where an
 * even spread would fill half of them: rows that lie about a multiple of 4 KB apart. It matters
 * where a line is loaded in two halves. */
static bool shares_first_cache(const plan *p) {
    int64_t count[L1_SETS] = {0}, total = 0, most = 0;
    if (p->machine->lanes * 4 >= LINE_BYTES || p->m <= 4 * (int64_t)p->rows) return false;
    for (int64_t row = 0; row < p->k && row < SOON; row++) {
        int64_t first = row * p->n * 4 / LINE_BYTES,
                last = (row * p->n * 4 + p->columns * 4 - 1) / LINE_BYTES;
        for (int64_t line = first; line <= last; line++, total++) {
            int64_t lines = ++count[line % L1_SETS];
            if (lines > most) most = lines;
        }
    }
    return most > L1_WAYS && most * L1_SETS > 2 * total;
}

/* Whether rows of W, a panel's worth of each, find room in the second cache: where they begin a
 * multiple of many lines apart they share its sets, and a copy is worth what it costs. */
static bool are_rows_apart(const plan *p) {
    int64_t lines = p->n * 4 / LINE_BYTES, sets = L2_SETS;
    if (shares_first_cache(p)) return false;
    if (p->n * 4 % LINE_BYTES != 0) return true;
    for (; lines % 2 == 0 && sets > 1; lines /= 2)
        sets /= 2;
    return p->k <=
           sets * L2_WAYS * p->machine->lanes / 8; /* a copy is read for more tiles of few lanes */
}

/* W at run time: some panels for each tile of rows, and what few rows need is asked for early. */
static void read_in_place(plan *p) {
    int lanes = p->machine->lanes;
    if (p->columns < PIECE_COLUMNS) p->together = PIECE_COLUMNS / p->columns;
    if (p->has_panels) return;
    if (p->rows == p->m && p->columns > lanes) {
        /* W is read once, in runs as long as there are registers for. */
        int vectors = (p->machine->registers - (int)p->m - 1) / (int)p->m;
        if (vectors > 8) vectors = 8;
        if (vectors * lanes > p->columns) p->columns = vectors * lanes;
        p->steps = 0;
        p->together = 1;
    }
    if (p->m <= 4 * (int64_t)p->rows) p->ahead = AHEAD;
}

static plan make_plan(const ops_machine *machine, int64_t m, int64_t n, int64_t k, bool is_constant,
                      bool is_pointwise) {
    plan p = {.machine = machine, .m = m, .n = n, .k = k, .together = 1};
    p.is_pointwise = is_pointwise;
    p.columns = n < 2 * machine->lanes ? (int)n : 2 * machine->lanes;
    int vectors = (p.columns + machine->lanes - 1) / machine->lanes;
    if (is_pointwise && machine->registers == 32 && vectors == 2) {
        /* Outputs lie far apart from row to row: long runs, few rows. */
        vectors = ops_choose_tile(machine, (n + machine->lanes - 1) / machine->lanes, 4, 4);
        if (vectors > 1) p.columns = vectors * machine->lanes;
    }
    int most = (machine->registers - vectors - 1) / vectors;
    int far = is_pointwise ? MAX_ROWS : most_rows(k);
    p.rows = ops_choose_tile(machine, m, most < far ? most : far, vectors);
    if (!is_pointwise && n > machine->lanes) choose_tile(&p);
    int64_t panels = (n + p.columns - 1) / p.columns, bytes = n * k * 4;
    p.has_panels = panels > 1 && bytes > SMALL_W && (is_constant || panels >= 4);
    if (is_pointwise && p.columns * k * 4 <= IN_L1) p.has_panels = false;
    if (!is_constant && p.has_panels && are_rows_apart(&p)) {
        p.has_panels = false;
        read_in_place(&p);
    } else if (!is_constant && p.has_panels &&
               (m <= FEW_ROWS || is_pointwise || bytes > 2 * BLOCK_OF_W)) {
        /* A copy of all of W would cost too much, or leave the second cache before it is read. */
        p.has_panels = m > 4 * (int64_t)p.rows;
        p.has_pieces = p.has_panels;
        p.steps = p.has_panels ? 256 : 64;
        if (p.steps >= k) p.steps = 0;
        read_in_place(&p);
    } else if (bytes > 4 * BLOCK_OF_W) {
        while (p.together * 2 * p.columns * k * 4 <= BLOCK_OF_W)
            p.together *= 2;
    }
    panels = (n + p.columns - 1) / p.columns;
    bool is_long = !is_constant && !p.has_panels && panels > 1 && k > 2 * LONG_SUM;
    if (is_long && !p.steps) p.steps = LONG_SUM;
    while (p.together > 1 && panels / p.together < 2 * machine->threads)
        p.together /= 2;
    if (is_constant && p.has_panels && bytes > BLOCK_OF_W / 2) p.ahead = AHEAD;
    int64_t tiles = (m + p.rows - 1) / p.rows;
    bool has_few_panels = panels < 2 * machine->threads && tiles > panels;
    bool has_few_tiles = tiles < 2 * machine->threads && tiles < panels && machine->threads > 1;
    p.by_rows =
        !p.steps && !p.has_pieces && !has_few_tiles && (bytes <= RESIDENT_W || has_few_panels);
    p.is_parallel = (double)m * (double)n * (double)k > OPS_SMALL_WORK;
    bool has_tile_each = p.by_rows && tiles <= 2 * machine->threads;
    if (p.is_parallel && machine->threads > 1 && has_tile_each)
        p.rows = (int)((m + tiles - 1) / tiles); /* all alike: nobody waits for the largest */
    return p;
}

static void print_trace(const plan *p, hone_str *t) {
    hone_str_append(t, "b = sch.get_block(name=\"matmul\", func_name=\"main\")\n");
    if (p->packs_rows) {
        hone_str_printf(
            t,
            "f = sch.reindex_cache_read(block=b, read_buffer_index=0, "
            "storage_scope=\"global\", index_map=lambda i, j, k: (i // %d, k, i %% %d))\n",
            p->rows, p->rows);
    }
    if (p->has_panels) print_panels(p->columns, !p->has_pieces, t);
    hone_str_printf(t,
                    "i, j, k = sch.get_loops(block=b)\n"
                    "i0, i1 = sch.split(loop=i, factors=[None, %d])\n"
                    "j0, j1, j2 = sch.split(loop=j, factors=[None, %" PRId64 ", %d])\n",
                    p->rows, p->together, p->columns);
    if (p->steps) {
        hone_str_printf(t, "k0, k = sch.split(loop=k, factors=[None, %" PRId64 "])\n", p->steps);
    }
    hone_str_printf(t,
                    "sch.reorder(%s, j1, k, i1, j2)\n"
                    "sch.unroll(loop=i1)\n"
                    "sch.vectorize(loop=j2)\n",
                    p->steps     ? "j0, k0, i0"
                    : p->by_rows ? "i0, j0"
                                 : "j0, i0");
    if (p->is_parallel) hone_str_printf(t, "sch.parallel(loop=%s)\n", p->by_rows ? "i0" : "j0");
    if (p->has_pieces) {
        hone_str_printf(t,
                        "sch.compute_at(block=w, loop=%s)\n"
                        "_, %swj, wk = sch.get_loops(block=w)\n"
                        "wp, wl = sch.split(loop=wj, factors=[None, %d])\n"
                        "sch.reorder(wk, wp, wl)\n"
                        "sch.vectorize(loop=wl)\n",
                        p->steps ? "k0" : "j0", p->steps ? "_, " : "", p->columns);
    }
    if (!p->steps) {
        hone_str_printf(t,
                        "y = sch.cache_write(block=b, write_buffer_index=0, "
                        "storage_scope=\"local\")\n"
                        "sch.reverse_compute_at(block=y, loop=j1, preserve_unit_loops=True)\n"
                        "_, _, _, %s = sch.get_loops(block=y)\n"
                        "sch.unroll(loop=y0)\n"
                        "sch.vectorize(loop=y1)\n",
                        p->is_pointwise ? "yn, y0, yh, y1" : "y0, y1");
    }
    if (p->is_pointwise && !p->steps) {
        hone_str_printf(t,
                        "sch.annotate(block_or_loop=%s, ann_key=\"pragma_prefetch_stores\", "
                        "ann_val=0)\n",
                        p->together > 1 ? "j1"
                        : p->by_rows    ? "j0"
                                        : "i0");
    }
    if (p->ahead) {
        hone_str_printf(t,
                        "sch.annotate(block_or_loop=k, ann_key=\"pragma_prefetch\", ann_val=%d)\n",
                        p->ahead);
    }
    hone_str_printf(t, "sch.decompose_reduction(block=b, loop=%s)\n", p->steps ? "k0" : "k");
}

/* One row, or a few of short vectors: W is read once, whole rows of it one after the other, eight
 * at a time. */
static void print_one_row(const ops_machine *machine, int64_t n, int64_t k, hone_str *t) {
    hone_str_printf(t,
                    "b = sch.get_block(name=\"matmul\", func_name=\"main\")\n"
                    "i, j, k = sch.get_loops(block=b)\n"
                    "p, j0, j1 = sch.split(loop=j, factors=[%d, None, %d])\n"
                    "k0, k1 = sch.split(loop=k, factors=[None, 8])\n"
                    "sch.reorder(p, k0, i, j0, k1, j1)\n"
                    "%s"
                    "sch.unroll(loop=k1)\n"
                    "sch.vectorize(loop=j1)\n"
                    "sch.decompose_reduction(block=b, loop=k0)\n",
                    machine->threads, 2 * machine->lanes,
                    n * k > OPS_SMALL_WORK ? "sch.parallel(loop=p)\n" : "");
}

/* Columns beyond whole vectors, where they would take a vector of their own for one or two; 0 where
 * there are none, or too many vectors to notice. */
static int64_t lonely_columns(const ops_machine *machine, int64_t m, int64_t n, int64_t k) {
    int64_t rest = n % machine->lanes, vectors = n / machine->lanes;
    bool is_worth_it = rest >= 1 && rest <= 2 && vectors >= 1 && vectors <= 4 && m >= 8;
    return is_worth_it && k >= 4 * (int64_t)machine->lanes ? rest : 0;
}

/* Whole vectors of columns, one row's worth of them together; the columns that are left over as
 * sums along the rows of X. */
static void print_lonely_columns(const ops_machine *machine, int64_t m, int64_t n, int64_t k,
                                 int64_t lonely, hone_str *t) {
    int vectors = (int)(n / machine->lanes);
    int most = (machine->registers - vectors - 1) / vectors;
    if (most > 14 && k % 512 == 0) most = k % 1024 ? 14 : 7; /* rows that share sets of L1 */
    bool is_parallel = m * n * k > OPS_SMALL_WORK;
    int64_t share = (m + machine->threads - 1) / machine->threads;
    if (is_parallel && most > share) most = (int)share; /* a tile for each thread */
    const char *parallel = is_parallel ? "sch.parallel(loop=i0)\n" : "";
    hone_str_printf(t,
                    "b = sch.get_block(name=\"matmul\", func_name=\"main\")\n"
                    "i, j, k = sch.get_loops(block=b)\n"
                    "sch.reorder(j, i, k)\n"
                    "j0, j1 = sch.loop_partition(loop=j, factors=[%" PRId64 ", None])\n"
                    "b0 = sch.get_block(name=\"matmul_j0\", func_name=\"main\")\n"
                    "b1 = sch.get_block(name=\"matmul_j1\", func_name=\"main\")\n",
                    n - lonely);
    hone_str_printf(t,
                    "j, i, k = sch.get_loops(block=b0)\n"
                    "i0, i1 = sch.split(loop=i, factors=[None, %d])\n"
                    "sch.reorder(i0, k, i1, j)\n"
                    "%s"
                    "sch.unroll(loop=i1)\n"
                    "sch.vectorize(loop=j)\n"
                    "sch.decompose_reduction(block=b0, loop=k)\n",
                    ops_choose_tile(machine, m, most, vectors), parallel);
    hone_str_printf(t,
                    "j, i, k = sch.get_loops(block=b1)\n"
                    "i0, i1 = sch.split(loop=i, factors=[None, 4])\n"
                    "sch.reorder(i0, j, k, i1)\n"
                    "sch.unroll(loop=i1)\n"
                    "%s"
                    "w = sch.cache_read(block=b1, read_buffer_index=1, storage_scope=\"global\")\n"
                    "sch.transform_layout(block=b1, buffer=(\"read\", 1), "
                    "index_map=lambda k, j: (j, k))\n"
                    "sch.annotate(block_or_loop=k, ann_key=\"pragma_vector_reduce\", ann_val=1)\n"
                    "sch.decompose_reduction(block=b1, loop=k)\n",
                    parallel);
}

void ops_matmul_text(const ops_machine *machine, int64_t m, int64_t n, int64_t k,
                     ops_shape_text *out) {
    snprintf(out->name, sizeof out->name, "matmul_%" PRId64 "x%" PRId64 "x%" PRId64, m, n, k);
    print_program(m, n, k, &out->program);
    if (n == 1) return; /* a sum for each row: the default is made for these */
    if (m == 1) {
        if (n >= 4 * machine->lanes) print_one_row(machine, n, k, &out->trace);
        return;
    }
    int64_t lonely = lonely_columns(machine, m, n, k);
    if (lonely) {
        print_lonely_columns(machine, m, n, k, lonely, &out->trace);
        return;
    }
    plan constant = make_plan(machine, m, n, k, true, false),
         runtime = make_plan(machine, m, n, k, false, false);
    print_trace(&constant, &out->trace);
    bool is_narrow = machine->lanes < 16 && m <= 3 && n >= 4 * machine->lanes;
    if (is_narrow)
        print_one_row(machine, n, k, &out->runtime_trace);
    else
        print_trace(&runtime, &out->runtime_trace);
}

/* Vectors of filters instead of pixels: their weights are packed, outputs turned in registers. */
static void print_by_filters(const ops_machine *machine, int64_t bytes, int vectors, int pixels,
                             hone_str *t) {
    hone_str_printf(t,
                    "b = sch.get_block(name=\"matmul\", func_name=\"main\")\n"
                    "w = sch.reindex_cache_read(block=b, read_buffer_index=0, "
                    "storage_scope=\"global\", index_map=lambda i, j, k: (i // %d, k, i %% %d))\n"
                    "i, j, k = sch.get_loops(block=b)\n"
                    "i0, i1 = sch.split(loop=i, factors=[None, %d])\n"
                    "j0, j1 = sch.split(loop=j, factors=[None, %d])\n"
                    "sch.reorder(i0, j0, k, j1, i1)\n"
                    "sch.unroll(loop=j1)\n"
                    "sch.vectorize(loop=i1)\n"
                    "sch.parallel(loop=i0)\n",
                    vectors * machine->lanes, vectors * machine->lanes, vectors * machine->lanes,
                    pixels);
    hone_str_printf(t,
                    "y = sch.cache_write(block=b, write_buffer_index=0, storage_scope=\"local\")\n"
                    "sch.transform_layout(block=b, buffer=(\"write\", 0), "
                    "index_map=lambda n, i, h, j: (n, h, j, i))\n"
                    "sch.reverse_compute_at(block=y, loop=j0, preserve_unit_loops=True)\n"
                    "_, _, yn, yi, yh, yj = sch.get_loops(block=y)\n"
                    "y0, y1 = sch.split(loop=yi, factors=[None, %d])\n"
                    "sch.unroll(loop=y0)\n"
                    "sch.unroll(loop=y1)\n"
                    "sch.vectorize(loop=yj)\n",
                    machine->lanes);
    if (bytes > BLOCK_OF_W / 2) {
        hone_str_printf(
            t, "sch.annotate(block_or_loop=k, ann_key=\"pragma_prefetch\", ann_val=%d)\n", AHEAD);
    }
    hone_str_append(t, "sch.decompose_reduction(block=b, loop=k)\n");
}

/* Whether pixels leave so much of vectors empty that filters had better be their lanes; how many
 * pixels are a tile then. */
static bool suits_filters(const plan *p, int64_t filters, int64_t pixels, int *out_pixels) {
    const ops_machine *machine = p->machine;
    enum { VECTORS = 2, MOST_PIXELS = 14 };
    if (machine->registers != 32 || filters % (VECTORS * machine->lanes) != 0) return false;
    double best = 1e300;
    for (int tile = 8; tile <= MOST_PIXELS && tile <= pixels; tile++) {
        double time = ops_product_time(machine, pixels, filters, tile, VECTORS);
        if (time >= best) continue;
        best = time;
        *out_pixels = tile;
    }
    int vectors = (p->columns + machine->lanes - 1) / machine->lanes;
    return 1.06 * best < ops_product_time(machine, filters, pixels, p->rows, vectors);
}

void ops_pointwise_text(const ops_machine *machine, int64_t filters, int64_t pixels,
                        int64_t channels, ops_shape_text *out) {
    hone_str_printf(
        &out->program,
        "from tvm.script import tir as T\n\n"
        "F, P, C = %" PRId64 ", %" PRId64 ", %" PRId64 "\n\n"
        "@T.prim_func\n"
        "def main(\n"
        "    X: T.Buffer((1, C, 1, P), \"float32\"),\n"
        "    W: T.Buffer((F, C, 1, 1), \"float32\"),\n"
        "    Y: T.Buffer((1, F, 1, P), \"float32\"),\n"
        "):\n"
        "    T.func_attr({\"tir.noalias\": True})\n"
        "    for i, j, k in T.grid(F, P, C):\n"
        "        with T.block(\"matmul\"):\n"
        "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
        "            with T.init():\n"
        "                Y[0, vi, 0, vj] = T.float32(0)\n"
        "            Y[0, vi, 0, vj] = Y[0, vi, 0, vj] + W[vi, vk, 0, 0] * X[0, vk, 0, vj]\n",
        filters, pixels, channels);
    plan p = make_plan(machine, filters, pixels, channels, false, true);
    int tile = 0;
    if (suits_filters(&p, filters, pixels, &tile)) {
        print_by_filters(machine, 4 * filters * channels, 2, tile, &out->trace);
    } else {
        p.packs_rows = true;
        print_trace(&p, &out->trace);
    }
    p.packs_rows = false; /* it would cost more than it saves */
    print_trace(&p, &out->runtime_trace);
}
