/* codegen/source/dialect.h - in what the languages differ that the C printer writes: C11 for hosts,
 * and CUDA C, OpenCL C and Metal for the launches of a GPU. Facts, one row each in dialects.c;
 * what is not here is the same in all of them. */
#ifndef HONE_CODEGEN_SOURCE_DIALECT_H
#define HONE_CODEGEN_SOURCE_DIALECT_H

#include <stdbool.h>

/* Where memory lies, for languages whose pointers say it. */
typedef enum c_space {
    C_SPACE_GLOBAL,
    C_SPACE_SHARED,
    C_SPACE_PRIVATE, /* of one thread */
    C_SPACE_COUNT,
} c_space;

/* How a language converts small floats by itself: bodies of functions of `bits` and of `value`. */
typedef struct c_small_float {
    const char *type, *to_f32, *from_f32;
} c_small_float;

/* The column of tables that have a form per language of devices (c_device_call.c). */
typedef enum c_column {
    C_COLUMN_CUDA,
    C_COLUMN_OPENCL,
    C_COLUMN_METAL,
    C_COLUMN_COUNT,
} c_column;

typedef struct c_dialect {
    const char *name; /* in messages */
    c_column column;  /* of one of devices */
    bool is_device;   /* functions are launches: threads, no runtime to call, faults go unsaid */
    bool has_double;
    bool has_wide_copies;  /* through pointers to vectors, else vload and vstore */
    bool has_wide_atomics; /* of floats and integers of any size, else of 32-bit integers */
    bool has_warp_mma;     /* fragments of matrices, and instructions on them */
    c_small_float small_floats[2];
    const char *prelude;
    const char *helper_words; /* in front of a helper */
    const char *table_words;  /* in front of a constant array in a function */
    const char *array_words;  /* in front of an array of one thread */
    const char *float_end;    /* what names of functions of floats end with */
    const char *round;        /* to the nearest, halves to even */
    const char *space[C_SPACE_COUNT];
    const char *shared_words;   /* in front of an array that a block shares */
    const char *dynamic_shared; /* what a launch asks for; NULL: arrays as large as need be */
    const char *block_axes[3], *thread_axes[3]; /* x, y, z */
    const char *barrier, *warp_barrier;
    const char *keywords; /* those that C has not, and other names that are taken */
    /* The entry of a launch: words in front of its name ($X $Y $Z: threads of a block, $P: their
     * product), parameters ($T type, $N name, $I number), further ones behind them. */
    const char *entry_words, *entry_buffer, *entry_read_only, *entry_scalar, *entry_places;
} c_dialect;

extern const c_dialect c_dialect_c11, c_dialect_cuda, c_dialect_opencl, c_dialect_metal;

#endif
