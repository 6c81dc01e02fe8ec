/* measure/launch.h - how the kernels of a device are called: plain values of a manifest.
 *
 * A GPU's artifact holds no host code. What a host would do between the launches (sizes of grids,
 * memory for intermediates, numbers that kernels want) is a list of integer values, each made of
 * those before it, and a list of launches that name them. Launches are made in order on one stream,
 * each sees what those before it wrote. Whoever made a manifest owns the lists.
 *
 *   sizes of the manifest ─► values ─┬─► bytes of scratch buffers
 *                                    └─► per launch: grid, block, dynamic shared bytes, arguments
 *
 * Layer: support/ only.
 */
#ifndef HONE_MEASURE_LAUNCH_H
#define HONE_MEASURE_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "support/core/status.h"

#define HONE_LAUNCH_MAX_VALUES 4096
#define HONE_LAUNCH_MAX_SCRATCH 256
#define HONE_LAUNCH_MAX_COUNT 1024
#define HONE_LAUNCH_MAX_ARGS 512

/* What no device goes beyond; its own limits are those of its target. */
#define HONE_LAUNCH_MAX_GRID_X INT64_C(0x7fffffff)
#define HONE_LAUNCH_MAX_GRID_YZ INT64_C(65535)
#define HONE_LAUNCH_MAX_THREADS INT64_C(1024)
#define HONE_LAUNCH_MAX_SHARED (INT64_C(1) << 20)

typedef enum hone_launch_op {
    HONE_LAUNCH_CONST, /* k */
    HONE_LAUNCH_SIZE,  /* size number a of the manifest */
    HONE_LAUNCH_ADD,   /* of the earlier values a and b, from here on */
    HONE_LAUNCH_SUB,
    HONE_LAUNCH_MUL,
    HONE_LAUNCH_DIV, /* floor */
    HONE_LAUNCH_MOD, /* a - floor(a / b) * b */
    HONE_LAUNCH_MIN,
    HONE_LAUNCH_MAX,
} hone_launch_op;

typedef struct hone_launch_value {
    hone_launch_op op;
    int32_t a, b;
    int64_t k;
} hone_launch_value;

/* The kernel's parameters in order: BUFFER and SCRATCH are pointers to device memory, VALUE is a
 * 64-bit integer. A parameter that is a float gets the bits of a double, as in the sizes of
 * manifests. */
typedef enum hone_launch_arg_kind {
    HONE_LAUNCH_ARG_BUFFER,  /* argument number `index` of the manifest */
    HONE_LAUNCH_ARG_SCRATCH, /* scratch buffer number `index` */
    HONE_LAUNCH_ARG_VALUE,   /* value number `index` */
} hone_launch_arg_kind;

typedef struct hone_launch_arg {
    hone_launch_arg_kind kind;
    int32_t index;
} hone_launch_arg;

typedef struct hone_launch {
    const char *symbol; /* of the device's kernel in the artifact */
    int32_t grid[3];  /* numbers of values: x, y, z; one that comes out as 0: nothing is started */
    int32_t block[3]; /* the same, of CONST values: the kernel was made for them */
    int32_t dynamic_shared; /* number of the value: bytes */
    size_t arg_count;
    const hone_launch_arg *args;
} hone_launch;

struct hone_manifest; /* measure/manifest.h, which embeds the lists */

/* INVALID with the reason: lists within the limits above, every number names something, values are
 * made of earlier ones, blocks are constants that devices take. Where the manifest lists neither
 * arguments nor sizes (a program whose sizes a call says) their numbers are within the limits. A
 * part of hone_manifest_check. */
HONE_NODISCARD hone_status hone_launches_check(const struct hone_manifest *manifest);

/* Computes all values of a checked manifest for sizes (as many as it has) into out_values (as many
 * as it has values). INVALID, with the launch or scratch buffer: a division by zero, a number
 * beyond 64 bits, a grid, dynamic shared memory or scratch buffer that is negative or beyond the
 * limits. */
HONE_NODISCARD hone_status hone_launch_values(const struct hone_manifest *manifest,
                                              const int64_t *sizes, int64_t *out_values);

#endif
