/* bench/ops/ops_shape_columns.c - a convolution of a small image and large filters as a product of
 * matrices: the taps of all its pixels are copied, a row of pixels for each tap, and multiplied
 * with the filters as they lie in memory. Filters that are given with each call are read once so;
 * to pack them would take as long as the products. */
#include <inttypes.h>

#include "bench/ops/ops_shape.h"

enum {
    LARGE_WEIGHTS = 1 << 20,
    MOST_COLUMN_BYTES = 1 << 20,
    MOST_VECTORS = 3,
    MOST_FILTERS = 14,
    MOST_UNROLLED = 32
};

bool ops_suits_columns(const ops_machine *machine, const ops_conv_shape *s) {
    int64_t pixels = ops_conv_outputs(s, s->h) * ops_conv_outputs(s, s->w),
            taps = s->c * s->k * s->k;
    int64_t vectors = (pixels + machine->lanes - 1) / machine->lanes;
    bool is_full = 10 * pixels >= 9 * vectors * machine->lanes && vectors <= MOST_VECTORS;
    return is_full && s->k > 1 && s->g == 1 && s->f * taps * 4 > LARGE_WEIGHTS &&
           s->n * taps * vectors * machine->lanes * 4 <= MOST_COLUMN_BYTES;
}

static void print_trace(const ops_machine *machine, const ops_conv_shape *s, hone_str *t) {
    int64_t oh = ops_conv_outputs(s, s->h), ow = ops_conv_outputs(s, s->w);
    int vectors = (int)((oh * ow + machine->lanes - 1) / machine->lanes);
    int most = (machine->registers - vectors - 1) / vectors;
    int tile = ops_choose_tile(machine, s->f, most < MOST_FILTERS ? most : MOST_FILTERS, vectors);
    const char *inner =
        oh * s->k <= MOST_UNROLLED ? "sch.unroll(loop=dx)\nsch.unroll(loop=y)\n" : "";
    hone_str_printf(t,
                    "pad = sch.get_block(name=\"pad\", func_name=\"main\")\n"
                    "conv = sch.get_block(name=\"conv\", func_name=\"main\")\n"
                    "taps = sch.reindex_cache_read(block=conv, read_buffer_index=0, "
                    "storage_scope=\"global\", index_map=lambda n, f, y, x, c, dy, dx: "
                    "(n, c, dy, dx, y * %" PRId64 " + x))\n"
                    "sch.compute_inline(block=pad)\n",
                    ow);
    hone_str_printf(t,
                    "n, f, y, x, c, dy, dx = sch.get_loops(block=conv)\n"
                    "p = sch.fuse(y, x)\n"
                    "k = sch.fuse(c, dy, dx)\n"
                    "f0, f1 = sch.split(loop=f, factors=[None, %d])\n"
                    "sch.reorder(f0, n, k, f1, p)\n"
                    "sch.parallel(loop=f0)\n"
                    "sch.unroll(loop=f1)\n"
                    "sch.vectorize(loop=p)\n"
                    "sch.decompose_reduction(block=conv, loop=k)\n"
                    "n, y, x, c, dy, dx = sch.get_loops(block=taps)\n"
                    "sch.reorder(n, c, dy, dx, y, x)\n"
                    "sch.parallel(loop=c)\n"
                    "%s"
                    "sch.vectorize(loop=x)\n",
                    tile, inner);
}

void ops_columns_text(const ops_machine *machine, const ops_conv_shape *s, ops_shape_text *out) {
    ops_padded_program(s, ops_conv_outputs(s, s->h), ops_conv_outputs(s, s->w),
                       &out->runtime_program);
    print_trace(machine, s, &out->runtime_trace);
}
