/* bench/ops/ops_shape.h - works of any shape, asked for on the command line.
 *
 *   --matmul MxNxK                    Y = X W
 *   --conv N,C,H,W,F,k,stride,pad[,dilation[,groups]]
 *                                     plain layout; also inside a layout of 16 channels where
 *                                     channels and filters of each group are multiples of that
 *   --rows KIND,NUMBER,...            the kinds of ops_rows.c, and pool (images, channels, height,
 *                                     width, kernel, stride, padding, 0 = largest or 1 = mean)
 *
 * Program and trace are written into a directory: the texts of bench/programs and bench/schedules
 * with the sizes of the shape, and tiles chosen by them (ops_shape_matmul.c, ops_shape_conv.c).
 */
#ifndef HONE_BENCH_OPS_OPS_SHAPE_H
#define HONE_BENCH_OPS_OPS_SHAPE_H

#include "bench/ops/ops.h"
#include "support/core/strbuf.h"

enum { OPS_MAX_SHAPES = 64, OPS_MAX_SHAPE_WORKS = 2 };
enum { OPS_SMALL_WORK = 150000 }; /* products of numbers that are not worth a second thread */

typedef struct ops_shapes {
    int count;
    const char *options[OPS_MAX_SHAPES], *texts[OPS_MAX_SHAPES]; /* "--matmul", "17x33x65" */
} ops_shapes;

/* What schedules depend on, of the set that is asked for. */
typedef struct ops_machine {
    int lanes; /* of float32 in a vector */
    int registers;
    int fma_in_flight; /* sums side by side that keep the units busy */
    bool has_halves;   /* half a register takes half the time */
    int threads;
} ops_machine;

typedef struct ops_shape_text {
    char name[120];
    hone_str program, trace;                 /* no trace: the default schedule */
    hone_str runtime_program, runtime_trace; /* weights at run time; none: the same */
} ops_shape_text;

/* Takes the shapes out of the arguments. */
void ops_shapes_take(int *io_argc, char **argv, ops_shapes *out);
/* Runs the works of one shape for so many threads; bad text ends the program. */
void ops_shapes_run(bench *b, const ops_shapes *shapes, int index, int threads, const ops_run *run);

/* How many of `count` things to put into a tile of at most `most`, when so many registers hold each
 * of them: the least time, tiles and rest together. */
int ops_choose_tile(const ops_machine *machine, int64_t count, int most, int registers);

/* Row operators, elements, transposes, pooling (ops_shape_elements.c): kind and dims of the work;
 * false when the text is no such shape. */
bool ops_rows_shape(const char *option, ops_work *io_work, ops_shape_text *out);
/* The traces of a product of bytes (ops_shape_bytes.c). */
void ops_bytes_traces(const ops_machine *machine, int64_t m, int64_t n, int64_t k,
                      ops_shape_text *out);
/* One step of the sum of a product, in tiles of so many rows by so many vectors of columns. */
double ops_product_time(const ops_machine *machine, int64_t m, int64_t n, int rows, int vectors);
void ops_matmul_text(const ops_machine *machine, int64_t m, int64_t n, int64_t k,
                     ops_shape_text *out);
/* A convolution 1x1 of one image; leaves the name alone. */
void ops_pointwise_text(const ops_machine *machine, int64_t filters, int64_t pixels,
                        int64_t channels, ops_shape_text *out);
typedef struct ops_conv_shape {
    int64_t n, c, h, w, f, k, s, p, d, g; /* dilation, groups */
    int64_t kernel, first; /* of so many taps k are read, from this one on; 0 = all are */
} ops_conv_shape;
/* Rows or columns that come of so many. */
int64_t ops_conv_outputs(const ops_conv_shape *shape, int64_t size);
/* A convolution of stride 1 in plain layout with vectors along rows of pixels (ops_shape_rows.c);
 * leaves the name alone; for weights at run time as well if asked for. */
void ops_rows_text(const ops_machine *machine, const ops_conv_shape *shape, bool has_runtime,
                   ops_shape_text *out);
/* What it takes for one step of the sum, in multiplications of vectors. */
double ops_rows_time(const ops_machine *machine, const ops_conv_shape *shape);
/* The program of a convolution in plain layout that copies its image with the padding. */
void ops_padded_program(const ops_conv_shape *shape, int64_t oh, int64_t ow, hone_str *out);
/* Few pixels that fill vectors, under large filters at run time (ops_shape_columns.c). */
bool ops_suits_columns(const ops_machine *machine, const ops_conv_shape *shape);
void ops_columns_text(const ops_machine *machine, const ops_conv_shape *shape, ops_shape_text *out);
/* A depthwise convolution in plain layout, of few pixels to a row (ops_shape_depthwise.c). */
bool ops_suits_channels(const ops_machine *machine, const ops_conv_shape *shape);
void ops_channels_text(const ops_machine *machine, const ops_conv_shape *shape,
                       ops_shape_text *out);
void ops_conv_text(const ops_machine *machine, const ops_conv_shape *shape, bool is_blocked,
                   ops_shape_text *out);

#endif
