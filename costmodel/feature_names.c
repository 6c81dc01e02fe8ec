/* costmodel/feature_names.c - names of the columns, for `hone db show` and for tests. */
#include <assert.h>

#include "costmodel/feature_impl.h"

#define LOOP_KIND_NAMES(kind)                                                                      \
    kind ".count", kind ".iterations", kind ".innermost", kind ".none", kind ".inner_spatial",     \
        kind ".middle_spatial", kind ".outer_spatial", kind ".inner_reduce",                       \
        kind ".middle_reduce", kind ".outer_reduce", kind ".mixed"

#define ACCESS_NAMES(access)                                                                       \
    access ".read", access ".write", access ".read_write", access ".bytes",                        \
        access ".unique_bytes", access ".lines", access ".unique_lines", access ".reuse_loop",     \
        access ".reuse_statement", access ".reuse_none", access ".reuse_iterations",               \
        access ".reuse_bytes", access ".reuse_count", access ".bytes_per_reuse",                   \
        access ".unique_bytes_per_reuse", access ".lines_per_reuse",                               \
        access ".unique_lines_per_reuse", access ".stride"

static const char *const names[] = {
    "float_mad",
    "float_add_sub",
    "float_mul",
    "float_div_mod",
    "float_cmp",
    "float_math",
    "float_other",
    "int_mad",
    "int_add_sub",
    "int_mul",
    "int_div_mod",
    "int_cmp",
    "int_math",
    "int_other",
    "bool",
    "select",

    LOOP_KIND_NAMES("vectorize"),
    LOOP_KIND_NAMES("unroll"),
    LOOP_KIND_NAMES("parallel"),

    "is_gpu",
    "blockIdx.x",
    "blockIdx.y",
    "blockIdx.z",
    "threadIdx.x",
    "threadIdx.y",
    "threadIdx.z",
    "vthread",

    ACCESS_NAMES("access0"),
    ACCESS_NAMES("access1"),
    ACCESS_NAMES("access2"),
    ACCESS_NAMES("access3"),
    ACCESS_NAMES("access4"),

    "intensity.10",
    "intensity.20",
    "intensity.30",
    "intensity.40",
    "intensity.50",
    "intensity.60",
    "intensity.70",
    "intensity.80",
    "intensity.90",
    "intensity.100",

    "alloc.bytes",
    "alloc.elements",
    "alloc.outer",
    "alloc.inner",

    "outer.iterations",
    "outer.loops",
    "outer.unroll_step",

    "shape.parallel_per_core",
    "shape.core_use",
    "shape.vector_registers",
    "shape.l1_traffic",
    "shape.l2_traffic",
    "shape.l3_traffic",
    "shape.bytes",
    "shape.guarded",
    "shape.unrolled_ops",
    "shape.reduction",
    "shape.innermost_reduces",
    "shape.iterations",

    "target.threads",
    "target.vector_bytes",
    "target.l1_bytes",
    "target.l2_bytes",
    "target.l3_bytes",

    "tile.sums",
    "tile.pressure",
    "tile.fill",
    "tile.loads_per_op",
    "tile.gathers",
    "tile.unaligned",
    "tile.is_rolled",
    "tile.steps",
    "tile.lines_of_a_set",
    "tile.cycles",

    "kernel.cycles",
    "kernel.share",
    "kernel.l1_bytes_per_cycle",
    "kernel.l2_bytes_per_cycle",
    "kernel.l3_bytes_per_cycle",

    "wish.vector_reduce",
    "wish.prefetch",
    "wish.prefetch_stores",
    "wish.streaming_store",
};

_Static_assert(HONE_COUNT(names) == COLUMN_COUNT, "each column has a name");
_Static_assert(HONE_FEATURE_BUFFERS == 5 && HONE_FEATURE_CURVE == 10, "names are spelled out");

uint32_t hone_feature_count(void) {
    return COLUMN_COUNT;
}

const char *hone_feature_name(uint32_t column) {
    assert(column < COLUMN_COUNT);
    return names[column];
}
