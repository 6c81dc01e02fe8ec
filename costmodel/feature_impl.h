/* costmodel/feature_impl.h - what the files of the feature extractor share.
 *
 *   feature_walk.c    walks the statement tree, keeps the stack of loops, one call per statement
 *   feature_index.c   index expressions as slopes and spans per loop
 *   feature_access.c  loads and stores of a statement: what they touch at each loop; operations
 *   feature_row.c     the columns of one statement
 *   feature_tile.c    those of its innermost loops
 *   feature_names.c   names of the columns
 */
#ifndef HONE_COSTMODEL_FEATURE_IMPL_H
#define HONE_COSTMODEL_FEATURE_IMPL_H

#include <math.h>

#include "costmodel/feature.h"
#include "support/data/vec.h"

enum {
    MAX_LOOPS = 24,    /* deeper loops count as iterations only */
    MAX_ACCESSES = 24, /* buffers of one statement */
    MAX_TREE_DEPTH = 512,
    MAX_EXPR_DEPTH = 48,
    MAX_EXPR_NODES = 20000, /* per statement: expressions may be shared */
};

/* ---- columns ---- */

enum {
    ARITH_COUNT = 16,
    FOR_KIND_COUNT = 3,
    FOR_KIND_COLUMNS = 11,
    GPU_COLUMNS = 8,
    ACCESS_COLUMNS = 18,
    WISH_COUNT = 4, /* pragmas of loops (feature_walk.c) */
    COLUMN_ARITH = 0,
    COLUMN_FOR_KIND = COLUMN_ARITH + ARITH_COUNT,
    COLUMN_GPU = COLUMN_FOR_KIND + FOR_KIND_COUNT * FOR_KIND_COLUMNS,
    COLUMN_ACCESS = COLUMN_GPU + GPU_COLUMNS,
    COLUMN_CURVE = COLUMN_ACCESS + HONE_FEATURE_BUFFERS * ACCESS_COLUMNS,
    COLUMN_ALLOC = COLUMN_CURVE + HONE_FEATURE_CURVE,
    COLUMN_OUTER = COLUMN_ALLOC + 4,
    COLUMN_SHAPE = COLUMN_OUTER + 3,
    COLUMN_TARGET = COLUMN_SHAPE + 12,
    COLUMN_TILE = COLUMN_TARGET + 5,
    COLUMN_KERNEL = COLUMN_TILE + 10,
    COLUMN_WISH = COLUMN_KERNEL + 5,
    COLUMN_COUNT = COLUMN_WISH + WISH_COUNT,
};

typedef enum arith_kind {
    ARITH_FLOAT_MAD,
    ARITH_FLOAT_ADD_SUB,
    ARITH_FLOAT_MUL,
    ARITH_FLOAT_DIV_MOD,
    ARITH_FLOAT_CMP,
    ARITH_FLOAT_MATH,
    ARITH_FLOAT_OTHER,
    ARITH_INT_MAD,
    ARITH_INT_ADD_SUB,
    ARITH_INT_MUL,
    ARITH_INT_DIV_MOD,
    ARITH_INT_CMP,
    ARITH_INT_MATH,
    ARITH_INT_OTHER,
    ARITH_BOOL,
    ARITH_SELECT,
} arith_kind;

/* The size of a number, for columns; most are 0 or 1. */
static inline float slog(double x) {
    if (x == 0 || x == 1) return (float)x;
    return (float)log2(fabs(x) + 1);
}

/* ---- loops and indices ---- */

/* Thread axes in the order of their columns: blockIdx.xyz, threadIdx.xyz, vthread. */
enum { THREAD_AXES = 7, NO_THREAD = -1 };

typedef struct feature_loop {
    hone_node_id node;
    double extent; /* above 1: loops of one iteration are not on the stack */
    uint8_t kind;  /* hone_loop_kind */
    int8_t thread; /* which thread axis, or NO_THREAD */
} feature_loop;

/* An index as seen from the loops around it; loop 0 is the outermost. */
typedef struct index_value {
    int depth; /* entries that are set; all further ones are 0 */
    bool is_constant;
    double constant;
    double slope[MAX_LOOPS];    /* change per iteration of a loop; 0 = does not depend on it */
    double span[MAX_LOOPS + 1]; /* largest − smallest value while loops k, k+1, … run */
} index_value;

/* What one statement does with one buffer. */
typedef struct feature_access {
    hone_buffer buffer;
    double elem_bytes;
    bool reads, writes;
    uint32_t uses;                 /* bit l: the indices depend on loop l */
    double slope[MAX_LOOPS];       /* elements per iteration, in the flat buffer */
    double touched[MAX_LOOPS + 1]; /* elements while loops k, k+1, … run */
    double run_bytes;              /* of the longest run of neighbours touched at all */
} feature_access;

typedef struct feature_statement {
    double ops[ARITH_COUNT]; /* per iteration */
    double iterations;
    int access_count;
    feature_access accesses[MAX_ACCESSES]; /* [0] is the store */
    double bytes[MAX_LOOPS + 1];           /* touched by all accesses while loops k, … run */
} feature_statement;

/* ---- what is remembered about a buffer while the tree is walked ---- */
typedef struct buffer_facts {
    uint32_t row;  /* its row plus one; 0 = it has none */
    bool is_inner; /* allocated in the program */
    bool is_touched;
    bool is_constant; /* never changes: a parameter, or what is made of such alone */
    int first_depth, last_depth, shared_depth; /* shared: loops common to all accesses */
    hone_node_id first_path[MAX_LOOPS], last_path[MAX_LOOPS];
    double last_bytes[MAX_LOOPS + 1]; /* of the statement that touched it last */
} buffer_facts;

typedef struct feature_row {
    hone_buffer buffer;
    double ops[ARITH_COUNT]; /* of all iterations of all its statements */
    double weight;           /* of the statement that the other columns describe */
    double cycles;           /* of that statement, by its tile */
    double traffic[3];       /* bytes from beyond each cache */
    double elem_bytes, touched[MAX_LOOPS + 1], outer[MAX_LOOPS + 1]; /* of its store; outer[k]:
                                                                  iterations of loops before k */
    int depth;
} feature_row;

struct hone_feature_state {
    const hone_func *func;
    const hone_target *target;
    int32_t vector_registers; /* of the target, which are looked up by its name */
    feature_loop loops[MAX_LOOPS];
    int depth;
    double extra;              /* iterations of loops that did not fit on the stack */
    int64_t unroll_step;       /* of the innermost annotation around */
    double wishes[WISH_COUNT]; /* likewise; 0 = nobody has it */
    int guards;                /* predicates and conditions around */
    bool in_init, failed;
    hone_node_id
        root; /* whose nests may be of constants alone; HONE_NO_ID: there are no constants */
    int expr_budget;
    feature_statement statement;
    HONE_VEC(uint32_t) slots; /* variable → index into values plus one */
    HONE_VEC(index_value) values;
    HONE_VEC(buffer_facts) buffers;
    HONE_VEC(feature_row) rows;
    HONE_VEC(float) columns; /* rows.count × COLUMN_COUNT */
};

/* ---- feature_index.c ---- */
void feature_bind(hone_feature_state *s, hone_var var, const index_value *value);
void feature_eval(hone_feature_state *s, const hone_expr *e, int expr_depth, index_value *out);

/* ---- feature_access.c ---- */
/* Fills s->statement for a store (rank indices) or, with HONE_NO_ID, for an evaluated call. */
void feature_measure(hone_feature_state *s, hone_buffer buffer, const hone_expr *const *indices,
                     const hone_expr *value);

/* ---- feature_row.c ---- */
/* Adds s->statement to the row of its buffer. */
void feature_add_statement(hone_feature_state *s);
/* Writes the columns that need the whole walk. */
void feature_finish_rows(hone_feature_state *s);

/* Whether a loop repeats what the statement stores to. */
static inline bool feature_is_reduce(const feature_statement *st, int loop) {
    return st->access_count && !(st->accesses[0].uses >> loop & 1);
}

/* ---- feature_tile.c ---- */
/* Writes the columns of s->statement from COLUMN_TILE on; its cycles, about. */
double feature_write_tile(const hone_feature_state *s, float *out);

static inline int feature_shared_depth(const hone_node_id *a, int a_depth, const hone_node_id *b,
                                       int b_depth) {
    int depth = 0;
    while (depth < a_depth && depth < b_depth && a[depth] == b[depth])
        depth++;
    return depth;
}

#endif
