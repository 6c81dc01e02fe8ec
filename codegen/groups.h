/* codegen/groups.h - what the generators must agree on about groups of four warps (wgmma of
 * sm_90a): which buffers in shared memory they multiply, and how those lie.
 *
 * An operand begins at a multiple of GROUPS_ALIGN bytes, in rows of 128; pieces of 16 bytes of a
 * row change places by the row: bits 4 to 6 of an offset in bytes are xored with bits 7 to 9. */
#ifndef HONE_CODEGEN_GROUPS_H
#define HONE_CODEGEN_GROUPS_H

#include "ir/core/func.h"

enum {
    GROUPS_ROWS = 64,        /* of a tile of sums */
    GROUPS_THREADS = 128,    /* of a group */
    GROUPS_ALIGN = 1024,     /* bytes */
    GROUPS_ROW = 128,        /* bytes */
    GROUPS_MOST_STEPS = 4,   /* instructions of one call */
    GROUPS_MOST_WORDS = 128, /* registers of a thread for one tile */
};

/* ptx.wgmma(data, m, n, k, number, A, stride, B, stride, way[, calls that may go on]) */
bool groups_is_product(const hone_expr *e);

/* Marks, by storage, the buffers that are operands of a function, and says whether there are any.
 * UNSUPPORTED: something else gets a pointer to one, and would not know how it lies. */
hone_status groups_find_operands(const hone_func *func, bool *is_operand, bool *out_any);

/* The buffer, or what it shows, holds sums of groups; false for HONE_NO_ID. */
bool groups_is_sums(const hone_func *func, hone_buffer buffer);

/* A call of groups_is_product, read. */
typedef struct groups_product {
    const char *element, *sum; /* as PTX calls their types */
    int64_t columns, each;     /* columns of a tile; what an instruction takes of k */
    unsigned steps;            /* instructions */
    bool is_across;            /* rows of B lie along its columns, not along k */
    int64_t left;              /* calls that may go on */
    struct groups_operand {
        hone_buffer buffer;
        const hone_expr *offset; /* in elements */
        int64_t leading, step; /* bytes between columns; 16 bytes from instruction to instruction */
    } a, b;
} groups_product;

/* False: there is no such instruction. */
bool groups_read_product(const hone_func *func, const hone_expr *e, groups_product *out);

/* "wgmma.fence …; wgmma.mma_async …; …": registers of the sums count from 0, descriptors, two an
 * instruction, behind them, written with `mark` in front; lines end with `newline`. */
void groups_write_product(const groups_product *p, unsigned words, char mark, const char *newline,
                          hone_str *out);

/* Registers of a thread for a tile of sums. */
unsigned groups_words(hone_dtype sum, int64_t columns);

#endif
