/* bench/ops/ops_shape_depthwise.c - a depthwise convolution in plain layout whose vectors run along
 * channels: rows of few pixels would leave lanes empty. A block of channels is turned in registers,
 * computed without what lies outside of the image, and turned back. */
#include <inttypes.h>

#include "bench/ops/ops_shape.h"

enum { MOST_COLUMNS = 20 }; /* more of them fill vectors along rows, which need not be turned */

bool ops_suits_channels(const ops_machine *machine, const ops_conv_shape *s) {
    return s->g == s->c && s->f == s->c && s->c % machine->lanes == 0 &&
           ops_conv_outputs(s, s->w) <= MOST_COLUMNS;
}

static const char program[] =
    "@T.prim_func\n"
    "def main(\n"
    "    X: T.Buffer((N, C, H, V), \"float32\"),\n"
    "    W: T.Buffer((C, 1, K, K), \"float32\"),\n"
    "    Y: T.Buffer((N, C, OH, OV), \"float32\"),\n"
    "):\n"
    "    T.func_attr({\"tir.noalias\": True})\n"
    "    WP = T.alloc_buffer((C // B, K, K, B))\n"
    "    for c, dy, dx, ci in T.grid(C // B, K, K, B):\n"
    "        with T.block(\"pack\"):\n"
    "            vc, vdy, vdx, vi = T.axis.remap(\"SSSS\", [c, dy, dx, ci])\n"
    "            WP[vc, vdy, vdx, vi] = W[vc * B + vi, 0, vdy, vdx]\n"
    "    XB = T.alloc_buffer((N, C // B, H, V, B))\n"
    "    for n, c, y, x, ci in T.grid(N, C // B, H, V, B):\n"
    "        with T.block(\"in\"):\n"
    "            vn, vc, vy, vx, vi = T.axis.remap(\"SSSSS\", [n, c, y, x, ci])\n"
    "            XB[vn, vc, vy, vx, vi] = X[vn, vc * B + vi, vy, vx]\n"
    "    YB = T.alloc_buffer((N, C // B, OH, OV, B))\n"
    "    for n, c, y, x, dy, dx, ci in T.grid(N, C // B, OH, OV, K, K, B):\n"
    "        with T.block(\"conv\"):\n"
    "            vn, vc, vy, vx, vdy, vdx, vi = T.axis.remap(\n"
    "                \"SSSSRRS\", [n, c, y, x, dy, dx, ci])\n"
    "            with T.init():\n"
    "                YB[vn, vc, vy, vx, vi] = T.float32(0)\n"
    "            if (P <= vy * S + vdy * D and vy * S + vdy * D < H + P\n"
    "                    and P <= vx * S + vdx * D and vx * S + vdx * D < V + P):\n"
    "                YB[vn, vc, vy, vx, vi] += XB[vn, vc, vy * S + vdy * D - P, "
    "vx * S + vdx * D - P, vi] * WP[vc, vdy, vdx, vi]\n"
    "    for n, c, ci, y, x in T.grid(N, C // B, B, OH, OV):\n"
    "        with T.block(\"out\"):\n"
    "            vn, vc, vi, vy, vx = T.axis.remap(\"SSSSS\", [n, c, ci, y, x])\n"
    "            Y[vn, vc * B + vi, vy, vx] = YB[vn, vc, vy, vx, vi]\n";

static void print_trace(const ops_machine *machine, int rows, int columns, bool is_constant,
                        hone_str *t) {
    hone_str_printf(t,
                    "pack = sch.get_block(name=\"pack\", func_name=\"main\")\n"
                    "enter = sch.get_block(name=\"in\", func_name=\"main\")\n"
                    "conv = sch.get_block(name=\"conv\", func_name=\"main\")\n"
                    "out = sch.get_block(name=\"out\", func_name=\"main\")\n"
                    "n, c, y, x, dy, dx, ci = sch.get_loops(block=conv)\n"
                    "y0, y1 = sch.split(loop=y, factors=[None, %d])\n"
                    "x0, x1 = sch.split(loop=x, factors=[None, %d])\n"
                    "sch.reorder(n, c, y0, x0, dy, dx, y1, x1, ci)\n"
                    "q = sch.fuse(n, c)\n"
                    "sch.parallel(loop=q)\n"
                    "sch.unroll(loop=y1)\n"
                    "sch.unroll(loop=x1)\n"
                    "sch.unroll(loop=dx)\n"
                    "sch.vectorize(loop=ci)\n"
                    "sch.compute_at(block=enter, loop=q, preserve_unit_loops=True)\n"
                    "ty, tx, ti = sch.get_loops(block=enter)[-3:]\n"
                    "sch.fuse(ty, tx)\n"
                    "sch.vectorize(loop=ti)\n",
                    rows, columns);
    if (!is_constant) {
        hone_str_append(t, "sch.compute_at(block=pack, loop=q, preserve_unit_loops=True)\n"
                           "ty, tx, ti = sch.get_loops(block=pack)[-3:]\n"
                           "sch.fuse(ty, tx)\n"
                           "sch.vectorize(loop=ti)\n");
    }
    hone_str_printf(t,
                    "sch.reverse_compute_at(block=out, loop=q, preserve_unit_loops=True)\n"
                    "ti, ty, tx = sch.get_loops(block=out)[-3:]\n"
                    "t = sch.fuse(ty, tx)\n"
                    "t0, t1 = sch.split(loop=t, factors=[None, %d])\n"
                    "sch.reorder(t0, ti, t1)\n"
                    "sch.vectorize(loop=t1)\n"
                    "sch.decompose_reduction(block=conv, loop=dy)\n",
                    machine->lanes);
}

void ops_channels_text(const ops_machine *machine, const ops_conv_shape *s, ops_shape_text *out) {
    int64_t oh = ops_conv_outputs(s, s->h), ow = ops_conv_outputs(s, s->w);
    int most = machine->registers / 2 - 2; /* sums, and what a multiplication of each needs */
    int64_t tiles = (ow + most - 1) / most, columns = (ow + tiles - 1) / tiles;
    int64_t rows = most / columns < oh ? most / columns : oh;
    hone_str_printf(&out->program,
                    "from tvm.script import tir as T\n\n"
                    "N, C, H, V, K, S, P, D = %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                    ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "\n"
                    "OH, OV, B = %" PRId64 ", %" PRId64 ", %d\n\n%s",
                    s->n, s->c, s->h, s->w, s->k, s->s, s->p, s->d, oh, ow, machine->lanes,
                    program);
    print_trace(machine, (int)rows, (int)columns, true, &out->trace);
    print_trace(machine, (int)rows, (int)columns, false, &out->runtime_trace);
}
