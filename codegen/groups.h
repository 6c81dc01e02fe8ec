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
    GROUPS_MOST_STEPS = 16,  /* instructions of one call */
    GROUPS_MOST_A = 4,       /* registers of A that an instruction takes */
    GROUPS_MOST_WORDS = 128, /* registers of a thread for one tile */
};

/* ptx.wgmma(data, m, n, k, number, A, stride, B, stride, way[, calls that may go on]), or
 * ptx.wgmma_lanes(data, offset, n, k, begins, A, stride or offset, B, stride, way): the threads'
 * own memory has the sums, and A where that is no pointer; the sums begin at 0 (begins is 1), or
 * are added to. That one goes on until ptx.wgmma_lanes_wait(calls that may go on, data, ...). */
bool groups_is_product(const hone_expr *e);
bool groups_is_of_lanes(const hone_expr *e);

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
    bool is_added;             /* to what the sums were */
    int64_t left;              /* calls that may go on; -1: all, and nothing is waited for */
    struct groups_operand {
        hone_buffer buffer;      /* HONE_NO_ID: registers have it (A) */
        const hone_expr *offset; /* in elements */
        int64_t leading;         /* bytes between columns, where rows lie across k; else 16 */
        int64_t between;         /* bytes between columns */
        int64_t step;            /* bytes from instruction to instruction */
        bool is_along;           /* rows lie along k: a column ends after GROUPS_ROW bytes of it */
    } a, b;
} groups_product;

/* False: there is no such instruction. */
bool groups_read_product(const hone_func *func, const hone_expr *e, groups_product *out);

/* What an operand's descriptor grows by until instruction `i`, in 16 bytes. */
int64_t groups_step(const struct groups_operand *o, unsigned i);

/* "wgmma.fence …; wgmma.mma_async …; …": registers of the sums count from 0, behind them for each
 * instruction those of A, or its descriptor, and the descriptor of B, written with `mark` in front;
 * lines end with `newline`. */
void groups_write_product(const groups_product *p, unsigned words, char mark, const char *newline,
                          hone_str *out);

/* Registers of a thread for a tile of sums. */
unsigned groups_words(hone_dtype sum, int64_t columns);

#endif
