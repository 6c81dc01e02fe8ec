/* bench/ops/ops_shape_conv.c - a convolution of any size: tiles of pixels by 16 or 32 filters in
 * registers. What lies outside of the image is left out; weights are packed by the filters of a
 * tile, those that are lacking are 0. */
#include <inttypes.h>
#include <stdio.h>

#include "bench/ops/ops_shape.h"

enum {
    BLOCK = 16,
    LARGE_WEIGHTS = 1 << 20,
    LARGE_IMAGE = 1 << 20,
    MOST_TAPS = 9
}; /* channels of a block; bytes; taps packed at a time */

typedef struct plan {
    const ops_machine *machine;
    ops_conv_shape shape;
    bool is_blocked;
    int64_t oh, ow, tiles_of_filters;
    int block;            /* filters that lie side by side */
    int blocks;           /* of a tile */
    int rows, columns;    /* of a tile, in pixels */
    int channels;         /* at a time; 0 = all */
    bool by_filters;      /* the outermost loop is over filters */
    bool packs_alone;     /* each thread packs what it needs, in its outermost loop */
    bool has_tile_turned; /* not the row of tiles */
    bool is_parallel;
    double time; /* of one step of the sum, in multiplications of vectors */
} plan;

/* Rows and columns of tiles that take the least time for the whole image. */
static void choose_tile(plan *p) {
    const ops_machine *machine = p->machine;
    int vectors = (p->blocks * p->block + machine->lanes - 1) / machine->lanes;
    int most = (machine->registers - 1 - vectors) / vectors;
    int least = (machine->fma_in_flight + vectors - 1) / vectors;
    double best = 1e300;
    for (int rows = 1; rows <= 4 && rows <= p->oh; rows++) {
        for (int columns = 1; columns * rows <= most && columns <= p->ow; columns++) {
            double time = 0;
            for (int corner = 0; corner < 4; corner++) {
                int64_t h = corner & 1 ? p->oh % rows : rows,
                        w = corner & 2 ? p->ow % columns : columns;
                int64_t count =
                    (corner & 1 ? h > 0 : p->oh / rows) * (corner & 2 ? w > 0 : p->ow / columns);
                time += (double)count * ((double)(h * w > least ? h * w : least) + 0.4);
            }
            if (rows > 1) time *= 1.05; /* where a row of taps lies outside, tiles take all rows */
            if (time > best * 0.999) continue;
            best = time;
            p->rows = rows;
            p->columns = columns;
        }
    }
    bool is_half = machine->has_halves && p->blocks * p->block <= 8; /* of a register */
    p->time = best * (double)p->tiles_of_filters * (is_half ? 0.5 : vectors);
}

/* One block loads a pixel for each product, two and three share it. Pixels of a large image come
 * from the third cache: four blocks ask for them half as often. */
static int choose_blocks(const ops_machine *machine, const ops_conv_shape *s, bool is_blocked) {
    int best = 1;
    int64_t best_time = INT64_MAX, filters = s->f;
    bool is_large = s->k > 1 && s->g == 1 && s->c * s->h * s->w * 4 > LARGE_IMAGE;
    if (is_blocked && is_large && machine->registers == 32 && filters % 64 == 0) return 4;
    for (int blocks = 1; blocks <= 3 && machine->lanes == BLOCK && filters > BLOCK; blocks++) {
        int64_t width = (int64_t)blocks * BLOCK;
        int64_t time = (filters + width - 1) / width * blocks * (blocks == 1 ? 9 : 8);
        bool needs_whole = is_blocked || s->g > 1; /* tiles of filters */
        if (time >= best_time || (needs_whole && filters / s->g % width != 0)) continue;
        best = blocks;
        best_time = time;
    }
    return best;
}

/* Where rows do not matter: one long one, or some for threads that have no filters of their own. */
static void join_rows(plan *p) {
    int64_t pixels = p->shape.h * p->shape.w, rows = 1;
    int threads = p->machine->threads;
    bool wants_rows = threads > 1 && p->shape.n * p->tiles_of_filters < 4 * (int64_t)threads;
    for (int64_t parts = 2; parts <= 8 * (int64_t)threads && wants_rows; parts++) {
        if (pixels % parts == 0 && pixels / parts >= 12) rows = parts;
    }
    p->shape.h = rows;
    p->shape.w = pixels / rows;
}

/* What the thread with the most of so many parts has, beside an equal share. */
static double largest_share(const ops_machine *machine, int64_t parts) {
    int64_t threads = machine->threads;
    return (double)((parts + threads - 1) / threads * threads) / (double)parts;
}

static plan make_plan(const ops_machine *machine, const ops_conv_shape *shape, bool is_blocked) {
    plan p = {.machine = machine, .shape = *shape, .is_blocked = is_blocked};
    p.block = shape->f < BLOCK ? (int)shape->f : BLOCK;
    p.blocks = choose_blocks(machine, shape, is_blocked);
    p.tiles_of_filters = (shape->f + p.blocks * p.block - 1) / (p.blocks * p.block);
    if (shape->k == 1 && shape->s == 1 && shape->p == 0) {
        join_rows(&p);
        shape = &p.shape;
    }
    p.oh = ops_conv_outputs(shape, shape->h);
    p.ow = ops_conv_outputs(shape, shape->w);
    int64_t taps = shape->c / shape->g * shape->k * shape->k;
    double products = (double)(shape->n * shape->f * p.oh * p.ow) * (double)taps;
    p.is_parallel = products > OPS_SMALL_WORK;
    choose_tile(&p);
    int64_t bytes = shape->f * taps * 4;
    int64_t strips = shape->n * ((p.oh + p.rows - 1) / p.rows);
    p.by_filters =
        p.tiles_of_filters >= machine->threads &&
        (bytes > LARGE_WEIGHTS || strips < 4 * machine->threads) &&
        largest_share(machine, p.tiles_of_filters) <= 1.2 * largest_share(machine, strips);
    p.has_tile_turned = machine->lanes == BLOCK && p.rows == 1 && p.columns >= 8;
    if (!is_blocked && machine->lanes < BLOCK && shape->c / shape->g > 32)
        p.channels = p.oh < 28 ? 32 : 16;
    return p;
}

static void print_sizes(const plan *p, hone_str *out) {
    const ops_conv_shape *s = &p->shape;
    hone_str_printf(out,
                    "from tvm.script import tir as T\n\n"
                    "N, C, H, V, F, K, S, P = %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                    ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "\n"
                    "OH, OV, B, M, G = %" PRId64 ", %" PRId64 ", %d, %d, %" PRId64 "\n"
                    "D, CG, FG, KW, K0 = %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                    ", %" PRId64 "\n\n",
                    s->n, s->c, s->h, s->w, s->f, s->k, s->s, s->p, p->oh, p->ow, p->block,
                    p->blocks, p->tiles_of_filters, s->d, s->c / s->g, s->f / s->g,
                    s->kernel ? s->kernel : s->k, s->first);
}

static const char plain_head[] = "@T.prim_func\n"
                                 "def main(\n"
                                 "    X: T.Buffer((N, C, H, V), \"float32\"),\n"
                                 "    W: T.Buffer((F, CG, KW, KW), \"float32\"),\n"
                                 "    Y: T.Buffer((N, F, OH, OV), \"float32\"),\n"
                                 "):\n"
                                 "    T.func_attr({\"tir.noalias\": True})\n";
static const char blocked_head[] = "@T.prim_func\n"
                                   "def main(\n"
                                   "    X: T.Buffer((N, C // B, H, V, B), \"float32\"),\n"
                                   "    W: T.Buffer((F, CG, KW, KW), \"float32\"),\n"
                                   "    Y: T.Buffer((N, F // B, OH, OV, B), \"float32\"),\n"
                                   "):\n"
                                   "    T.func_attr({\"tir.noalias\": True})\n";
static const char pack[] =
    "    WP = T.alloc_buffer((G, K, K, CG, M * B))\n"
    "    for g, dy, dx, c, fi in T.grid(G, K, K, CG, M * B):\n"
    "        with T.block(\"pack\"):\n"
    "            vg, vdy, vdx, vc, vfi = T.axis.remap(\"SSSSS\", [g, dy, dx, c, fi])\n"
    "            WP[vg, vdy, vdx, vc, vfi] = ";
static const char filter[] = "W[vg * M * B + vfi, vc, vdy + K0, vdx + K0]";
static const char guard[] =
    "            if (P <= vy * S + vdy * D and vy * S + vdy * D < H + P\n"
    "                    and P <= vx * S + vdx * D and vx * S + vdx * D < V + P):\n"
    "    ";

static void print_pack(const plan *p, hone_str *out) {
    hone_str_append(out, pack);
    if (p->shape.f % (p->blocks * p->block) == 0)
        hone_str_printf(out, "%s\n", filter);
    else
        hone_str_printf(out, "T.if_then_else(vg * M * B + vfi < F, %s, T.float32(0))\n", filter);
}

static void print_plain(const plan *p, hone_str *out) {
    hone_str_append(out, plain_head);
    print_pack(p, out);
    hone_str_printf(out,
                    "    YB = T.alloc_buffer((N, G * M, OH, OV, B))\n"
                    "    for n, f, y, x, c, dy, dx, fi in T.grid(N, G * M, OH, OV, CG, K, K, B):\n"
                    "        with T.block(\"conv\"):\n"
                    "            vn, vf, vy, vx, vc, vdy, vdx, vfi = T.axis.remap(\n"
                    "                \"SSSSRRRS\", [n, f, y, x, c, dy, dx, fi])\n"
                    "            with T.init():\n"
                    "                YB[vn, vf, vy, vx, vfi] = T.float32(0)\n"
                    "%s"
                    "            YB[vn, vf, vy, vx, vfi] += X[vn, %svc, vy * S + vdy * D - P, "
                    "vx * S + vdx * D - P] * WP[vf // M, vdy, vdx, vc, vf %% M * B + vfi]\n"
                    "    for n, f, fi, y, x in T.grid(N, %s, B, OH, OV):\n"
                    "        with T.block(\"out\"):\n"
                    "            vn, vf, vfi, vy, vx = T.axis.remap(\"SSSSS\", [n, f, fi, y, x])\n"
                    "%s"
                    "            Y[vn, vf * B + vfi, vy, vx] = YB[vn, vf, vy, vx, vfi]\n",
                    p->shape.p ? guard : "", p->shape.g > 1 ? "vf * B // FG * CG + " : "",
                    "(F + B - 1) // B",
                    p->shape.f % p->block ? "            if vf * B + vfi < F:\n    " : "");
}

static void print_blocked(const plan *p, hone_str *out) {
    hone_str_append(out, blocked_head);
    print_pack(p, out);
    hone_str_printf(
        out,
        "    for n, f, y, x, c, dy, dx, ci, fi in T.grid(N, F // B, OH, OV, CG // B, "
        "K, K, B, B):\n"
        "        with T.block(\"conv\"):\n"
        "            vn, vf, vy, vx, vc, vdy, vdx, vi, vfi = T.axis.remap(\n"
        "                \"SSSSRRRRS\", [n, f, y, x, c, dy, dx, ci, fi])\n"
        "            with T.init():\n"
        "                Y[vn, vf, vy, vx, vfi] = T.float32(0)\n"
        "%s"
        "            Y[vn, vf, vy, vx, vfi] += X[vn, %svc, vy * S + vdy * D - P, "
        "vx * S + vdx * D - P, vi] * WP[vf // M, vdy, vdx, vc * B + vi, vf %% M * B + vfi]\n",
        p->shape.p ? guard : "", p->shape.g > 1 ? "vf * B // FG * (CG // B) + " : "");
}

/* The loops over tiles, for both layouts: q over images and rows of tiles, f0, x0. */
static void print_tiles(const plan *p, hone_str *t) {
    const char *channel = p->is_blocked ? ", c, ci" : ", c";
    bool has_parts = p->packs_alone && !p->by_filters;
    char parts[80];
    snprintf(parts, sizeof parts, "t, q = sch.split(loop=q, factors=[%d, None])\n",
             p->machine->threads);
    hone_str_printf(t,
                    "n, f, y, x, c, dy, dx, %sfi = sch.get_loops(block=conv)\n"
                    "f0, f1 = sch.split(loop=f, factors=[None, %d])\n"
                    "y0, y1 = sch.split(loop=y, factors=[None, %d])\n"
                    "x0, x1 = sch.split(loop=x, factors=[None, %d])\n",
                    p->is_blocked ? "ci, " : "", p->blocks, p->rows, p->columns);
    if (p->channels) {
        hone_str_printf(t, "c0, c = sch.split(loop=c, factors=[None, %d])\n", p->channels);
    }
    hone_str_printf(t, "sch.reorder(%s, %sx0, dy, dx%s, y1, x1, f1, fi)\n",
                    p->by_filters ? "f0, n, y0" : "n, y0, f0", p->channels ? "c0, " : "", channel);
    hone_str_printf(t,
                    "q = sch.fuse(n, y0)\n"
                    "%s"
                    "sch.unroll(loop=y1)\n"
                    "sch.unroll(loop=x1)\n"
                    "sch.unroll(loop=f1)\n"
                    "sch.vectorize(loop=fi)\n",
                    has_parts ? parts : "");
    if (!p->is_parallel) return;
    hone_str_printf(t, "sch.parallel(loop=%s)\n", has_parts ? "t" : p->by_filters ? "f0" : "q");
}

static void print_turn(const plan *p, const char *part, hone_str *t) {
    hone_str_append(t, "out = sch.get_block(name=\"out\", func_name=\"main\")\n");
    if (p->has_tile_turned) {
        hone_str_printf(t,
                        "sch.reverse_compute_at(block=out, loop=x0, preserve_unit_loops=True)\n"
                        "%s_, _, _, tn, t0, t1, t2, t3 = sch.get_loops(block=out)\n"
                        "sch.reorder(t0, t2, t1, t3)\n"
                        "sch.unroll(loop=t0)\n"
                        "sch.unroll(loop=t1)\n"
                        "sch.vectorize(loop=t3)\n",
                        part);
        return;
    }
    hone_str_printf(t,
                    "sch.reverse_compute_at(block=out, loop=%s, preserve_unit_loops=True)\n"
                    "%s_, _, tn, t0, t1, t2, t3 = sch.get_loops(block=out)\n"
                    "t4, t5 = sch.split(loop=t1, factors=[None, %d])\n"
                    "t6, t7 = sch.split(loop=t3, factors=[None, %d])\n"
                    "sch.reorder(t0, t2, t4, t6, t5, t7)\n"
                    "sch.vectorize(loop=t7)\n",
                    p->by_filters ? "q" : "f0", part,
                    p->machine->lanes < p->block ? p->machine->lanes : p->block,
                    p->machine->lanes < p->ow ? p->machine->lanes : (int)p->ow);
}

/* Weights are packed in tiles that are turned in registers: of filters by taps, or by channels.
 * What is written of more taps than that would share sets of the first cache. Where few of their
 * taps are read, one after the other as they lie. */
static void print_packing(const plan *p, hone_str *t) {
    int width = p->blocks * p->block, lanes = p->machine->lanes;
    if (p->shape.kernel) {
        hone_str_printf(t,
                        "%swg, wdy, wdx, wc, wf = sch.get_loops(block=pack)\n"
                        "sch.reorder(wg, wf, wc, wdy, wdx)\n",
                        p->packs_alone ? "_, " : "");
        if (!p->packs_alone && p->is_parallel) hone_str_append(t, "sch.parallel(loop=wf)\n");
        return;
    }
    if (width % lanes != 0) return;
    hone_str_printf(t,
                    "%swg, wdy, wdx, wc, wf = sch.get_loops(block=pack)\n"
                    "w0, w1 = sch.split(loop=wf, factors=[None, %d])\n",
                    p->packs_alone ? "_, " : "", lanes);
    int64_t taps = p->shape.k * p->shape.k, tiles = (taps + MOST_TAPS - 1) / MOST_TAPS;
    if (tiles > 1) {
        hone_str_printf(t,
                        "w = sch.fuse(wdy, wdx)\n"
                        "t0, t1 = sch.split(loop=w, factors=[None, %" PRId64 "])\n"
                        "sch.reorder(wg, t0, w0, wc, t1, w1)\n",
                        (taps + tiles - 1) / tiles);
    } else if (p->shape.k > 1) {
        hone_str_append(t, "sch.reorder(wg, wc, w0, wdy, wdx, w1)\n"
                           "sch.fuse(wdy, wdx)\n");
    } else if (p->shape.c / p->shape.g % lanes == 0) {
        hone_str_printf(t,
                        "wc0, wc1 = sch.split(loop=wc, factors=[None, %d])\n"
                        "sch.reorder(wg, wc0, w0, wdy, wdx, wc1, w1)\n",
                        lanes);
    }
    if (!p->packs_alone && p->is_parallel) hone_str_append(t, "sch.parallel(loop=wg)\n");
    hone_str_append(t, "sch.vectorize(loop=w1)\n");
}

static void print_trace(const plan *p, hone_str *t) {
    hone_str_append(t, "pack = sch.get_block(name=\"pack\", func_name=\"main\")\n"
                       "conv = sch.get_block(name=\"conv\", func_name=\"main\")\n");
    const char *part = p->packs_alone && !p->by_filters ? "_, " : "";
    if (!p->packs_alone) print_packing(p, t);
    if (p->is_blocked) {
        hone_str_append(
            t,
            "tile = sch.cache_write(block=conv, write_buffer_index=0, storage_scope=\"local\")\n");
    }
    print_tiles(p, t);
    if (p->packs_alone) {
        hone_str_printf(t, "sch.compute_at(block=pack, loop=%s, preserve_unit_loops=True)\n",
                        p->by_filters ? "f0" : "t");
        print_packing(p, t);
    }
    if (p->is_blocked) {
        hone_str_printf(t,
                        "sch.reverse_compute_at(block=tile, loop=x0, preserve_unit_loops=True)\n"
                        "%s_, _, _, tn, t1, t2, t3, t4 = sch.get_loops(block=tile)\n"
                        "sch.unroll(loop=t1)\n"
                        "sch.unroll(loop=t2)\n"
                        "sch.unroll(loop=t3)\n"
                        "sch.vectorize(loop=t4)\n",
                        part);
    } else {
        print_turn(p, part, t);
    }
    hone_str_printf(t, "sch.decompose_reduction(block=conv, loop=%s)\n", p->channels ? "c0" : "dy");
}

/* The share of all taps that lies inside of the image, along one side. */
static double inside_share(const ops_conv_shape *s, int64_t size, int64_t outputs) {
    int64_t inside = 0;
    for (int64_t o = 0; o < outputs; o++) {
        for (int64_t t = 0; t < s->k; t++) {
            int64_t at = o * s->s + t * s->d - s->p;
            inside += 0 <= at && at < size;
        }
    }
    return (double)inside / (double)(outputs * s->k);
}

/* Whether vectors had better run along rows: few filters, or some more than fill vectors. Such rows
 * are copied with their padding, and read across cache lines; tiles of filters leave out what lies
 * outside and have outputs to turn. */
static bool suits_rows(const plan *p, const ops_conv_shape *s) {
    if (p->is_blocked) return false;
    if (s->g > 1 && s->f / s->g % BLOCK != 0) return true; /* groups within a tile of filters */
    if (s->s != 1) return false;
    bool is_full = s->f % BLOCK == 0 || s->c < BLOCK; /* filters, or nothing to sum */
    if (s->k == 1 && s->p == 0 && is_full) return false;
    double rows = ops_rows_time(p->machine, s);
    double inside = inside_share(s, s->h, p->oh) * inside_share(s, s->w, p->ow);
    if (p->machine->lanes == BLOCK) {
        /* Outputs are turned: some five steps for a vector. Edges of more than six columns, if taps
         * stand side by side, get no bodies of their own (lower/loops/lower_partition.c). */
        double steps = (double)(s->c / s->g * s->k * s->k);
        double filters = p->time * (s->d > 1 ? inside : 1) +
                         5.0 * (double)(s->f * p->oh * p->ow) / BLOCK / steps;
        if (s->p > 6 * s->d) filters *= 2;
        return (p->machine->has_halves ? 1.15 : 1.05) * rows < filters;
    }
    return 1.05 * rows < p->time * inside;
}

int64_t ops_conv_outputs(const ops_conv_shape *s, int64_t size) {
    return (size + 2 * s->p - (s->k - 1) * s->d - 1) / s->s + 1;
}

/* The first and the last tap that lie inside of the image somewhere, along one side. */
static void used_taps(const ops_conv_shape *s, int64_t size, int64_t *out_first,
                      int64_t *out_last) {
    *out_first = *out_last = -1;
    for (int64_t t = 0; t < s->k; t++) {
        for (int64_t o = 0; o < ops_conv_outputs(s, size); o++) {
            int64_t at = o * s->s + t * s->d - s->p;
            if (at < 0 || at >= size) continue;
            if (*out_first < 0) *out_first = t;
            *out_last = t;
            break;
        }
    }
}

/* The shape with a smaller kernel where an image is so small that most taps always lie outside of
 * it: they need not be packed. */
static ops_conv_shape drop_taps(const ops_conv_shape *s) {
    int64_t first, last, other_first, other_last;
    used_taps(s, s->h, &first, &last);
    used_taps(s, s->w, &other_first, &other_last);
    ops_conv_shape less = *s;
    less.k = last - first + 1;
    less.p = s->p - first * s->d;
    less.kernel = s->k;
    less.first = first;
    bool is_same = first == other_first && last == other_last && less.p >= 0 &&
                   ops_conv_outputs(&less, s->h) == ops_conv_outputs(s, s->h) &&
                   ops_conv_outputs(&less, s->w) == ops_conv_outputs(s, s->w);
    return is_same && first >= 0 && 2 * less.k * less.k <= s->k * s->k ? less : *s;
}

void ops_conv_text(const ops_machine *machine, const ops_conv_shape *shape, bool is_blocked,
                   ops_shape_text *out) {
    ops_conv_shape used = drop_taps(shape);
    plan p = make_plan(machine, &used, is_blocked);
    char more[64] = "";
    if (shape->d > 1 || shape->g > 1)
        snprintf(more, sizeof more, "d%" PRId64 "g%" PRId64, shape->d, shape->g);
    snprintf(out->name, sizeof out->name,
             "conv_%" PRId64 "_%" PRId64 "_%" PRId64 "x%" PRId64 "_%" PRId64 "_k%" PRId64
             "s%" PRId64 "p%" PRId64 "%s_%s",
             shape->n, shape->c, shape->h, shape->w, shape->f, shape->k, shape->s, shape->p, more,
             is_blocked ? "nchwc" : "plain");
    if (!is_blocked && shape->n == 1 && shape->g == 1 && shape->k == 1 && shape->s == 1 &&
        shape->p == 0 && shape->h * shape->w > 1) {
        ops_pointwise_text(machine, shape->f, shape->h * shape->w, shape->c, out);
        return;
    }
    if (!is_blocked && ops_suits_channels(machine, shape)) {
        ops_channels_text(machine, shape, out);
        return;
    }
    bool has_columns = !is_blocked && !used.kernel && ops_suits_columns(machine, shape);
    if (!used.kernel && suits_rows(&p, &p.shape)) {
        ops_rows_text(machine, &p.shape, !has_columns, out);
        if (has_columns) ops_columns_text(machine, shape, out);
        return;
    }
    print_sizes(&p, &out->program);
    (is_blocked ? print_blocked : print_plain)(&p, &out->program);
    print_trace(&p, &out->trace);
    if (has_columns) {
        ops_columns_text(machine, shape, out);
        return;
    }
    /* What one core packs is far from the others. */
    bool has_large_filters = shape->f * shape->k * shape->k >= shape->n * shape->h * shape->w;
    if (machine->threads > 1 && p.tiles_of_filters >= 2 * (int64_t)machine->threads)
        p.by_filters = p.by_filters || has_large_filters;
    int64_t strips = shape->n * ((p.oh + p.rows - 1) / p.rows);
    bool has_one_tile = machine->threads > 1 && p.tiles_of_filters < machine->threads;
    p.packs_alone = p.by_filters || (has_one_tile && strips % machine->threads == 0);
    print_trace(&p, &out->runtime_trace);
}
