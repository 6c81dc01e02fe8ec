/* bench/ops/ops_shape_rows.c - a convolution whose vectors run along rows of pixels,
 * some filters by one to three vectors in registers: for numbers of filters that fill no vectors,
 * 17 for instance. Rows are copied with their padding, a strip of the image at a time, or where a
 * tile has all filters of a group, a strip of its channels. Where the stride is 2 and pixels are
 * read more than once, those at even places lie in front of those at odd ones in the copy. */
#include <inttypes.h>

#include "bench/ops/ops_shape.h"

enum {
    MOST_VECTORS = 3,
    MOST_FILTERS = 12,
    MOST_ROWS = 4,
    MOST_ROWS_ALONE = 8, /* where there is one filter */
    STRIP_BYTES = 256 * 1024,
    GROUP_STRIP_BYTES = 24 * 1024
};

typedef struct plan {
    const ops_machine *machine;
    ops_conv_shape shape;
    int64_t oh, ow, strip; /* tiles of rows that are computed one after the other */
    int columns, filters, rows;
    bool by_group;      /* strips are of the channels of one group */
    bool shares_rows;   /* a row that is loaded serves all taps and rows of the tile that read it */
    bool is_unshuffled; /* pixels that are a stride apart lie side by side in the copy */
} plan;

/* What a multiplication of so many lanes takes: half a register takes half of it where registers
 * are computed in halves. */
static double slots(const ops_machine *machine, int64_t lanes) {
    int64_t rest = lanes % machine->lanes;
    bool is_half = machine->has_halves && rest <= 8;
    return (double)(lanes / machine->lanes) + (rest == 0 ? 0 : is_half ? 0.5 : 1);
}

/* Multiplications in flight that a tile of so many lanes and filters has no use for are lost. */
static double tile_time(const plan *p, int64_t lanes, int64_t filters) {
    double time = slots(p->machine, lanes) * (double)(filters * p->rows);
    double least = (double)p->machine->fma_in_flight;
    return (time > least ? time : least) + 0.4;
}

/* The time of all rows for one step of the sum. */
static double image_time(const plan *p) {
    int64_t whole = p->ow / p->columns, rest = p->ow % p->columns;
    int64_t f = p->shape.f / p->filters, last = p->shape.f % p->filters;
    double time = 0;
    for (int corner = 0; corner < 4; corner++) {
        int64_t count = (corner & 1 ? rest > 0 : whole) * (corner & 2 ? last > 0 : f);
        if (count == 0) continue;
        time += (double)count *
                tile_time(p, corner & 1 ? rest : p->columns, corner & 2 ? last : p->filters);
    }
    return time * (double)((p->oh + p->rows - 1) / p->rows);
}

static double choose_tile(plan *p) {
    const ops_machine *machine = p->machine;
    plan best = *p;
    double best_time = 1e300;
    bool is_alone = p->shape.f == p->shape.g;
    int most_rows = is_alone ? MOST_ROWS_ALONE : MOST_ROWS;
    for (int vectors = 1; vectors <= MOST_VECTORS; vectors++) {
        int64_t columns = (int64_t)vectors * machine->lanes;
        p->columns = (int)(columns < p->ow ? columns : p->ow);
        for (p->rows = 1; p->rows <= most_rows && p->rows <= p->oh;
             p->rows += is_alone ? 1 : p->rows) {
            int held = vectors * p->rows, most = (machine->registers - held - 1) / held;
            for (p->filters = 1; p->filters <= most && p->filters <= MOST_FILTERS; p->filters++) {
                int64_t of_group = p->shape.f / p->shape.g;
                if (p->filters > of_group) break;
                if (p->shape.g > 1 && of_group % p->filters != 0) continue;
                double time = image_time(p);
                if (time >= best_time) continue;
                best_time = time;
                best = *p;
            }
        }
        if (columns >= p->ow) break;
    }
    *p = best;
    return best_time;
}

static void choose_strip(plan *p) {
    const ops_conv_shape *s = &p->shape;
    p->by_group = s->g > 1 && p->filters == s->f / s->g;
    int64_t channels = p->by_group ? s->c / s->g : s->c, groups = p->by_group ? s->g : 1;
    int64_t most = p->by_group ? GROUP_STRIP_BYTES : STRIP_BYTES;
    for (p->strip = (p->oh + p->rows - 1) / p->rows; p->strip > 1; p->strip = (p->strip + 1) / 2) {
        int64_t height = p->strip * p->rows,
                strips = s->n * groups * ((p->oh + height - 1) / height);
        int64_t copied = (height - 1) * s->s + (s->k - 1) * s->d + 1;
        bool fits = channels * copied * (s->w + 2 * s->p) * 4 <= most;
        int threads = p->machine->threads;
        if (fits && (threads == 1 || strips >= 4 * (int64_t)threads)) break;
    }
}

void ops_padded_program(const ops_conv_shape *s, int64_t oh, int64_t ow, hone_str *out) {
    hone_str_printf(
        out,
        "from tvm.script import tir as T\n\n"
        "N, C, H, V, F, K, S, P = %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
        ", %" PRId64 ", %" PRId64 ", %" PRId64 "\n"
        "OH, OV, D, CG, FG = %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "\n"
        "VP = (V + 2 * P + S - 1) // S * S\n\n",
        s->n, s->c, s->h, s->w, s->f, s->k, s->s, s->p, oh, ow, s->d, s->c / s->g, s->f / s->g);
    hone_str_printf(out,
                    "@T.prim_func\n"
                    "def main(\n"
                    "    X: T.Buffer((N, C, H, V), \"float32\"),\n"
                    "    W: T.Buffer((F, CG, K, K), \"float32\"),\n"
                    "    Y: T.Buffer((N, F, OH, OV), \"float32\"),\n"
                    "):\n"
                    "    T.func_attr({\"tir.noalias\": True})\n"
                    "    XP = T.alloc_buffer((N, C, H + 2 * P, VP))\n"
                    "    for n, c, y, x in T.grid(N, C, H + 2 * P, VP):\n"
                    "        with T.block(\"pad\"):\n"
                    "            vn, vc, vy, vx = T.axis.remap(\"SSSS\", [n, c, y, x])\n"
                    "            XP[vn, vc, vy, vx] = T.if_then_else(\n"
                    "                P <= vy and vy < H + P and P <= vx and vx < V + P,\n"
                    "                X[vn, vc, vy - P, vx - P], T.float32(0))\n"
                    "    for n, f, y, x, c, dy, dx in T.grid(N, F, OH, OV, CG, K, K):\n"
                    "        with T.block(\"conv\"):\n"
                    "            vn, vf, vy, vx, vc, vdy, vdx = T.axis.remap(\n"
                    "                \"SSSSRRR\", [n, f, y, x, c, dy, dx])\n"
                    "            with T.init():\n"
                    "                Y[vn, vf, vy, vx] = T.float32(0)\n"
                    "            Y[vn, vf, vy, vx] += XP[vn, %svc, vy * S + vdy * D, "
                    "vx * S + vdx * D] * W[vf, vc, vdy, vdx]\n",
                    s->g > 1 ? "vf // FG * CG + " : "");
}

static void print_padding(const plan *p, hone_str *t) {
    if (p->shape.p == 0 && !p->is_unshuffled) {
        hone_str_append(t, "sch.compute_inline(block=pad)\n");
        return;
    }
    hone_str_append(t, "sch.compute_at(block=pad, loop=q, preserve_unit_loops=True)\n"
                       "_, pn, pc, py, px = sch.get_loops(block=pad)\n");
    if (p->is_unshuffled) {
        int64_t stride = p->shape.s, lanes = p->machine->lanes;
        int64_t width = (p->shape.w + 2 * p->shape.p + stride - 1) / stride;
        hone_str_printf(t,
                        "pv, px, s = sch.split(loop=px, factors=[None, %" PRId64 ", %" PRId64 "])\n"
                        "sch.reorder(pv, s, px)\n"
                        "sch.unroll(loop=s)\n",
                        width <= 2 * lanes ? width : lanes, stride);
    }
    hone_str_append(t, "sch.vectorize(loop=px)\n");
}

static void print_trace(const plan *p, bool is_constant, hone_str *t) {
    hone_str_append(t, "pad = sch.get_block(name=\"pad\", func_name=\"main\")\n"
                       "conv = sch.get_block(name=\"conv\", func_name=\"main\")\n");
    if (p->is_unshuffled) {
        hone_str_printf(t,
                        "sch.transform_layout(block=pad, buffer=(\"write\", 0), "
                        "index_map=lambda n, c, y, x: (n, c, y, x %% %" PRId64 ", x // %" PRId64
                        "), pad_value=None, assume_injective_transform=False)\n",
                        p->shape.s, p->shape.s);
    }
    if (is_constant) {
        hone_str_printf(t,
                        "w = sch.reindex_cache_read(block=conv, read_buffer_index=1, "
                        "storage_scope=\"global\", index_map=lambda n, f, y, x, c, dy, dx: "
                        "(f // %d, c, dy, dx, f %% %d))\n",
                        p->filters, p->filters);
    }
    hone_str_printf(
        t,
        "n, f, y, x, c, dy, dx = sch.get_loops(block=conv)\n"
        "f0, f1 = sch.split(loop=f, factors=[None, %d])\n"
        "y0, y1, y2 = sch.split(loop=y, factors=[None, %" PRId64 ", %d])\n"
        "x0, x1 = sch.split(loop=x, factors=[None, %d])\n"
        "sch.reorder(%s, y1, x0, c, %s, y2, x1)\n"
        "q = sch.fuse(%s)\n"
        "sch.parallel(loop=q)\n"
        "%s"
        "sch.unroll(loop=y2)\n"
        "sch.unroll(loop=f1)\n"
        "sch.vectorize(loop=x1)\n",
        p->filters, p->strip, p->rows, p->columns, p->by_group ? "n, f0, y0" : "n, y0, f0",
        p->shares_rows ? "dx, f1, dy" : "dy, dx, f1", p->by_group ? "n, f0, y0" : "n, y0",
        p->shares_rows ? "sch.unroll(loop=dy)\n" : "");
    print_padding(p, t);
    hone_str_append(t, "sch.decompose_reduction(block=conv, loop=c)\n");
}

/* Returns the time of one step of the sum. */
static double make_plan(const ops_machine *machine, const ops_conv_shape *shape, plan *out) {
    *out = (plan){.machine = machine, .shape = *shape};
    out->oh = ops_conv_outputs(shape, shape->h);
    out->ow = ops_conv_outputs(shape, shape->w);
    double time = choose_tile(out);
    out->is_unshuffled = shape->s > 1 && shape->k >= 2 * shape->s;
    out->shares_rows = shape->f == shape->g;
    choose_strip(out);
    return time;
}

double ops_rows_time(const ops_machine *machine, const ops_conv_shape *shape) {
    plan p;
    return make_plan(machine, shape, &p);
}

void ops_rows_text(const ops_machine *machine, const ops_conv_shape *shape, bool has_runtime,
                   ops_shape_text *out) {
    plan p;
    make_plan(machine, shape, &p);
    ops_padded_program(shape, p.oh, p.ow, &out->program);
    print_trace(&p, true, &out->trace);
    if (has_runtime) print_trace(&p, false, &out->runtime_trace);
}
